"""Pydantic 2: models as record batches, and reading with validation.

    import npser.adapters.pydantic
    npser.adapters.pydantic.register(Order)            # and the models in the annotations of its fields
    assert npser.loads(npser.dumps(orders)) == orders

Without this adapter npser stores models exactly, too, by their own ``__getstate__`` (``loads(data, classes=[Order])``).
Registered, they are smaller and read faster, and their fields may come and go: a field that is new since then gets its
default, one that is gone is left out. Dataclasses of pydantic are dataclasses, and need no adapter.

Strategy: a model is the dict of its fields, so a batch of models is a table, one column a field; what else a model has
(extras, private attributes, fields that were not set) is stored where it is there. What is read runs no validator and
no ``__init__``, as with pickle; `loads_validated` is for bytes whose values are to be checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, RootModel

from npser.adapters.pydantic_models import build_of, state_of
from npser.adapters.pydantic_validated import loads_validated
from npser.types.registry import register as register_class
from npser.types.registry import registration_of

__all__ = ["loads_validated", "register"]

Upgrade = Callable[[dict[str, Any], int], Mapping[str, Any]]


def register(*models: type, name: str | None = None, version: int = 0, upgrade: Upgrade | None = None) -> None:
    """Make models known to `dumps` and to every `loads`, and the models in the annotations of their fields.

    Parameters
    ----------
    models : classes
        Each by itself: a subclass is registered itself, and so is each parametrised class of a generic model.
    name, version, upgrade
        Of the one model that is given, as in `npser.register`: `upgrade` gets the fields of an older version.

    Raises
    ------
    TypeError
        For what is no model; for a model with a ``__getstate__`` of its own, which npser stores by that; for a name, a
        version or an upgrade and not exactly one model.
    """
    if len(models) != 1 and (name is not None or version or upgrade is not None):
        raise TypeError("a name, a version and an upgrade are those of one model")
    for model in models:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise TypeError(f"{model!r} is no model")
        if not _is_plain(model):
            raise TypeError(f"{model.__qualname__} has a state of its own: npser.register stores it by that")
        _register(model, name, version, upgrade)
    for model in {inner: None for outer in models for inner in _inner_models(outer, set())}:
        if registration_of(model) is None and _is_plain(model):
            _register(model, None, 0, None)


def _is_plain(model: type[BaseModel]) -> bool:
    base = RootModel if issubclass(model, RootModel) else BaseModel
    return all(getattr(model, method) is getattr(base, method) for method in ("__getstate__", "__setstate__"))


def _inner_models(outer: Any, met: set[Any]) -> Iterator[type[BaseModel]]:
    """The models that the fields of a model name, and theirs."""
    waiting = [field.annotation for field in outer.model_fields.values()]
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in met:
            met.add(kind)
            yield kind
            yield from _inner_models(kind, met)


def _register(model: type[BaseModel], name: str | None, version: int, upgrade: Upgrade | None) -> None:
    names = tuple(model.model_fields)
    register_class(
        model,
        name=name,
        version=version,
        state=state_of(names),
        build=build_of(model, names),
        upgrade=upgrade and (lambda state, then: {**state, "fields": dict(upgrade(state["fields"], then))}),
    )
