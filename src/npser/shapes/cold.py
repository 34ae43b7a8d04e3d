"""Reading a payload by the outline of its shape: for shapes that are new.

Strategy: one loop over the steps of an `Outline` with a stack of finished values. Leaves move onto it by the slice;
a container takes its own off again and leaves one value. Counts never come out of the shape, and whatever goes wrong in
here is thrown away: the two loops of `build` run again and say what it was.
"""

from __future__ import annotations

import sys
from array import array
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import Cursor
from npser.blocks.text import SPLIT, read_few
from npser.columns.bodies import ARRAY, FIRST_BODY
from npser.columns.pools import POOLS, weigh_pools
from npser.columns.pools import TEXT as TEXT_POOL
from npser.columns.singles import I64, TEXT, U8, form_of
from npser.columns.slotreader import COPIES, SlotReader
from npser.columns.slotreader import LISTS as READ_LISTS
from npser.columns.slots import Singles, read_leaves
from npser.shapes import outline as steps
from npser.shapes.collector import pause, resume
from npser.shapes.hot import PAUSED_BYTES, UNREAD, lone_form, read_lone
from npser.shapes.node import Builder
from npser.shapes.sequences import cut
from npser.tags import Node as Tag
from npser.weights import NODES, row_weight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from npser.shapes.node import Program
    from npser.shapes.policy import Policy

__all__ = ["open_few", "read_alone", "read_slots"]

_SINGLE, _LIST, _NO_ITEMS, _FLAT_ROWS = steps.SINGLE, steps.LIST, steps.NO_ITEMS, steps.FLAT_ROWS
_LEAVES, _LISTS, _NONE_OF = steps.LEAVES, steps.LISTS, steps.NONE_OF
_OPEN, _NEXT, _LEAF_OF = steps.OPEN, steps.NEXT, steps.LEAF_OF


SEQUENCE: Final = NODES[Tag.LIST]
_WITHOUT_BODY: Final = bytes(range(FIRST_BODY))
_NO_NUMBERS: Final = array("q")
_POOLS: Final[tuple[tuple[int, Any], ...]] = ((1, "B"), (2, "h"), (4, "i"), (8, "q"), (8, "d"))
_FEW_MASKS: Final = 1 << POOLS if sys.byteorder == "little" else 0  # elsewhere numbers are not as they are stored
_PRESENT: Final = [[which for which in range(POOLS) if mask >> which & 1] for mask in range(_FEW_MASKS)]


class _UnfitError(Exception):
    """The payload is not as it should be."""


def read_slots(
    program: Program, kinds: bytes, numbers: tuple[Any, ...], slots: SlotReader, policy: Policy
) -> Any:
    """The value of a payload whose slots were just opened; any exception if something is wrong with it."""
    if ARRAY in kinds:
        raise _UnfitError
    leaves = read_leaves(kinds, numbers, slots)
    if slots.cursor.end < PAUSED_BYTES:
        value = _run(program, kinds, leaves, slots, policy)
    else:
        pause()
        try:
            value = _run(program, kinds, leaves, slots, policy)
        finally:
            resume()
    slots.close()
    return value


def open_few(cursor: Cursor, singles: int, columns: int) -> tuple[bytes, tuple[Any, ...], SlotReader] | None:
    """What `open_slots` gives, where nothing has a body and every pool is small; None where it has to be asked."""
    buf, pos, size = cursor.buf, cursor.pos, cursor.end
    first = pos + singles
    start = first + columns
    kinds = buf[pos:start].tobytes()
    if kinds.translate(None, _WITHOUT_BODY):
        return None
    single_kinds = kinds[:singles]
    try:
        layout = form_of(single_kinds)
        numbers = layout.unpack_from(buf, start)
        at = start + layout.size
        present = _PRESENT[buf[at]]
        at += 1
        stop = at + len(present)
        counts = buf[at:stop].tobytes()
        if not counts.isascii():  # some are longer
            return None
        at = stop
        pools: list[Any] = [b"", _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, []]
        for which, count in zip(present, counts, strict=True):
            if which == TEXT_POOL:
                if buf[at] != SPLIT:
                    return None
                texts, at = read_few(buf, at, count)
                if len(texts) != count:
                    return None
                pools[TEXT_POOL] = texts
            else:
                width, form = _POOLS[which]
                stop = at + count * width
                pools[which] = buf[at:stop].cast(form) if which else buf[at:stop].tobytes()
                at = stop
        cursor.expand(weigh_pools(pools))
    except Exception:
        return None
    if at != size:
        return None
    cursor.pos = at
    return single_kinds, numbers, SlotReader(cursor, pools, single_kinds.count(TEXT), kinds[singles:], [])


