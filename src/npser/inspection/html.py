"""A report as HTML: a tree that folds, with bars, in light and dark, without a script.

Strategy: `<details>` folds by itself, and bars are the width of an element. Colours are those of the notebook's theme,
or else follow the reader's system. Every text is escaped, for keys and class names come from strangers. The parts are
chosen by size, so a report of any payload is about as large as that of another, and small enough to be committed with a
notebook: 15 kB for a table of ten columns, some 50 kB at most unless names are all ampersands. Of these parts, the
largest stand open, as many as fit a screen. Ids are those of the bytes and the place, so running a notebook again
changes nothing.
"""

from __future__ import annotations

from heapq import heappop, heappush
from html import escape
from typing import TYPE_CHECKING, Final
from zlib import crc32

from npser.inspection.chosen import Shown, choose_parts
from npser.inspection.parts import clip, plain
from npser.inspection.text import exact, label_below, summary_lines, times, what_of

if TYPE_CHECKING:
    from npser.inspection.parts import Part
    from npser.inspection.report import Report

__all__ = ["MAX_SHOWN", "draw_html"]

MAX_SHOWN = 120
"""Parts that are drawn."""

OPEN_ROWS = 32
"""Rows that are to be seen before anything is unfolded; the value itself is always open."""

ALWAYS_OPEN = 2

DEEPEST = 32
"""Levels that are drawn within each other; what is deeper stands side by side."""

INDENTED = 12
"""Levels that are still moved to the right."""

STYLE: Final = """
.npser{--i:#1b1f24;--s:#5b6570;--l:#d7dce1;--t:#e9edf1;--b:#2f7bbf;--g:#98a4b0;--r:#b42318}
@media(prefers-color-scheme:dark){.npser{--i:#e6e9ec;--s:#9aa5b0;--l:#3a424b;--t:#2a3138;--b:#5aa5e8;--g:#6f7b87;--r:#ff8a7a}}
.npser{--ink:var(--jp-content-font-color1,var(--vscode-editor-foreground,var(--i)));
--soft:var(--jp-content-font-color2,var(--vscode-descriptionForeground,var(--s)));
--line:var(--jp-border-color2,var(--vscode-editorWidget-border,var(--l)));
--track:var(--jp-layout-color2,var(--vscode-editorWidget-background,var(--t)));
color:var(--ink);font:13px/1.55 system-ui,sans-serif;max-width:62rem;overflow-x:auto}
.npser p{margin:0;color:var(--soft)}.npser p.top{font-weight:600;color:var(--ink);margin-bottom:.3rem}
.npser p.bad{color:var(--r)}
.npser details,.npser .row{margin:0 0 0 .45rem;padding:0 0 0 .45rem;border-left:1px solid var(--line)}
.npser .flat{margin:0;padding:0;border:0}
.npser summary,.npser .row{display:grid;gap:0 .7rem;min-width:45rem;
grid-template-columns:minmax(9rem,1fr) 12rem 4.8rem 6rem 3.2rem 6rem 4.4rem}
.npser summary{cursor:pointer;list-style:none}.npser summary::-webkit-details-marker{display:none}
.npser summary:hover,.npser .row:hover{background:var(--track)}
.npser summary>*,.npser .row>*{text-align:right;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;
font-variant-numeric:tabular-nums}
.npser summary>:first-child,.npser .row>:first-child{text-align:left;padding-left:.9rem;
font:12px/1.7 ui-monospace,monospace}
.npser summary>:first-child::before{content:"\\25B8";display:inline-block;width:.9rem;margin-left:-.9rem}
.npser details[open]>summary>:first-child::before{content:"\\25BE"}
.npser summary>:nth-child(2),.npser .row>:nth-child(2){text-align:left}
.npser summary>:nth-child(2),.npser summary>:nth-child(3),.npser summary>:nth-child(7),.npser .row>:nth-child(2),
.npser .row>:nth-child(3),.npser .row>:nth-child(7),.npser .head>:nth-child(n){color:var(--soft)}
.npser .head{border-color:transparent}.npser .head:hover{background:none}
.npser .track{background:var(--track);height:.55rem;align-self:center;border-radius:2px}
.npser .track>*{display:block;background:var(--b);height:100%;border-radius:2px}
.npser .own>.track>*{background:var(--g)}
.npser p.why{padding-left:1.8rem}
"""

