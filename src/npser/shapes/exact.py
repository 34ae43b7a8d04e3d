"""The source of a reader for exactly one mixture of columns: no cursor, no slot reader, and no looking up of kinds.

Strategy: `emit` serves any columns of a shape. Where a shape keeps coming back with the same kinds of columns (pages of
one table do), each column is one or two lines: a slice of a pool whose position is a local variable. Positions only
grow, so one check at the end says that no slice was cut off, and nothing is made out of a count before that. Constant
columns are no columns at all here, but a variable in every row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from npser.blocks.sink import FREE_ITEMS
from npser.columns.bodies import ARRAY, FIRST_BODY
from npser.columns.kinds import READERS
from npser.columns.pools import POOLS, TEXT
from npser.columns.unpooled import FIRST_POOLED
from npser.shapes.collisions import MANY_KEYS
from npser.shapes.emit import (
    ARRAYS_OR_BODIES,
    TEXT_LEAF,
    Context,
    Emit,
    Emitter,
    Place,
    each,
    emit_any,
    emit_nothing,
    emit_row,
    emit_sequence,
    emit_table,
    function_source,
    is_plain,
    write_nodes,
)
from npser.shapes.leaves import LeafRun, Nothing, Union
from npser.shapes.maps import Maps
from npser.shapes.records import NamedTuples, Records
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.tables import Tables, VariedTables
from npser.tags import Kind
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.node import Program
    from npser.shapes.templates import Generated

__all__ = ["ExactEmitter", "NotExactError", "exact_source"]

_POOLS: Final = ("u", "h", "i", "q", "d", "t")
"""The variables of the pools; "a" and the number of a pool is the position in it, "w" how long it is."""

_FORMATS: Final = ("", "h", "i", "q", "d")
_SIZES: Final = (1, 2, 4, 8, 8)

_BAD = "    raise bad"


class NotExactError(Exception):
    """The shape has a node, or the payload a column, that is only read the usual way."""


class ExactEmitter(Emitter):
    """Collects the lines of one function, with what is known of the columns.

    Attributes
    ----------
    kinds : bytes
        Of the columns.
    present : tuple of int
        The pools that are there.
    bodies : int
        Columns so far that have bodies.
    """

    def __init__(self, signature: bytes, kinds: bytes, mask: int) -> None:
        super().__init__(signature)
        self.kinds = kinds
        self.present = tuple(pool for pool in range(POOLS) if mask >> pool & 1)
        self.bodies = 0

    mismatch = "raise bad"

    def seek(self, _column: int) -> None:
        """Nothing: only nodes that read no columns are called through their `open`."""

    def charge(self, n: Context) -> None:
        """Draw instances from the budget, now: whoever comes next may make them."""
        self.opens += [f"if {n} > {FREE_ITEMS}:", f"    budget -= {n}", "    if budget < 0:", "        raise bad"]

    def draw(self, n: Context) -> None:
        """Draw cells from the budget; the end looks whether it was enough."""
        self.opens.append(f"budget -= {n}")

    def item(self, name: str, kind: str, last: int = TEXT) -> None:
        """Take the next item of the pool of a kind that is in a variable."""
        self._choose(kind, last, lambda pool: [f"{name} = {_POOLS[pool]}[a{pool}]", f"a{pool} += 1"])

    def items(self, name: str, kind: str, n: str, last: int = TEXT) -> None:
        """Take the next n items of the pool of a kind that is in a variable."""
        self._choose(kind, last, lambda pool: self._cut(name, pool, n))

    def _choose(self, kind: str, last: int, lines: Callable[[int], list[str]]) -> None:
        word = "if"
        for pool in self.present:
            if pool <= last:
                self.opens += [f"{word} {kind} == {FIRST_POOLED + pool}:", *[f"    {line}" for line in lines(pool)]]
                word = "elif"
        self.opens += ["else:", _BAD] if word == "elif" else ["raise bad"]

    def cut(self, name: str, pool: int, n: str) -> None:
        """Take the next n items of a pool."""
        self.opens += self._cut(name, pool, n) if pool in self.present else ["raise bad"]

    def _cut(self, name: str, pool: int, n: str) -> list[str]:
        return [f"e = a{pool} + {n}", f"{name} = {_POOLS[pool]}[a{pool}:e]", f"a{pool} = e"]

    def kind_byte(self, name: str) -> None:
        """Take the next byte of the pool of u8."""
        self.opens += [f"{name} = u[a0]", "a0 += 1"] if 0 in self.present else ["raise bad"]


def exact_source(program: Program, signature: bytes, kinds: bytes, mask: int) -> tuple[Generated, Emitter]:
    """The source for a program, a signature of its single leaves, the kinds of its columns, the pools that are there.

    Raises
    ------
    NotExactError
        Where something is only read the usual way.
    """
    out = ExactEmitter(signature, kinds, mask)
    if ARRAYS_OR_BODIES.intersection(signature):
        raise NotExactError
    write_nodes(out, program, _emit_of)
    builder = ["b = builder(None, None, cursor(buf, size, size, budget), p, program)"] if out.needs_builder else []
    rewind = ["b.cursor.budget = budget"] if builder else []
    texts = signature.count(TEXT_LEAF)
    body = [*builder, *_head(out, texts), *out.unpacks, *out.opens, *_check(out), *rewind, *out.closing()]
    return function_source(out, "buf, at, size, p, k, x, budget", body), out


def _head(out: ExactEmitter, texts: int) -> list[str]:
    """Read the pools and the directory."""
    present = out.present
    counts = [f"w{pool}" for pool in present]
    lines = [f"w{pool} = buf[at + {at}]" for at, pool in enumerate(present)]
    lines.append(f"at += {len(present)}")
    if counts:
        lines.append(f"if {' or '.join(f'{count} > 127' for count in counts)}:")
        lines.append(f"    at -= {len(present)}")
        for count in counts:
            lines += [
                f"    {count} = buf[at]",
                "    at += 1",
                f"    if {count} > 127:",
                f"        {count}, at = uvarint(buf, {count}, at)",
            ]
    for pool in present:
        if pool == TEXT:
            lines += [f"t, at = read_few(buf, at, w{pool})", f"if len(t) != w{pool}:", _BAD]
            continue
        size = f"w{pool}" if pool == 0 else f"w{pool} * {_SIZES[pool]}"
        form = ".tobytes()" if pool == 0 else f".cast('{_FORMATS[pool]}')"
        lines += [f"e = at + {size}", f"{_POOLS[pool]} = buf[at:e]{form}", "at = e"]
    entries = [f"s{number}" for number in range(out.bodies)]
    for entry in entries:
        lines += [
            f"{entry} = buf[at]",
            "at += 1",
            f"if {entry} > 127:",
            f"    {entry}, at = uvarint(buf, {entry}, at)",
            f"if {entry} & 1:",
            _BAD,
        ]
    for entry in entries:
        lines += [f"{entry}, at = at, at + ({entry} >> 1)"]
    lines += [f"s{len(entries)} = at", "if at != size:", _BAD]
    lines += [f"a{pool} = 0" for pool in present if pool != TEXT]
    if TEXT in present:
        lines += [f"a{TEXT} = {texts}", f"y = t[:{texts}]" if texts else "y = ()"]
    elif texts:
        lines.append("raise bad")
    return lines


def _check(out: ExactEmitter) -> list[str]:
    """Whether everything was there, nothing is left over, and the budget was enough."""
    wrong = [f"a{pool} != w{pool}" for pool in out.present]
    return [f"if {' or '.join([*wrong, 'budget < 0'])}:", _BAD]


def _emit_of(place: Place) -> Emit:
    emit = _EMITTERS.get(type(place.node))
    if emit is None or not (place.node.single or is_plain(place) or type(place.node) is Sequences):
        raise NotExactError
    return emit


def _emit_leaves(out: Emitter, place: Place) -> list[Context]:
    assert isinstance(out, ExactEmitter)
    if not place.node.single:
        for leaf in range(place.node.width):
            kind = out.kinds[place.column + leaf]
            emit = _CELLS.get(kind)
            if emit is None:
                emit = _emit_other if kind < FIRST_BODY else _emit_body
            emit(out, kind, f"v{place.number}_{leaf}", place.n, "" if place.node.in_row else "list")
    return []


def _emit_ints(out: ExactEmitter, column: int, name: str, n: Context) -> None:
    """A column of ints of structure that are not negative, as a sequence."""
    kind = out.kinds[column]
    if kind not in _INT_KINDS:
        raise NotExactError
    (_CELLS.get(kind) or _emit_body)(out, kind, name, n, "list")
    if kind == Kind.POOL_CONST:
        scalar = out.scalars[name]
        out.opens += [f"if type({scalar}) is not int or {scalar} < 0:", _BAD]
    if name in out.late:
        out.opens += ["if budget < 0:", _BAD, f"{name} = {out.late[name]}"]
    if kind not in (Kind.POOL_U8, Kind.POOL_CONST):
        out.opens += [f"if {name} and min({name}) < 0:", _BAD]


def _emit_sequences(out: Emitter, place: Place) -> list[Context]:
    assert isinstance(out, ExactEmitter)
    node, number = place.node, place.number
    if node.single:
        return emit_sequence(out, place) if is_plain(place) else _emit_single_through(out, place)
    lengths, total, own = f"l{number}", f"n{number}", out.bound(node)
    if out.kinds[place.column] == Kind.POOL_COPIES:
        if 0 not in out.present or node.tag not in (Tag.LIST, Tag.TUPLE):
            raise NotExactError
        out.opens += [
            f"k{number}, {lengths}, e, a0 = count_copies(u, a0, {place.n})",
            f"budget -= e + {place.n}",
            f"{total} = sum({lengths})",
        ]
        frame = f"copies(k{number}, {lengths}), None"
    else:
        _emit_ints(out, place.column, lengths, place.n)
        out.opens.append(f"{total} = sum({lengths})")
        frame = f"{lengths}, None"
    out.needs_builder = True
    out.closes.append(
        lambda: [f"v{number} = {own}.close(b, {place.n}, ({frame}), [{out.columns(place)[0]}])"],
    )
    return [total]


def _emit_single_through(out: ExactEmitter, place: Place) -> list[Context]:
    """A single container with one length, whose own `close` makes it."""
    number = place.number
    own = out.bound(place.node)
    _single_length(out, place)
    out.needs_builder = True
    out.closes.append(lambda: [f"v{number} = {own}.close(b, 1, ([n{number}], None), [{each(out.columns(place))}])[0]"])
    return [f"n{number}"] * place.node.children


def _single_length(out: Emitter, place: Place) -> None:
    name = f"n{place.number}"
    out.opens += [f"{name} = {out.leaves[place.single]}", f"if type({name}) is not int or {name} < 0:", _BAD]


def _emit_map(out: Emitter, place: Place) -> list[Context]:
    assert isinstance(out, ExactEmitter)
    number, own = place.number, out.bound(place.node)
    out.needs_builder = True
    if not place.node.single:
        lengths, total = f"l{number}", f"n{number}"
        _emit_ints(out, place.column, lengths, place.n)
        out.opens.append(f"{total} = sum({lengths})")
        out.closes.append(
            lambda: [f"v{number} = {own}.close(b, {place.n}, ({lengths}, None), [{each(out.columns(place))}])"]
        )
        return [total, total]
    if place.node.tag != Tag.DICT:
        return _emit_single_through(out, place)
    _single_length(out, place)
    out.closes.append(
        lambda: [
            f"if n{number} < {MANY_KEYS}:",
            f"    v{number} = dict(zip({each(out.columns(place))}))",
            f"    if len(v{number}) != n{number}:",
            "        raise bad",
            "else:",
            f"    v{number} = {own}.close(b, 1, ([n{number}], None), [{each(out.columns(place))}])[0]",
        ]
    )
    return [f"n{number}"] * 2


def _emit_varied(out: Emitter, place: Place) -> list[Context]:
    assert isinstance(out, ExactEmitter)
    node, number = place.node, place.number
    if node.single:
        raise NotExactError
    codes, own, patterns = f"l{number}", out.bound(node), out.bound(node.patterns)
    _emit_ints(out, place.column, codes, place.n)
    counts = [f"n{number}_{child}" for child in range(node.children)]
    out.opens.append(f"q{number}, e = count_patterns({codes}, {patterns}, {node.children})")
    if counts:
        out.opens.append(f"{each(counts)} = e")
    out.needs_builder = True
    out.closes.append(
        lambda: [f"v{number} = {own}.close(b, {place.n}, (q{number}, None), [{each(out.columns(place))}])"]
    )
    return counts


def _emit_union(out: Emitter, place: Place) -> list[Context]:
    assert isinstance(out, ExactEmitter)
    node, number = place.node, place.number
    if node.single:
        raise NotExactError
    codes, own = f"l{number}", out.bound(node)
    _emit_ints(out, place.column, codes, place.n)
    counts = [f"n{number}_{child}" for child in range(node.children)]
    out.opens.append(f"{each(counts)} = count_codes({codes}, {node.children})")
    out.needs_builder = True
    out.closes.append(lambda: [f"v{number} = {own}.close(b, {place.n}, {codes}, [{each(out.columns(place))}])"])
    return counts


_EMITTERS: Final[dict[type, Emit]] = {
    LeafRun: _emit_leaves,
    Nothing: emit_nothing,
    Sequences: _emit_sequences,
    Rows: emit_row,
    Tables: emit_table,
    Maps: _emit_map,
    Records: emit_any,
    NamedTuples: emit_any,
    VariedTables: _emit_varied,
    Union: _emit_union,
}


def _emit_constant(out: ExactEmitter, kind: int, name: str, n: Context, make: str) -> None:
    out.draw(n)
    _scalar(out, name, {Kind.NONE: "None", Kind.FALSE: "False"}.get(Kind(kind), "True"), n, make)


def _scalar(out: ExactEmitter, name: str, scalar: str, n: Context, make: str) -> None:
    out.scalars[name] = scalar
    out.late[name] = f"[{scalar}] * {n}" if make else f"repeat({scalar}, {n})"


def _emit_plain(out: ExactEmitter, kind: int, name: str, n: Context, make: str) -> None:
    pool = kind - FIRST_POOLED
    out.cut(name, pool, n)
    if 0 < pool < TEXT:
        out.opens.append(f"{name} = {name}.tolist()")
    elif pool == 0 and make:
        out.opens.append(f"{name} = [*{name}]")


def _emit_bools(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    out.cut(name, 0, n)
    out.opens.append(f"{name} = {make}(bools_of({name}))")


def _emit_const(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    out.kind_byte("e")
    scalar = f"{name}_x"
    out.item(scalar, "e")
    out.draw(n)
    out.opens += [f"if {scalar} != {scalar}:", _BAD]  # each NaN is an object of its own
    _scalar(out, name, scalar, n, make)


def _emit_steps(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    out.kind_byte("f")
    out.kind_byte("e")
    out.item("o", "f", TEXT - 2)
    out.item("d_", "e", TEXT - 2)
    out.draw(n)
    out.opens += [f"if not d_ or not {-(1 << 63)} <= o + d_ * ({n} - 1) < {1 << 63}:", _BAD]
    out.opens.append(f"{name} = range(o, o + d_ * {n}, d_)")
    if make:
        out.late[name] = f"[*{name}]"


def _emit_frame(out: ExactEmitter, _kind: int, name: str, n: Context, _make: str) -> None:
    out.kind_byte("e")
    out.item("o", "e", TEXT - 2)
    out.cut(name, 0, n)
    out.opens.append(f"{name} = frame_of(o, {name})")


def _emit_codes(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    out.kind_byte("f")
    out.kind_byte("o")
    out.opens += [f"if f == {FIRST_POOLED + TEXT - 1}:", _BAD]  # each float is an object of its own
    out.items("d_", "f", "o")
    out.cut(name, 0, n)
    out.opens.append(f"{name} = {make}(codes_of(d_, {name}, o))")


def _emit_decimals(out: ExactEmitter, _kind: int, name: str, n: Context, _make: str) -> None:
    out.kind_byte("f")
    out.kind_byte("o")
    out.items(name, "f", n, TEXT - 2)
    out.opens.append(f"{name} = decimals_of({name}, f, o)")


def _emit_other(out: ExactEmitter, kind: int, name: str, n: Context, make: str) -> None:
    if kind == Kind.POOL_COPIES:
        raise NotExactError
    pools = "".join(f"{_POOLS[pool]}, " if pool in out.present else "none, " for pool in range(POOLS))
    at = "".join(f"a{pool}, " if pool in out.present else "0, " for pool in range(POOLS))
    after = "".join(f"a{pool}, " if pool in out.present else "e, " for pool in range(POOLS))
    out.opens.append(f"{name}, ({after}), budget = other_cells({kind}, [{pools}], [{at}], {n}, budget)")
    if make:
        out.opens.append(f"{name} = {make}({name})")


def _emit_body(out: ExactEmitter, kind: int, name: str, n: Context, _make: str) -> None:
    reader = READERS.get(kind)
    if reader is None or kind == ARRAY:
        raise NotExactError
    at = out.bodies
    out.bodies += 1
    out.opens.append(f"{name}, budget = read_span({out.bound(reader)}, buf, s{at}, s{at + 1}, {n}, budget)")


_CELLS: Final[dict[int, Callable[[ExactEmitter, int, str, Context, str], None]]] = {
    **dict.fromkeys((Kind.NONE, Kind.FALSE, Kind.TRUE), _emit_constant),
    **{FIRST_POOLED + pool: _emit_plain for pool in range(POOLS)},
    Kind.POOL_BOOL: _emit_bools,
    Kind.POOL_CONST: _emit_const,
    Kind.POOL_STEPS: _emit_steps,
    Kind.POOL_FRAME: _emit_frame,
    Kind.POOL_CODES: _emit_codes,
    Kind.POOL_DECIMAL: _emit_decimals,
}
"""Kind -> who writes the lines that read such a column: into a variable of that name, as cells, or as a list."""

_INT_KINDS: Final = frozenset(
    {
        *range(FIRST_POOLED, FIRST_POOLED + TEXT - 1),
        Kind.POOL_STEPS,
        Kind.POOL_FRAME,
        Kind.POOL_CONST,
        FIRST_BODY,
    }
)
