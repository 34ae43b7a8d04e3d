"""Models of Pydantic, to and from what npser stores.

Strategy: a model is the dict of its fields and, as one text, the names of those that were not set. Everything else is
stored only where a model has it: extras, private attributes, fields that it lacks, attributes that are no fields. What
is read goes past all code of the model. Where the class has changed since, its defaults fill what is new.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

__all__ = ["build_of", "state_of"]

_MARK = "\0"  # stands between names, of which none has it

_SET_FIELDS, _SET_NAMES, _SET_EXTRA, _SET_PRIVATE = (
    vars(BaseModel)[name].__set__
    for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def state_of(names: tuple[str, ...]) -> Callable[[Any], dict[str, Any]]:
    """A function that gives the state of a model with these fields."""

    def state(model: Any) -> dict[str, Any]:
        fields, fields_set, extra = model.__dict__, model.__pydantic_fields_set__, model.__pydantic_extra__
        unset = [] if fields.keys() == fields_set else [name for name in fields if name not in fields_set]
        found = {"fields": fields, "unset": _MARK.join(unset)}
        if tuple(fields) != names:  # made by model_construct, or with a cached property
            found |= {"lacks": tuple(set(names) - fields.keys()), "has": tuple(fields.keys() - set(names))}
        if len(fields_set) != len(fields) - len(unset):
            found["set"] = tuple(fields_set - fields.keys())
        if extra is not None:
            found["extra"] = extra
        if model.__pydantic_private__ is not None:
            found["private"] = model.__getstate__()["__pydantic_private__"]  # without those that were never set
        return found

    return state


def build_of(model: type[BaseModel], names: tuple[str, ...]) -> Callable[[dict[str, Any]], Any]:
    """A function that makes objects of a model with these fields out of states."""
    new, attributes = model.__new__, model.__private_attributes__

    def build(state: dict[str, Any]) -> Any:
        fields = state["fields"]
        if tuple(fields) != names:
            fields = _fitted(model, state)
        fields_set = set(fields)
        if state["unset"]:
            fields_set.difference_update(state["unset"].split(_MARK))
        extra = private = None
        if len(state) > 2:
            fields_set.update(state.get("set", ()))
            extra, private = state.get("extra"), state.get("private")
            if not {type(extra), type(private)} <= {dict, type(None)}:
                raise TypeError("extras and private attributes are dicts")
        if private is None and attributes:
            private = _private_defaults(attributes, fields)
        thing = new(model)
        _SET_FIELDS(thing, fields)
        _SET_NAMES(thing, fields_set)
        _SET_EXTRA(thing, extra)
        _SET_PRIVATE(thing, private)
        return thing

    return build


def _fitted(model: type[BaseModel], state: dict[str, Any]) -> dict[str, Any]:
    """The fields without those that the model has no more, and with the defaults of those that are new."""
    has, lacks = state.get("has", ()), state.get("lacks", ())
    fields = {name: value for name, value in state["fields"].items() if name in model.model_fields or name in has}
    new = [name for name in model.model_fields if name not in fields and name not in lacks]
    if not new:
        return fields
    for name in new:
        fields[name] = model.model_fields[name].get_default(call_default_factory=True, validated_data=fields)
        if fields[name] is PydanticUndefined:
            raise TypeError(f"{name} is not stored, and has no default")
    state["unset"] = _MARK.join(filter(None, (state["unset"], *new)))
    return {name: fields[name] for name in (*model.model_fields, *has) if name in fields}


def _private_defaults(attributes: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """The private attributes of a model that was stored without any."""
    found: dict[str, Any] = {}
    for name, attribute in attributes.items():
        if attribute.default_factory is None:
            value = deepcopy(attribute.default)
        elif getattr(attribute, "default_factory_takes_validated_data", None):
            value = attribute.default_factory({**fields, **found})
        else:
            value = attribute.default_factory()
        if value is not PydanticUndefined:
            found[name] = value
    return found
