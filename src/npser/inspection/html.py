"""A report as HTML: a tree that folds, with bars, in light and dark, without a script.

Strategy: `<details>` folds by itself, colours follow the reader's system, and bars are the width of an element. Every
text is escaped, for keys and class names come from strangers. The parts are chosen by size, so a report of any payload
is about as large as that of another, and small enough to be committed with a notebook. Ids are those of the bytes and
the place, so running a notebook again changes nothing.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final
from zlib import crc32

from npser.errors import NpserError
from npser.inspection.chosen import Shown, choose_parts
from npser.inspection.parts import clip, plain
from npser.inspection.text import exact, label_below, summary_lines, what_of

if TYPE_CHECKING:
    from npser.inspection.parts import Part
    from npser.inspection.report import Report

__all__ = ["MAX_SHOWN", "draw_html"]

MAX_SHOWN = 160
"""Parts that are drawn."""

DEEPEST = 32
"""Levels that are drawn within each other; what is deeper stands side by side."""

OPEN_LEVELS = 3

MAX_WHY_PARTS, MAX_WHY_ITEMS, MAX_WHY_RAW = 8, 1 << 17, 1 << 21
"""Blocks that are weighed again for the picture: so many, of so many items and plain bytes together."""

STYLE: Final = """
.npser{--ink:#1b1f24;--soft:#5b6570;--line:#d7dce1;--bar:#3b82c4;--track:#e8ecf0;--bad:#b42318;
color:var(--ink);font:13px/1.5 system-ui,sans-serif;max-width:64rem}
@media(prefers-color-scheme:dark){.npser{--ink:#e6e9ec;--soft:#9aa5b0;--line:#3a424b;--bar:#5aa5e8;--track:#2a3138;
--bad:#ff8a7a}}
.npser code{font:12px/1.5 ui-monospace,monospace;color:inherit;background:none;overflow-wrap:anywhere}
.npser details,.npser .leaf{margin:0;padding:0 0 0 .9rem;border-left:1px solid var(--line)}
.npser summary,.npser .leaf{display:grid;grid-template-columns:minmax(12rem,1fr) 9rem 6rem 6rem 3.4rem;gap:.6rem}
.npser summary{cursor:pointer;list-style:none}.npser summary::-webkit-details-marker{display:none}
.npser summary code::before{content:"\\25B8\\00A0"}.npser details[open]>summary code::before{content:"\\25BE\\00A0"}
.npser .num{text-align:right;font-variant-numeric:tabular-nums}.npser .soft{color:var(--soft)}
.npser .track{background:var(--track);height:.5rem;align-self:center;border-radius:2px}
.npser .bar{display:block;background:var(--bar);height:100%;border-radius:2px}
.npser .why{color:var(--soft);padding-left:1.8rem}.npser .bad{color:var(--bad)}
"""


def draw_html(report: Report) -> str:
    """The report as a fragment that stands for itself."""
    base = f"npser-{crc32(report._payload[: 1 << 16]):08x}-{report.size:x}"
    first, *others = summary_lines(report)
    out = [f'<div class="npser" id="{base}"><style>{STYLE}</style><div><b>{escape(first)}</b></div>']
    for line in others:
        mark = "bad" if line.startswith("error:") else "soft"
        out.append(f'<div class="{mark}">{escape(line)}</div>')
    _Drawing(out, base, _reasons(report)).draw(choose_parts(report.root, MAX_SHOWN, blocks=True))
    out.append("</div>")
    return "".join(out)


def _reasons(report: Report) -> dict[int, str]:
    """By the id of a part, why it is stored so, for the largest that are quickly weighed."""
    reasons: dict[int, str] = {}
    items, raw = MAX_WHY_ITEMS, MAX_WHY_RAW
    for part in report.top(MAX_WHY_PARTS):
        if part.block is None or part.count > items or part.raw > raw:
            continue
        items, raw = items - part.count, raw - part.raw
        try:
            why = report.why(part)
        except NpserError:
            continue
        if why is not None and why.others:
            reasons[id(part)] = str(why)
    return reasons


class _Drawing:
    """HTML being written, node by node, without recursion."""

    def __init__(self, out: list[str], base: str, reasons: dict[int, str]) -> None:
        self._out = out
        self._base = base
        self._reasons = reasons
        self._number = 0

    def draw(self, top: Shown) -> None:
        stack: list[tuple[Shown, Part | None] | str] = [(top, None)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                self._out.append(item)
                continue
            shown, parent = item
            cells = self._cells(shown.part, parent)
            self._number += 1
            name = f'id="{self._base}-{self._number}"'
            why = self._reasons.get(id(shown.part))
            inside = f'<div class="why">{escape(why)}</div>' if why else ""
            if not shown.children and not shown.left_out:
                self._out.append(f'<div class="leaf" {name}>{cells}</div>{inside}')
                continue
            opened = " open" if shown.depth < OPEN_LEVELS else ""
            if shown.depth < DEEPEST:
                self._out.append(f"<details {name}{opened}><summary>{cells}</summary>{inside}")
                stack.append("</details>")
            else:
                self._out.append(f'<div class="leaf" {name}>{cells}</div>{inside}')
            if shown.left_out:
                more = f"… {shown.left_out:,} more, {exact(shown.left_bytes)} bytes"
                stack.append(f'<div class="leaf soft">{more}</div>')
            stack += [(child, shown.part) for child in reversed(shown.children)]

    def _cells(self, part: Part, parent: Part | None) -> str:
        label = escape(clip(plain(label_below(part, parent)), 80))
        encoding = escape(clip(plain(what_of(part)), 40))
        title = escape(clip(plain(_title(part)), 200))
        count = f"{part.count:,}" if part.count else ""
        width = f"{100 * part.share:.1f}"
        return (
            f'<code title="{title}">{label}</code><span class="soft">{encoding}</span>'
            f'<span class="num soft">{count}</span><span class="num">{exact(part.nbytes)}</span>'
            f'<span class="track"><span class="bar" style="width:{width}%"></span></span>'
        )


def _title(part: Part) -> str:
    facts = [part.path, part.kind, part.dtype, f"{part.share:.1%} of the payload"]
    if part.per_item is not None:
        facts.append(f"{part.per_item:.2f} bytes an item")
    if part.ratio is not None:
        facts.append(f"{part.ratio:,.1f} times smaller than plain")
    if part.hit_rate is not None:
        facts.append(f"{part.distinct:,} distinct, {part.hit_rate:.1%} were there already")
    return "; ".join(filter(None, [*facts, part.note]))
