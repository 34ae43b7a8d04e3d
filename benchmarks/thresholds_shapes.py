"""What the constants above the blocks rest on: run `python -m benchmarks.thresholds_shapes [sweep]`.

Strategy: the same payload read in two ways that one constant decides between, in one process, best of several.
"""

from __future__ import annotations

import gc
import random
import sys
from typing import Any

import numpy as np

import npser
from benchmarks.thresholds import best, run
from npser import encoder
from npser.columns import kinds, pooled, slotwriter, unpooled
from npser.shapes import (
    build,
    collector,
    documentcode,
    documents,
    exactreader,
    generated,
    outline,
    quick,
    tables,
    templates,
)
from npser.shapes.generated import build_rows
from npser.shapes.hot import compile_reader

ROWS = (4, 8, 16, 32, 64, 128, 256, 512)


def _rows(n: int) -> list[dict[str, Any]]:
    rng = random.Random(n)
    return [
        {"id": i, "user": 1000 + rng.randrange(50), "name": f"row {i}", "state": rng.choice("abc"), "price": i * 1.07}
        for i in range(n)
    ]


def _pool_up_to(items: int, texts: int) -> None:
    """Set POOLED_ITEMS and POOLED_TEXTS."""
    slotwriter.POOLED_ITEMS = quick.POOLED_ITEMS = items
    slotwriter.POOLED_TEXTS = texts
    slotwriter.POOLED.update(
        (kind, (texts if kind is str else items, put)) for kind, put in pooled.PUT_MANY.items()
    )


def sweep_pooled() -> None:
    """POOLED_ITEMS: a table whose columns are in the pools, or each in a body of its own."""
    print(f"\n{'rows':>8}{'pooled':>10}{'bodies':>10}   us to read      bytes pooled / bodies")
    for n in ROWS:
        payloads = []
        for items in (10**6, 1):
            _pool_up_to(items, items)
            payloads.append(npser.dumps({"rows": _rows(n)}))
        _pool_up_to(pooled.POOLED_ITEMS, pooled.POOLED_TEXTS)
        times = [best(lambda data=data: npser.loads(data)) / 1000 for data in payloads]  # type: ignore[misc]
        print(f"{n:8}{times[0]:10.1f}{times[1]:10.1f}{len(payloads[0]):25} / {len(payloads[1])}")


def sweep_pooled_texts() -> None:
    """POOLED_TEXTS: a column of texts, all distinct or of ten categories, in the pools or in a body."""
    print(f"\n{'items':>8}{'distinct':>18}{'categories':>20}   us to read, pooled / body")
    rng = random.Random(1)
    for n in (32, 64, 128, 256, 512, 1024):
        figures = []
        for texts in ([f"text {i}" for i in range(n)], [f"text {rng.randrange(10)}" for _ in range(n)]):
            for items in (10**6, 1):
                _pool_up_to(pooled.POOLED_ITEMS, items)
                data = npser.dumps({"id": 1, "texts": texts})
                figures.append(best(lambda data=data: npser.loads(data)) / 1000)  # type: ignore[misc]
        _pool_up_to(pooled.POOLED_ITEMS, pooled.POOLED_TEXTS)
        print(f"{n:8}{figures[0]:11.1f} / {figures[1]:4.1f}{figures[2]:13.1f} / {figures[3]:4.1f}")


def sweep_numpy_items() -> None:
    """NUMPY_ITEMS, NUMPY_DECIMALS: pooled offsets and decimals turned into objects by a loop, or by numpy."""
    print(f"\n{'items':>8}{'offsets':>16}{'decimals':>18}   us to read the payload, loop / numpy")
    rng = random.Random(1)
    kept = unpooled.NUMPY_ITEMS, unpooled.NUMPY_DECIMALS
    for n in (16, 32, 48, 64, 96, 128):
        figures = []
        for items in (
            [10**6 + rng.randrange(200) for _ in range(n)],
            [rng.randrange(10**4) / 100 for _ in range(n)],
        ):
            data = npser.dumps({"id": 1, "items": items})
            for least in (10**6, 1):
                unpooled.NUMPY_ITEMS = unpooled.NUMPY_DECIMALS = least
                figures.append(best(lambda data=data: npser.loads(data)) / 1000)  # type: ignore[misc]
            unpooled.NUMPY_ITEMS, unpooled.NUMPY_DECIMALS = kept
        pairs = zip(figures[::2], figures[1::2], strict=True)
        print(f"{n:8}" + "".join(f"{loop:11.1f} / {fast:4.1f}" for loop, fast in pairs))


