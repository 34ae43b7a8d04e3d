"""Many threads at once: no state but caches, and caches that may be filled twice but never wrongly."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import pytest

import npser
from npser.shapes import build, node, writer
from npser.shapes.cache import ShapeCache
from npser.shapes.keysets import KeySets
from same import difference
from values import CLASSES, MAKERS

SECONDS = 2.0
THREADS = 8


def values() -> list[Any]:
    made = [{"name": name, "column": make(7), "rows": [{"v": value} for value in make(3)]} for name, make in MAKERS.items()]
    documents = [{f"key {i}": i, "note": note, "in": {"a": [i]}} for i in range(30) for note in (None, "x", 0.5, 1j)]
    rows = [{"name": "rows", "id": i, "tags": ["a", "b"]} for i in range(600)]
    return [*made, *[{"name": "document", **document} for document in documents], rows, list(range(1000))]


def test_threads_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "HOT_AFTER", 3)
    # so that shapes and key sets are forgotten while others use them
    monkeypatch.setattr(build, "SHAPES", ShapeCache(shapes=16))
    key_sets = KeySets(count=8)
    for module in (node, writer):
        monkeypatch.setattr(module, "KEY_SETS", key_sets)
    work = [(value, npser.dumps(value)) for value in values()]
    wrong: list[str] = []
    stop = time.monotonic() + SECONDS

    def run(offset: int) -> None:
        at = offset
        while time.monotonic() < stop and not wrong:
            at = (at + 1) % len(work)
            value, data = work[at]
            try:
                if npser.dumps(value) != data and not _unordered(value):
                    wrong.append(f"other bytes for {value['name']}")
                found = difference(value, npser.loads(data, classes=CLASSES))
            except Exception as error:
                found = repr(error)
            if found:
                wrong.append(found)

    threads = [threading.Thread(target=run, args=(7 * index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert gc.isenabled()


def _unordered(value: Any) -> bool:
    """Whether two encodings of the value may differ: states with sets are made anew each time."""
    return isinstance(value, dict) and "set" in value["name"]


def test_the_collector_stays_off_for_those_who_switched_it_off() -> None:
    data = npser.dumps([{"a": i} for i in range(1000)])
    gc.disable()
    try:
        npser.loads(data)
        npser.dumps(npser.loads(data))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_is_on_again_after_an_error() -> None:
    rows: list[Any] = [{"a": i} for i in range(1000)]
    with pytest.raises(npser.EncodeError):
        npser.dumps([*rows, {"a": object()}])
    data = npser.dumps(rows)
    with pytest.raises(npser.DecodeError):
        npser.loads(data[:-1])
    assert gc.isenabled()
