"""Advice on the whole value: compression, tables read as columns, classes without slots, columns that are the same.

Strategy: as in `hints`; times are of the whole payload, which is encoded and decoded in turns with its alternative.
"""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, get_args

from npser.codec import dumps, loads
from npser.envelope.compression import Compressions, Compressor
from npser.errors import NpserError
from npser.inspection.hints import LEAST_BYTES, Hint, human_time, race, sizes
from npser.inspection.report import Report
from npser.inspection.valuecolumns import Column
from npser.types.placeholder import Placeholder

__all__ = ["WHOLE_RULES", "Whole"]

WORTH_COMPRESSING = 0.15
SLOWNESS: Final = {"zlib": 1.15}
"""zlib reads several times slower than the others, so it is named only where it is smaller by so much."""

FASTER = 1.3
LEAST_ROWS = 200
LEAST_OBJECTS = 100

SOME = 1000
"""Objects whose memory is measured."""

MAX_BYTES = 1 << 26
"""Of payloads that are encoded and decoded again and again."""


class Whole:
    """The value that is being looked at.

    Attributes
    ----------
    value : object
    data : bytes
        Its payload, plain.
    report : Report
        Of that.
    columns : list of Column
    classes : dict of str to type
        Of its objects.
    """

    def __init__(
        self, value: Any, data: bytes, report: Report, columns: list[Column], classes: dict[str, type]
    ) -> None:
        self.value = value
        self.data = data
        self.report = report
        self.columns = columns
        self.classes = classes


def compression(whole: Whole) -> Iterator[Hint]:
    """The smallest of the compressed envelopes, and what it costs."""
    found: list[tuple[float, Compressions, Compressor, bytes]] = []
    for name in get_args(Compressions):
        try:
            compressor = Compressor(name, at_least=0)
        except ImportError:
            continue
        data = compressor.close(whole.data)
        found.append((SLOWNESS.get(name, 1.0) * len(data), name, compressor, data))
    _, name, compressor, data = min(found, key=lambda way: way[0])
    nbytes = len(data)
    if len(whole.data) - nbytes < max(LEAST_BYTES, WORTH_COMPRESSING * len(whole.data)):
        return
    before, after, write_before, more = race(
        partial(loads, whole.data, classes=whole.classes),
        partial(loads, data, classes=whole.classes),
        partial(dumps, whole.value),
        partial(compressor.close, whole.data),
    )
    write_after = write_before + more
    text = (
        f"compress='{name}': {sizes(len(whole.data), nbytes)}; "
        f"reading takes {human_time(after)} instead of {human_time(before)}, "
        f"writing {human_time(write_after)} instead of {human_time(write_before)}"
    )
    how = f"npser.Codec(compress='{name}')"
    yield Hint("$", "compression", text, how, len(whole.data), nbytes, before, after)


def tables_as_columns(whole: Whole) -> Iterator[Hint]:
    """Rows that a reader could take as columns."""
    rows = max((part.count for part in whole.report.parts() if part.kind in ("TABLE", "RECORD")), default=0)
    if rows < LEAST_ROWS:
        return
    as_rows = partial(loads, whole.data, classes=whole.classes)
    as_columns = partial(loads, whole.data, classes=whole.classes, tables="columns", numbers="array")
    before, after = race(as_rows, as_columns)
    if before >= FASTER * after:
        text = (
            f"read as columns, the {rows:,} rows take {human_time(after)} instead of {human_time(before)}: "
            f"{before / after:.1f} times faster"
        )
        how = "npser.loads(data, tables='columns', numbers='array'), if the reader wants columns"
        yield Hint("$", "read as columns", text, how, seconds_before=before, seconds_after=after)


def classes_without_slots(whole: Whole) -> Iterator[Hint]:
    """Dataclasses whose objects have a ``__dict__`` each."""
    by_class: dict[type, list[Any]] = {}
    seen: set[int] = set()
    for column in whole.columns:
        if column.owners and id(column.owners) not in seen and _may_have_slots(type(column.owners[0])):
            seen.add(id(column.owners))
            by_class.setdefault(type(column.owners[0]), column.owners)
    for cls, objects in by_class.items():
        found = _with_slots(cls, objects)
        if found is None:
            continue
        other, twins = found
        old, new = dumps(objects), dumps(twins)
        before, after = race(partial(loads, old, classes=(cls,)), partial(loads, new, classes=(other,)))
        memory = [_memory(dumps(items[:SOME]), one) for items, one in ((objects, cls), (twins, other))]
        less = (memory[0] - memory[1]) / min(SOME, len(objects))
        if less < 1 and before < FASTER * after:
            continue
        name = cls.__qualname__[:60]
        text = (
            f"{len(objects):,} objects of {name} have a __dict__: with slots each takes {less:.0f} bytes of memory less"
        )
        if before >= FASTER * after:
            text += f", and are decoded {before / after:.1f} times faster"
        path = next(column.path for column in whole.columns if column.owners is objects)
        yield Hint(
            path.rpartition(".")[0] or "$",
            "class without slots",
            text,
            "@dataclass(slots=True)",
            seconds_before=before,
            seconds_after=after,
        )


def _memory(data: bytes, cls: type) -> int:
    """Bytes that the value of a payload takes, by tracemalloc; 0 where the caller traces already."""
    if tracemalloc.is_tracing():
        return 0
    loads(data, classes=(cls,))  # so that what is kept for the class is there already
    tracemalloc.start()
    try:
        value = loads(data, classes=(cls,))
        size, _ = tracemalloc.get_traced_memory()
        del value
    finally:
        tracemalloc.stop()
    return size


def _may_have_slots(cls: type) -> bool:
    return (
        dataclasses.is_dataclass(cls)
        and cls.__dictoffset__ != 0
        and cls.__bases__ == (object,)
        and not hasattr(cls, "__setstate__")
    )


def _with_slots(cls: type, objects: list[Any]) -> tuple[type, list[Any]] | None:
    """A class of the same fields with slots, and its objects; None for what it would change."""
    names = [field.name for field in dataclasses.fields(cls)]
    if len(objects) < LEAST_OBJECTS or not names or any(set(vars(one)) != set(names) for one in objects):
        return None
    other = dataclasses.make_dataclass(cls.__name__, names, slots=True)
    twins = []
    for one in objects:
        twin: Any = object.__new__(other)
        for name in names:
            setattr(twin, name, getattr(one, name))
        twins.append(twin)
    return other, twins


def same_columns(whole: Whole) -> Iterator[Hint]:
    """Columns of one table with the same items throughout."""
    first: dict[tuple[int, bytes], Column] = {}
    for column in whole.columns:
        if column.owner != "table" or len(column.items) < LEAST_ROWS or type(column.owners[0]) is Placeholder:
            continue
        try:
            data = dumps(column.items)
        except NpserError:
            continue
        other = first.setdefault((id(column.owners), data), column)
        if other is not column and len(data) >= LEAST_BYTES:
            rows = len(column.items)
            text = f"`{column.path}` is the same as `{other.path}` in all {rows:,} rows: {len(data):,} bytes"
            yield Hint(column.path, "the same column twice", text, "store one of them", len(data), 0)


WHOLE_RULES: Final[tuple[Callable[[Whole], Iterator[Hint]], ...]] = (
    compression,
    tables_as_columns,
    classes_without_slots,
    same_columns,
)