HEAD: Final = (
    '<div class="row head"><span>where</span> <span>encoding</span> <span>items</span> <span>bytes</span> '
    "<span>share</span> <span></span> <span>ratio</span></div>"
)


def draw_html(report: Report) -> str:
    """The report as a fragment that stands for itself."""
    base = f"npser-{crc32(report._payload):08x}"
    first, *others = summary_lines(report)
    out = [f'<div class="npser" id="{base}"><style>{STYLE}</style><p class="top">{escape(first)}</p>']
    for line in others:
        mark = ' class="bad"' if line.startswith("error:") else ""
        out.append(f"<p{mark}>{escape(line)}</p>")
    out.append(HEAD)
    reasons = {id(part): str(why) for part, why in report.reasons() if why.others}
    _Drawing(out, base, reasons).draw(choose_parts(report.root, MAX_SHOWN, blocks=True))
    out.append("</div>")
    return "".join(out)


def _opened(top: Shown) -> set[int]:
    """The ids of the parts that stand open: from the top, the largest first, as long as there is room."""
    opened: set[int] = set()
    room, at = OPEN_ROWS, 0
    heap = [(-top.part.nbytes, at, top)]
    while heap:
        _, _, shown = heappop(heap)
        rows = len(shown.children) + bool(shown.left_out)
        if shown.depth >= ALWAYS_OPEN and (rows > room or shown.part.is_leaf):
            continue
        room -= rows
        opened.add(id(shown.part))
        for child in shown.children:
            at += 1
            heappush(heap, (-child.part.nbytes, at, child))
    return opened


class _Drawing:
    """HTML being written, node by node, without recursion."""

    def __init__(self, out: list[str], base: str, reasons: dict[int, str]) -> None:
        self._out = out
        self._base = base
        self._reasons = reasons
        self._number = 0

    def draw(self, top: Shown) -> None:
        opened = _opened(top)
        stack: list[tuple[Shown, Part | None] | str] = [(top, None)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                self._out.append(item)
                continue
            shown, parent = item
            part = shown.part
            self._number += 1
            marks = [*(["flat"] if shown.depth >= INDENTED else []), *(["own"] if part.role or not part.raw else [])]
            name = f'id="{self._base}-{self._number}"'
            cells = _cells(part, parent)
            title = f'title="{escape(clip(plain(_title(part)), 120))}"'
            said = filter(None, (clip(plain(part.note), 300), self._reasons.get(id(part))))
            inside = "".join(f'<p class="why">{escape(line)}</p>' for line in said)
            if shown.depth >= DEEPEST or not (shown.children or shown.left_out or inside):
                self._out.append(f'<div class="{" ".join(["row", *marks])}" {name} {title}>{cells}</div>{inside}')
            else:
                kind = f' class="{" ".join(marks)}"' if marks else ""
                is_open = " open" if id(part) in opened else ""
                own = ' class="own"' if "own" in marks else ""
                self._out.append(f"<details{kind} {name}{is_open}><summary{own} {title}>{cells}</summary>{inside}")
                stack.append("</details>")
            if shown.left_out:
                more = f"<span>… {shown.left_out:,} more</span> <span></span> <span></span>"
                stack.append(f'<div class="row">{more} <span>{exact(shown.left_bytes)}</span></div>')
            stack += [(child, part) for child in reversed(shown.children)]


def _cells(part: Part, parent: Part | None) -> str:
    label = escape(clip(plain(label_below(part, parent)), 80))
    encoding = escape(clip(plain(what_of(part)), 40))
    count = f"{part.count:,}" if part.count else ""
    share = f"{100 * part.share:.1f}%"
    return (
        f"<span>{label}</span> <span>{encoding}</span> <span>{count}</span> <span>{exact(part.nbytes)}</span> "
        f'<span>{share}</span> <span class="track"><span style="width:{share}"></span></span> '
        f"<span>{times(part.ratio)}</span>"
    )


def _title(part: Part) -> str:
    facts = [part.path, part.kind, part.dtype]
    if part.per_item is not None:
        facts.append(f"{part.per_item:.2f} bytes an item")
    if part.ratio is not None:
        facts.append(f"{part.ratio:,.1f} times smaller than plain")
    if part.hit_rate is not None:
        facts.append(f"{part.distinct:,} distinct, {part.hit_rate:.1%} were there already")
    return "; ".join(filter(None, facts))
