"""The source of a reader for exactly one mixture of columns: no cursor, no slot reader, and no looking up of kinds.

Strategy: `emit` serves any columns of a shape. Where a shape keeps coming back with the same kinds of columns (pages of
one table do), each column is one or two lines: a slice of a pool whose position is a local variable. Positions only
grow, so one check at the end says that no slice was cut off, and nothing is made out of a count before that. Constant
columns are no columns at all here, but a variable in every row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from npser.columns.pools import TEXT
from npser.shapes.collector import WORTH_PAUSING
from npser.shapes.collisions import MANY_KEYS
from npser.shapes.emit import emit_any, emit_nothing, emit_sequence, is_plain, write_nodes
from npser.shapes.emitrows import emit_row, emit_table, is_inline
from npser.shapes.emitter import (
    ARRAYS_OR_BODIES,
    TEXT_LEAF,
    Context,
    Emit,
    Emitter,
    Inline,
    Place,
    each,
    function_source,
)
from npser.shapes.exactcolumns import (
    BAD,
    POOL_FORMATS,
    POOL_NAMES,
    POOL_SIZES,
    ExactEmitter,
    NotExactError,
    emit_column,
    emit_ints,
)
from npser.shapes.leaves import LeafRun, Nothing, Union
from npser.shapes.maps import Maps
from npser.shapes.records import NamedTuples, Records
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.tables import Tables, VariedTables
from npser.tags import Kind
from npser.tags import Node as Tag
from npser.weights import ENTRY, MEMBER, POOLED

if TYPE_CHECKING:
    from npser.shapes.node import Program
    from npser.shapes.templates import Generated

__all__ = ["exact_source"]

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
    texts = signature.count(TEXT_LEAF)
    builder = ["b = builder(None, None, cursor(view(buf), size, size, budget), p, program)"]
    rewind = ["b.cursor.budget = budget"]
    if not out.needs_builder:
        builder = rewind = []
    closes = _paused(out, out.closing())
    body = [*builder, *_head(out, texts), *out.unpacks, *out.opens, *_check(out), *rewind, *closes]
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
            lines += [f"    {line}" for line in _uvarint(count)]
    for pool in present:
        if pool == TEXT:
            lines += [f"t, at, budget = read_texts(view(buf), at, w{pool}, budget)", f"if len(t) != w{pool}:", BAD]
            continue
        if pool == 0:
            lines += ["e = at + w0", f"{POOL_NAMES[0]} = buf[at:e]", "at = e"]
            continue
        lines += [
            f"e = at + w{pool} * {POOL_SIZES[pool]}",
            f"{POOL_NAMES[pool]} = numbers_of('{POOL_FORMATS[pool]}', buf[at:e])",
            "at = e",
        ]
    entries = [f"s{number}" for number in range(out.bodies)]
    for entry in entries:
        lines += [*_uvarint(entry), f"if {entry} & 1:", BAD]
    for entry in entries:
        lines += [f"{entry}, at = at, at + ({entry} >> 1)"]
    lines += [f"s{len(entries)} = at", "if at != size:", BAD]
    weights = " + ".join(f"w{pool} * {POOLED[pool]}" for pool in present)
    if weights:
        lines += [f"budget -= {weights}", "if budget < 0:", BAD]
    lines += [f"a{pool} = 0" for pool in present if pool != TEXT]
    if TEXT in present:
        lines += [f"a{TEXT} = {texts}", f"y = t[:{texts}]" if texts else "y = ()"]
    elif texts:
        lines.append("raise bad")
    return lines


def _uvarint(name: str) -> list[str]:
    """Read an unsigned LEB128 integer; one of two bytes is no call."""
    return [
        f"{name} = buf[at]",
        "at += 1",
        f"if {name} > 127:",
        "    e = buf[at]",
        "    if e < 128:",
        f"        {name} += e - 1 << 7",
        "        at += 1",
        "    else:",
        f"        {name}, at = uvarint(buf, {name}, at)",
    ]


def _check(out: ExactEmitter) -> list[str]:
    """Whether everything was there, nothing is left over, and the budget was enough."""
    wrong = [f"a{pool} != w{pool}" for pool in out.present]
    return [f"if {' or '.join([*wrong, 'budget < 0'])}:", BAD]


def _paused(out: ExactEmitter, lines: list[str]) -> list[str]:
    """The lines that make the value, with the collector paused where that is worth while."""
    made = " + ".join(f"{n} * {count}" for n, count in out.made.items() if n != "1")
    if not made:
        return lines
    return [
        f"paused = {made} > {WORTH_PAUSING}",
        "if paused:",
        "    pause()",
        "try:",
        *[f"    {line}" for line in lines],
        "finally:",
        "    if paused:",
        "        resume()",
    ]


def _emit_of(place: Place) -> Emit:
    emit = _EMITTERS.get(type(place.node))
    if emit is None:
        raise NotExactError
    return emit if is_plain(place) or type(place.node) is Sequences else emit_any


def _emit_leaves(out: Emitter, place: Place) -> list[Context]:
    assert isinstance(out, ExactEmitter)
    if not place.node.single:
        for leaf in range(place.node.width):
            make = "" if place.node.in_row else "list"
            emit_column(out, place.column + leaf, f"v{place.number}_{leaf}", place.n, make)
    return []


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
        if is_inline(out, place):
            out.inline[f"v{number}"] = lambda: _copies(out, place)
            return [total]
        frame = f"copies(k{number}, {lengths}), None"
    else:
        inline = node.tag in (Tag.LIST, Tag.TUPLE) and is_inline(out, place)
        emit_ints(out, place.column, lengths, place.n, "" if inline else "list")
        out.opens.append(f"{total} = sum({lengths})")
        if node.hashes:
            out.draw(total, MEMBER)
        if inline:
            out.inline[f"v{number}"] = lambda: _slices(out, place)
            return [total]
        frame = f"{lengths}, None"
    out.needs_builder = True
    out.closes.append(
        lambda: [f"v{number} = {own}.close(b, {place.n}, ({frame}), [{out.columns(place)[0]}])"],
    )
    return [total]


def _copies(out: Emitter, place: Place) -> Inline:
    """One of the distinct ones in each pass."""
    number = place.number
    parts, part = f"all_{number}", f"part_{number}"
    is_tuple = place.node.tag == Tag.TUPLE
    return Inline(
        [
            f"{parts} = cut({out.columns(place)[0]}, l{number}, {'tuple' if is_tuple else 'list'})",
            f"{parts} = repeat({parts}[0], {place.n}) if len({parts}) == 1 else map({parts}.__getitem__, k{number})",
        ],
        {part: parts},
        [],
        part if is_tuple else f"{part}.copy()",
    )


def _slices(out: Emitter, place: Place) -> Inline:
    """The next items of all in each pass."""
    number = place.number
    items, start, length = (f"{name}_{number}" for name in ("all", "start", "length"))
    cut = f"{items}[{start}:({start} := {start} + {length})]"
    return Inline(
        [f"{items} = {out.columns(place)[0]}", f"{start} = 0"],
        {length: f"l{number}"},
        [],
        f"tuple({cut})" if place.node.tag == Tag.TUPLE else cut,
    )


def _emit_single_through(out: ExactEmitter, place: Place) -> list[Context]:
    """A single container with one length, whose own `close` makes it."""
    number = place.number
    own = out.bound(place.node)
    _single_length(out, place)
    if place.node.hashes:
        out.draw(f"n{number}", ENTRY if isinstance(place.node, Maps) else MEMBER)
    out.needs_builder = True
    out.closes.append(lambda: [f"v{number} = {own}.close(b, 1, ([n{number}], None), [{each(out.columns(place))}])[0]"])
    return [f"n{number}"] * place.node.children


def _single_length(out: Emitter, place: Place) -> None:
    name = f"n{place.number}"
    out.opens += [f"{name} = {out.leaves[place.single]}", f"if type({name}) is not int or {name} < 0:", BAD]


def _emit_map(out: Emitter, place: Place) -> list[Context]:
    assert isinstance(out, ExactEmitter)
    number, own = place.number, out.bound(place.node)
    out.needs_builder = True
    if not place.node.single:
        lengths, total = f"l{number}", f"n{number}"
        emit_ints(out, place.column, lengths, place.n)
        out.opens.append(f"{total} = sum({lengths})")
        out.draw(total, ENTRY)
        out.closes.append(
            lambda: [f"v{number} = {own}.close(b, {place.n}, ({lengths}, None), [{each(out.columns(place))}])"]
        )
        return [total, total]
    if place.node.tag != Tag.DICT:
        return _emit_single_through(out, place)
    _single_length(out, place)
    out.draw(f"n{number}", ENTRY)
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
    emit_ints(out, place.column, codes, place.n)
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
    emit_ints(out, place.column, codes, place.n)
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
