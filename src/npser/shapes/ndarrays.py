"""numpy arrays: ARRAY, whose elements are a column of their own kind, and OBJECT_ARRAY, whose elements are a child.

Strategy: an array is numbered like an object, so one that is met twice is one array again. Elements of an object
array are values like any others; its memory, which holds addresses, is never looked at.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from npser.shapes.column import find_owner
from npser.shapes.leaves import place_fresh
from npser.shapes.node import Node
from npser.tags import Node as Tag
from npser.weights import NODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.shapes.column import Column, Step
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = ["Arrays", "ObjectArrays", "place_arrays", "place_object_arrays"]

MAX_NDIM = 64
"""numpy's own limit (NPY_MAXDIMS of numpy 2; numpy 1 has 32)."""

MAX_DIM = 1 << 62


class Arrays(Node):
    """slot(n) of kind ARRAY."""

    __slots__ = ()
    slots = 1
    container = False

    def open(self, b: Builder, n: int) -> list[Any]:
        """Read the arrays, as copies or as views."""
        slots = self.stream(b)
        arrays = slots.views(n) if b.policy.copy == "never" else slots.arrays(n)
        b.numbered += arrays
        return arrays


class ObjectArrays(Node):
    """slot(n) ndim, slot(sum) dims, slot(n) whether Fortran order; one child over all elements."""

    __slots__ = ()
    slots = 2
    more = 1

    @classmethod
    def parse(cls, _tag: int, _reader: ShapeReader) -> ObjectArrays:
        """Nothing follows the tag."""
        return cls(1)

    def open(self, b: Builder, n: int) -> Any:
        """Read the shapes."""
        slots = self.stream(b)
        ndims = slots.ints(n)
        if ndims and (min(ndims) < 0 or max(ndims) > MAX_NDIM):
            raise b.cursor.fail("number of dimensions out of range")
        dims = b.slots.ints(sum(ndims))
        if dims and (min(dims) < 0 or max(dims) > MAX_DIM):
            raise b.cursor.fail("dimension out of range")
        flags = slots.many(n)
        if any(type(flag) is not bool for flag in flags):
            raise b.cursor.fail("the order of an array is not a bool")
        orders = ["F" if flag else "C" for flag in flags]
        ends = iter(dims)
        shapes = [tuple([next(ends) for _ in range(ndim)]) for ndim in ndims]
        total = sum(map(prod, shapes))
        b.cursor.expand(total)
        b.counts.append(total)
        arrays = None
        if b.references:  # something inside may name the array, so it must exist before its elements do
            arrays = [_empty(b, shape, order) for shape, order in zip(shapes, orders, strict=True)]
            b.numbered += arrays
        return shapes, orders, arrays

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Fill the arrays in memory order."""
        shapes, orders, arrays = frame
        items = iter(columns[0])
        done = []
        for index, (shape, order) in enumerate(zip(shapes, orders, strict=True)):
            array = _empty(b, shape, order) if arrays is None else arrays[index]
            size = array.size
            array.ravel(order="K")[...] = np.fromiter((next(items) for _ in range(size)), object, size)
            done.append(array)
        return done

    def step(self, _edge: int) -> str:
        """Any element."""
        return "[*]"


def _empty(b: Builder, shape: tuple[int, ...], order: Any) -> Any:
    try:
        return np.empty(shape, object, order=order)
    except (ValueError, MemoryError) as error:
        raise b.cursor.fail(f"an array of shape {shape}: {error}") from None


def place_arrays(w: ShapeWriter, column: Column) -> None:
    """Write ARRAY and its slot."""
    place_fresh(w, column, _place_arrays)


def _place_arrays(w: ShapeWriter, column: Column) -> None:
    w.weigh(column, NODES[Tag.ARRAY])
    w.node(Tag.ARRAY)
    w.many(column, column.values, {np.ndarray})


def place_object_arrays(w: ShapeWriter, column: Column) -> None:
    """Write OBJECT_ARRAY."""
    place_fresh(w, column, _place_object_arrays)


def _place_object_arrays(w: ShapeWriter, column: Column) -> None:
    depth = w.enter(column)
    arrays = column.values
    flags = [array.flags.f_contiguous and not array.flags.c_contiguous for array in arrays]
    dims = [int(dim) for array in arrays for dim in array.shape]
    items = [
        item for array, flag in zip(arrays, flags, strict=True) for item in array.ravel("F" if flag else "C").tolist()
    ]
    w.node(Tag.OBJECT_ARRAY)
    w.weigh(column, NODES[Tag.OBJECT_ARRAY])
    w.sink.expand(len(items))
    w.ints(column, [array.ndim for array in arrays])
    w.slots.ints(dims)
    w.many(column, flags, {bool})
    w.push(items, depth, column, _in_arrays(arrays, flags))


def _in_arrays(arrays: Sequence[Any], flags: Sequence[bool]) -> Step:
    """The elements of arrays that were laid end to end, each array in its memory order."""
    lengths = [array.size for array in arrays]

    def step(item: int) -> tuple[int, str]:
        owner, start = find_owner(lengths, item)
        index = np.unravel_index(item - start, arrays[owner].shape, "F" if flags[owner] else "C")
        return owner, f"[{', '.join(map(str, index)) or '()'}]"

    return step
