"""What must hold of the report of any payload: spans lie end to end, and parts add up."""

from __future__ import annotations

from npser.inspection.pieces import tile
from npser.inspection.report import Report, inspect

__all__ = ["check_tiles", "check_whole"]


def check_tiles(data: bytes) -> Report:
    """The spans of the payload, and those of each envelope, lie end to end; the parts add up."""
    report = inspect(data)
    layered = [(layer.nbytes, list(tile(layer.piece))) for layer in report.layers]
    for size, found in [*layered, (report.size, list(report.spans()))]:
        at = 0
        for span in found:
            assert span.start == at and span.stop > at and span.nbytes == span.stop - at
            at = span.stop
        assert at == size
        assert sum(span.nbytes for span in found) == size
    assert sum(part.nbytes for part in report.leaves()) == report.size
    assert sum(part.nbytes for part in report.root.children) == report.size
    assert all(part.nbytes >= 0 and part.raw >= 0 for part in report.parts())
    return report


def check_whole(data: bytes) -> Report:
    """So, and nothing was wrong or left unread."""
    report = check_tiles(data)
    assert report.error is None
    assert not any("unread" in span.what for span in report.spans())
    assert not any("unread" in part.path for part in report.leaves())
    return report
