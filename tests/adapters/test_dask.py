"""Values across a real cluster of two worker processes, and frames that nobody wrote."""

from __future__ import annotations

import contextlib
import datetime as dt
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the dask extra is not installed")

import cloudpickle
from distributed import Client, LocalCluster
from distributed.protocol.serialize import (
    deserialize,
    merge_and_deserialize,
    serialize,
    serialize_and_split,
    to_serialize,
)

import npser
import npser.adapters.dask as npser_dask
from npser.adapters.dask import FAMILIES, Rows
from same import difference
from values import ARRAYS, Colour, Frozen, FrozenSlotted, Slotted

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import the functions of this file

ONLY = ("npser", "error")
"""With these, nothing but npser carries values: what arrives has gone through it."""


ALLOWED = (Slotted, FrozenSlotted, Colour)
"""What npser is told of; these are where the workers find them, and so is `Frozen`, which nobody tells it of."""


def records(n: int) -> list[Slotted]:
    colours = list(Colour)
    return [
        Slotted(i, f"köln {i % 9}", [FrozenSlotted(i / 4, dt.date(2013, 1, 1 + i % 28)), colours[i % 4]][: i % 3])  # type: ignore[list-item]
        for i in range(n)
    ]


def rows(n: int) -> list[dict[str, Any]]:
    return [{"id": i, "price": i / 4, "name": f"n{i % 10}", "note": None if i % 2 else "-"} for i in range(n)]


@pytest.fixture(autouse=True)
def family() -> Iterator[None]:
    """What this process is told; a test may tell it something else."""
    npser_dask.register(classes=ALLOWED)
    yield
    npser_dask.register(classes=ALLOWED)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    npser_dask.register(classes=ALLOWED)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as found:
        with Client(found) as client:
            client.register_plugin(npser_dask.Workers(classes=ALLOWED))
        yield found


@pytest.fixture(scope="module")
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, serializers=FAMILIES, deserializers=FAMILIES, set_as_default=False) as found:
        yield found


@pytest.fixture(scope="module")
def strict(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, serializers=ONLY, deserializers=ONLY, set_as_default=False) as found:
        yield found


def both(client: Client) -> list[str]:
    return sorted(client.scheduler_info()["workers"])


# ------------------------------------------------------------------------------------------------------ the real wire

WHOLE: dict[str, Any] = {
    "rows": Rows(rows(1000)),
    "no rows": Rows(),
    "records": Rows(records(500)),
    "one record": records(1)[0],
    "list, item by item": [1, "a", None, 2.5, (1, 2), {3, 4}],
    "table within a list": [rows(50), rows(3)],
    "dict of columns": {"id": list(range(1000)), "x": np.linspace(0, 1, 100_000)},
    "leaves": (None, True, 1 << 80, -0.0, "ü", b"\0", dt.datetime(2024, 5, 1, tzinfo=dt.UTC)),
    "array within an object": {"at": (np.arange(20_000), "x")},
}


@pytest.mark.parametrize("name", WHOLE)
def test_scattered_and_gathered(strict: Client, name: str) -> None:
    future = strict.scatter({name: WHOLE[name]}, hash=False)[name]
    assert difference(strict.gather(future), WHOLE[name]) is None


def test_a_task_gets_rows_and_gives_rows(strict: Client) -> None:
    def double(table: Rows) -> Rows:
        assert type(table) is Rows
        return Rows(row | {"price": row["price"] * 2} for row in table)

    (table,) = strict.scatter([Rows(rows(300))], hash=False)
    found = strict.submit(double, table).result()
    assert difference(found, Rows(row | {"price": row["price"] * 2} for row in rows(300))) is None


def test_records_of_an_allowed_class(strict: Client) -> None:
    found = strict.submit(lambda n: Rows(records(n)), 200, pure=False).result()
    assert type(found[0]) is Slotted
    assert found == records(200)


def contiguous(array: Any) -> Any:
    """The same elements in C order, where they are in neither order: what npser gives back for any array."""
    return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)


