"""The lines that read one column, whose kind is known, out of the pools or out of a body.

Strategy: an `ExactEmitter` knows which pools there are, so a choice between them is a few comparisons. A column of one
value is a variable and no column, a column of steps is a range; bools, decimals and cells that may be None are made in
the loop that wants them, out of what is stored. All of these are made into a list only where one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from npser.columns.bodies import ARRAY, FIRST_BODY
from npser.columns.kinds import READERS
from npser.columns.pools import POOLS, TEXT
from npser.columns.unpooled import FIRST_POOLED
from npser.shapes.emitter import Context, Emitter, Inline
from npser.tags import FloatCode, Kind
from npser.weights import KINDS, STEP

__all__ = [
    "BAD",
    "POOL_FORMATS",
    "POOL_NAMES",
    "POOL_SIZES",
    "ExactEmitter",
    "NotExactError",
    "emit_column",
    "emit_ints",
]

POOL_NAMES: Final = ("u", "h", "i", "q", "d", "t")
"""The variables of the pools; "a" and the number of a pool is the position in it, "w" how long it is."""

POOL_FORMATS: Final = ("", "h", "i", "q", "d")
"""What `cutting.numbers_of` is told of each."""

POOL_SIZES: Final = (1, 2, 4, 8, 8)

BAD = "    raise bad"


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
    made : dict of str to int
        Containers that are made for each instance, by over how many instances they run.
    """

    def __init__(self, signature: bytes, kinds: bytes, mask: int) -> None:
        super().__init__(signature)
        self.kinds = kinds
        self.present = tuple(pool for pool in range(POOLS) if mask >> pool & 1)
        self.bodies = 0
        self.made: dict[Context, int] = {}
        self._drawn: dict[Context, tuple[int, int]] = {}

    mismatch = "raise bad"

    def seek(self, _column: int) -> None:
        """Nothing: only nodes that read no columns are called through their `open`."""

    def charge(self, n: Context, weight: int) -> None:
        """Draw containers of so many cells from the budget."""
        self.made[n] = self.made.get(n, 0) + 1
        self.draw(n, weight)

    def draw(self, n: Context, weight: int) -> None:
        """Draw n times so many cells from the budget; all that run over the same n are drawn at once, in front."""
        line, before = self._drawn.get(n, (len(self.opens), 0))
        if not before:
            self.opens += ["", "if budget < 0:", BAD]
        self.opens[line] = f"budget -= {n} * {before + weight}"
        self._drawn[n] = line, before + weight

    def item(self, name: str, kind: str, last: int = TEXT) -> None:
        """Take the next item of the pool of a kind that is in a variable."""
        self._choose(kind, last, lambda pool: [f"{name} = {POOL_NAMES[pool]}[a{pool}]", f"a{pool} += 1"])

    def items(self, name: str, kind: str, n: str, last: int = TEXT) -> None:
        """Take the next n items of the pool of a kind that is in a variable."""
        self._choose(kind, last, lambda pool: self._cut(name, pool, n))

    def _choose(self, kind: str, last: int, lines: Callable[[int], list[str]]) -> None:
        word = "if"
        for pool in self.present:
            if pool <= last:
                self.opens += [f"{word} {kind} == {FIRST_POOLED + pool}:", *[f"    {line}" for line in lines(pool)]]
                word = "elif"
        self.opens += ["else:", BAD] if word == "elif" else ["raise bad"]

    def cut(self, name: str, pool: int, n: str) -> None:
        """Take the next n items of a pool."""
        self.opens += self._cut(name, pool, n) if pool in self.present else ["raise bad"]

    def _cut(self, name: str, pool: int, n: str) -> list[str]:
        return [f"e = a{pool} + {n}", f"{name} = {POOL_NAMES[pool]}[a{pool}:e]", f"a{pool} = e"]

    def kind_byte(self, name: str) -> None:
        """Take the next byte of the pool of u8."""
        self.opens += [f"{name} = u[a0]", "a0 += 1"] if 0 in self.present else ["raise bad"]


