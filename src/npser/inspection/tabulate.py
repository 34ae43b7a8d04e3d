"""A table of figures as text and as HTML: what `compare`, `diff` and `advise` draw.

Strategy: columns of text take what their cells need, numbers stand right, and the last column gets what is left of the
width. What comes from a value or a payload is made printable, and in HTML escaped. No script, colours of the reader's
theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final
from zlib import crc32

from npser.inspection.parts import clip, plain

__all__ = ["WIDTH", "draw_table", "html_table", "milliseconds"]

WIDTH = 100

Row = Sequence[str]

STYLE: Final = """
.npser-table{--i:#1b1f24;--s:#5b6570;--l:#d7dce1;--b:#2f7bbf;--t:#e9edf1}
@media(prefers-color-scheme:dark){.npser-table{--i:#e6e9ec;--s:#9aa5b0;--l:#3a424b;--b:#5aa5e8;--t:#2a3138}}
.npser-table{color:var(--jp-content-font-color1,var(--vscode-editor-foreground,var(--i)));
font:13px/1.55 system-ui,sans-serif;max-width:72rem;overflow-x:auto}
.npser-table p{margin:0}.npser-table table+p{margin-top:.4rem}
.npser-table p.soft{color:var(--jp-content-font-color2,var(--s))}
.npser-table table{border-collapse:collapse;margin:.3rem 0 0;font:inherit;color:inherit;background:none}
.npser-table tr,.npser-table thead{background:none;border-bottom:1px solid var(--jp-border-color2,var(--l))}
.npser-table th,.npser-table td{padding:.1rem .7rem .1rem 0;text-align:left;vertical-align:top;border:0;
font-weight:400;max-width:34rem;overflow-wrap:anywhere}
.npser-table th{color:var(--jp-content-font-color2,var(--s))}
.npser-table .num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.npser-table .track{display:block;width:7rem;height:.55rem;margin-top:.45rem;border-radius:2px;
background:var(--jp-layout-color2,var(--vscode-editorWidget-background,var(--t)))}
.npser-table .bar{display:block;height:100%;background:var(--b);border-radius:2px}
"""


def milliseconds(seconds: float | None) -> str:
    """A time with three digits or more, in milliseconds.

    >>> milliseconds(0.0000123), milliseconds(0.00123), milliseconds(1.5), milliseconds(None)
    ('0.0123', '1.23', '1,500', '-')
    """
    if seconds is None:
        return "-"
    value = 1000 * seconds
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 4
    return f"{value:,.{digits}f}"


def draw_table(head: Row, rows: Iterable[Row], *, numbers: frozenset[int], widest: int = 40) -> list[str]:
    """The lines of a table of at most `WIDTH` columns.

    Parameters
    ----------
    numbers : set of int
        Which columns stand right.
    widest : int
        Characters of any column but the last.

    >>> draw_table(("name", "bytes"), [("a", "10"), ("bc", "7")], numbers=frozenset({1}))
    ['name  bytes', 'a        10', 'bc        7']
    """
    cells = [[clip(plain(cell), widest if at + 1 < len(row) else WIDTH) for at, cell in enumerate(row)] for row in rows]
    cells.insert(0, list(head))
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    widths[-1] = min(widths[-1], max(8, WIDTH - sum(widths[:-1]) - 2 * (len(widths) - 1)))
    lines = []
    for row in cells:
        parts = [
            f"{cell:>{width}}" if at in numbers else f"{clip(cell, width):{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(clip("  ".join(parts).rstrip(), WIDTH))
    return lines


SOFT: Final = ' class="soft"'


def html_table(
    lines: Sequence[str],
    head: Row,
    rows: Sequence[Row],
    *,
    numbers: frozenset[int],
    bars: Sequence[float] = (),
    notes: Sequence[str] = (),
) -> str:
    """A fragment that stands for itself: lines of text, of which the first is the title, a table, and notes below it.

    Parameters
    ----------
    bars : sequence of float
        A share from 0 to 1 a row, drawn in a last column.
    """
    text = "\n".join([*lines, *("\t".join(row) for row in rows), *notes])
    name = f"npser-t{crc32(text.encode('utf-8', 'replace')):08x}"
    out = [f'<div class="npser-table" id="{name}"><style>{STYLE}</style>']
    out += [f"<p{SOFT if at else ''}>{_cell(line)}</p>" for at, line in enumerate(lines)]
    more = [""] if bars else []
    out.append("<table><thead><tr>")
    out += [f"<th{_right(at, numbers)}>{_cell(name)}</th>" for at, name in enumerate([*head, *more])]
    out.append("</tr></thead><tbody>")
    for number, row in enumerate(rows):
        out.append("<tr>")
        out += [f"<td{_right(at, numbers)}>{_cell(cell)}</td>" for at, cell in enumerate(row)]
        if bars:
            share = 100 * min(1.0, max(0.0, bars[number]))
            out.append(f'<td><span class="track"><span class="bar" style="width:{share:.1f}%"></span></span></td>')
        out.append("</tr>")
    out.append("</tbody></table>")
    out += [f"<p{SOFT}>{_cell(line)}</p>" for line in notes]
    out.append("</div>")
    return "".join(out)


def _right(at: int, numbers: frozenset[int]) -> str:
    return ' class="num"' if at in numbers else ""


def _cell(text: str) -> str:
    return escape(clip(plain(text), 300))
