"""The text of the generated code: one function of k columns a template, and nothing in it but our own identifiers.

Strategy: no name from a class or from the wire ever becomes source. A source depends on the number of columns alone, so
there are few of them; `generated` compiles each once and binds it to the names that take the place of f0, f1, …
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "MAX_COLUMNS",
    "Generated",
    "columns_template",
    "fill_dicts_template",
    "fill_slots_template",
    "fill_template",
    "filled_one_template",
    "filled_rows_template",
    "lists_template",
    "one_template",
    "rows_template",
    "shared_one_template",
    "shared_rows_template",
]

MAX_COLUMNS = 128
"""Wider tables and classes are built by plain loops: it bounds how much code can ever be generated."""


class Generated(NamedTuple):
    """One generated function before it is bound to names.

    Parameters
    ----------
    name : str
        What it does.
    source : str
        Its text, made of our own identifiers.
    """

    name: str
    source: str


def _values(k: int) -> str:
    return "".join(f"v{i}, " for i in range(k)).rstrip()


@lru_cache(maxsize=MAX_COLUMNS)
def one_template(k: int) -> Generated:
    """Values -> one dict.

    >>> print(one_template(2).source)
    def make():
        def build(values):
            v0, v1, = values
            return {'f0': v0, 'f1': v1}
        return build
    <BLANKLINE>
    """
    pairs = ", ".join(f"'f{i}': v{i}" for i in range(k))
    return Generated(
        f"one_{k}",
        f"def make():\n"
        f"    def build(values):\n"
        f"        {_values(k)} = values\n"
        f"        return {{{pairs}}}\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def shared_one_template(k: int) -> Generated:
    """Values -> one dict that shares its table of keys with the others; see `shared_rows_template`.

    >>> print(shared_one_template(2).source)
    def make(row):
        def build(values):
            o = row()
            o.f0, o.f1, = values
            return o.__dict__
        return build
    <BLANKLINE>
    """
    targets = "".join(f"o.f{i}, " for i in range(k)).rstrip()
    return Generated(
        f"shared_one_{k}",
        f"def make(row):\n"
        f"    def build(values):\n"
        f"        o = row()\n"
        f"        {targets} = values\n"
        f"        return o.__dict__\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def filled_one_template(k: int) -> Generated:
    """Values -> one dict out of a copy of one that has the keys: a long display grows its dict key by key.

    >>> print(filled_one_template(2).source)
    def make(blank):
        def build(values):
            d = blank.copy()
            d['f0'], d['f1'], = values
            return d
        return build
    <BLANKLINE>
    """
    targets = "".join(f"d['f{i}'], " for i in range(k)).rstrip()
    return Generated(
        f"filled_one_{k}",
        f"def make(blank):\n"
        f"    def build(values):\n"
        f"        d = blank.copy()\n"
        f"        {targets} = values\n"
        f"        return d\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def rows_template(k: int) -> Generated:
    """Columns -> dicts.

    >>> print(rows_template(2).source)
    def make():
        def build(columns):
            return [{'f0': v0, 'f1': v1} for v0, v1, in zip(*columns)]
        return build
    <BLANKLINE>
    """
    pairs = ", ".join(f"'f{i}': v{i}" for i in range(k))
    values = "".join(f"v{i}, " for i in range(k))
    return Generated(
        f"rows_{k}",
        f"def make():\n"
        f"    def build(columns):\n"
        f"        return [{{{pairs}}} for {values}in zip(*columns)]\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def shared_rows_template(k: int) -> Generated:
    """Columns -> dicts that share one table of keys, as the ``__dict__`` of objects of one class do (PEP 412).

    >>> print(shared_rows_template(2).source)
    def make(row):
        def build(columns):
            out = []
            push = out.append
            for v0, v1, in zip(*columns):
                o = row()
                o.f0 = v0
                o.f1 = v1
                push(o.__dict__)
            return out
        return build
    <BLANKLINE>
    """
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            o.f{i} = v{i}\n" for i in range(k))
    return Generated(
        f"shared_rows_{k}",
        f"def make(row):\n"
        f"    def build(columns):\n"
        f"        out = []\n"
        f"        push = out.append\n"
        f"        for {values}in zip(*columns):\n"
        f"            o = row()\n"
        f"{body}"
        f"            push(o.__dict__)\n"
        f"        return out\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def filled_rows_template(k: int) -> Generated:
    """Columns -> dicts out of copies of one that has the keys; see `filled_one_template`.

    >>> print(filled_rows_template(2).source)
    def make(blank):
        def build(columns):
            out = []
            push = out.append
            for v0, v1, in zip(*columns):
                d = blank.copy()
                d['f0'] = v0
                d['f1'] = v1
                push(d)
            return out
        return build
    <BLANKLINE>
    """
    body = "".join(f"            d['f{i}'] = v{i}\n" for i in range(k))
    return Generated(
        f"filled_rows_{k}",
        f"def make(blank):\n"
        f"    def build(columns):\n"
        f"        out = []\n"
        f"        push = out.append\n"
        f"        for {_values(k)} in zip(*columns):\n"
        f"            d = blank.copy()\n"
        f"{body}"
        f"            push(d)\n"
        f"        return out\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def lists_template(k: int) -> Generated:
    """Tuples -> lists of the same k items; a display is twice as fast as ``list(row)``.

    >>> print(lists_template(2).source)
    def make():
        def build(rows):
            return [[v0, v1] for v0, v1, in rows]
        return build
    <BLANKLINE>
    """
    items = ", ".join(f"v{i}" for i in range(k))
    values = "".join(f"v{i}, " for i in range(k))
    return Generated(
        f"lists_{k}",
        f"def make():\n    def build(rows):\n        return [[{items}] for {values}in rows]\n    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def fill_template(k: int) -> Generated:
    """Objects that exist and their columns -> the same objects with their attributes set.

    >>> print(fill_template(2).source)
    def make():
        def fill(objects, columns):
            for o, v0, v1, in zip(objects, *columns):
                o.f0 = v0
                o.f1 = v1
        return fill
    <BLANKLINE>
    """
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            o.f{i} = v{i}\n" for i in range(k))
    return Generated(
        f"fill_{k}",
        f"def make():\n"
        f"    def fill(objects, columns):\n"
        f"        for o, {values}in zip(objects, *columns):\n"
        f"{body}"
        f"    return fill\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def fill_dicts_template(k: int) -> Generated:
    """Like `fill_template`, but straight into the ``__dict__`` of each object, past any ``__setattr__``.

    >>> print(fill_dicts_template(1).source)
    def make():
        def fill(objects, columns):
            for o, v0, in zip(objects, *columns):
                d = o.__dict__
                d['f0'] = v0
        return fill
    <BLANKLINE>
    """
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            d['f{i}'] = v{i}\n" for i in range(k))
    return Generated(
        f"fill_dicts_{k}",
        f"def make():\n"
        f"    def fill(objects, columns):\n"
        f"        for o, {values}in zip(objects, *columns):\n"
        f"            d = o.__dict__\n"
        f"{body}"
        f"    return fill\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def fill_slots_template(k: int) -> Generated:
    """Like `fill_template`, but through one setter an attribute: slots of a frozen class, for one.

    >>> print(fill_slots_template(1).source)
    def make(setters):
        s0, = setters
        def fill(objects, columns):
            for o, v0, in zip(objects, *columns):
                s0(o, v0)
        return fill
    <BLANKLINE>
    """
    setters = "".join(f"s{i}, " for i in range(k)).rstrip()
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            s{i}(o, v{i})\n" for i in range(k))
    return Generated(
        f"fill_slots_{k}",
        f"def make(setters):\n"
        f"    {setters} = setters\n"
        f"    def fill(objects, columns):\n"
        f"        for o, {values}in zip(objects, *columns):\n"
        f"{body}"
        f"    return fill\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def columns_template(k: int) -> Generated:
    """Objects -> a list of the values of each attribute.

    >>> print(columns_template(2).source)
    def make():
        def columns(objects):
            return [
                [o.f0 for o in objects],
                [o.f1 for o in objects],
            ]
        return columns
    <BLANKLINE>
    """
    body = "".join(f"            [o.f{i} for o in objects],\n" for i in range(k))
    return Generated(
        f"columns_{k}",
        f"def make():\n    def columns(objects):\n        return [\n{body}        ]\n    return columns\n",
    )