def emit_column(out: ExactEmitter, column: int, name: str, n: Context, make: str) -> None:
    """A column as cells, or as a list where `make` is "list", under a name."""
    kind = out.kinds[column]
    emit = _CELLS.get(kind)
    if emit is None:
        emit = _emit_other if kind < FIRST_BODY else _emit_body
    emit(out, kind, name, n, make)


def emit_ints(out: ExactEmitter, column: int, name: str, n: Context, make: str = "list") -> None:
    """A column of ints of structure that are not negative, as a list, or as any sequence where `make` is ""."""
    kind = out.kinds[column]
    if kind not in _INT_KINDS:
        raise NotExactError
    emit_column(out, column, name, n, make if kind in _SEQUENCES else "list")
    if kind == Kind.POOL_CONST:
        scalar = out.scalars[name]
        out.opens += [f"if type({scalar}) is not int or {scalar} < 0:", BAD]
    if name in out.late:
        out.opens.append(f"{name} = {out.late[name]}")
    if kind not in (Kind.POOL_U8, Kind.POOL_CONST):
        out.opens += [f"if {name} and min({name}) < 0:", BAD]


def _emit_constant(out: ExactEmitter, kind: int, name: str, n: Context, make: str) -> None:
    out.draw(n, 1)
    _scalar(out, name, {Kind.NONE: "None", Kind.FALSE: "False"}.get(Kind(kind), "True"), n, make)


def _scalar(out: ExactEmitter, name: str, scalar: str, n: Context, make: str) -> None:
    out.scalars[name] = scalar
    out.late[name] = f"[{scalar}] * {n}" if make else f"repeat({scalar}, {n})"


def _emit_plain(out: ExactEmitter, kind: int, name: str, n: Context, make: str) -> None:
    pool = kind - FIRST_POOLED
    out.cut(name, pool, n)
    if make and pool < TEXT:
        out.opens.append(f"{name} = [*{name}]")


