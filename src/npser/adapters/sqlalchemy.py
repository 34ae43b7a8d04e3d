"""SQLAlchemy 2: rows of a result as a table, and instances of mapped classes as what their columns hold.

    import npser.adapters.sqlalchemy
    npser.adapters.sqlalchemy.register(User, Address)     # rows need no argument

    data = npser.dumps(session.execute(select(User.id, User.name)).all())
    npser.loads(data)[0].name                             # a Row again

A `Row` comes back as a `Row`: a tuple with names, and `_mapping` by name. What it came from is gone, so it is not asked
by Column objects any more, as after pickling. An instance comes back detached, as after `session.expunge`: its loaded
columns are there, `session.add` attaches it, and what was not loaded is loaded then. Relationships are not stored.

Strategy: rows of one result are a table, one column a name. `Rows(result)` is a list of them that says so: it is read
faster than pickle's. Instances are made past `__init__`, validators and events. One with changes that no database has
seen is refused: a cache is not where they belong.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

from sqlalchemy import inspect
from sqlalchemy.engine import Row, RowMapping
from sqlalchemy.orm import make_transient_to_detached
from sqlalchemy.orm.attributes import manager_of_class

from npser.adapters import sqlalchemy_rows as rows
from npser.adapters.sqlalchemy_rows import Rows
from npser.types.registry import register as register_class

__all__ = ["Rows", "register"]


def register(*models: type) -> None:
    """Make rows known to `dumps` and to every `loads`, and these mapped classes; of a declarative base, all of them.

    Raises
    ------
    TypeError
        For a class that is not mapped.
    """
    register_class(Row, name="sqlalchemy.Row", state=rows.row_state, build=rows.build_row)
    register_class(RowMapping, name="sqlalchemy.RowMapping", state=rows.mapping_state, build=rows.build_mapping)
    register_class(Rows, name="sqlalchemy.Rows", state=rows.rows_state, build=rows.build_rows)
    for model in models:
        for cls in _mapped(model):
            register_class(cls, state=_instance_state, build=partial(_build_instance, cls))


def _mapped(model: type) -> list[type]:
    if inspect(model, raiseerr=False) is not None:
        return [model]
    mappers = getattr(getattr(model, "registry", None), "mappers", ())
    if not mappers:
        raise TypeError(f"{model!r} is not mapped, and no declarative base with mapped classes")
    return [mapper.class_ for mapper in mappers if issubclass(mapper.class_, model)]


class Parts(NamedTuple):
    """What the attributes of a mapped class are for."""

    left_out: frozenset[str]  # made of other attributes, or of other instances
    keys: tuple[str, ...]


@lru_cache(maxsize=256)
def _parts(cls: Any) -> Parts:
    mapper: Any = inspect(cls)
    left_out = {"_sa_instance_state", *mapper.relationships.keys(), *mapper.composites.keys()}
    return Parts(
        frozenset(left_out), tuple(mapper.get_property_by_column(column).key for column in mapper.primary_key)
    )


def _instance_state(instance: Any) -> Any:
    """Its loaded attributes; in a tuple, where no database has it yet."""
    about: Any = inspect(instance)
    left_out, keys = _parts(about.class_)
    state = {name: value for name, value in vars(instance).items() if name not in left_out}
    if about.transient or about.pending:
        return (state,)
    if about.deleted or about.was_deleted or about.modified:
        raise TypeError(f"a {type(instance).__qualname__} with changes that are not in the database: flush first")
    if about.identity_token is not None:
        raise TypeError(f"a {type(instance).__qualname__} of a sharded session")
    return dict(zip(keys, about.identity, strict=True)) | state  # an expired one has nothing else


def _build_instance(cls: type, state: Any) -> Any:
    left_out, keys = _parts(cls)
    is_new = type(state) is tuple
    attributes = state[0] if is_new else state
    if type(attributes) is not dict or not left_out.isdisjoint(attributes) or not (is_new or {*keys} <= {*attributes}):
        raise TypeError("an instance is made of its attributes with its primary key, and of nothing else")
    instance: Any = manager_of_class(cls).new_instance()
    vars(instance).update(attributes)
    if not is_new:
        make_transient_to_detached(instance)
    return instance
