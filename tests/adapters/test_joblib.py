"""joblib.Memory: results of functions in files of npser, mapped, compressed, sealed; damaged ones are computed again."""

from __future__ import annotations

import asyncio
import datetime as dt
import mmap
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("joblib", reason="the joblib extra is not installed")

import numpy as np
from joblib import Memory, Parallel, delayed, expires_after
from joblib.memory import MemorizedResult

import npser
import npser.adapters.joblib
from same import same

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))


@dataclass
class Order:
    id: int
    items: tuple[str, ...]


SETTINGS = {"classes": [Order], "key": KEY}

VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "int": 7,
    "nan": float("nan"),
    "text": "köln \ud800",
    "bytes": b"\x80\x05",
    "tuple": (1, (True, {3}), 0.5),
    "rows": [{"id": i, "price": i / 4, "note": None if i % 3 else "tea"} for i in range(500)],
    "frame": {"id": np.arange(500), "price": np.linspace(0, 1, 500), "name": ["tea"] * 500},
    "array": np.arange(30_000, dtype=">i4").reshape(100, 300),
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "when": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "orders": [Order(i, ("tea",)) for i in range(100)],
}

CALLS: list[Any] = []


def made(name: str) -> Any:
    CALLS.append(name)
    return VALUES[name]


def ones(n: int) -> np.ndarray[Any, Any]:
    CALLS.append(n)
    return np.ones(n)


def noise(n: int) -> np.ndarray[Any, Any]:
    """An array that is stored as it is, for it would not get smaller."""
    return np.random.default_rng(1).random(n)


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


def memory_in(folder: Path, *, compress: Any = False, mmap_mode: Any = None, **options: Any) -> Memory:
    return Memory(folder, backend="npser", verbose=0, compress=compress, mmap_mode=mmap_mode, backend_options=options)


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("output.npser"))


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("compress", [False, True, ("zlib", 9)], ids=str)
@pytest.mark.parametrize("mmap_mode", [None, "r", "c"])
@pytest.mark.filterwarnings("ignore:Compressed")
def test_results_come_back_as_they_were(tmp_path: Path, name: str, compress: Any, mmap_mode: Any) -> None:
    cached = memory_in(tmp_path, compress=compress, mmap_mode=mmap_mode, classes=[Order]).cache(made)
    for _ in range(3):
        found = cached(name)
        if mmap_mode == "r" and isinstance(found, np.ndarray):
            found = found.copy(order="K")  # writable again
        elif mmap_mode == "r" and name == "frame":
            found = {key: column.copy() if isinstance(column, np.ndarray) else column for key, column in found.items()}
        assert same(found, VALUES[name])
    assert [name] == CALLS and cached.check_call_in_cache(name)
    assert not list(tmp_path.rglob("output.pkl"))


def test_arrays_are_mapped_from_their_file(tmp_path: Path) -> None:
    read = memory_in(tmp_path, mmap_mode="r").cache(noise)
    for array in (read(100_000), read(100_000)):  # the first one is read back, too
        base: Any = array
        while not isinstance(base, mmap.mmap):
            base = base.base if isinstance(base, np.ndarray) else base.obj
        assert not array.flags.writeable
    own = memory_in(tmp_path, mmap_mode="c").cache(noise)
    copy = own(100_000)
    copy[:] = 7
    assert same(read(100_000).copy(), noise(100_000)) and len(files(tmp_path)) == 1
    for path in files(tmp_path):
        os.unlink(path)
    assert same(array.copy(), noise(100_000))  # it lives on
    for mode in ("r+", "w+"):
        with pytest.raises(ValueError, match=r"mmap_mode='r' or 'c'"):
            memory_in(tmp_path, mmap_mode=mode)


def test_compression_is_what_was_asked_for(tmp_path: Path) -> None:
    text = {"text": "tea and milk " * 1000}
    sizes = {}
    for compress in (False, True, 9, "zlib", ("zlib", 1), ("zlib", 0)):
        folder = tmp_path / str(compress)
        memory_in(folder, compress=compress).cache(lambda: text)()
        (path,) = files(folder)
        sizes[compress] = path.stat().st_size
        assert npser.loads(path.read_bytes()) == text
    plain = len(npser.dumps(text))
    assert sizes[False] == sizes["zlib", 0] == plain and all(sizes[one] < plain for one in (9, "zlib", ("zlib", 1)))
    for compress in ("gzip", ("bz2", 3), "lzma"):
        with pytest.raises(ValueError, match="zlib, zstd or lz4"):
            memory_in(tmp_path, compress=compress)
    with pytest.raises(ValueError, match="level"):
        memory_in(tmp_path, compress=("zlib", 30))
    with pytest.raises(ValueError, match="context"):
        memory_in(tmp_path, context="of no key")
    with pytest.raises(TypeError, match="no option 'clases'"):
        memory_in(tmp_path, clases=[Order])