def sweep_learned() -> None:
    """LEARNED_AFTER: what learning a document costs, and after how many writes it has paid that back."""
    print(f"\n{'leaves':>8}{'plain':>9}{'learned':>9}   us to write{'learning':>10} us{'pays after':>12} writes")
    for leaves in (9, 27, 90, 270, 900):
        value = _document(leaves)
        kept, documents.DOCUMENTS._learned_after = documents.DOCUMENTS._learned_after, 1 << 60
        documents.DOCUMENTS.clear()
        plain = best(lambda value=value: npser.dumps(value)) / 1000  # type: ignore[misc]
        learning = best(lambda value=value: documentcode.document_of(value)) / 1000  # type: ignore[misc]
        documents.DOCUMENTS._learned_after = 1
        npser.dumps(value)
        learned = best(lambda value=value: npser.dumps(value)) / 1000  # type: ignore[misc]
        documents.DOCUMENTS._learned_after = kept
        print(f"{leaves:8}{plain:9.1f}{learned:9.1f}{learning:22.0f}{learning / (plain - learned):15.0f}")
    documents.DOCUMENTS.clear()


def sweep_looked_up() -> None:
    """MAX_LOOKED_UP: taking a document of sixteen dicts apart by looking keys up, or by unpacking values."""
    print(f"\n{'keys':>8}{'looked up':>12}{'unpacked':>12}   ns a dict")
    kept = documentcode.MAX_LOOKED_UP
    for keys in (1, 2, 3, 4, 6, 8):
        value = {f"dict {i}": {f"key {k}": i * k for k in range(keys)} for i in range(16)}
        figures = []
        for documentcode.MAX_LOOKED_UP in (16, 0):
            found = documentcode.document_of(value)
            assert found is not None
            figures.append(best(lambda take=found.take, value=value: take(value)) / 16)  # type: ignore[misc]
        documentcode.MAX_LOOKED_UP = kept
        print(f"{keys:8}{figures[0]:12.1f}{figures[1]:12.1f}")


def sweep_quick() -> None:
    """`quick`: tables of so many rows written by it, or by the placers of all nodes."""
    print(f"\n{'rows':>8}{'quick':>9}{'placers':>9}   us to write")
    kept = encoder.write_fields
    for n in ROWS:
        rows = _rows(n)
        figures = []
        for encoder.write_fields in (kept, None):  # type: ignore[assignment]
            figures.append(best(lambda rows=rows: npser.dumps(rows)) / 1000)  # type: ignore[misc]
        encoder.write_fields = kept
        print(f"{n:8}{figures[0]:9.1f}{figures[1]:9.1f}")


def sweep_chunk_rows() -> None:
    """MIN_CHUNKED, CHUNK_ROWS and MAX_CELLS: dicts taken apart in chunks of so many, and key by key."""
    print(f"\n{'chunk':>8}   us to take 500, 2,000 and 10,000 dicts of 10 keys apart")
    keys = tuple(f"key {k}" for k in range(10))
    tables_of = [[{key: i + k for k, key in enumerate(keys)} for i in range(n)] for n in (500, 2_000, 10_000)]
    kept = tables.CHUNK_ROWS, tables.MIN_CHUNKED, tables.MAX_CELLS

    def line(title: object) -> None:
        figures = [best(lambda rows=rows: list(tables.take_apart(rows, keys) or ())) / 1000 for rows in tables_of]  # type: ignore[misc]
        print(f"{title!s:>8}" + "".join(f"{figure:10.0f}" for figure in figures))

    tables.MIN_CHUNKED = 0
    for tables.CHUNK_ROWS in (32, 64, 128, 256, 512, 1024, 1 << 14):
        line(tables.CHUNK_ROWS)
    tables.CHUNK_ROWS, tables.MAX_CELLS = kept[0], 0
    line("by key")
    tables.CHUNK_ROWS, tables.MIN_CHUNKED, tables.MAX_CELLS = kept


