"""An array of Arrow <-> plain values: numpy arrays of its buffers, in npser's own encodings.

    {"type": ..., "valid": bools, if there are nulls, and by type:}
    values      numbers, times, decimals as bytes: 0 where there is none
    bools       one byte each, as numpy has them
    text        what `arrow_text` describes
    codes       of a dictionary, an array state each
    lists       lengths, and the state of the items; a struct has the states of its fields

Strategy: what is stored is the values and not the layout: offsets, chunks and the bytes under a null are of no
consequence to Arrow, and are not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from npser.adapters import arrow_text
from npser.adapters.arrow_buffers import bits_of, bools_state, build_bools, build_values, values_state
from npser.adapters.arrow_sound import check
from npser.adapters.arrow_types import build_type, type_state
from npser.adapters.rooms import Room

__all__ = ["array_state", "build_array"]

State = dict[str, Any]


def array_state(chunked: Any) -> State:
    """What an array, or a chunked one, is made of."""
    kind = chunked.type
    state: State = {"type": type_state(kind)}
    if not isinstance(chunked, pa.ChunkedArray):
        chunked = pa.chunked_array([chunked])
    check(chunked)
    if is_text(kind):
        return state | arrow_text.from_arrow(chunked.cast(_large(kind)))
    if pa.types.is_dictionary(kind):
        chunked = chunked.unify_dictionaries()
    array = pa.concat_arrays(chunked.chunks) if chunked.num_chunks else pa.array([], kind)
    # a dictionary's are its codes'; whether an item is valid that stands for a null, pyarrow does not survive
    nulls = 0 if pa.types.is_null(kind) or pa.types.is_dictionary(kind) else array.null_count
    valid = array.is_valid().to_numpy(zero_copy_only=False) if nulls else None
    return state | ({} if valid is None else {"valid": valid}) | _of(kind)[0](array, valid)


def build_array(state: State) -> Any:
    """The array of pyarrow that a state was made of."""
    kind, valid = build_type(state["type"]), state.get("valid")
    if is_text(kind):
        made = arrow_text.as_arrow(state, Room(), _large(kind)).cast(kind)
    else:
        made = _of(kind)[1](kind, state, valid)
        made.validate(full=True)
    if made.type != kind:
        raise ValueError(f"a {made.type} in the place of a {kind}")
    return made


def is_text(kind: Any) -> bool:
    """Whether a type is one of strings or byte strings of any length."""
    return kind in (*STRINGS, *BINARIES)


def _large(kind: Any) -> Any:
    return pa.large_string() if kind in STRINGS else pa.large_binary()


def _codes_state(array: Any, valid: Any) -> State:
    return {"codes": array_state(array.indices), "dictionary": array_state(array.dictionary)}


def _build_codes(kind: Any, state: State, valid: Any) -> Any:
    codes, values = build_array(state["codes"]), build_array(state["dictionary"])
    return pa.DictionaryArray.from_arrays(codes, values, ordered=kind.ordered, safe=True)


def _lists_state(array: Any, valid: Any) -> State:
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return {"lengths": lengths, "items": array_state(array.flatten())}


def _build_lists(kind: Any, state: State, valid: Any) -> Any:
    lengths, items = arrow_text.codes_of(state["lengths"]), build_array(state["items"])
    if lengths.size and int(lengths.min()) < 0:
        raise ValueError("a negative length")
    if items.type != kind.value_type:  # pyarrow would end the process
        raise TypeError(f"items of {items.type} in a {kind}")
    offsets = np.zeros(lengths.size + 1, "<i8" if pa.types.is_large_list(kind) else "<i4")
    np.cumsum(lengths, out=offsets[1:])
    if int(offsets[-1]) != len(items) or lengths.sum(dtype="O") != len(items):
        raise ValueError("lengths that do not add up to the items")
    buffers = [bits_of(valid, lengths.size), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(kind, lengths.size, buffers, children=[items])


def _struct_state(array: Any, valid: Any) -> State:
    return {"n": len(array), "fields": list(map(array_state, array.flatten()))}


def _build_struct(kind: Any, state: State, valid: Any) -> Any:
    fields = list(map(build_array, state["fields"]))
    n = state["n"]
    if type(n) is not int or not 0 <= n < 1 << 62 or any(len(field) != n for field in fields):
        raise ValueError("fields of different lengths")
    if [field.type for field in fields] != [kind.field(at).type for at in range(kind.num_fields)]:
        raise TypeError(f"fields of other types than those of a {kind}")
    return pa.Array.from_buffers(kind, n, [bits_of(valid, n)], children=fields)


def _build_null(kind: Any, state: State, valid: Any) -> Any:
    return pa.array(state["none"], kind)


_KINDS: Final[tuple[tuple[Callable[[Any], bool], Callable[..., State], Callable[..., Any]], ...]] = (
    (pa.types.is_boolean, bools_state, build_bools),
    (pa.types.is_null, lambda array, valid: {"none": [None] * len(array)}, _build_null),
    (pa.types.is_dictionary, _codes_state, _build_codes),
    (pa.types.is_struct, _struct_state, _build_struct),
    (pa.types.is_list, _lists_state, _build_lists),
    (pa.types.is_large_list, _lists_state, _build_lists),
)
"""What holds for a type -> how its arrays are taken apart, and put together; else they are values of one width."""

STRINGS = (pa.string(), pa.large_string(), pa.string_view())
BINARIES = (pa.binary(), pa.large_binary(), pa.binary_view())


def _of(kind: Any) -> tuple[Callable[..., State], Callable[..., Any]]:
    return next(((state, build) for is_such, state, build in _KINDS if is_such(kind)), (values_state, build_values))