def _emit_bools(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    out.cut(name, 0, n)
    if make:
        out.opens.append(f"{name} = bools_of({name})")
    else:
        cell = f"{name}_c"
        out.inline[name] = lambda: Inline([], {cell: name}, [], f"bools[{cell}]")  # another byte raises
        out.late[name] = f"bools_of({name})"


def _emit_const(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    out.kind_byte("e")
    scalar = f"{name}_x"
    out.item(scalar, "e")
    out.draw(n, 1)
    out.opens += [f"if {scalar} != {scalar}:", BAD]  # each NaN is an object of its own
    _scalar(out, name, scalar, n, make)


def _emit_steps(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    out.kind_byte("f")
    out.kind_byte("e")
    out.item("o", "f", TEXT - 2)
    out.item("d_", "e", TEXT - 2)
    out.draw(n, STEP)
    out.opens += [f"if not d_ or not {-(1 << 63)} <= o + d_ * ({n} - 1) < {1 << 63}:", BAD]
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
    out.opens += [f"if f == {FIRST_POOLED + TEXT - 1}:", BAD]  # each float is an object of its own
    distinct, code = f"{name}_d", f"{name}_c"
    out.items(distinct, "f", "o")
    out.cut(name, 0, n)
    if make:
        out.opens.append(f"{name} = list(map({distinct}.__getitem__, {name}))")  # a code that is too large raises
    else:
        out.inline[name] = lambda: Inline([], {code: name}, [], f"{distinct}[{code}]")
        out.late[name] = f"map({distinct}.__getitem__, {name})"


def _emit_decimals(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    kind, digits, scale, cell = (f"{name}_{part}" for part in "kesc")
    out.kind_byte(kind)
    out.kind_byte(digits)
    out.items(name, kind, n, TEXT - 2)
    doubles = f"decimals_of({name}, {kind}, {digits})"
    if make:
        out.opens.append(f"{name} = {doubles}")
    else:
        out.opens.append(f"{scale} = scales[{digits}]")  # one that is no double raises
        out.inline[name] = lambda: Inline([], {cell: name}, [], f"{cell} / {scale}")
        out.late[name] = doubles


def _emit_some(out: ExactEmitter, _kind: int, name: str, n: Context, make: str) -> None:
    kind, items, cell, pop = (f"{name}_{part}" for part in "kicp")
    out.kind_byte(kind)
    out.cut(name, 0, n)
    out.opens += [f"if {name}.strip(both):", BAD, f"n = {name}.count(1)", f"if {kind} == {int(Kind.POOL_DECIMAL)}:"]
    inner = len(out.opens)
    _emit_decimals(out, 0, items, "n", "list")
    out.opens[inner:] = [f"    {line}" for line in out.opens[inner:]]
    out.opens.append(f"elif {FIRST_POOLED} <= {kind} < {int(Kind.POOL_SOME)}:")
    out.opens.append(f"    {_other(out, kind, items, 'n')}")
    out.opens += ["else:", BAD, f"{pop} = [*{items}][::-1].pop"]
    cells = f"[{pop}() if {cell} else None for {cell} in {name}]"
    if make:
        out.opens.append(f"{name} = {cells}")
    else:
        out.inline[name] = lambda: Inline([], {cell: name}, [], f"({pop}() if {cell} else None)")
        out.late[name] = cells


def _emit_other(out: ExactEmitter, kind: int, name: str, n: Context, make: str) -> None:
    if kind == Kind.POOL_COPIES:
        raise NotExactError
    out.opens.append(_other(out, kind, name, n))
    if make:
        out.opens.append(f"{name} = {make}({name})")


def _other(out: ExactEmitter, kind: int | str, name: str, n: Context) -> str:
    """The line that reads a column of a kind, which may be a variable, as `unpooled` does."""
    pools = "".join(f"{POOL_NAMES[pool]}, " if pool in out.present else "none, " for pool in range(POOLS))
    at = "".join(f"a{pool}, " if pool in out.present else "0, " for pool in range(POOLS))
    after = "".join(f"a{pool}, " if pool in out.present else "e, " for pool in range(POOLS))
    return f"{name}, ({after}), budget = other_cells({kind}, [{pools}], [{at}], {n}, budget)"


def _emit_body(out: ExactEmitter, kind: int, name: str, n: Context, make: str) -> None:
    reader = READERS.get(kind)
    if reader is None or kind == ARRAY:
        raise NotExactError
    start, stop = f"s{out.bodies}", f"s{out.bodies + 1}"
    out.bodies += 1
    any_way = f"{name}, budget = read_span({out.bound(reader)}, buf, {start}, {stop}, {n}, budget)"
    if kind != Kind.FLOAT:
        out.opens.append(any_way)
        return
    doubles = f"numbers_of('d', buf[{start} + 1 : {stop}])"
    out.opens += [  # doubles of a short column are mostly as they are
        f"if buf[{start}] == {int(FloatCode.F64)} and {stop} - {start} == {n} * 8 + 1:",
        f"    budget -= {n} * {KINDS[kind]}",
        f"    {name} = {doubles}{'.tolist()' if make else ''}",
        "else:",
        f"    {any_way}",
    ]


_CELLS: Final[dict[int, Callable[[ExactEmitter, int, str, Context, str], None]]] = {
    **dict.fromkeys((Kind.NONE, Kind.FALSE, Kind.TRUE), _emit_constant),
    **{FIRST_POOLED + pool: _emit_plain for pool in range(POOLS)},
    Kind.POOL_BOOL: _emit_bools,
    Kind.POOL_CONST: _emit_const,
    Kind.POOL_STEPS: _emit_steps,
    Kind.POOL_FRAME: _emit_frame,
    Kind.POOL_CODES: _emit_codes,
    Kind.POOL_DECIMAL: _emit_decimals,
    Kind.POOL_SOME: _emit_some,
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

_SEQUENCES: Final = frozenset({*range(FIRST_POOLED, FIRST_POOLED + TEXT - 1), Kind.POOL_STEPS})
"""Those of them that can be gone through as often as one likes without being made into a list."""
