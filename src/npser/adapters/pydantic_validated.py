"""Reading with the validation of Pydantic: for bytes that somebody else may have written.

Strategy: npser builds the models without running anything of theirs, and pydantic then makes them anew out of the
fields that were set, as it would out of a request. So nothing
is trusted to be valid because it was when it was written.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, RootModel, TypeAdapter

from npser.codec import DEFAULT_LIMITS, Classes, loads
from npser.limits import Limits

__all__ = ["loads_validated"]


def loads_validated(data: Any, kind: Any, *, classes: Classes = (), limits: Limits = DEFAULT_LIMITS) -> Any:
    """`loads`, and then pydantic's validation of all that was read, as ``TypeAdapter(kind)`` does it.

    Models are made anew by their validators out of the fields that were set; private attributes are made anew, too.

    Parameters
    ----------
    kind : type or TypeAdapter
        What it must be: a model, ``list[Order]``, or a TypeAdapter that is kept for many calls.

    Raises
    ------
    DecodeError
        The bytes are no payload.
    pydantic.ValidationError
        They are, and its values are none of these.
    """
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    return adapter.validate_python(_bare(loads(data, classes=classes, limits=limits)), by_alias=False, by_name=True)


def _bare(value: Any) -> Any:
    if isinstance(value, BaseModel):
        fields = {name: _bare(part) for name, part in value.__dict__.items() if name in value.__pydantic_fields_set__}
        return fields["root"] if isinstance(value, RootModel) else {**fields, **(value.__pydantic_extra__ or {})}
    if type(value) is dict:
        return {key: _bare(part) for key, part in value.items()}
    return type(value)(map(_bare, value)) if type(value) in (list, tuple, set, frozenset) else value
