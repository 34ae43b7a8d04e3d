"""What Django itself puts into a cache: template fragments, pages, model instances.

Strategy: npser refuses a str or a dict of another class, since it would not come back as itself. For the classes of
Django that stand in every cache it is said once how they are taken apart, when a cache is first used and not when this
is imported: settings come before models. A model warns of states without the version of Django that pickles have, so
its instances are restored by a subclass that adds the version, and are instances of the model itself from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from http.cookies import Morsel, SimpleCookie
from typing import Any

from npser.adapters.settings import imported
from npser.types.registry import register, registration_of, wire_name

__all__ = ["know_values", "readers_of"]


@lru_cache(maxsize=1)
def know_values() -> None:
    """Make the classes known to npser; the second time it does nothing."""
    from django.db.models.base import ModelState
    from django.http import HttpResponse, JsonResponse
    from django.http.response import ResponseHeaders
    from django.template.response import SimpleTemplateResponse, TemplateResponse
    from django.utils.safestring import SafeString

    for cls in (HttpResponse, JsonResponse, SimpleTemplateResponse, TemplateResponse, ResponseHeaders, ModelState):
        register(cls)
    with suppress(ImportError):  # since Django 6.1, each the only one of its class
        from django.db.models import fetch_modes

        for mode in (fetch_modes.FETCH_ONE, fetch_modes.FETCH_PEERS, fetch_modes.FETCH_RAISE):
            register(type(mode), state=_nothing, build=partial(_constant, mode))
    register(SafeString, state=str.__str__, build=partial(_text, SafeString))
    register(SimpleCookie, state=_state_of_cookies, build=_cookies)


def _nothing(_thing: object) -> None:
    return None


def _constant(thing: Any, _state: None) -> Any:
    return thing


def _text(kind: type, state: str) -> Any:
    if type(state) is not str:
        raise TypeError(f"{kind.__name__} is text, not {type(state).__name__}")
    return kind(state)


def _state_of_cookies(cookies: SimpleCookie) -> list[tuple[str, str, str, dict[str, Any]]]:
    return [(name, morsel.value, morsel.coded_value, dict(morsel)) for name, morsel in cookies.items()]


def _cookies(state: Iterable[tuple[str, str, str, dict[str, Any]]]) -> SimpleCookie:
    cookies = SimpleCookie()
    for name, value, coded, attributes in state:
        morsel: Morsel[str] = Morsel()
        morsel.set(name, value, coded)
        morsel.update(attributes)
        dict.__setitem__(cookies, name, morsel)
    return cookies


def readers_of(classes: Any) -> dict[str, type]:
    """Classes as settings name them, by the name that they have in entries."""
    if isinstance(classes, str):
        classes = [part.strip() for part in classes.split(",") if part.strip()]
    named = classes.items() if isinstance(classes, Mapping) else ((None, one) for one in classes)
    found = {}
    for name, one in named:
        cls = imported(one) if isinstance(one, str) else one
        if not isinstance(cls, type):
            raise TypeError(f"classes are classes or their dotted paths, not {one!r}")
        found[name or wire_name(cls)] = _reader_of(cls)
    return found


def _reader_of(cls: type) -> type:
    from django.db import models

    # what is registered says by itself how it is read
    return _restorer(cls) if issubclass(cls, models.Model) and registration_of(cls) is None else cls


@cache
def _restorer(model: type) -> type:
    import django
    from django.db import DJANGO_VERSION_PICKLE_KEY

    def restore(self: Any, state: dict[str, Any]) -> None:
        self.__class__ = model
        self.__setstate__({**state, DJANGO_VERSION_PICKLE_KEY: django.__version__})
        self.__dict__.pop(DJANGO_VERSION_PICKLE_KEY, None)

    # made by type itself: for its metaclass it would be one more model
    namespace = {"__setstate__": restore, "__module__": model.__module__}
    return type.__new__(type(model), model.__name__, (model,), namespace)