def test_a_reference_to_a_result(tmp_path: Path) -> None:
    cached = memory_in(tmp_path, classes=[Order]).cache(made)
    shelved = cached.call_and_shelve("orders")
    assert isinstance(shelved, MemorizedResult) and shelved.get() == VALUES["orders"]
    assert cached.call_and_shelve("orders").get() == VALUES["orders"] and CALLS == ["orders"]
    assert pickle.loads(pickle.dumps(shelved)).get() == VALUES["orders"]
    (path,) = files(tmp_path)
    path.write_bytes(b"poison")
    with pytest.raises(KeyError):
        shelved.get()
    shelved.clear()
    with pytest.raises(KeyError):
        shelved.get()
    assert not cached.check_call_in_cache("orders")


def test_arguments_may_be_ignored_and_results_expire(tmp_path: Path) -> None:
    memory = memory_in(tmp_path)

    @memory.cache(ignore=["loud"])
    def added(a: int, b: int, loud: int = 0) -> tuple[int, int]:
        CALLS.append((a, b))
        return (a, b)

    assert added(1, 2) == added(1, 2, loud=5) == (1, 2) and CALLS == [(1, 2)]
    added.clear(warn=False)
    assert added(1, 2) == (1, 2) and len(CALLS) == 2
    old = memory.cache(ones, cache_validation_callback=expires_after(seconds=0))
    old(1), old(1)
    assert CALLS[2:] == [1, 1]


def test_a_store_is_cut_to_size_by_what_was_read_last(tmp_path: Path) -> None:
    memory = memory_in(tmp_path)
    cached = memory.cache(made)
    for name in ("rows", "array", "text"):
        cached(name)
    for age, path in enumerate(files(tmp_path)):
        read = npser.loads(path.read_bytes())
        then = path.stat().st_mtime - 1000 - age
        os.utime(path, (then + (5000 if same(read, VALUES["array"]) else 0), then))
    memory.reduce_size(items_limit=1)
    (path,) = files(tmp_path)
    assert same(npser.loads(path.read_bytes()), VALUES["array"])
    memory.clear(warn=False)
    assert files(tmp_path) == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda data: data[:-3],
    "empty": lambda data: b"",
    "flipped": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "longer": lambda data: data + b"\0",
    "pickle": lambda data: pickle.dumps("from elsewhere"),
    "json": lambda data: b'"from elsewhere"',
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("options", [{}, {"key": KEY}, {"checksum": "crc32"}], ids=["plain", "sealed", "checked"])
@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_what_is_damaged_is_computed_again(
    tmp_path: Path, damage: str, options: Any, mmap_mode: Any, caplog: pytest.LogCaptureFixture
) -> None:
    cached = memory_in(tmp_path, mmap_mode=mmap_mode, **options).cache(ones)
    cached(1000)
    (path,) = files(tmp_path)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert cached(1000).sum() == 1000
    assert "Exception while loading results for ones(1000)" in caplog.text
    assert cached(1000).sum() == 1000 and CALLS == [1000, 1000]


def test_the_wrong_key_opens_nothing(tmp_path: Path) -> None:
    memory_in(tmp_path, key=OTHER).cache(ones)(5)
    assert memory_in(tmp_path, key=[KEY, OTHER]).cache(ones)(5).sum() == 5 and CALLS == [5]
    assert memory_in(tmp_path, key=KEY).cache(ones)(5).sum() == 5 and CALLS == [5, 5]
    assert memory_in(tmp_path).cache(ones)(5).sum() == 5 and CALLS == [5, 5, 5]


def test_a_sealed_result_is_of_its_own_function_and_arguments(tmp_path: Path) -> None:
    cached = memory_in(tmp_path, key="a key that is text", context="tests").cache(ones)
    cached(3)
    (three,) = files(tmp_path)
    cached(4)
    (four,) = set(files(tmp_path)) - {three}
    four.write_bytes(three.read_bytes())
    assert cached(4).sum() == 4 and cached(3).sum() == 3 and CALLS == [3, 4, 4]
    assert memory_in(tmp_path, key=b"a key that is text").cache(ones)(3).sum() == 3 and CALLS == [3, 4, 4, 3]