def test_every_array(strict: Client) -> None:
    """Every dtype, order and shape that npser's own tests have, small and above the size of a frame of its own."""
    of_dtype = {repr(array.dtype): array for array in ARRAYS if array.size and array.itemsize}
    large = [np.resize(array, 1 + npser_dask.RAW_BYTES // array.itemsize) for array in of_dtype.values()]
    arrays: dict[str, Any] = {str(i): array for i, array in enumerate([*ARRAYS, *large])}
    futures = strict.scatter(arrays, hash=False)
    found = strict.gather(futures)
    for name, array in arrays.items():
        assert difference(found[name], contiguous(array)) is None, array.dtype
        assert found[name].flags.writeable == array.flags.writeable


SPECIAL = {
    "fortran": np.asfortranarray(np.arange(30_000.0).reshape(100, 300)),
    "fortran, large, swapped": np.asfortranarray(np.arange(90_000, dtype=">i4").reshape(300, 300)),
    "not contiguous": np.arange(100_000)[::3],
    "broadcast": np.broadcast_to(np.arange(3.0), (30_000, 3)),
    "dates": np.arange("2013", "2300", dtype="M8[D]"),
    "not a time": np.full(9_000, "NaT", "m8[us]"),
    "one cell": np.array(1.5),
    "no cell": np.empty((0, 4), "f4"),
    "bytes": np.full(30_000, b"abc", "S5"),
    "wide": np.full(30_000, "köl", "U5"),
    "flags": np.arange(100_000) % 3 == 0,
    "halves": np.arange(40_000, dtype="f2").reshape(2, 20_000),
    "complex": np.arange(10_000) * (1 + 2j),
    "long doubles": np.arange(10_000, dtype="g") / 3,
    "records": np.zeros(5_000, [("a", "<i4"), ("b", ">f8", (2,)), ("c", "U3")]),
    "objects": np.array([1, "a", None, (2,)], dtype=object),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_arrays_keep_what_they_are(strict: Client, name: str) -> None:
    array = SPECIAL[name]
    found = strict.submit(lambda a: a, strict.scatter(array, hash=False), pure=False).result()
    assert difference(found, contiguous(array)) is None


def test_a_locked_array_stays_locked(strict: Client) -> None:
    for size in (10, 100_000):
        array = np.arange(size)
        array.flags.writeable = False
        found = strict.submit(lambda a: (a, 1)[0], strict.scatter(array, hash=False), pure=False).result()
        assert not found.flags.writeable
        assert found.tolist() == array.tolist()


def test_a_large_array_is_not_copied_where_it_arrives(strict: Client) -> None:
    def about(array: Any) -> tuple[bool, bool, bool]:
        return array.flags.owndata, array.flags.aligned, array.flags.writeable

    first, second = both(strict)
    for size in (20_000, 1_000_000):
        array = strict.submit(np.arange, size, workers=[first], pure=False)
        assert strict.submit(about, array, workers=[second], pure=False).result() == (False, True, True)
        assert strict.gather(array).flags.aligned


def test_frames_of_pandas(strict: Client) -> None:
    pandas = pytest.importorskip("pandas", reason="the pandas extra is not installed")
    from npser.adapters.pandas import register

    register()
    strict.run(register)
    frame = pandas.DataFrame({"id": range(1000), "at": pandas.date_range("2013", periods=1000, tz="UTC"), "s": ["ü", None] * 500})
    frame["c"] = frame["s"].astype("category")
    found = strict.submit(lambda f: f.assign(twice=f["id"] * 2), strict.scatter(frame, hash=False)).result()
    pandas.testing.assert_frame_equal(found, frame.assign(twice=frame["id"] * 2), check_freq=True)


def test_workers_speak_npser_to_each_other(client: Client) -> None:
    def only(dask_worker: Any) -> None:
        dask_worker.rpc.serializers = dask_worker.rpc.deserializers = list(ONLY)

    assert all(
        tuple(found) == FAMILIES for found in client.run(lambda dask_worker: dask_worker.rpc.serializers).values()
    )
    client.run(only)
    first, second = both(client)
    table = client.submit(lambda: Rows(records(100)), workers=[first], pure=False)
    moved = client.submit(lambda found: (type(found).__name__, len(found)), table, workers=[second], pure=False)
    assert moved.result() == ("Rows", 100)
    client.run(lambda dask_worker: npser_dask.dask_setup(dask_worker))


# ------------------------------------------------------------------------------------------------- what npser refuses


def test_what_npser_refuses_goes_to_the_next_family(client: Client) -> None:
    strangers = (Frozen(3), [[Frozen(3)]], {"a": (Frozen(1),)}, range, np.ma.masked_array([1, 2], [0, 1]), Rows([Frozen(1)]))
    named = {f"stranger-{i}": value for i, value in enumerate(strangers)}
    for name, future in client.scatter(named, hash=False).items():
        value, found = named[name], client.submit(lambda v: v, future, pure=False).result()
        assert str(found) == str(value)
        assert type(found) is type(value)
    function = client.submit(lambda: lambda x: x + 1, pure=False).result()
    assert function(1) == 2


def test_without_another_family_it_is_an_error(strict: Client) -> None:
    with pytest.raises(TypeError, match="Could not serialize"):
        strict.scatter(Frozen(1), hash=False)
    with pytest.raises(TypeError, match="Could not serialize"):
        strict.submit(lambda: Frozen(1), pure=False).result()


def test_an_error_in_a_task_arrives(client: Client, strict: Client) -> None:
    for one in (client, strict):
        with pytest.raises(ZeroDivisionError):
            one.submit(lambda: 1 // 0, pure=False).result()


def test_a_class_that_only_the_sender_knows_is_not_built(client: Client) -> None:
    future = client.submit(lambda: records(1)[0], pure=False)
    npser_dask.register()
    with pytest.raises(npser.ClassNotAllowedError, match="Slotted"):
        future.result()


def test_what_no_reader_would_take_is_not_written() -> None:
    npser_dask.register(limits=npser.Limits(bytes=1000))
    header, _ = serialize("x" * 2000, serializers=FAMILIES)
    assert header["serializer"] == "pickle"
    assert framed("x" * 900)[0]["serializer"] == "npser"


def test_registered_classes_need_not_be_handed_over() -> None:
    npser_dask.register()
    with pytest.raises(TypeError):
        serialize(Frozen(1), serializers=["npser"], on_error="raise")
    npser.register(Frozen)
    try:
        assert deserialize(*serialize(Frozen(1), serializers=["npser"], on_error="raise")) == Frozen(1)
    finally:
        npser.unregister(Frozen)


def test_a_worker_that_comes_later_knows_the_family(client: Client, strict: Client) -> None:
    first, _ = both(client)
    client.restart_workers([first])
    client.wait_for_workers(2)
    assert all(
        tuple(found) == FAMILIES for found in client.run(lambda dask_worker: dask_worker.rpc.serializers).values()
    )
    for worker in both(client):
        (table,) = strict.scatter([Rows(records(20))], workers=[worker], hash=False)
        assert strict.submit(lambda found: found, table, workers=[worker], pure=False).result() == records(20)


# ---------------------------------------------------------------------------------------------------------- the frames


def framed(value: Any) -> tuple[dict[str, Any], list[Any]]:
    return serialize(value, serializers=["npser"], on_error="raise")


def test_frames_are_the_memory_of_the_array() -> None:
    array = np.arange(20_000).reshape(100, 200)
    header, frames = framed(array)
    assert np.shares_memory(np.frombuffer(frames[1]), array)
    assert header == {"form": "array", "serializer": "npser"}
    received = [frames[0], memoryview(bytearray(frames[1]))]
    found = deserialize(header, received)
    assert np.shares_memory(found, np.frombuffer(received[1], "u1"))
    assert found.flags.writeable
    locked = deserialize(header, [frames[0], bytes(frames[1])])  # nobody may write into bytes
    assert locked.flags.writeable
    assert difference(locked, array) is None


def test_an_array_is_aligned_wherever_its_frame_begins() -> None:
    header, frames = framed(np.arange(20_000))
    room = bytearray(1 + frames[1].nbytes)
    for offset in (0, 1):
        part = memoryview(room)[offset : offset + frames[1].nbytes]
        part[:] = frames[1]
        found = deserialize(header, [frames[0], part])
        assert found.flags.aligned
        assert found.tolist() == list(range(20_000))


def test_frames_are_split_and_merged() -> None:
    for value in (Rows(records(400)), np.arange(30_000.0), {"a": np.arange(30_000), "b": "x" * 5_000}):
        header, frames = serialize_and_split(to_serialize(value), serializers=["npser"], on_error="raise", size=300)
        assert len(frames) > 3
        copied = [memoryview(bytearray(frame)) for frame in frames]
        assert difference(merge_and_deserialize(header, copied, deserializers=["npser"]), value) is None


HOSTILE: list[Any] = [
    ({}, []),
    ({"form": "value"}, []),
    ({"form": "value"}, [b""]),
    ({"form": "value"}, [b"\xc1\x01\x03", b"\xc1\x01\x03"]),
    ({"form": ["value"]}, [b"\xc1\x01\x03"]),
    ({"form": "pickle"}, [b"\x80\x05."]),
    ({"form": "value"}, [b"\x80\x05."]),
    *[
        ({"form": "array"}, [npser.dumps(head), bytes(80_000)])
        for head in (
            None,
            (1, 2, 3, 4),
            (np.empty(0), (10_000,), "C"),
            (np.empty(0), (10_001,), "C", True),
            (np.empty(0), (9_999,), "C", True),
            (np.empty(0), (-1,), "C", True),
            (np.empty(0), (1 << 62, 1 << 62), "C", True),
            (np.empty(0), [10_000], "C", True),
            (np.empty(0), (10_000,), "K", True),
            (np.empty(0), (10_000,), 7, True),
            (np.empty(0), (10_000,), "C", "yes"),
            (np.empty(0, "?"), (80_000,), "C", True),
            (np.empty(0, "U1"), (20_000,), "C", True),
            (np.empty(0, "g"), (5_000,), "C", True),
            (np.empty(0, "V8"), (10_000,), "C", True),
            (np.empty(0, object), (10_000,), "C", True),
            (np.empty(0), None, "C", True),
            (np.empty(0), (1.5,), "C", True),
        )
    ],
    ({"form": "array"}, [npser.dumps((np.empty(0), (1,), "C", True)), bytes(8)]),
    ({"form": "array"}, [npser.dumps((np.empty(0), (1,), "C", True)), "text"]),
    ({"form": "array"}, [npser.dumps((np.empty(0), (1,), "C", True))]),
]


@pytest.mark.parametrize("case", range(len(HOSTILE)))
def test_frames_that_nobody_wrote(case: int) -> None:
    header, frames = HOSTILE[case]
    with pytest.raises(npser.DecodeError):
        deserialize({**header, "serializer": "npser"}, frames)


def test_damaged_frames_give_a_value_or_an_error() -> None:
    draw = random.Random(8)
    for value in (Rows(records(30)), np.arange(20_000), rows(5)[0]):
        header, frames = framed(value)
        for _ in range(300):
            damaged = bytearray(frames[0])
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
            cut = damaged[: draw.randrange(len(damaged))] if draw.random() < 0.3 else damaged
            with contextlib.suppress(npser.NpserError):
                deserialize(header, [cut, *map(bytes, frames[1:])])


# ------------------------------------------------------------------------------------------------------------- the key


def test_with_a_key_everything_is_sealed_and_nothing_else_is_opened() -> None:
    npser_dask.register(classes=ALLOWED)
    plain_value, plain_array = framed([records(3)]), framed(np.arange(20_000))
    npser_dask.register(classes=ALLOWED, key=b"k" * 32)
    for value in (Rows(records(3)), np.arange(20_000), np.asfortranarray(np.ones((200, 200), ">f4")), "text"):
        header, frames = framed(value)
        assert len(frames) == 1
        assert difference(deserialize(header, frames), value) is None
        damaged = bytearray(frames[0])
        damaged[len(damaged) // 2] ^= 1
        with pytest.raises(npser.SignatureError):
            deserialize(header, [damaged])
    old = framed("text")
    for unsealed in (plain_value, plain_array):
        with pytest.raises(npser.DecodeError):
            deserialize(*unsealed)
    npser_dask.register(key=[b"n" * 32, b"k" * 32])
    assert deserialize(*old) == "text"
    npser_dask.register(key=b"n" * 32)
    with pytest.raises(npser.SignatureError):
        deserialize(*old)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(TypeError):
        npser_dask.register(classes=["Slotted"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="context"):
        npser_dask.register(context="cluster")
