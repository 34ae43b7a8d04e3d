"""Dask distributed: a serialization family, so that rows, records, arrays and frames cross the wire as columns.

    import npser.adapters.dask as npser_dask
    npser_dask.register(classes=[Order])
    client = Client(address, serializers=npser_dask.FAMILIES, deserializers=npser_dask.FAMILIES)
    client.register_plugin(npser_dask.Workers(classes=[Order]))

Strategy: a value is one payload in one frame, which Dask cuts and merges without a copy. A large array of plain numbers
is a frame of its own: its very memory, and the array that comes out looks into what came in. What npser refuses, and
what has objects of classes that are not allowed, goes to the next family: nobody gets a placeholder for an object.
Dask takes a plain list apart and asks for each item; `Rows` is a list that it leaves whole. DASK.md says more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from distributed import Worker, WorkerPlugin
from distributed.protocol.serialize import families, register_serialization_family

from npser.blocks.cursor import Cursor
from npser.bound import Codec
from npser.codec import DEFAULT_LIMITS, Classes, dumps
from npser.decoder import LONG_SHAPE, SHORT_SHAPE, open_buffer
from npser.envelope.seal import Key, Seal
from npser.errors import DecodeError, EncodeError
from npser.limits import Limits
from npser.shapes.build import load_shape
from npser.types.allow import Allow
from npser.types.registry import register as register_class

__all__ = ["FAMILIES", "Rows", "Workers", "dask_setup", "register"]

FAMILIES: Final = ("npser", "dask", "pickle", "error")
"""npser first, Dask's own families for everything else, and the one that carries Dask's error messages."""
RAW_BYTES: Final = 1 << 16
"""Arrays from here on are a frame of their own: nothing is as fast. Below, encoding them takes a fraction of
a millisecond and often saves most of the bytes (``python benchmarks/dask_wire.py --arrays``)."""


class Rows(list[Any]):
    """A list that crosses the wire whole: of dicts with the same keys, or objects of one class, as columns."""


class _Family:
    """What Dask asks for: two functions."""

    def __init__(self, classes: Classes, key: Key | None, context: bytes | str, limits: Limits) -> None:
        self._codec = Codec(classes=classes, key=key, context=context, unknown="refuse", limits=limits)
        self._seal = None if key is None else Seal(key, context)
        self._allow = Allow(classes)

    def dumps(self, value: Any) -> tuple[dict[str, Any], list[Any]]:
        """A header and frames; NotImplementedError makes Dask ask the next family."""
        if type(value) is np.ndarray and self._seal is None and _is_raw(value):
            order: Any = "C" if value.flags.c_contiguous else "F"
            head: Any = dumps((np.empty(0, value.dtype), value.shape, order, value.flags.writeable))
            head = memoryview(bytearray(head))  # no bytes: so Dask reads what follows into memory of its own, aligned
            return {"form": "array"}, [head, value.reshape(-1, order=order).view("u1").data]
        locked = type(value) is np.ndarray and not value.flags.writeable
        try:
            payload = dumps(value)
        except EncodeError as error:
            raise NotImplementedError(str(error)) from error
        unknown = [name for name in _class_names(payload) if self._allow.find(name) is None]
        if unknown or len(payload) > self._codec._limits.bytes:
            raise NotImplementedError(f"{len(payload)} bytes; classes that npser was not told of: {', '.join(unknown)}")
        return {"form": "locked" if locked else "value"}, [payload if self._seal is None else self._seal.close(payload)]

    def loads(self, header: dict[str, Any], frames: Sequence[Any]) -> Any:
        """The value again; a DecodeError, and nothing else, for frames that nobody wrote."""
        form = header.get("form")
        if form == "array" and len(frames) == 2 and self._seal is None:
            return _raw_array(self._codec.loads(frames[0]), open_buffer(frames[1]))
        if form not in ("value", "locked") or len(frames) != 1:
            raise DecodeError("not what npser's family writes, or not sealed where there is a key")
        value = self._codec.loads(frames[0])
        if form == "locked" and type(value) is np.ndarray:
            value.flags.writeable = False
        return value


def _class_names(payload: bytes) -> set[str]:
    """The classes that a payload has objects of."""
    if payload[2] < SHORT_SHAPE:
        return set()
    cursor = Cursor(memoryview(payload), 3)
    size = cursor.uvarint() if payload[2] == LONG_SHAPE else payload[2] - SHORT_SHAPE
    nodes = load_shape(bytes(cursor.take(size)), 3, DEFAULT_LIMITS.depth).nodes
    return {node.stored.name for node in nodes if hasattr(node, "stored")}


def _is_raw(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array is one piece of memory, large, in which every bit pattern is a value."""
    plain = array.dtype.kind in "iufcMmS" and array.dtype.char not in "gG"
    return plain and array.nbytes >= RAW_BYTES and (array.flags.c_contiguous or array.flags.f_contiguous)


def _raw_array(head: Any, data: memoryview) -> np.ndarray[Any, Any]:
    """An array that looks into its frame; a copy where that is not aligned, or must be writable and is not."""
    try:
        form, shape, order, writeable = head
        if -1 in shape or type(shape) is not tuple or type(writeable) is not bool:
            raise ValueError("a shape, an order or a flag that is none")
        array = np.frombuffer(data, form.dtype).reshape(shape, order=order)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise DecodeError(f"frames that are no array: {error}") from None
    if not _is_raw(array):
        raise DecodeError(f"an array of {array.nbytes} bytes of {array.dtype} does not come in frames")
    if not array.flags.aligned or (writeable and not array.flags.writeable):
        array = array.copy(order)
    array.flags.writeable = writeable
    return array


class Workers(WorkerPlugin):  # type: ignore[misc, unused-ignore]
    """For `client.register_plugin`: `register` and `dask_setup` in every worker, also in one that comes later."""

    name = "npser"

    def __init__(self, *, classes: Classes = (), limits: Limits = DEFAULT_LIMITS) -> None:
        self._options: dict[str, Any] = {"classes": classes, "limits": limits}

    def setup(self, worker: Worker) -> None:  # noqa: D102 - Dask calls it
        register(**self._options)
        dask_setup(worker)


def dask_setup(server: object) -> None:
    """Dask calls it where a module that has it is preloaded; workers then use the families to each other, too."""
    if "npser" not in families:
        register()
    if isinstance(server, Worker):
        server.rpc.serializers = server.rpc.deserializers = list(FAMILIES)


def register(
    *, classes: Classes = (), key: Key | None = None, context: bytes | str = b"", limits: Limits = DEFAULT_LIMITS
) -> None:
    """Make npser a family in this process, instead of what was registered before; options as those of a `Codec`.

    `classes` may be sent and built, besides those that the program has registered with `npser.register`. With a `key`,
    every payload is sealed, no other is opened, and arrays are no frames of their own.
    """
    register_class(Rows, name="npser.Rows", state=list, build=Rows)
    family = _Family(classes, key, context, limits)
    register_serialization_family("npser", family.dumps, family.loads)  # type: ignore[no-untyped-call, unused-ignore]