def _run(program: Program, kinds: bytes, leaves: list[Any], slots: SlotReader, policy: Policy) -> Any:
    outline = program.outline
    assert outline is not None
    stack: list[Any] = []
    push = stack.append
    counts: list[Any] = []  # a stack: over how many instances the containers run that are open, and their lengths
    columns = slots.kinds
    b: Any = Builder(Singles(b"", [], slots), slots, slots.cursor, policy, program) if outline.calls else None
    at = n = column = 0
    for code, until, size, make in outline.steps:
        if not code:
            first = until - size
            if first > at:
                stack += leaves[at:first]
            push(make(leaves[first:until]))
            at = until
        elif code == _SINGLE:
            if until > at:
                stack += leaves[at:until]
                at = until
            first = len(stack) - size
            own = stack[first:]
            del stack[first:]
            push(make(own))
        elif code < _FLAT_ROWS:
            first = until - 1
            if first > at:
                stack += leaves[at:first]
            at = until
            n = leaves[first]
            if not U8 <= kinds[first] <= I64 or n < 0:
                raise _UnfitError
            if code == _LIST:
                items = READ_LISTS[columns[column]](slots, n)
                column += 1
                push(items if make is None else tuple(items))
            elif code == _NO_ITEMS:
                if n:
                    raise _UnfitError
                push([] if make is None else ())
        elif code < _LEAVES:
            slots.cursor.expand(n * row_weight(size))
            if code == _FLAT_ROWS:
                first = until - size
                if first > column:
                    stack += slots.run(column, first, n)
                own = slots.run(first, until, n)
            else:
                if until > column:
                    stack += slots.run(column, until, n)
                first = len(stack) - size
                own = stack[first:]
                del stack[first:]
            column = until
            push(make(own, n))
        elif code < _LISTS:
            slots.cursor.expand(n * SEQUENCE)
            if until > column:
                stack += slots.run(column, until, n)
            column = until + 1
            slots.next = until
            if columns[until] == COPIES:
                codes, lengths = slots.copies(n) or ((), [])
            else:
                codes, lengths = None, slots.ints(n)
                if n and min(lengths) < 0:
                    raise _UnfitError
            if code == _LEAVES:
                items = READ_LISTS[columns[column]](slots, sum(lengths))
                column += 1
                push(cut(items, lengths, make) if codes is None else _copies(cut(items, lengths, make), codes))
            else:
                counts.append((n, codes, lengths))
                n = sum(lengths)
        elif code == _LISTS:
            n, codes, lengths = counts.pop()
            items = cut(stack.pop(), lengths, make)
            push(items if codes is None else _copies(items, codes))
        elif code == _NONE_OF:
            if n:
                raise _UnfitError
            push([])
        elif code == _LEAF_OF:
            push(READ_LISTS[columns[column]](slots, b.counts.pop()))
            column += 1
        elif code == _NEXT:
            n = b.counts.pop()
        elif code == _OPEN:
            slots.cursor.expand((1 if make.single else n) * make.weight)
            if make.single:
                stack += leaves[at:until]
                at = until + size
                b.singles = Singles(kinds[until:at], leaves[until:at], slots)
                n = 1
            else:
                if until > column:
                    stack += slots.run(column, until, n)
                slots.next = until
                column = until + size
            counts.append((n, make.open(b, n)))
        else:
            n, frame = counts.pop()
            first = len(stack) - size
            own = stack[first:]
            del stack[first:]
            push(make.close_single(b, frame, own) if make.single else make.close(b, n, frame, own))
    return stack[0]


def _copies(parts: list[Any], codes: Iterable[int]) -> list[Any]:
    """Each sequence of a list a part, lists as copies of their own."""
    cells = map(parts.__getitem__, codes)
    return list(map(list.copy, cells)) if type(parts[0]) is list else list(cells)


_NONES, _FALSES, _TRUES = map(repeat, (None, False, True))


def read_alone(program: Program, buf: bytes, pos: int, kinds: bytes, policy: Policy, budget: int) -> Any:
    """The value of a payload that holds nothing but numbers and texts, and has no columns.

    Parameters
    ----------
    pos : int
        Where the numbers begin.
    kinds : bytes
        Those of the single leaves, all of them among `COMMON`.
    budget : int
        Cells that the payload may take.

    Returns
    -------
    object
        `UNREAD` where the payload is of another sort, or not as it should be: the usual way will tell.
    """
    try:
        numbers, texts, _ = read_lone(buf, pos, lone_form(kinds), budget)
        number = iter(numbers)
        sources: list[Iterator[Any]] = [
            _NONES, _FALSES, _TRUES, number, number, number, number, number, iter(texts)
        ]
        leaves = list(map(next, map(sources.__getitem__, kinds)))
        return _run(program, kinds, leaves, _NO_COLUMNS, policy)
    except Exception:
        return UNREAD


_NO_COLUMNS: Final = SlotReader(Cursor(memoryview(b""), budget=0), [b"", [], [], [], [], []], 0, b"", [])
