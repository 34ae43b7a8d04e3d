"""What else a block could have been: every encoding that the writer weighs, with its bytes and its price.

Strategy: the candidates are those of `ints`, `floats`, `text` and `bits`, asked without a limit, so that they do not
give up when they cannot win; each one writes, which gives the exact bytes. The price is the model's, in nanoseconds,
bytes included. Where the writer goes by a rule and not by the model (a sequence with one step, runs of doubles) there
is no price. Nobody who writes payloads imports this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from npser.blocks import binary, bits, text
from npser.blocks import floats as float_blocks
from npser.blocks.choose import costs, floats, ints
from npser.blocks.choose.bits import write_bits
from npser.blocks.choose.frames import Column, plan_frame
from npser.blocks.choose.text import dict_costs, write_bytes, write_text
from npser.blocks.sink import Sink
from npser.blocks.text import SEPARATORS
from npser.tags import BitCode, BytesCode, FloatCode, IntCode, TextCode

__all__ = ["Alternative", "bit_ways", "byte_ways", "float_ways", "int_ways", "text_ways"]

T = TypeVar("T", str, bytes)
UNLIMITED = float("inf")


class Alternative(NamedTuple):
    """One way to store a block.

    Parameters
    ----------
    encoding : str
    nbytes : int
        Of the whole block.
    cost : float | None
        Nanoseconds by the cost model, what its bytes are worth included; None where a rule decides.
    """

    encoding: str
    nbytes: int
    cost: float | None


def _written(codes: Any, write: Callable[[Sink], object], cost: float | None) -> Alternative:
    sink = Sink()
    write(sink)
    return Alternative(codes(sink.out[0]).name, len(sink.out), cost)


def _ordered(found: list[Alternative]) -> list[Alternative]:
    """Each encoding once; the cheapest first, and in front of them those that a rule takes."""
    best: dict[str, Alternative] = {}
    for way in sorted(found, key=lambda way: (way.cost is not None, way.cost or 0.0, way.nbytes)):
        best.setdefault(way.encoding, way)
    return list(best.values())


def int_ways(values: NDArray[np.int64]) -> list[Alternative]:
    """(n,) int64 -> the encodings they could have.

    >>> [way.encoding for way in int_ways(np.arange(1000) // 10 * 1000)][:2]
    ['RUNS', 'DELTA']
    """
    values = np.ascontiguousarray(values, "<i8")
    found = []
    if values.size <= costs.FEW_ITEMS:
        return [_written(IntCode, lambda sink: ints.write_ints(sink, values), None)]
    ramp = Sink()
    if ints._write_ramp(ramp, values):
        found.append(Alternative(IntCode(ramp.out[0]).name, len(ramp.out), None))
    column = Column(values)
    for plan in (plan_frame(column), *(candidate(column, UNLIMITED) for candidate in ints._ALL)):
        if plan is not None:
            found.append(_written(IntCode, plan.write, plan.cost))
    return _ordered(found)


def float_ways(values: NDArray[np.float64]) -> list[Alternative]:
    """(n,) float64 -> the encodings they could have.

    >>> [way.encoding for way in float_ways(np.arange(1000) / 4)]
    ['DECIMAL', 'F32', 'F64']
    """
    values = np.ascontiguousarray(values, "<f8")
    n = values.size
    found = [_written(FloatCode, lambda sink: float_blocks.write_f64(sink, values), floats._cost_as_they_are(n))]
    if n < costs.FLOAT_MIN_ITEMS:
        found.append(_written(FloatCode, lambda sink: floats.write_floats(sink, values), None))
        return _ordered(found)
    runs = Sink()
    if floats._try_runs(runs, values):
        found.append(Alternative(FloatCode(runs.out[0]).name, len(runs.out), None))
    sample = values if n <= costs.FLOAT_SAMPLE else values.take((floats.FRACTIONS * n).astype(np.intp))
    for propose in floats.PROPOSALS:
        candidate = propose(values, sample, UNLIMITED)
        sink = Sink()
        if candidate is not None and candidate.attempt(sink, values):
            found.append(Alternative(FloatCode(sink.out[0]).name, len(sink.out), candidate.cost))
    return _ordered(found)


def bit_ways(values: NDArray[np.bool_]) -> list[Alternative]:
    """(n,) bool -> what the writer takes by its rules, and the plain bits."""
    packed = _written(BitCode, lambda sink: bits.write_packed(sink, values), None)
    return list(dict.fromkeys((_written(BitCode, lambda sink: write_bits(sink, values), None), packed)))


def text_ways(values: list[str]) -> list[Alternative]:
    """n strings -> the encodings they could have.

    >>> [way.encoding for way in text_ways(["red", "green"] * 500)]
    ['DICT', 'SPLIT']
    """
    coded, each = _dict_costs(values, costs.TEXT_CUT_NS)
    chosen = _written(TextCode, lambda sink: write_text(sink, values), None)
    price = {"DICT": coded, "RADIX": coded, "STEM": None}.get(chosen.encoding, each)  # a stem goes by a rule
    found = [chosen._replace(cost=price)]
    if chosen.encoding != "SPLIT" and values:
        sink = Sink()
        if _split(sink, values):
            found.append(Alternative("SPLIT", len(sink.out), each))
    if chosen.encoding != "DICT" and values:
        distinct, codes = _numbered(values)
        write = write_text if chosen.encoding == "RADIX" else _write_each
        found.append(
            _written(
                TextCode, lambda sink: text.write_dict(sink, distinct, codes, write, ints.write_ints), coded
            )
        )
    return [found[0], *sorted(found[1:], key=lambda way: way.cost or 0.0)]


def byte_ways(values: list[bytes]) -> list[Alternative]:
    """n byte strings -> the encodings they could have."""
    coded, each = _dict_costs(values, costs.BYTES_CUT_NS)
    distinct, codes = _numbered(values)

    def write_each(sink: Sink, items: list[bytes]) -> None:
        binary.write_lengths(sink, items, ints.write_ints)

    found = [
        _written(BytesCode, lambda sink: write_each(sink, values), each),
        _written(BytesCode, lambda sink: binary.write_dict(sink, distinct, codes, write_each, ints.write_ints), coded),
    ]
    chosen = _written(BytesCode, lambda sink: write_bytes(sink, values), None).encoding
    return sorted(found, key=lambda way: way.encoding != chosen)


def _dict_costs(values: list[T], cut_ns: float) -> tuple[float, float]:
    n = len(values)
    size = sum(map(len, values)) / (n or 1) + 1
    return dict_costs(n, len(set(values)), size, cut_ns)


def _numbered(values: list[T]) -> tuple[list[T], NDArray[np.int64]]:
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, values), "<i8", len(values))


def _split(sink: Sink, values: list[str]) -> bool:
    joined = "".join(values)
    mark = next((one for one in SEPARATORS if one not in joined), None)
    try:
        return mark is not None and text.write_split(sink, values, mark)
    except UnicodeEncodeError:
        return False


def _write_each(sink: Sink, values: list[str]) -> None:
    start = len(sink.out)
    if not _split(sink, values):
        del sink.out[start:]
        text.write_wtf8(sink, values, ints.write_ints)
