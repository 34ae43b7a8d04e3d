"""Text and bytes that are copied for each item count in full."""

from __future__ import annotations

import pytest

from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns.copies import read_copied_bytes, read_copied_text, write_copied_bytes, write_copied_text
from npser.errors import LimitError
from npser.weights import TEXT_ITEM

VALUES = [[], ["a"], ["", "\0"], ["x" * 1000] * 50, ["\ud800" * 100] * 40, [str(i) for i in range(300)], ["ü" * 70, ""] * 500]


@pytest.mark.parametrize("values", VALUES, ids=lambda values: str(len(values)))
def test_what_is_written_is_read_within_what_was_counted(values: list[str]) -> None:
    raw = [value.encode("utf-8", "surrogatepass") for value in values]
    for write, read, items in (
        (write_copied_text, read_copied_text, values),
        (write_copied_bytes, read_copied_bytes, raw),
    ):
        sink = Sink()
        write(sink, items)  # type: ignore[operator]
        bound = sink.expanded + len(sink.out) + TEXT_ITEM * len(items)
        cursor = Cursor(memoryview(bytes(sink.out)), budget=bound)
        assert read(cursor, len(items)) == items
        assert not cursor.left


def test_many_copies_of_one_item_are_refused() -> None:
    sink = Sink()
    write_copied_bytes(sink, [b"x" * 1000] * 1000)
    assert len(sink.out) < 1100
    with pytest.raises(LimitError):
        read_copied_bytes(Cursor(memoryview(bytes(sink.out)), budget=1000 * 1000 // 8 - 1000), 1000)
