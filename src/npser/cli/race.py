"""Encoding and decoding one value with every codec, fairly enough for a table.

Strategy: first one untimed pass, which says whether the value comes back identical. Then rounds in which every
codec encodes and decodes once, in an order that moves by one each round, so that noise and warm caches fall on all
alike; the medians are what counts. They are warm figures, as for the values that a cache reads again and again. The
collector stays as the user has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any

from npser.cli.demo_values import Sample
from npser.cli.peers import Codec
from npser.inspection.same import difference

__all__ = ["Result", "race"]

MIN_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Result:
    """One codec on one value.

    Parameters
    ----------
    codec : str
        Its name.
    wrong : str | None
        What is not identical after the round trip, or that the codec refused; None where all is.
    nbytes : int | None
        The size of the encoded value; None where the codec refused it.
    write, read : float | None
        Median microseconds to encode and to decode; None where it was not timed.
    rounds : int
        How many timings the medians are of.
    """

    codec: str
    wrong: str | None
    nbytes: int | None = None
    write: float | None = None
    read: float | None = None
    rounds: int = 0


def _proof(codec: Codec, value: object) -> Result:
    try:
        data = codec.encode(value)
    except Exception as error:  # other people's codecs raise what they like
        return Result(codec.name, f"refused: {type(error).__name__}")
    try:
        wrong = difference(value, codec.decode(data))
    except Exception as error:
        wrong = f"unreadable: {type(error).__name__}"
    return Result(codec.name, wrong, len(data))


def _timed(call: Callable[[Any], Any], argument: object) -> tuple[Any, int]:
    start = perf_counter_ns()
    result = call(argument)
    return result, perf_counter_ns() - start


def race(sample: Sample, codecs: list[Codec], *, seconds: float) -> list[Result]:
    """One result a codec, in the order given; takes about `seconds`.

    A codec that does not give the value back is not timed.
    """
    proofs = [_proof(codec, sample.value) for codec in codecs]
    racing = deque(codec for codec, proof in zip(codecs, proofs, strict=True) if proof.wrong is None)
    times: dict[str, list[tuple[int, int]]] = {codec.name: [] for codec in racing}
    until = perf_counter() + seconds
    rounds = 0
    while racing and (rounds < MIN_ROUNDS or perf_counter() < until):
        for codec in racing:
            data, write = _timed(codec.encode, sample.value)
            value, read = _timed(codec.decode, data)
            times[codec.name].append((write, read))
            del data, value
        racing.rotate(-1)
        rounds += 1
    return [_result(proof, times.get(proof.codec, [])) for proof in proofs]


def _result(proof: Result, times: list[tuple[int, int]]) -> Result:
    if not times:
        return proof
    write, read = (median(column) / 1000 for column in zip(*times, strict=True))
    return Result(proof.codec, None, proof.nbytes, write, read, len(times))
