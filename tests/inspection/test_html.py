"""The picture: well-formed, inert, bounded, the same every time."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import npser

VOID = {"br", "hr", "img", "input", "meta", "link"}


class Checker(HTMLParser):
    """Fails on tags that do not match; collects what there is."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.text = ""
        self.deepest = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in VOID
        self.open.append(tag)
        self.deepest = max(self.deepest, len(self.open))
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert checker.tags <= {"div", "style", "p", "details", "summary", "span"}
    assert checker.attributes <= {"class", "id", "open", "style", "title"}
    assert len(checker.ids) == len(set(checker.ids))
    return checker


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value, "x"]
    return value


BAD = "</div><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"

VALUES = {
    "nothing": None,
    "a list": [1, 2, 3],
    "rows": [{"id": i, "name": str(i % 9), "tags": ["a"] * (i % 3)} for i in range(300)],
    "hostile keys": {BAD: {BAD * 9: [BAD] * 9}, "\x00\x1b[2J\u202e": "x"},
    "wide": {f"key {i}": [i] * 30 if i % 2 else i for i in range(250)},
    "deep": nested(500),
}


@pytest.mark.parametrize("name", VALUES)
def test_it_is_well_formed_and_bounded(name: str) -> None:
    html = npser.inspect(npser.dumps(VALUES[name]))._repr_html_()
    found = check(html)
    assert len(html) < 100_000
    assert found.deepest < 100
    assert "prefers-color-scheme" in found.text
    assert f"{len(npser.dumps(VALUES[name])):,} bytes" in found.text


def test_text_is_escaped_and_says_what_was_left_out() -> None:
    html = npser.inspect(npser.dumps(VALUES["hostile keys"]))._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script" in html
    wide = check(npser.inspect(npser.dumps(VALUES["wide"]))._repr_html_())
    assert re.search(r"… 135 more +155", wide.text)


def test_it_is_the_same_every_time() -> None:
    data = npser.dumps(VALUES["rows"])
    assert npser.inspect(data)._repr_html_() == npser.inspect(bytearray(data))._repr_html_()


def test_damaged_and_sealed() -> None:
    data = npser.dumps(VALUES["rows"])
    assert "error:" in check(npser.inspect(data[:-5])._repr_html_()).text
    assert "nothing was verified" in check(npser.inspect(npser.dumps_signed(1, bytes(32)))._repr_html_()).text
    check(npser.inspect(b"\x80\x05<script>")._repr_html_())


def test_large_blocks_say_why() -> None:
    html = npser.inspect(npser.dumps({"n": [f"name {i % 20}" for i in range(5000)]}))._repr_html_()
    assert "next best" in check(html).text


def test_what_is_large_stands_open_as_far_as_there_is_room() -> None:
    html = npser.inspect(npser.dumps({"rows": VALUES["rows"], "wide": VALUES["wide"], "n": 1}))._repr_html_()
    found = re.findall(r"<details[^>]*?( open)?><summary[^>]*><span>([^<]*)</span>", html)
    state = {label: bool(is_open) for is_open, label in found}
    assert state["[&#x27;rows&#x27;]"]
    assert not state["[&#x27;wide&#x27;]"]  # 250 rows would hide the rest


def test_notes_and_kinds_of_one_place_are_said() -> None:
    twice = check(npser.inspect(npser.dumps({"a": 2**600, "b": 2**600}))._repr_html_())
    assert "the same bytes as body 0" in twice.text
    mixed = check(npser.inspect(npser.dumps([i if i % 3 else [i] for i in range(900)]))._repr_html_())
    assert "as LIST" in mixed.text
    assert "as int" in mixed.text
    assert "bytes of keys" in twice.text
