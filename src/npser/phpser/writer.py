"""Value -> phpser payload, as the extension itself would write it.

Strategy: each container is a generator that writes its head and its leaves and hands out the containers in it; one loop
runs the innermost of them, so that nothing recurses. Arrays of one kind, columns of tables and runs of strings are
written at once. Nothing is tracked for the sake of errors or cycles: where a value is refused, its path is looked for
afterwards; where a list turns out to hold itself, the writing starts again with references.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from npser.errors import EncodeError
from npser.phpser.classes import schema_for
from npser.phpser.lists import check_depth, place_dict, place_list
from npser.phpser.paths import find_path
from npser.phpser.sharing import LOOK_AT, holds_itself, looped, repeated
from npser.phpser.tags import Tag
from npser.phpser.things import THINGS, place_object
from npser.phpser.writing import LEAVES, NO_UTF8, Default, Held, Refused, Walk, Writer, refuses_leaf
from npser.types.allow import NO_CLASSES, Allow

__all__ = ["Identity", "write"]

Identity = Literal["objects", "preserve"]


def write(
    value: Any,
    *,
    version: Literal[1, 2] = 2,
    default: Default = None,
    allow: Allow = NO_CLASSES,
    identity: Identity = "objects",
) -> bytes:
    """Encode one value.

    Parameters
    ----------
    version : {1, 2}
        The wire to stay within. What needs nothing of wire 2 is marked as wire 1 in either case, as the extension does.
    default : callable | None
        Called with whatever PHP cannot hold; gives a substitute.
    allow : Allow
        Classes whose objects are written under the name that they have there.
    identity : {"objects", "preserve"}
        Whether lists and dicts that are met twice become PHP references. Those that hold themselves always do.

    Raises
    ------
    EncodeError
        For what PHP cannot hold; ``path`` says where it is.

    >>> write([1, 2, 3, 4]).hex(), write([1, 2, 3, 4], version=1).hex()
    ('020017040202', '0100080402040608')
    """
    referenced = repeated(value) if identity == "preserve" else frozenset()
    try:
        return _write(value, version, default, allow, referenced)
    except _HoldsItselfError:
        referenced |= looped(value)
    try:
        return _write(value, version, default, allow, referenced)
    except _HoldsItselfError:
        raise EncodeError("default= gives a list or a dict that holds itself", path="$") from None


class _HoldsItselfError(Exception):
    """A list or a dict is inside itself, and was not written as a reference."""


def _write(value: Any, version: int, default: Default, allow: Allow, referenced: frozenset[int]) -> bytes:
    w = Writer(version, default, allow, referenced, _refuses)
    culprit = value
    try:
        _run(w, value)
        return b"".join((w.words.header(w.used), *w.out))
    except Refused as refusal:
        message, culprit = refusal.message, refusal.culprit
    except UnicodeEncodeError as error:
        message, culprit = NO_UTF8, error.object
    if not referenced and holds_itself(w.stack):
        raise _HoldsItselfError
    path = find_path([value, *(container for _, container in w.stack), *w.placing], culprit, w.origins)
    raise EncodeError(message, path=path) from None


def _run(w: Writer, value: Any) -> None:
    (root,) = w.substituted([value])
    stack = w.stack
    w.placing = (root,)
    walk = _place(w, root)
    w.placing = ()
    if walk is not None:
        stack.append((walk, root))
    while stack:
        for child in stack[-1][0]:
            w.placing = (child,)
            inner = _place(w, child)
            w.placing = ()
            if inner is not None:
                stack.append((inner, child))
                if len(stack) in LOOK_AT and holds_itself(stack):
                    raise _HoldsItselfError
                break
        else:
            stack.pop()


def _place(w: Writer, value: Any) -> Walk | None:
    """Write a value, or give the walk that will."""
    kind = type(value)
    placer = PLACERS.get(kind)
    if placer is not None:
        if len(w.stack) >= w.depth:
            check_depth(w, (value,))
        if kind in _ARRAYS and id(value) in w.referenced:
            return _reference(w, value)
        return placer(w, value)
    schema = schema_for(kind)
    if schema is None:
        raise Refused(_refusal(kind), value)
    if len(w.stack) >= w.depth:
        check_depth(w, (value,))
    return place_object(w, value, schema)


_ARRAYS: Final = frozenset({list, dict})


def _reference(w: Writer, value: Any) -> Walk | None:
    number = w.numbers.get(id(value))
    if number is not None:
        w.head(Tag.REF, number)
        return None
    w.number(id(value), value)
    return _held(w, value)


def _held(w: Writer, value: Any) -> Walk:
    w.head(Tag.NEW_REF)
    yield Held(value)


def _place_held(w: Writer, held: Held) -> Walk | None:
    return PLACERS[type(held.value)](w, held.value)


def _place_leaf(w: Writer, value: Any) -> None:
    w.out.append(LEAVES[type(value)](w, value))


PLACERS: Final[dict[type, Callable[[Writer, Any], Walk | None]]] = {
    **dict.fromkeys(LEAVES, _place_leaf),
    list: place_list,
    dict: place_dict,
    Held: _place_held,
    **THINGS,
}
"""Exact type -> who writes a value; objects of other classes go by their schema."""


def _refuses(value: Any) -> str | None:
    """Why PHP cannot hold a value, as far as it can be told without looking inside; or None."""
    kind = type(value)
    if kind in LEAVES:
        return refuses_leaf(value)
    return None if kind in PLACERS or schema_for(kind) is not None else _refusal(kind)


_HINTS: Final[dict[type, str]] = {
    tuple: "it would come back as a list; default=list writes it as one",
    set: "PHP has no sets; default=sorted writes it as a list",
    frozenset: "PHP has no sets; default=sorted writes it as a list",
    bytearray: "it would come back as bytes or str; default=bytes writes it as a string",
}


def _refusal(kind: type) -> str:
    hint = next((hint for base, hint in _HINTS.items() if issubclass(kind, base)), "PHP has nothing for it")
    return f"cannot encode {kind.__module__}.{kind.__qualname__} for PHP: {hint}; pass default= to substitute it"