def sweep_marshalled() -> None:
    """MIN_MARSHALLED: the keys of so many cells compared by marshal, or one by one."""
    print(f"\n{'cells':>8}{'marshal':>9}{'compared':>9}   us")
    keys = tuple(f"key {k}" for k in range(8))
    kept = tables.MIN_MARSHALLED
    for n in ROWS:
        flat = [*keys] * n
        figures = []
        for tables.MIN_MARSHALLED in (0, 1 << 30):
            figures.append(best(lambda flat=flat, n=n: tables.are_named(flat, keys, n)) / 1000)  # type: ignore[misc]
        tables.MIN_MARSHALLED = kept
        print(f"{8 * n:8}{figures[0]:9.2f}{figures[1]:9.2f}")


def sweep_compared_ints() -> None:
    """COMPARED_INTS: the narrowest pool of so many ints by their extremes, or by trying."""
    print(f"\n{'ints':>8}{'extremes':>9}{'tried':>9}   us")
    kept = pooled.COMPARED_INTS
    for n in (4, 8, 16, 24, 32, 64, 128):
        values = [300 + i * 37 % 1000 for i in range(n)]
        figures = []
        for pooled.COMPARED_INTS in (1 << 30, 0):
            figures.append(best(lambda values=values: pooled._put_ints(pooled.PoolWriter().pools, values)) / 1000)  # type: ignore[misc]
        pooled.COMPARED_INTS = kept
        print(f"{n:8}{figures[0]:9.2f}{figures[1]:9.2f}")


def sweep_rows() -> None:
    """GENERATED_ROWS: dicts by generated code bound to the keys (binding included), or by a loop."""
    print(f"\n{'rows':>8}{'generated':>11}{'loop':>8}   us")
    keys = ("id", "user", "name", "state", "price")
    for n in ROWS:
        columns = [list(range(n))] * len(keys)
        generated = best(lambda columns=columns: build_rows(keys)(columns))  # type: ignore[misc]
        loop = best(lambda columns=columns: [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)])  # type: ignore[misc]
        print(f"{n:8}{generated / 1000:11.1f}{loop / 1000:8.1f}")


def sweep_shared() -> None:
    """MIN_SHARED, MAX_SHARED: dicts as displays, or as the dicts of objects, which share their keys."""
    print(f"\n{'keys':>8}{'displays':>10}{'shared':>9}   us for 1000 dicts     bytes each")
    for k in (2, 4, 6, 7, 8, 12, 19, 29):
        keys = tuple(f"key {i}" for i in range(k))
        columns = [list(range(1000, 2000))] * k
        display = generated.bind(generated._maker(templates.rows_template(k))(), keys)
        shared = generated.bind(generated._maker(templates.shared_rows_template(k))(generated.new_row_class()), keys)
        times = [best(lambda build=build, columns=columns: build(columns)) / 1000 for build in (display, shared)]  # type: ignore[misc]
        sizes = [sys.getsizeof(build(columns)[0]) for build in (display, shared)]
        print(f"{k:8}{times[0]:10.1f}{times[1]:9.1f}{sizes[0]:26} / {sizes[1]}")


