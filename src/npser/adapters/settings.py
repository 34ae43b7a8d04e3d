"""Options out of the settings of a framework: text in files, dotted paths in the place of classes and functions.

Strategy: one table from an option to what reads it; an option that is in neither table nor `Codec` is refused with the
list of all. What is imported here is imported because the settings name it. No payload has a say in that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Final

from npser.adapters.entries import Entries
from npser.bound import Codec
from npser.limits import Limits

__all__ = ["codec_from", "entries_from", "imported"]


def imported(path: str) -> Any:
    """What a dotted path names, ``"json.loads"`` or ``"shop.models:User"``; ImportError if there is no such thing.

    >>> imported("collections.abc.Mapping") is imported("collections.abc:Mapping") is Mapping
    True
    """
    module, colon, names = path.partition(":")
    if not colon:
        module, _, names = path.rpartition(".")
    try:
        thing = import_module(module)
        for name in names.split("."):
            thing = getattr(thing, name)
    except (AttributeError, ValueError) as error:
        raise ImportError(f"the settings name {path!r}, and there is no such thing: {error}") from None
    return thing


def _thing(given: Any) -> Any:
    return imported(given) if isinstance(given, str) else given


def _classes(given: Any) -> Any:
    if isinstance(given, str):
        given = [part.strip() for part in given.split(",") if part.strip()]
    if isinstance(given, Mapping):
        return {name: _thing(one) for name, one in given.items()}
    return [_thing(one) for one in given] if isinstance(given, Iterable) else given


def _key(given: Any) -> Any:
    if isinstance(given, str):
        return given.encode()
    return [_key(one) for one in given] if isinstance(given, (list, tuple)) else given


def _whole(given: Any) -> Any:
    return int(given) if isinstance(given, str) else given


def _limits(given: Any) -> Any:
    return Limits(**{name: _whole(one) for name, one in given.items()}) if isinstance(given, Mapping) else given


def _foreign(given: Any) -> Any:
    return imported(given) if isinstance(given, str) and "." in given else given


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "classes": _classes,
    "compress_from": _whole,
    "default": _thing,
    "foreign": _foreign,
    "key": _key,
    "level": _whole,
    "limits": _limits,
}

_OF_CODEC: Final = frozenset(Codec.__init__.__kwdefaults__ or {})


def _checked(options: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    unknown = sorted(set(options) - known, key=str)
    if unknown:
        there = ", ".join(sorted(known))
        raise TypeError(f"npser has no option {', '.join(map(repr, unknown))}; the options are: {there}")
    return {name: _READERS[name](value) if name in _READERS else value for name, value in options.items()}


def codec_from(options: Mapping[str, Any]) -> Codec:
    """A `Codec` from settings: its options by name, where classes and functions may be dotted paths, and a key text.

    Parameters
    ----------
    options : mapping
        ``classes``: a list of classes or of dotted paths, or one text with commas, or a mapping of wire names to
        them. ``key``: bytes or text (its UTF-8), or a list of them with the newest first. ``default``: a function or
        its dotted path. ``limits``: `Limits`, or a mapping of its fields. ``compress_from``, ``level``: numbers, as
        text, too. All others as `Codec` takes them.

    Raises
    ------
    TypeError, ValueError
        For an option that there is not, and for what `Codec` refuses.
    ImportError
        For a path that names nothing.

    >>> codec_from({"classes": ["fractions.Fraction"], "key": "sixteen bytes or more", "compress_from": "4096"})
    Codec(classes=(<class 'fractions.Fraction'>,), key=<hidden>, compress_from=4096)
    >>> codec_from({"compresss": "zstd"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    TypeError: npser has no option 'compresss'; the options are: checksum, classes, compress, ...
    """
    return Codec(**_checked(options, _OF_CODEC))


def entries_from(options: Mapping[str, Any]) -> Entries:
    """`Entries` from settings: the options of `codec_from` and ``foreign``, which may be the dotted path of a function.

    >>> entries_from({"foreign": "json.loads"}).loads(b"[1]")
    [1]
    """
    ready = _checked(options, _OF_CODEC | {"foreign"})
    foreign = ready.pop("foreign", "miss")
    return Entries(Codec(**ready), foreign=foreign)
