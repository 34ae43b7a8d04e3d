"""Reading columns: out of the pools, or out of bodies. `slots` has the layout.

Strategy: two tables say what to do with a kind, one for lists and one for cells: whatever a table can zip. Code that
knows which column is next calls them itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_int_list
from npser.columns.arrays import read_array_views, read_arrays
from npser.columns.bodies import ARRAY, FIRST_BODY
from npser.columns.kinds import BODY_CELLS, NUMBER_READERS, READERS
from npser.columns.pools import TEXT, U8
from npser.columns.unpooled import CELL_READERS, FIRST_POOLED, PoolReader, count_copies
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npser.errors import DecodeError

__all__ = ["CELLS", "LISTS", "SlotDrawer", "SlotReader", "as_numbers"]

COPIES, TEXT_KIND = int(Kind.POOL_COPIES), int(Kind.POOL_TEXT)

_INT_KINDS: Final = frozenset(
    {Kind.POOL_U8, Kind.POOL_I16, Kind.POOL_I32, Kind.POOL_I64, Kind.POOL_STEPS, Kind.POOL_FRAME}
)


class SlotReader(PoolReader):
    """Hands out the columns of one payload in order.

    Parameters
    ----------
    cursor : Cursor
        At the end of the payload, for its buffer, its budget, and positions in errors.
    pools, texts
        See `PoolReader`.
    kinds : bytes
        One a column.
    spans : list of (start, stop)
        Where the bodies are: those of singles, then those of columns.

    Attributes
    ----------
    next : int
        The number of the next column.
    """

    __slots__ = ("_texts", "kinds", "next", "next_span", "spans")

    def __init__(
        self,
        cursor: Cursor,
        pools: list[Any],
        texts: int,
        kinds: bytes,
        spans: list[tuple[int, int]],
    ) -> None:
        super().__init__(cursor, pools, texts)
        self._texts = texts
        self.kinds = kinds
        self.next = 0
        self.spans = spans
        self.next_span = 0

    def _kind(self) -> int:
        kind = self.kinds[self.next]
        self.next += 1
        return kind

    def many(self, n: int) -> list[Any]:
        """The next column as a list of n values."""
        values: list[Any] = LISTS[self._kind()](self, n)
        return values

    def cells(self, n: int) -> Iterable[Any]:
        """The next column as n values that can be iterated once."""
        cells: Iterable[Any] = CELLS[self._kind()](self, n)
        return cells

    def ints(self, n: int) -> list[int]:
        """The next column as a list of n ints of structure: never None, never anything but an int64."""
        kind = self._kind()
        if kind in _INT_KINDS:
            values: list[int] = LISTS[kind](self, n)
            return values
        if kind == FIRST_BODY:
            return self.body(read_int_list, n)  # type: ignore[no-any-return]
        if kind == Kind.POOL_CONST:
            values = LISTS[kind](self, n)
            if not values or type(values[0]) is int:
                return values
        raise self.cursor.fail(f"expected integers in column {self.next - 1}, not kind 0x{kind:02x}")

    def run(self, start: int, stop: int, n: int) -> list[Any]:
        """The columns from `start` up to `stop`, each n values that can be iterated once.

        For many columns in one call: what is cut out of a pool as it is costs no call of its own.
        """
        at, pools, texts = self.at, self.pools, self.pools[TEXT]
        out = []
        for kind in self.kinds[start:stop]:
            if kind == TEXT_KIND:
                first = at[TEXT]
                last = first + n
                if last > len(texts):
                    self.take(TEXT, n)  # raises
                at[TEXT] = last
                out.append(texts[first:last])
            elif FIRST_POOLED < kind < TEXT_KIND:
                pool = kind - FIRST_POOLED
                first = at[pool]
                last = first + n
                items = pools[pool]
                if last > len(items):
                    self.take(pool, n)
                at[pool] = last
                out.append(items[first:last].tolist())
            else:
                out.append(CELLS[kind](self, n))
        return out

    def copies(self, n: int) -> tuple[Iterable[int], list[int]] | None:
        """The next column if it has the lengths of sequences of which only the distinct ones are stored.

        Returns
        -------
        (n codes, d lengths), or None
            None, and nothing read, if it is any other column.
        """
        if self.kinds[self.next] != COPIES:
            return None
        self.next += 1
        start = self.at[U8]
        try:
            codes, lengths, items, stop = count_copies(self.pools[U8], start, n)
        except (IndexError, ValueError) as error:
            raise self.cursor.fail(f"copies of sequences: {error}") from None
        self.take(U8, stop - start)
        self.cursor.expand(n + items)
        return codes, list(lengths)

    def numbers(self, n: int) -> Any:
        """The next column as an array if it is all int, all float or all bool, else as a list.

        Returns
        -------
        numpy array of int64, float64 or bool, shape (n,), or list
        """
        kind = self.kinds[self.next]
        if kind < FIRST_BODY:
            return as_numbers(self.many(n))
        reader = NUMBER_READERS.get(kind)
        if reader is None:
            return self.many(n)
        self.next += 1
        return self.body(reader, n)

    def arrays(self, n: int) -> list[Any]:
        """The next column, which must hold arrays, as writable arrays of their own."""
        return self._arrays(n, read_arrays)

    def views(self, n: int) -> list[Any]:
        """The next column, which must hold arrays, as read-only arrays that look into the payload where they can."""
        return self._arrays(n, read_array_views)

    def _arrays(self, n: int, reader: Callable[[Cursor, int], Any]) -> list[Any]:
        kind = self._kind()
        if kind != ARRAY:
            raise self.cursor.fail(f"expected arrays in column {self.next - 1}, not kind 0x{kind:02x}")
        arrays: list[Any] = self.body(reader, n)
        return arrays

    def body(self, reader: Callable[[Cursor, int], Any], n: int) -> Any:
        """Read the next body, which must fill its span."""
        span = self.spans[self.next_span]
        self.next_span += 1
        return self.span(span, reader, n)

    def span(self, span: tuple[int, int], reader: Callable[[Cursor, int], Any], n: int) -> Any:
        """Read a body, which must fill its span."""
        start, stop = span
        cursor = self.cursor
        body = Cursor(cursor.buf, start, stop, cursor.budget)
        values = reader(body, n)
        if body.pos != stop:
            raise body.fail(f"{body.left} bytes left over in a column")
        cursor.budget = body.budget
        return values

    def mismatch(self) -> DecodeError:
        """An error for code that knows the shape and meets a slot that does not fit; the caller raises it."""
        return self.cursor.fail("a slot that does not fit the shape")

    def rewind(self) -> None:
        """Begin again with the first column, and with the first body."""
        self.at = [0, 0, 0, 0, 0, self._texts]
        self.next = self.next_span = 0

    def close(self) -> None:
        """Check that the payload held nothing that no slot asked for."""
        left = self.left
        if left or self.next_span != len(self.spans):
            raise self.cursor.fail(f"{left} pooled items and {len(self.spans) - self.next_span} columns left over")
        self.cursor.close()


class SlotDrawer(SlotReader):
    """Reads columns for what they draw from the budget, and keeps none that would only be zipped with others."""

    __slots__ = ()

    def cells(self, n: int) -> Iterable[Any]:
        """No values, instead of the next column as n of them."""
        super().cells(n)
        return ()


ReadSlot = Callable[[SlotReader, int], Any]


_GIVES_LISTS: Final = frozenset(
    {
        Kind.POOL_I16,
        Kind.POOL_I32,
        Kind.POOL_I64,
        Kind.POOL_F64,
        Kind.POOL_TEXT,
        Kind.POOL_BOOL,
        Kind.POOL_MIXED,
        Kind.POOL_FRAME,
        Kind.POOL_DECIMAL,
        Kind.POOL_SOME,
    }
)


def _as_list(kind: int) -> ReadSlot:
    read = CELL_READERS[kind]
    if kind in _GIVES_LISTS:
        return read

    def read_list(slots: SlotReader, n: int) -> list[Any]:
        cells = read(slots, n)
        return cells if type(cells) is list else list(cells)

    return read_list


def _from_body(reader: Callable[[Cursor, int], Any]) -> ReadSlot:
    return lambda slots, n: slots.body(reader, n)


def _unknown(slots: SlotReader, _n: int) -> Any:
    raise slots.cursor.fail("no such kind of column")


_BODIES: Final = {int(kind): _from_body(reader) for kind, reader in READERS.items() if kind >= FIRST_BODY}

LISTS: Final[list[ReadSlot]] = [
    _as_list(kind) if kind in CELL_READERS else _BODIES.get(kind, _unknown) for kind in range(256)
]
"""By kind: the function of (slots, n) that gives the next column of that kind as a list."""

CELLS: Final[list[ReadSlot]] = [
    _from_body(BODY_CELLS[kind]) if kind in BODY_CELLS else CELL_READERS.get(kind, LISTS[kind]) for kind in range(256)
]
"""The same as something that can be iterated once."""

_DTYPES: Final[dict[type, str]] = {int: "<i8", float: "<f8", bool: "?"}


def as_numbers(values: list[Any]) -> Any:
    """The array of a list that is all int (of 64 bits), all float or all bool; any other list as it is.

    >>> as_numbers([1, 2]), as_numbers([1, 2.0]), as_numbers([2**63]), as_numbers([])
    (array([1, 2]), [1, 2.0], [9223372036854775808], [])
    """
    dtype = _DTYPES.get(type(values[0])) if values else None
    if dtype is None or len(set(map(type, values))) > 1:
        return values
    try:
        return np.array(values, dtype)
    except OverflowError:  # an int beyond 64 bits
        return values
