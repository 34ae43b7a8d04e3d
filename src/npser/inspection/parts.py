"""From pieces and slots to the parts of a report: a tree by the paths of the value, with figures.

Strategy: a part is a place of the value, and has the bytes that are its own and those of all below it; what belongs to
no place (header, shape, directory) are parts beside the value. So the parts add up to the payload, byte for byte. Paths
and names are cut to what a person reads, for keys come from strangers and may be megabytes, or control characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from npser.inspection.slotspans import MAX_SLOTS
from npser.shapes.leaves import LeafRun
from npser.tags import Kind
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.inspection.pieces import Piece
    from npser.inspection.slotspans import Slot
    from npser.inspection.spans import Walked
    from npser.shapes.node import Node

__all__ = ["SHOWN_PATH", "SHOWN_STEP", "Part", "build_parts", "clip", "plain"]

SHOWN_STEP = 80
SHOWN_PATH = 240
"""Characters of a key, and of a path, that are kept."""

MAX_BLOCKS_SHOWN = 64
"""Blocks of one body that become parts."""

MAX_PARTS = 1 << 16
"""Parts, but for blocks."""

ITSELF: Final = frozenset({"members", "arrays", "numbers"})
"""Roles of a slot that is all that its node has."""

KINDS: Final = frozenset(map(int, Kind))


class Part:
    """One place of the value, or one thing that every payload has.

    Attributes
    ----------
    path : str
        Like ``$['orders'][*]['price']``; ``(shape)`` and the like for what has none.
    role : str
        ``""`` for values; else what the payload needs it for: ``lengths``, ``codes``, ``patterns``; of a block what
        it is in its body.
    kind : str
        Of a container its node, as in FORMAT.md: ``TABLE``; of leaves their kind: ``TEXT``.
    encoding : str
        ``DICT 40 + FRAME 6``, from the outside in; of a container how many keys it has.
    dtype : str
        The type of the items; of objects their class, as the payload names it.
    count : int
        Instances of a container, items of a column, elements of arrays.
    nbytes : int
        Bytes of the payload that are here, and below.
    raw : int
        Bytes that the values would take plain: 8 an integer or double, 1 a bool, a code or a None, UTF-8, bytes.
    share : float
        Of the payload.
    shape_bytes : int
        Its own bytes in the shape, which are not among `nbytes`.
    distinct : int | None
        Entries of a dictionary of strings or other items.
    note : str
    children : list of Part
    """

    __slots__ = (
        "block",
        "children",
        "count",
        "distinct",
        "dtype",
        "encoding",
        "kind",
        "nbytes",
        "note",
        "path",
        "raw",
        "role",
        "shape_bytes",
        "share",
    )

    def __init__(self, path: str, kind: str = "", *, role: str = "", count: int = 0, nbytes: int = 0) -> None:
        self.path = path
        self.role = role
        self.kind = kind
        self.encoding = ""
        self.dtype = ""
        self.count = count
        self.nbytes = nbytes
        self.raw = 0
        self.share = 0.0
        self.shape_bytes = 0
        self.distinct: int | None = None
        self.note = ""
        self.children: list[Part] = []
        self.block: Piece | None = None

    @property
    def per_item(self) -> float | None:
        """Bytes an item; None if there are none."""
        return self.nbytes / self.count if self.count else None

    @property
    def ratio(self) -> float | None:
        """How many times smaller than plain; None if nothing was stored."""
        return self.raw / self.nbytes if self.nbytes and self.raw else None

    @property
    def hit_rate(self) -> float | None:
        """Of a dictionary, the share of items that were in it already."""
        if self.distinct is None or not self.count:
            return None
        return max(0.0, 1 - self.distinct / self.count)

    @property
    def is_leaf(self) -> bool:
        """Whether it is no container: its children, if any, are blocks."""
        return self.block is not None or not self.children

    def __repr__(self) -> str:
        name = f"{self.path} {self.role}".strip()
        return f"<{name}: {self.kind} {self.encoding}, {self.count:,} items in {self.nbytes:,} bytes>"

    def leaves(self) -> Iterator[Part]:
        """What has bytes of its own, at or below it; blocks are not told apart."""
        stack = [self]
        while stack:
            part = stack.pop()
            if part.is_leaf:
                yield part
            else:
                stack += reversed(part.children)

    def walk(self) -> Iterator[tuple[int, Part]]:
        """It and all below it, with their depth, parents first."""
        stack = [(0, self)]
        while stack:
            depth, part = stack.pop()
            yield depth, part
            stack += [(depth + 1, child) for child in reversed(part.children)]


def clip(text: str, most: int) -> str:
    """Text with its middle left out if it is long.

    >>> clip("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[len(text) - (most - 1 - half) :]}"


def plain(text: str) -> str:
    r"""Text without what a terminal would obey.

    >>> print(plain("a\x1b[0m\n"))
    a\x1b[0m\n
    """
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


def build_parts(w: Walked) -> Part:
    """The whole payload as a tree of parts."""
    size = len(w.buf)
    root = Part("", "payload", nbytes=size)
    value = _of_shape(w) if w.nodes is not None else _without_shape(w)
    if value is not None:
        root.children.append(value)
    if w.rest is not None and w.rest.slots:
        rest = Part("(more columns)", "", count=w.rest.n, nbytes=w.rest.nbytes)
        rest.raw = w.rest.raw
        rest.note = f"{w.rest.slots:,} columns beyond the first {MAX_SLOTS:,} are not told apart"
        root.children.append(rest)
    root.children += _of_no_place(w)
    for _, part in root.walk():
        part.share = part.nbytes / size if size else 0.0
    root.raw = value.raw if value is not None else 0
    return root


# --------------------------------------------------------------------------------------------------- beside the value


def _of_no_place(w: Walked) -> list[Part]:
    parts = []
    left = w.root.nbytes
    for piece in w.root.children:
        left -= piece.nbytes
        parts += _SECTIONS.get(piece.what, _section)(w, piece)
    behind = Part("(padding)" if w.error is None else "(unread)", nbytes=left)
    if w.error is None:
        behind.note = "as many zeros as a reader asks for before it makes so much out of so little"
    parts.append(behind)
    return [part for part in parts if part.nbytes]


def _section(_w: Walked, piece: Piece) -> list[Part]:
    return [Part(f"({piece.what})", count=piece.n, nbytes=piece.nbytes)]


def _nothing(_w: Walked, _piece: Piece) -> list[Part]:
    return []


def _shape(_w: Walked, piece: Piece) -> list[Part]:
    part = Part("(shape)", nbytes=piece.nbytes)
    nodes = [child for child in piece.children if child.what != "preserve"]
    keys = sum(part.nbytes for node in nodes for part in node.children if part.what == "keys")
    names = sum(part.nbytes for node in nodes for part in node.children if part.what == "name")
    part.count = len(nodes)
    part.note = f"{keys:,} bytes of keys, {names:,} of class names"
    return [part]


def _left_over(w: Walked, piece: Piece) -> list[Part]:
    """What nobody took: of a payload that is whole, nothing."""
    return [Part("(unread)", nbytes=piece.nbytes - w.owned.get(piece.what, 0))]


def _pools(w: Walked, piece: Piece) -> list[Part]:
    shared = Part("(text pool dictionary)")
    for pool in piece.children:
        for child in pool.children:
            if pool.what == "text pool" and child.what in ("distinct", "stem", "lengths"):
                shared.nbytes += child.nbytes
                shared.count += child.n
                shared.note = f"what texts in the pool share: {child.what}"
    rest = piece.nbytes - w.owned.get("pools", 0) - shared.nbytes
    return [shared, Part("(pool headers)" if w.error is None else "(pool headers, unread)", nbytes=rest)]


def _bodies(w: Walked, piece: Piece) -> list[Part]:
    told = sum(child.nbytes for child in piece.children)
    unread = told - w.owned.get("bodies", 0)
    name = "(padding)" if w.error is None else "(unread)"
    return [Part("(padding)", nbytes=piece.nbytes - told), Part(name, nbytes=unread)]


_SECTIONS: Final[dict[str, Callable[[Walked, Piece], list[Part]]]] = {
    "shape": _shape,
    "numbers": _left_over,
    "pools": _pools,
    "bodies": _bodies,
    "body": _nothing,
    "value": _nothing,
}
"""Name of a section -> the parts of it that belong to no place of the value; the others are such as a whole."""


# ----------------------------------------------------------------------------------------------------------- the value


def _without_shape(w: Walked) -> Part | None:
    if not w.slots:
        return None
    slot = w.slots[0]
    if not w.is_list:
        return _leaf("$", slot)
    part = Part("$", "LIST", count=1, nbytes=slot.nbytes)
    part.raw = slot.raw
    part.children.append(_leaf("$[*]", slot))
    return part


def _of_shape(w: Walked) -> Part | None:
    """Parents come before their children in the shape, so one pass makes the tree and one back adds it up."""
    assert w.nodes is not None and w.notes is not None
    program, notes = w.nodes.program, w.notes
    made: dict[int, Part] = {}
    order: list[Part] = []
    slots = iter(w.slots)
    slot = next(slots, None)
    for at, n in enumerate(w.nodes.instances):
        node = program.nodes[at]
        if slot is None and len(order) >= MAX_PARTS:
            break
        if type(node) is LeafRun:
            while slot is not None and slot.node is node:
                _add(made, order, node.parent, _leaf(_path(made, node, slot.edge), slot))
                slot = next(slots, None)
            continue
        part = Part(_path(made, node, node.edge), Tag(notes.tags[at]).name, count=n)
        part.shape_bytes = notes.nbytes[at]
        _describe(part, node)
        if len(order) < MAX_PARTS:
            made[id(node)] = part
            _add(made, order, node.parent, part)
        while slot is not None and slot.node is node:
            own = _leaf(part.path, slot)
            if slot.role in ITSELF:
                part.nbytes, part.raw, part.encoding = own.nbytes, own.raw, own.encoding
                part.dtype = part.dtype or own.dtype
                part.distinct, part.note, part.children, part.block = own.distinct, own.note, own.children, own.block
                part.count = own.count
            else:
                _add(made, order, node, own)
            slot = next(slots, None)
    below = {id(part): part for part in order}
    for part in reversed(order):
        if id(part) in below and part.children and part.block is None:
            part.nbytes += sum(child.nbytes for child in part.children)
            part.raw += sum(child.raw for child in part.children)
    return order[0] if order else None


def _describe(part: Part, node: Node) -> None:
    """The class of objects, and how many keys or fields there are."""
    stored = getattr(node, "stored", None)
    if stored is not None:
        part.dtype = clip(plain(clip(stored.name, SHOWN_STEP)), SHOWN_STEP)
    if hasattr(node, "keys"):
        part.encoding = f"{node.children} {'keys' if stored is None else 'fields'}"


def _add(made: dict[int, Part], order: list[Part], parent: Node | None, part: Part) -> None:
    while parent is not None and id(parent) not in made:
        parent = parent.parent
    if parent is not None:
        made[id(parent)].children.append(part)
    elif order:
        order[0].children.append(part)
    order.append(part)


def _path(made: dict[int, Part], node: Node, edge: int) -> str:
    parent = node.parent
    if parent is None:
        return "$"
    above = made.get(id(parent))
    step = clip(plain(clip(parent.step(edge), SHOWN_STEP)), SHOWN_STEP)
    return clip((above.path if above is not None else "$…") + step, SHOWN_PATH)


def _leaf(path: str, slot: Slot) -> Part:
    known = slot.kind in KINDS
    part = Part(path, Kind(slot.kind).name if known else "?", role=slot.role, count=slot.n, nbytes=slot.nbytes)
    part.raw, part.dtype, part.distinct = slot.raw, slot.dtype, slot.distinct
    part.encoding = slot.label.replace("POOL_", "pool ")
    if slot.same is not None:
        part.note = f"the same bytes as body {slot.same}"
    if slot.error is not None:
        part.note = f"damaged: {slot.error}"
    for piece in slot.pieces:
        piece.path = path
    part.block = slot.body
    if slot.body is not None:
        room = [MAX_BLOCKS_SHOWN]
        part.children = [_block(path, child, room) for child in slot.body.children[:MAX_BLOCKS_SHOWN]]
    return part


def _block(path: str, piece: Piece, room: list[int]) -> Part:
    room[0] -= 1
    part = Part(path, "", role=piece.what, count=piece.n, nbytes=piece.nbytes)
    part.encoding, part.raw, part.distinct, part.dtype = piece.label, piece.raw, piece.distinct, piece.dtype
    part.kind = type(piece.code).__name__.removesuffix("Code").lower() if piece.code is not None else ""
    part.block = piece
    part.children = [_block(path, child, room) for child in piece.children if child.code is not None and room[0] > 0]
    return part