def test_results_of_joblibs_own_store_are_read_only_if_that_is_said(tmp_path: Path) -> None:
    Memory(tmp_path, verbose=0).cache(made)("orders")
    read_through = memory_in(tmp_path, foreign="pickle").cache(made)
    assert read_through("orders") == VALUES["orders"] and CALLS == ["orders"]
    anew = memory_in(tmp_path, classes=[Order]).cache(made)
    assert anew("orders") == VALUES["orders"] and CALLS == ["orders", "orders"]
    assert Memory(tmp_path, verbose=0).cache(made)("orders") == VALUES["orders"]  # it is still there for the other one
    assert CALLS == ["orders", "orders"]


def test_a_result_is_never_a_placeholder(tmp_path: Path) -> None:
    unnamed = memory_in(tmp_path).cache(made)
    assert unnamed("orders") == unnamed("orders") == VALUES["orders"] and CALLS == ["orders"] * 2


def cart(version: int) -> Any:
    """The class as this version of a program has it, and registers it."""
    if version == 1:

        @npser.register(name="joblib.Cart", version=1)
        @dataclass
        class Cart:
            total: float
    else:

        @npser.register(name="joblib.Cart", version=2, upgrade=lambda fields, _: {"cents": int(fields["total"] * 100)})
        @dataclass
        class Cart:  # type: ignore[no-redef]
            cents: int
            currency: str = "EUR"

    return Cart


def test_two_versions_of_a_class_at_once(tmp_path: Path) -> None:
    results = []
    cached = memory_in(tmp_path).cache(lambda: results.pop())
    old = cart(1)
    results.append(old(1.5))
    assert cached() == old(1.5) == cached()
    new = cart(2)
    assert cached() == new(150, "EUR")
    cached.clear(warn=False)
    results += [old(0.5), new(1)]
    assert cached() == new(1) == cached()
    cart(1)
    assert cached() == old(0.5)  # the old one cannot read what the new one wrote, and computes


def test_what_cannot_be_kept_is_a_warning(tmp_path: Path) -> None:
    cached = memory_in(tmp_path).cache(lambda: [len, KEY])
    for _ in range(2):
        with pytest.warns(Warning, match="Unable to cache to disk: cannot encode"):
            assert cached() == [len, KEY]
    assert files(tmp_path) == []


def test_functions_go_to_other_processes_and_keys_do_not(tmp_path: Path) -> None:
    plain = memory_in(tmp_path / "plain", classes=["fractions.Fraction"]).cache(ones)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [one.sum() for one in Parallel(n_jobs=2)(delayed(plain)(n) for n in (3, 4, 3))] == [3, 4, 3]
    assert plain(3).sum() == 3 and CALLS == [] and len(files(tmp_path / "plain")) == 2  # computed over there
    with pytest.raises(TypeError, match="store with a key is not pickled"):
        pickle.dumps(memory_in(tmp_path / "sealed", key=KEY))


def test_settings_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "npser_joblib_settings.py").write_text(f"NPSER = {{'key': {KEY!r}, 'compress': 'zlib'}}\n")
    monkeypatch.syspath_prepend(tmp_path)
    memory = memory_in(tmp_path, settings="npser_joblib_settings:NPSER")
    memory.cache(ones)(5)
    assert KEY not in pickle.dumps(memory)
    again = pickle.loads(pickle.dumps(memory)).cache(ones)
    assert again(5).sum() == 5 and CALLS == [5]
    (path,) = files(tmp_path)
    with pytest.raises(npser.SignatureError):
        npser.loads_signed(path.read_bytes(), OTHER)


def test_coroutines(tmp_path: Path) -> None:
    async def pair(number: int) -> tuple[int, int]:
        CALLS.append(number)
        return (number, number)

    cached = memory_in(tmp_path).cache(pair)

    async def both() -> list[tuple[int, int]]:
        return [await cached(3), await cached(3)]

    assert asyncio.run(both()) == [(3, 3), (3, 3)] and CALLS == [3]


def test_another_process_reads_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, numpy, npser.adapters.joblib\nfrom joblib import Memory\n"
        "def made(n):\n    print('made')\n    return (n, numpy.ones(n))\n"
        "print(Memory(sys.argv[1], backend='npser', verbose=0).cache(made)(3))\n"
    )
    runs = [
        subprocess.run([sys.executable, program, str(tmp_path / "cache")], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout for run in runs] == ["made\n(3, array([1., 1., 1.]))\n", "(3, array([1., 1., 1.]))\n"]
