"""HTML that must be well-formed, and in which no text of a value or a payload is markup."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["BAD", "check_inert"]

BAD = "</td></table></div><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[31m\n"

TAGS = {"div", "style", "p", "table", "thead", "tbody", "tr", "th", "td", "span"}
ATTRIBUTES = {"class", "id", "style"}


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.rows = 0
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check_inert(html: str, *, most: int = 100_000) -> tuple[str, int]:
    """The text of a fragment, and its number of table rows."""
    checker = _Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(html) < most
    assert "\x1b" not in html
    return checker.text, checker.rows
