"""The same measurements under pytest-benchmark, for comparing two states of npser.

Strategy: one benchmark a shape, codec and direction, grouped by shape and direction, so that a group's table is the
comparison. Each checks what came back; none judges a time, because a loaded machine is not a defect.

    pytest benchmarks/ --benchmark-autosave
    pytest benchmarks/ -k "twitter and npser" --benchmark-compare
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

from benchmarks import corpora, peers
from benchmarks.shapes import SHAPES

pytest.importorskip("pytest_benchmark")

QUICK = {"max_time": 0.2, "min_rounds": 5, "warmup": True, "warmup_iterations": 20}


@functools.lru_cache(maxsize=1)
def value_of(name: str) -> Any:
    """The value of the shape that is being measured; only one is kept."""
    try:
        return SHAPES[name].build()
    except corpora.CorpusMissing as missing:
        return pytest.skip(str(missing))


CASES = [pytest.param(shape, codec, id=f"{shape}-{codec}") for shape in SHAPES for codec in peers.installed()]


@pytest.mark.parametrize(("shape", "name"), CASES)
@pytest.mark.benchmark(**QUICK)
def test_loads(benchmark: Any, shape: str, name: str) -> None:
    codec = peers.CODECS[name](SHAPES[shape])
    value = value_of(shape)
    data = codec.dumps(codec.prepare(value))
    benchmark.group = f"{shape}: loads"
    benchmark.extra_info["bytes"] = len(data)
    assert peers.same(benchmark(codec.loads, data), codec.restores(value))


@pytest.mark.parametrize(("shape", "name"), CASES)
@pytest.mark.benchmark(**QUICK)
def test_dumps(benchmark: Any, shape: str, name: str) -> None:
    codec = peers.CODECS[name](SHAPES[shape])
    value = value_of(shape)
    benchmark.group = f"{shape}: dumps"
    data = benchmark(codec.dumps, codec.prepare(value))
    benchmark.extra_info["bytes"] = len(data)
    assert peers.same(codec.loads(data), codec.restores(value))
