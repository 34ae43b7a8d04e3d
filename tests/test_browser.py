"""Reports of hostile payloads in a real browser: nothing runs, and nothing but the report is there."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import npser
from inspection.browser import HOSTILE, PAGES, TITLE, document_of, find_browser, page_of, take_picture

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")

EMPTY = {"html", "head", "meta", "title", "style", "body"}
REPORT = {"div", "style", "p", "details", "summary", "span"}
ATTRIBUTES = {"class", "id", "open", "style", "title"}
STYLES = re.compile(r"width: ?\d{1,3}(\.\d)?%;?")


class Found(HTMLParser):
    """What elements there are, outside of the report and in it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.outside: set[str] = set()
        self.inside: set[str] = set()
        self.attributes: set[str] = set()
        self.styles: set[str] = set()
        self.open: list[str] = []
        self.elements = 0
        self.text: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements += 1
        if "div" in self.open or tag == "div":
            self.inside.add(tag)
            self.attributes |= {name for name, _ in attrs}
            self.styles |= {value or "" for name, value in attrs if name == "style"}
        else:
            self.outside.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


@pytest.fixture(scope="module")
def reports() -> dict[str, str]:
    return {name: npser.inspect(make())._repr_html_() for name, make in (PAGES | HOSTILE).items()}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_payloads_are_inert_and_bounded(name: str, reports: dict[str, str]) -> None:
    html = reports[name]
    assert len(html) < 100_000
    found = Found()
    found.feed(document_of(page_of(html)))
    found.close()
    assert found.text["title"] == TITLE  # a script would have changed it
    assert found.outside <= EMPTY
    assert found.inside <= REPORT
    assert found.attributes <= ATTRIBUTES
    assert all(STYLES.fullmatch(style) for style in found.styles)
    assert found.elements < 2000


def test_a_script_would_have_been_noticed() -> None:
    found = Found()
    found.feed(document_of(page_of("<div><script>document.title='loud'</script><b onclick=x>text</b></div>")))
    assert found.text["title"] == "loud"
    assert not found.inside <= REPORT
    assert not found.attributes <= ATTRIBUTES


def test_names_from_the_payload_are_shown_as_text(reports: dict[str, str]) -> None:
    found = Found()
    found.feed(document_of(page_of(reports["markup"])))
    assert "<script>" in found.text["span"]
    assert "<svg/onload" in found.text["span"]


def test_light_and_dark_are_two_pictures(reports: dict[str, str], tmp_path: Path) -> None:
    pictures = []
    for theme in ("light", "dark"):
        take_picture(page_of(reports["orders"]), tmp_path / f"{theme}.png", theme, height=400)
        pictures.append((tmp_path / f"{theme}.png").read_bytes())
    assert all(picture.startswith(b"\x89PNG") and len(picture) > 5000 for picture in pictures)
    assert pictures[0] != pictures[1]
