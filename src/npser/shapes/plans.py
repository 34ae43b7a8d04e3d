"""How the objects of one class are built from the fields of one payload: a plan, worked out once.

Strategy: the payload says which fields were stored, the class says which it has now, and what they were called before.
A field that both know is set; one that only the payload knows is dropped; one that only the class knows takes its
default. What an older version stored goes through the upgrade that was declared for it. Plans are kept by class
(weakly) and field names (a bounded number), because the same batch comes again and again.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from npser.blocks.stretches import LONG, side_by_side
from npser.errors import DecodeError
from npser.shapes.generated import Fill, columns_of, fill_dicts, fill_objects, fill_slots
from npser.types.registry import ON_CHANGE, Registration, registration_of
from npser.types.schema import NoDefault, StoreWay, default_of, schema_of, setter, store_way
from npser.types.shown import show_name

if TYPE_CHECKING:
    from npser.shapes.node import Builder

__all__ = ["Plan", "extractor", "new_objects", "plan_objects", "plan_tuples", "refuse_dropped", "upgrade_of"]

MAX_PLANS = 64
"""Sets of field names remembered a class; payloads of strangers can not grow it."""

MAX_PLAN_NAMES = 512
MAX_PLAN_TEXT = 1 << 14
"""Of at most so many names and characters each, so that the plans of a class never take more than some megabytes."""


class Plan(NamedTuple):
    """What to do with the columns of a record batch.

    Parameters
    ----------
    used : tuple of int
        Which of the payload's columns the class still has.
    fill : callable
        Sets them on objects.
    defaults : tuple of (name, callable)
        Fields that the payload does not have.
    dropped : tuple of str
        Fields that only the payload has.
    finish : callable | None
        What the class wants to be called with each object at the end.
    """

    used: tuple[int, ...]
    fill: Fill
    defaults: tuple[tuple[str, Callable[[], Any]], ...]
    dropped: tuple[str, ...] = ()
    finish: Callable[[Any], object] | None = None

    def apply(self, objects: Sequence[Any], columns: Sequence[Sequence[Any]]) -> None:
        """Set all fields of objects from one column a stored field."""
        if len(self.used) != len(columns):
            columns = [columns[index] for index in self.used]
        if len(objects) < LONG:
            self.fill(objects, columns)
        else:
            for things, *cells in side_by_side((objects, *columns), len(objects)):
                self.fill(things, cells)
        if self.defaults:
            made = [[make() for _ in objects] for _, make in self.defaults]
            fill = plan_objects(type(objects[0]), tuple(name for name, _ in self.defaults), complete=True).fill
            fill(objects, made)
        if self.finish is not None:
            try:
                for thing in objects:
                    self.finish(thing)
            except Exception as error:
                name = type(objects[0]).__qualname__
                raise DecodeError(f"{name}.__post_init__ refused what was stored: {error!r}") from error


_plans: weakref.WeakKeyDictionary[type, tuple[Registration | None, dict[tuple[Any, ...], Any]]]
_plans = weakref.WeakKeyDictionary()
"""With what was declared about the class at that time: another thread may declare something else meanwhile."""


def _forget(cls: type) -> None:
    _plans.pop(cls, None)


ON_CHANGE.append(_forget)


def _remember(cls: type, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    declared = registration_of(cls)
    then, plans = _plans.get(cls) or _plans.setdefault(cls, (declared, {}))
    if then is not declared:
        plans = {}
        _plans[cls] = declared, plans
    plan = plans.get(key)
    if plan is None:
        plan = make()
        names: tuple[str, ...] = key[1]
        if len(names) <= MAX_PLAN_NAMES and sum(map(len, names)) <= MAX_PLAN_TEXT:
            if len(plans) >= MAX_PLANS:
                plans.clear()
            plans[key] = plan
    return plan


def new_objects(cls: type, n: int) -> list[Any]:
    """n objects of a class, without calling anything of it."""
    try:
        return list(map(object.__new__, repeat(cls, n)))
    except TypeError as error:
        raise DecodeError(f"class {cls.__qualname__} cannot be built: {error}") from error


def plan_objects(cls: type, names: tuple[str, ...], *, complete: bool = False) -> Plan:
    """The plan for objects of `cls` stored with the fields `names`.

    Parameters
    ----------
    complete : bool
        Whether fields that are not in `names` stay unset, because the payload says so.

    Raises
    ------
    DecodeError
        For a field that the payload lacks and that has no default.
    """
    plan: Plan = _remember(cls, ("objects", names, complete), lambda: _plan_objects(cls, names, complete))
    return plan


def _plan_objects(cls: type, names: tuple[str, ...], complete: bool) -> Plan:  # noqa: FBT001
    schema = schema_of(cls)
    assert schema is not None
    has_dict = schema.fields is None and cls.__dictoffset__
    fields = schema.slots if schema.fields is None else schema.fields
    targets = _renamed(cls, names, () if has_dict else fields)
    known = frozenset(targets if has_dict else fields)
    used = tuple(index for index, name in enumerate(targets) if name in known)
    kept = tuple(targets[index] for index in used)
    defaults = () if complete or schema.fields is None else _defaults(cls, schema.fields, targets)
    dropped = tuple(name for name, target in zip(names, targets, strict=True) if target not in known)
    return Plan(used, _FILLERS[store_way(cls, kept)](cls, kept), defaults, dropped, _finish(cls))


def refuse_dropped(b: Builder, cls: type, dropped: tuple[str, ...]) -> None:
    """Raise a `DecodeError` if the caller minds that stored fields are dropped."""
    if dropped and b.policy.extra_fields == "refuse":
        raise b.cursor.fail(f"class {cls.__qualname__} has no field {show_name(dropped[0])!r}, and the payload has one")


def _renamed(cls: type, names: tuple[str, ...], fields: Sequence[str]) -> tuple[str, ...]:
    """What stored fields are called now."""
    declared = registration_of(cls)
    if declared is None or not declared.renames:
        return names
    targets = tuple(name if name in fields else declared.renames.get(name, name) for name in names)
    if len(set(targets)) < len(targets):
        twice = show_name(Counter(targets).most_common(1)[0][0])
        raise DecodeError(f"class {cls.__qualname__}: two of the stored fields are called {twice!r} now")
    return targets


def _finish(cls: type) -> Callable[[Any], object] | None:
    declared = registration_of(cls)
    if declared is None or declared.post_init == "skip":
        return None
    return getattr(cls, "__post_init__", None)


def upgrade_of(cls: type, version: int) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """What has to be done to the fields of an object that was stored as this version; None if nothing."""
    declared = registration_of(cls)
    if declared is None or declared.upgrade is None or version >= declared.version:
        return None
    upgrade = declared.upgrade

    def run(fields: dict[str, Any]) -> dict[str, Any]:
        try:
            done = dict(upgrade(fields, version))
        except Exception as error:
            raise DecodeError(f"the upgrade of {cls.__qualname__} from version {version} failed: {error!r}") from error
        if not all(type(name) is str for name in done):
            raise DecodeError(f"the upgrade of {cls.__qualname__} from version {version} gave a field without a name")
        return done

    return run


_FILLERS: Final[dict[StoreWay, Callable[[type, tuple[str, ...]], Fill]]] = {
    "plain": lambda _cls, names: fill_objects(names),
    "dict": lambda _cls, names: fill_dicts(names),
    "slots": lambda cls, names: fill_slots([setter(cls, name) for name in names]),
    "both": lambda cls, names: fill_slots([setter(cls, name) for name in names]),
}


def _defaults(
    cls: type, fields: tuple[str, ...], names: tuple[str, ...]
) -> tuple[tuple[str, Callable[[], Any]], ...]:
    out = []
    for field in fields:
        if field not in names:
            make = default_of(cls, field)
            if isinstance(make, NoDefault):
                raise DecodeError(
                    f"class {cls.__qualname__} has a field {field!r} without a default, and the payload has none"
                )
            out.append((field, make))
    return tuple(out)


BuildTuples = Callable[[Sequence[Sequence[Any]], int], list[Any]]


def plan_tuples(cls: type, names: tuple[str, ...]) -> tuple[BuildTuples, tuple[str, ...]]:
    """A function from one column a stored field (and their length) to the named tuples of `cls`, and what it drops."""
    plan: tuple[BuildTuples, tuple[str, ...]] = _remember(cls, ("tuples", names), lambda: _plan_tuples(cls, names))
    return plan


def _plan_tuples(cls: type, names: tuple[str, ...]) -> tuple[BuildTuples, tuple[str, ...]]:
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    stored = names
    names = _renamed(cls, names, fields)
    defaults = dict(_defaults(cls, fields, names))

    def build(columns: Sequence[Sequence[Any]], n: int) -> list[Any]:
        if not fields:
            return [tuple.__new__(cls) for _ in range(n)]
        picked = [
            columns[names.index(field)] if field in names else [defaults[field]() for _ in range(n)]
            for field in fields
        ]
        return list(map(tuple.__new__, repeat(cls, n), zip(*picked, strict=True)))

    dropped = tuple(old for old, name in zip(stored, names, strict=True) if name not in fields)
    return build, dropped


def extractor(cls: type, fields: tuple[str, ...]) -> Callable[[Sequence[Any]], list[list[Any]]]:
    """The generated function that takes objects of `cls` apart into one column a field."""
    columns: Callable[[Sequence[Any]], list[list[Any]]] = _remember(
        cls, ("columns", fields), lambda: columns_of(fields)
    )
    return columns
