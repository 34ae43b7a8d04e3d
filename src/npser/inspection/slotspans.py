"""The data of a payload, slot by slot: kinds, numbers of singles, pools, directory, bodies.

Strategy: everything up to the bodies is opened first, then the shape asks for its slots in order, and each gets the
ranges of bytes that it takes. A body that belongs to leaves may be damaged without harm to the others: its error is
noted and the walk goes on. Only what the shape itself needs (lengths, codes) must be there. Beyond a bound on their
number, slots are still walked but no longer told apart, so a payload of a million columns costs no million objects.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final

from npser.blocks.cursor import Cursor
from npser.columns.bodies import ALIGNED_BODY, ALIGNMENT, ARRAY, FIRST_BODY
from npser.columns.pools import POOLS, TEXT
from npser.columns.singles import I64, U8, read_numbers
from npser.columns.singles import TEXT as TEXT_KIND
from npser.errors import DecodeError, TruncatedError
from npser.inspection.blockspans import chunks_of
from npser.inspection.columnspans import DTYPES, walk_body
from npser.inspection.intchunks import repeated
from npser.inspection.labels import distinct_of, label_of
from npser.inspection.pieces import Piece
from npser.inspection.poolspans import TAKES, Pools
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.inspection.intchunks import Chunks
    from npser.shapes.node import Node

__all__ = ["MAX_SLOTS", "Slot", "Slots"]

MAX_SLOTS = 1 << 15
"""Slots that are told apart; what comes behind them is one."""

FIRST_POOLED: Final = int(Kind.POOL_U8)
NUMBER_SIZES: Final = {3: 1, 4: 2, 5: 4, 6: 8, 7: 8}
NUMBERS: Final = bytes(range(TEXT_KIND))
"""The kinds of singles that have no text: None, bools, and those above."""

STRUCTURE: Final = frozenset({"lengths", "codes", "patterns", "numbers", "dimensions", "ndims"})
"""Roles whose values the walk needs."""

MAX_BODIES = MAX_SLOTS

MAX_PIECES = 1 << 17
"""Blocks that are told apart, all bodies together; of further bodies, only what they are."""


class Slot:
    """The leaves, or the structure, at one place of the value.

    Attributes
    ----------
    node : Node | None
        Of the shape; None for what has no shape, and for the rest.
    edge : int
        Which child of its parent, as `Node.step` counts.
    role : str
        ``""`` for leaves, else what the shape needs it for: ``lengths``, ``codes``.
    n, raw, distinct, dtype, label
        As a `Piece` has them.
    nbytes : int
        Bytes of the payload that are its own.
    pieces : list of Piece
        Where they are.
    body : Piece | None
        Its body, if it has one.
    same : int | None
        The number of the earlier body that its body is again.
    error : DecodeError | None
        What was wrong with its body.
    slots : int
        How many slots it stands for: 1, but for the rest.
    """

    __slots__ = (
        "body",
        "distinct",
        "dtype",
        "edge",
        "error",
        "kind",
        "label",
        "n",
        "nbytes",
        "node",
        "pieces",
        "raw",
        "role",
        "same",
        "slots",
    )

    def __init__(self, node: Node | None, edge: int, role: str, kind: int, n: int) -> None:
        self.node = node
        self.edge = edge
        self.role = role
        self.kind = kind
        self.n = n
        self.raw = 0
        self.nbytes = 0
        self.distinct: int | None = None
        self.dtype = ""
        self.label = ""
        self.body: Piece | None = None
        self.same: int | None = None
        self.slots = 1
        self.error: DecodeError | None = None
        self.pieces: list[Piece] = []


class Slots:
    """Hands out the slots of one payload in the order of its shape.

    Attributes
    ----------
    all : list of Slot
        Those that are told apart, in order.
    rest : Slot
        All others, as one.
    owned : dict of str to int
        Bytes of each section that belong to slots: ``numbers``, ``pools``, ``bodies``.
    value : int | None
        Of the slot that was taken last, if it is a single integer.
    error : DecodeError | None
        The first thing that was wrong with a body.
    """

    def __init__(self, root: Piece, cursor: Cursor, singles: int, columns: int) -> None:
        self.cursor = cursor
        self.all: list[Slot] = []
        self.rest = Slot(None, 0, "", 0, 0)
        self.rest.slots = 0
        self.error: DecodeError | None = None
        self.value: int | None = None
        self.owned = {"numbers": 0, "pools": 0, "bodies": 0}
        self._pieces = 0
        start = cursor.pos
        self._kinds = cursor.take(singles + columns).tobytes()
        root.add(start, "kinds", cursor.pos, singles + columns)
        single_kinds = self._kinds[:singles]
        self._numbers_piece = root.add(cursor.pos, "numbers")
        self._number_at = cursor.pos
        self._numbers = iter(read_numbers(cursor, single_kinds))
        self._numbers_piece.stop = cursor.pos
        self._next_kind = [singles, 0]  # columns, singles: indexed by bool
        pools = root.add(cursor.pos, "pools")
        pools.gap = "header"
        try:
            self.pools = Pools(pools, cursor)
        finally:
            pools.stop = cursor.pos
        texts = single_kinds.count(TEXT_KIND)
        if texts > self.pools.counts[TEXT]:
            raise cursor.fail(f"{texts} single strings, and a pool of {self.pools.counts[TEXT]}")
        self._single_texts = 0
        self.pools.at[TEXT] = texts
        self._last: dict[tuple[int, bool], Piece] = {}
        self._open_bodies(root, single_kinds)

    def _open_bodies(self, root: Piece, single_kinds: bytes) -> None:
        cursor = self.cursor
        without = bytes(range(FIRST_BODY))
        count = len(self._kinds.translate(None, without))
        self._next_body = [len(single_kinds.translate(None, without)), 0]
        start = cursor.pos
        ahead = Cursor(cursor.buf, start, cursor.end)
        self._entries = ahead.uvarints(count) if count else []
        root.add(start, "directory", ahead.pos, count)
        cursor.pos = ahead.pos
        self._spans = self._lay_out(self._kinds.translate(None, without))
        self._bodies = root.add(ahead.pos, "bodies", cursor.pos, count)
        self._bodies.gap = "padding"
        self._body_pieces: list[Piece] = []
        for number, (start, stop) in enumerate(self._spans):
            if number == MAX_BODIES:
                break
            stored = not self._entries[number] & 1
            piece = self._bodies.add(start, "body", stop) if stored else Piece(start, "body", stop)
            self._body_pieces.append(piece)
        if len(self._spans) > MAX_BODIES:
            at = max((piece.stop for piece in self._bodies.children), default=ahead.pos)
            self._bodies.add(at, "more bodies", cursor.pos)

    def _lay_out(self, kinds: bytes) -> list[tuple[int, int]]:
        """Where the bodies are. One that is cut off, and those behind it, are what is there of them."""
        cursor = self.cursor
        at = cursor.pos
        spans: list[tuple[int, int]] = []
        for kind, entry in zip(kinds, self._entries, strict=True):
            size = entry >> 1
            if entry & 1:
                if size >= len(spans):
                    raise cursor.fail(f"body {len(spans)} repeats body {size}, which is not before it")
                cursor.expand(spans[size][1] - spans[size][0])
                spans.append(spans[size])
                continue
            if kind == ARRAY and size >= ALIGNED_BODY:
                padding = -at % ALIGNMENT
                if any(cursor.buf[at : min(at + padding, cursor.end)]):
                    self.error = self.error or DecodeError("padding is not zero", pos=at)
                at += padding
            if size > cursor.end - at and self.error is None:
                self.error = TruncatedError(f"need {size} bytes, {max(0, cursor.end - at)} left", pos=at)
            at = min(at, cursor.end)
            spans.append((at, min(at + size, cursor.end)))
            at += size
        cursor.pos = min(at, cursor.end)
        return spans

    # ------------------------------------------------------------------------------------------------------- asking

    def take(self, node: Node, edge: int, role: str, n: int, *, single: bool) -> Slot:
        """The next slot; its leaves are not looked at beyond what its size needs."""
        at = self._next_kind[single]
        self._next_kind[single] = at + 1
        kind = self._kinds[at]
        full = len(self.all) >= MAX_SLOTS
        slot = Slot(node, edge, role, kind, n)
        self.value = None
        section = "pools"
        if kind >= FIRST_BODY:
            section = "bodies"
            self._take_body(slot, single=single, full=full)
        elif single:
            section = "pools" if kind == TEXT_KIND else "numbers"
            self._take_single(slot, full=full)
        else:
            self._take_pooled(slot, full=full)
        self.owned[section] += slot.nbytes
        if full:
            rest = self.rest
            rest.slots += 1
            rest.n += n
            rest.raw += slot.raw
            rest.nbytes += slot.nbytes
        else:
            self.all.append(slot)
        return slot

    def skip(self, k: int) -> bool:
        """Pass over k single leaves at once: if no slot is told apart any more, and all of them are plain numbers."""
        at = self._next_kind[True]
        kinds = self._kinds[at : at + k]
        if len(self.all) < MAX_SLOTS or kinds.translate(None, NUMBERS):
            return False
        numbers = sum(map(kinds.count, NUMBER_SIZES))
        nbytes = sum(size * kinds.count(kind) for kind, size in NUMBER_SIZES.items())
        deque(islice(self._numbers, numbers), maxlen=0)
        self._next_kind[True] = at + k
        self._number_at += nbytes
        self.owned["numbers"] += nbytes
        rest = self.rest
        rest.slots += k
        rest.n += k
        rest.raw += 8 * numbers + (k - numbers)
        rest.nbytes += nbytes
        return True

    def ints(self, slot: Slot) -> Chunks:
        """The values of a slot of structure."""
        if slot.error is not None:
            raise slot.error
        if self._values is None:
            raise self.cursor.fail(f"expected integers, not kind 0x{slot.kind:02x}")
        return self._values()

    _values: Callable[[], Chunks] | None = None

    def _take_single(self, slot: Slot, *, full: bool) -> None:
        kind = slot.kind
        if kind > TEXT_KIND:
            raise self.cursor.fail(f"a single leaf of the kind 0x{kind:02x}, which is one of columns")
        slot.dtype, slot.label, slot.raw = DTYPES[kind], Kind(kind).name, 1
        self._values = None
        if kind == TEXT_KIND:
            item = self._single_texts
            self._single_texts = item + 1
            slot.raw = self.pools.raw(TEXT, item, 1)
            self._own(slot, TEXT, item, item + 1, full=full, single=True)
        elif kind >= FIRST_POOLED:
            at, size, value = self._number_at, NUMBER_SIZES[kind], next(self._numbers)
            self._number_at = at + size
            slot.nbytes, slot.raw = size, 8
            if not full:
                slot.pieces.append(self._numbers_piece.add(at, slot.role or "number", at + size, 1))
            if U8 <= kind <= I64:
                self.value = int(value)
                self._values = lambda: repeated(int(value), 1)

    def _take_pooled(self, slot: Slot, *, full: bool) -> None:
        pools, kind = self.pools, slot.kind
        if kind == Kind.POOL_COPIES and slot.role != "lengths":
            raise self.cursor.fail("POOL_COPIES where no lengths of lists are")
        take = TAKES.get(kind)
        if take is None:
            raise self.cursor.fail(f"no such kind of column: 0x{kind:02x}")
        before = pools.at.copy()
        taken = take(pools, slot.n)
        for pool in range(POOLS):
            if pools.at[pool] != before[pool]:
                self._own(slot, pool, before[pool], pools.at[pool], full=full, single=False)
        slot.raw, slot.distinct, slot.dtype, slot.label = taken.raw, taken.distinct, taken.dtype, taken.label
        self._values = taken.ints

    def _own(self, slot: Slot, pool: int, first: int, last: int, *, full: bool, single: bool) -> None:
        """Items of a pool that are this slot's."""
        start, stop = self.pools.bound(pool, first), self.pools.bound(pool, last)
        slot.nbytes += stop - start
        parent = self.pools.pieces[pool]
        if parent is None or start == stop:
            return
        last_of_rest = self._last.get((pool, single)) if full else None
        if last_of_rest is not None:
            last_of_rest.stop = stop
            return
        piece = parent.add(start, "more" if full else slot.role or "items", stop, last - first)
        if full:
            self._last[pool, single] = piece
        else:
            slot.pieces.append(piece)

    def _take_body(self, slot: Slot, *, single: bool, full: bool) -> None:
        number = self._next_body[single]
        self._next_body[single] = number + 1
        start, stop = self._spans[number]
        repeats = self._entries[number] & 1
        slot.dtype, slot.label = DTYPES.get(slot.kind, ""), f"kind 0x{slot.kind:02x}"
        slot.nbytes = 0 if repeats else stop - start
        slot.same = self._entries[number] >> 1 if repeats else None
        self._values = None
        if full and slot.role not in STRUCTURE:
            return
        whole = number < len(self._body_pieces) and not repeats
        body = self._body_pieces[number] if whole else Piece(start, "body", stop)
        body.what = slot.role or "body"
        if not full:
            slot.body = body
            slot.pieces.append(body)
        try:
            self._walk_body(slot, body, start, stop)
        except DecodeError as error:
            slot.error = error
            self.error = self.error or error
            body.stop = stop
            body.gap = "unread"
        if slot.kind == FIRST_BODY and body.children:
            cursor, block = self.cursor, body.children[0]
            self._values = lambda: chunks_of(cursor, block)
        self._pieces += body.count()
        if self._pieces > MAX_PIECES:
            body.children = []

    def _walk_body(self, slot: Slot, body: Piece, start: int, stop: int) -> None:
        if (slot.kind == ARRAY) is not (slot.role == "arrays"):
            raise DecodeError("an array in the place of a leaf, or a leaf in that of an array", pos=start)
        cursor = Cursor(self.cursor.buf, start, stop, self.cursor.budget)
        try:
            walk_body(body, cursor, slot.kind, slot.n)
            if cursor.left:
                raise cursor.fail(f"{cursor.left} bytes left over in a column")
        finally:
            self.cursor.budget = cursor.budget
            slot.raw, slot.distinct, slot.dtype = body.raw, distinct_of(body), body.dtype
            slot.label = label_of(body)
            slot.n = body.n if slot.role == "arrays" else slot.n

    def close(self) -> None:
        """Check that nothing is left over."""
        left, bodies = self.pools.left, len(self._spans) - self._next_body[0]
        if left or bodies:
            raise self.cursor.fail(f"{left} pooled items and {bodies} columns left over")
        self.cursor.close()

    def settle(self) -> None:
        """Put what slots took of the pools in the order of the bytes: texts of singles come first there."""
        for piece in self.pools.pieces:
            if piece is not None:
                piece.children.sort(key=lambda child: child.start)
                piece.gap = "header"
