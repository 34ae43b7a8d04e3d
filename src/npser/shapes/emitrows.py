"""The loops of generated readers: tables and rows of one length.

Strategy: a table is a loop over its columns that are zipped. What stands in a row and has one value for each row, such
as a dict within it, is made in the same pass: it needs no list of its own, and nothing to take it out again. Objects
whose dicts are the rows are zipped, too, so that the first cells are unpacked straight into them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npser.shapes.emitter import Inline, each
from npser.shapes.generated import MAX_DISPLAY, can_share, new_row_class
from npser.shapes.sequences import Rows
from npser.shapes.tables import Tables
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.shapes.emitter import Context, Emitter, Place

__all__ = ["emit_row", "emit_table", "is_inline"]

MAX_LEVELS = 8
"""Values within values that one loop makes: displays within displays take the stack of the compiler."""


def is_inline(out: Emitter, place: Place) -> bool:
    """Whether the loop of a node's parent makes its values."""
    node, parent = place.node, place.node.parent
    if node.single or parent is None or parent.single:
        return False
    if not isinstance(parent, Tables) and not (isinstance(parent, Rows) and parent.tag == Tag.LIST_ROW):
        return False
    level = out.levels.get(id(parent), 0) + 1
    if level > MAX_LEVELS:
        return False
    out.levels[id(node)] = level
    return True


def emit_table(out: Emitter, place: Place) -> list[Context]:
    """Dicts of the same keys."""
    node, number = place.node, place.number
    keys = [out.key(key) for key in node.keys]
    shared = out.bound(new_row_class()) if can_share(node.keys) else ""
    blank = out.bound(dict.fromkeys(node.keys)) if not shared and len(keys) > MAX_DISPLAY else ""

    def make(cells: list[str]) -> tuple[list[str], str]:
        """How to make one dict of these cells: some lines, and the expression that it is."""
        if shared:
            return [f"o{number} = {shared}()", *_stores(f"o{number}", keys, cells)], f"o{number}.__dict__"
        if blank:
            stores = [f"o{number}[{key}] = {cell}" for key, cell in zip(keys, cells, strict=True)]
            return [f"o{number} = {blank}.copy()", *stores], f"o{number}"
        pairs = ", ".join(f"{key}: {cell}" for key, cell in zip(keys, cells, strict=True))
        return [], f"{{{pairs}}}"

    def make_shared(parts: list[Inline]) -> Inline:
        row = f"o{number}"
        zipped = {row: f"starmap({shared}, repeat((), {place.n}))"}
        direct = 0
        for key, part in zip(keys, parts, strict=True):
            if part.lines or [*part.zipped] != [part.value]:
                break
            zipped[f"{row}.{key[1:-1]}"] = part.zipped[part.value]
            direct += 1
        rest = _join(parts[direct:])
        stores = _stores(row, keys[direct:], [part.value for part in parts[direct:]])
        first = [line for part in parts[:direct] for line in part.first]
        return Inline([*first, *rest.first], zipped | rest.zipped, [*rest.lines, *stores], f"{row}.__dict__")

    return _emit(out, place, make, make_shared if shared else None)


def _stores(row: str, keys: list[str], cells: list[str]) -> list[str]:
    return [f"{row}.{key[1:-1]} = {cell}" for key, cell in zip(keys, cells, strict=True)]


def emit_row(out: Emitter, place: Place) -> list[Context]:
    """Lists or tuples of one length."""
    if place.node.tag == Tag.LIST_ROW:
        return _emit(out, place, lambda cells: ([], f"[{each(cells)}]"))
    if place.node.single or is_inline(out, place):
        return _emit(out, place, lambda cells: ([], f"({each(cells)})"))
    out.closes.append(lambda: [f"v{place.number} = list(zip({each(out.columns(place))}))"])
    return [place.n] * place.node.children


def _join(parts: list[Inline]) -> Inline:
    """What all of these need, without a value."""
    return Inline(
        [line for part in parts for line in part.first],
        {variable: column for part in parts for variable, column in part.zipped.items()},
        [line for part in parts for line in part.lines],
        "",
    )


def _emit(
    out: Emitter,
    place: Place,
    make: Callable[[list[str]], tuple[list[str], str]],
    make_zipped: Callable[[list[Inline]], Inline] | None = None,
) -> list[Context]:
    name, node = f"v{place.number}", place.node

    def gather() -> Inline:
        """One value in each pass, out of the cells of the children."""
        parts = [out.cell(child) for child in place.children]
        if make_zipped is not None:
            return make_zipped(parts)
        lines, value = make([part.value for part in parts])
        both = _join(parts)
        return Inline(both.first, both.zipped, [*both.lines, *lines], value)

    def alone() -> list[str]:
        lines, value = make(out.columns(place))
        return [*lines, f"{name} = {value}"]

    if node.single:
        out.closes.append(alone)
        return []
    if is_inline(out, place):
        out.inline[name] = gather
    else:
        out.closes.append(lambda: _loop(place, gather()))
    return [place.n] * node.children


def _loop(place: Place, row: Inline) -> list[str]:
    name, zipped = f"v{place.number}", row.zipped
    loop = f"for {each(zipped)} in zip({each(zipped.values())})" if zipped else f"for _ in repeat(None, {place.n})"
    if not row.lines:
        return [*row.first, f"{name} = [{row.value} {loop}]"]
    return [
        *row.first,
        f"{name} = []",
        f"{loop}:",
        *[f"    {line}" for line in row.lines],
        f"    {name}.append({row.value})",
    ]
