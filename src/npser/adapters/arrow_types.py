"""The types and fields of Arrow <-> plain values: a name, or a name and its parameters.

Strategy: two literal tables. A type that stands in neither is refused: extension types, unions, views of lists, maps
and run-end encodings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from npser.errors import EncodeError

__all__ = ["build_field", "build_type", "field_state", "type_state"]

PLAIN: Final[dict[str, Any]] = {
    str(kind): kind
    for kind in (
        pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
        pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.date32(), pa.date64(), pa.string(), pa.large_string(),
        pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view(), pa.month_day_nano_interval(),
    )
}  # fmt: skip

MADE: Final[dict[str, tuple[Callable[[Any], bool], Callable[[Any], tuple[Any, ...]], Callable[..., Any]]]] = {
    "timestamp": (pa.types.is_timestamp, lambda kind: (kind.unit, kind.tz), pa.timestamp),
    "duration": (pa.types.is_duration, lambda kind: (kind.unit,), pa.duration),
    "time32": (pa.types.is_time32, lambda kind: (kind.unit,), pa.time32),
    "time64": (pa.types.is_time64, lambda kind: (kind.unit,), pa.time64),
    "decimal128": (pa.types.is_decimal128, lambda kind: (kind.precision, kind.scale), pa.decimal128),
    "decimal256": (pa.types.is_decimal256, lambda kind: (kind.precision, kind.scale), pa.decimal256),
    "fixed": (pa.types.is_fixed_size_binary, lambda kind: (kind.byte_width,), pa.binary),
    "dictionary": (
        pa.types.is_dictionary,
        lambda kind: (type_state(kind.index_type), type_state(kind.value_type), kind.ordered),
        lambda index, value, ordered: pa.dictionary(build_type(index), build_type(value), ordered=ordered is True),
    ),
    "list": (
        pa.types.is_list,
        lambda kind: (field_state(kind.value_field),),
        lambda field: pa.list_(build_field(field)),
    ),
    "large_list": (
        pa.types.is_large_list,
        lambda kind: (field_state(kind.value_field),),
        lambda field: pa.large_list(build_field(field)),
    ),
    "struct": (
        pa.types.is_struct,
        lambda kind: tuple(field_state(kind.field(at)) for at in range(kind.num_fields)),
        lambda *fields: pa.struct(list(map(build_field, fields))),
    ),
}


def type_state(kind: Any) -> Any:
    """A type as plain values.

    >>> type_state(pa.int64()), type_state(pa.timestamp("ns", "UTC"))
    ('int64', ('timestamp', 'ns', 'UTC'))
    """
    if PLAIN.get(str(kind)) == kind:
        return str(kind)
    for name, (is_such, parameters, _) in MADE.items():
        if is_such(kind):
            return (name, *parameters(kind))
    raise EncodeError(f"npser.adapters.arrow does not keep the type {kind}: only plain types, lists, structs")


def build_type(state: Any) -> Any:
    """The type."""
    if type(state) is str:
        return PLAIN[state]
    name, *parameters = state
    return MADE[name][2](*parameters)


def field_state(field: Any) -> tuple[Any, ...]:
    """A field: name, type, whether nulls may be in it, metadata."""
    return field.name, type_state(field.type), field.nullable, field.metadata


def build_field(state: Any) -> Any:
    """The field."""
    name, kind, nullable, metadata = state
    return pa.field(name, build_type(kind), nullable=nullable is True, metadata=metadata)
