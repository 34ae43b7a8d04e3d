"""What pyarrow holds, and nobody gets back: it is refused before it is written.

Strategy: pyarrow makes arrays without a look at what is in them, and looks when it is asked to, as the reader does; so
the writer asks it, too. It does so for one array that has no others in it at a time, since those are all that is
written: a list that is a slice may have anything beside what it shows.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from npser.errors import EncodeError

__all__ = ["check"]


def check(chunked: Any) -> None:
    """EncodeError where a chunked array, without those inside of it, would not come back as it is.

    >>> check(pa.chunked_array([[1, None]]))
    """
    kind = chunked.type
    # chunks are put together, and so is what the lists hold that are no nulls
    if _has_half_codes(kind) and (chunked.num_chunks > 1 or (kind.num_fields and not pa.types.is_struct(kind))):
        raise EncodeError(
            f"npser.adapters.arrow does not keep several chunks of {kind}, nor lists of such: pyarrow makes other "
            "numbers of them when it puts them together; cast to float16 without a dictionary"
        )
    if kind.num_fields:
        return
    try:
        for chunk in chunked.chunks:
            chunk.validate(full=True)
    except pa.ArrowInvalid as error:
        raise EncodeError(f"npser.adapters.arrow does not keep a {kind} that pyarrow refuses: {error}") from error


def _has_half_codes(kind: Any) -> bool:
    """Whether codes of float16 are anywhere in a type."""
    if pa.types.is_dictionary(kind):
        return pa.types.is_float16(kind.value_type) or _has_half_codes(kind.value_type)
    return any(_has_half_codes(kind.field(at).type) for at in range(kind.num_fields))