def _document(leaves: int) -> dict[str, Any]:
    return {f"part {i}": {f"leaf {j}": f"text {i} {j}" for j in range(8)} | {"n": i} for i in range(leaves // 9)}


def sweep_hot() -> None:
    """HOT_AFTER: what compiling a shape costs, and after how many reads it has paid that back."""
    print(f"\n{'leaves':>8}{'outline':>9}{'hot':>9}   us to read{'compile':>10} us{'pays after':>12} reads")
    for leaves in (9, 27, 90, 270, 900):
        data = npser.dumps(_document(leaves))
        kept, build.HOT_AFTER = build.HOT_AFTER, 1 << 60
        build.SHAPES.clear()
        cold = best(lambda data=data: npser.loads(data)) / 1000  # type: ignore[misc]
        (program,) = build.SHAPES.programs
        signature, *_any = program.meetings
        compiling = best(lambda program=program, s=signature: compile_reader(program, s)) / 1000  # type: ignore[misc]
        build.HOT_AFTER = 1
        build.SHAPES.clear()
        npser.loads(data)
        hot = best(lambda data=data: npser.loads(data)) / 1000  # type: ignore[misc]
        build.HOT_AFTER = kept
        print(f"{leaves:8}{cold:9.1f}{hot:9.1f}{compiling:21.0f}{compiling / (cold - hot):15.0f}")
    build.SHAPES.clear()


def sweep_outline() -> None:
    """A shape that is new: through its outline, or through its nodes. There is no size from which either is slower."""
    print(f"\n{'leaves':>8}{'outline':>9}{'nodes':>9}   us to read, no shape remembered")
    kept = build.outline_of
    for leaves in (9, 27, 90, 270, 900, 9000):
        data = npser.dumps(_document(leaves))
        figures = []
        for outline_of in (kept, _no_outline):
            vars(build)["outline_of"] = outline_of
            figures.append(best(lambda data=data: _read_new(data)) / 1000)  # type: ignore[misc]
        vars(build)["outline_of"] = kept
        print(f"{leaves:8}{figures[0]:9.1f}{figures[1]:9.1f}")


def _no_outline(*_args: Any) -> None:
    return None


def _read_new(data: bytes) -> None:
    build.SHAPES.clear()
    npser.loads(data)


def sweep_run() -> None:
    """MAX_RUN: leaves that are looked for at a time, where all children are leaves but the last one, and where every
    other one is."""
    print(f"\n{'MAX_RUN':>8}{'one run':>9}{'runs of 1':>11}   us to outline the shape of a dict of 250 keys")
    shapes = []
    for value in ({f"k{i}": i or {} for i in range(249, -1, -1)}, {f"k{i}": i if i % 2 else {} for i in range(250)}):
        build.SHAPES.clear()
        npser.loads(npser.dumps(value))
        shapes += [shape for shape, _ in build.SHAPES._programs]
    kept = outline.MAX_RUN
    for outline.MAX_RUN in (8, 16, 32, 64, 128, 256):
        times = [best(lambda shape=shape: outline.outline_of(shape, 512, build.PARSERS)) / 1000 for shape in shapes]  # type: ignore[misc]
        print(f"{outline.MAX_RUN:8}{times[0]:9.1f}{times[1]:11.1f}")
    outline.MAX_RUN = kept


def sweep_exact() -> None:
    """EXACT_AFTER, EXACT_BYTES: a table through the reader of its shape, and through one for just its columns."""
    print(f"\n{'rows':>8}{'bytes':>9}{'shape':>9}{'exact':>9}   us to read{'compile':>10} us{'pays after':>12} reads")
    kept = build.HOT_AFTER, exactreader.EXACT_AFTER, exactreader.EXACT_BYTES
    exactreader.EXACT_BYTES = 1 << 60
    for rows in (1, 10, 100, 1000, 10_000):
        data = npser.dumps([{"id": i, "name": f"name {i}", "price": i / 4, "tags": ["a", "b"]} for i in range(rows)])
        build.HOT_AFTER, exactreader.EXACT_AFTER = 1, 1 << 60
        build.SHAPES.clear()
        npser.loads(data)
        shape = best(lambda data=data: npser.loads(data)) / 1000  # type: ignore[misc]
        (program,) = build.SHAPES.programs
        (key,) = program.exact
        signature, columns, mask = key[: program.singles], key[program.singles : -1], key[-1]
        compiling = best(lambda: exactreader._compile(program, signature, columns, mask)) / 1000  # noqa: B023
        exactreader.EXACT_AFTER = 1
        npser.loads(data)
        exact = best(lambda data=data: npser.loads(data)) / 1000  # type: ignore[misc]
        print(f"{rows:8}{len(data):9}{shape:9.1f}{exact:9.1f}{compiling:21.0f}{compiling / (shape - exact):15.0f}")
    build.HOT_AFTER, exactreader.EXACT_AFTER, exactreader.EXACT_BYTES = kept
    build.SHAPES.clear()


def sweep_sampled_doubles() -> None:
    """SAMPLED_DOUBLES: a hundred prices, and doubles that are none, with so many tried before all are."""
    print(f"\n{'tried':>8}{'prices':>9}{'others':>9}   us")
    columns = [[round(i * 7.31 % 90, 2) for i in range(100)], [(i * 7.31) ** 0.5 for i in range(100)]]
    kept = pooled.SAMPLED_DOUBLES
    for pooled.SAMPLED_DOUBLES in (1, 2, 4, 8, 16):
        figures = [best(lambda c=c: pooled._put_floats(pooled.PoolWriter().pools, c)) / 1000 for c in columns]  # type: ignore[misc]
        print(f"{pooled.SAMPLED_DOUBLES:8}" + "".join(f"{figure:9.2f}" for figure in figures))
    pooled.SAMPLED_DOUBLES = kept


def sweep_few_others() -> None:
    """FEW_OTHERS: ints, with one text among so many items, taken out by slices, or by a look at each."""
    print(f"\n{'one in':>8}{'slices':>9}{'each':>9}   us to take 10,000 items apart")
    kept = kinds.FEW_OTHERS
    for share in (4, 8, 16, 32, 64, 256):
        values = ["x" if i % share == 0 else i for i in range(10_000)]
        there = np.array([type(value) is int for value in values])
        figures = []
        for kinds.FEW_OTHERS in (0, 1 << 30):
            figures.append(best(lambda values=values, there=there: kinds._those(values, there)) / 1000)  # type: ignore[misc]
        kinds.FEW_OTHERS = kept
        print(f"{share:8}{figures[0]:9.1f}{figures[1]:9.1f}")


def sweep_handed_over() -> None:
    """HANDED_OVER: arrays of so many bytes in a payload, whose bodies keep their memory, or are copied out of it."""
    print(f"\n{'bytes':>8}{'kept':>9}{'copied':>9}   us to write")
    kept = slotwriter.HANDED_OVER
    for size in (1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20):
        array = np.random.default_rng(3).integers(-(1 << 63), (1 << 63) - 1, size // 8)
        figures = []
        for slotwriter.HANDED_OVER in (0, 1 << 40):
            figures.append(best(lambda array=array: npser.dumps(array)) / 1000)  # type: ignore[misc]
        slotwriter.HANDED_OVER = kept
        print(f"{size:8}{figures[0]:9.1f}{figures[1]:9.1f}")


def sweep_collector() -> None:
    """WORTH_PAUSING: reading with the collector paused or running, beside the objects that a small service has."""
    alive = [[{"i": i}] for i in range(200_000)]
    print(f"\n{'rows':>8}{'paused':>10}{'running':>10}   us to read, {len(alive):,} lists and dicts alive")
    for n in (100, 1000, 10_000, 100_000):
        data = npser.dumps([{"id": i, "tags": ["a", "b"], "at": {"x": i}} for i in range(n)])
        paused = best(lambda data=data: npser.loads(data), 0.5) / 1000  # type: ignore[misc]
        vars(collector)["gc"] = _Idle()
        running = best(lambda data=data: npser.loads(data), 0.5) / 1000  # type: ignore[misc]
        vars(collector)["gc"] = gc
        print(f"{n:8}{paused:10.0f}{running:10.0f}")
    gc.collect()


class _Idle:
    """A collector that cannot be paused."""

    def isenabled(self) -> bool:
        return False

    def disable(self) -> None:
        return None


SWEEPS = (
    sweep_pooled,
    sweep_pooled_texts,
    sweep_numpy_items,
    sweep_rows,
    sweep_shared,
    sweep_hot,
    sweep_outline,
    sweep_run,
    sweep_exact,
    sweep_learned,
    sweep_looked_up,
    sweep_quick,
    sweep_chunk_rows,
    sweep_marshalled,
    sweep_compared_ints,
    sweep_sampled_doubles,
    sweep_few_others,
    sweep_handed_over,
    sweep_collector,
)

if __name__ == "__main__":
    run(SWEEPS, sys.argv[1:])
