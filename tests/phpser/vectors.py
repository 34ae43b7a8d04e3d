"""The golden vectors, made with the extension itself, and what their trees say.

A tree: null, booleans and ints are themselves; {"f": hex} a double; {"s": hex} a string; {"a": [[key, value], ...]} an
array; {"obj": number, "class", "props"} and {"enum", "case"} objects; {"objref": number} one met again; {"ref": number, "v"}
and {"refref": number} PHP references.
"""

from __future__ import annotations

import enum
import json
import struct
import types
from pathlib import Path
from typing import Any

from npser.phpser.classes import attribute_name, schema_for
from npser.types.placeholder import Placeholder

__all__ = ["VECTORS", "frame", "same_as_tree", "title", "value_of", "version_of"]

VECTORS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "golden.jsonl").read_text().splitlines()
]


def title(vector: dict[str, Any]) -> str:
    return f"{vector['name']}-{vector['build']}" + (f"-{vector['wire']}" if "wire" in vector else "")


def frame(vector: dict[str, Any]) -> bytes:
    """The payload, without the signature of those that are signed."""
    return bytes.fromhex(vector.get("frame_hex") or vector["hex"] or "")


def version_of(vector: dict[str, Any]) -> int:
    """The wire that the writer was held to."""
    if "mk_rowset" in vector.get("php", "") and vector["wire"] == 1:
        return 1  # a signed one from the gated build
    return 1 if vector["build"] == "v1gate" else 2


def value_of(vector: dict[str, Any]) -> Any:
    """The Python value of a vector of plain data."""
    return vector["json_value"] if "tree" not in vector else _plain(vector["tree"])


def _plain(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "f":
        return struct.unpack("<d", bytes.fromhex(content))[0]
    if kind == "s":
        return _text(content)
    assert kind == "a"
    pairs = [(_plain(key), _plain(value)) for key, value in content]
    if [key for key, _ in pairs] == list(range(len(pairs))):
        return [value for _, value in pairs]
    return dict(pairs)


def _text(content: str) -> str | bytes:
    raw = bytes.fromhex(content)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


class _Seen:
    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}
        self.references: dict[int, Any] = {}


def same_as_tree(value: Any, tree: Any, seen: _Seen | None = None) -> bool:
    """Whether a value is what a tree says: every type, every bit, all order, and which objects are one."""
    seen = seen or _Seen()
    if not isinstance(tree, dict):
        return type(value) is type(tree) and value == tree
    kind = next(key for key in ("f", "s", "a", "objref", "refref", "ref", "obj", "enum", "unsupported") if key in tree)
    return _CHECKS[kind](value, tree, seen)


def _same_double(value: Any, tree: Any, _seen: _Seen) -> bool:
    return type(value) is float and struct.pack("<d", value).hex() == tree["f"]


def _same_string(value: Any, tree: Any, _seen: _Seen) -> bool:
    wanted = _text(tree["s"])
    return type(value) is type(wanted) and value == wanted


def _same_array(value: Any, tree: Any, seen: _Seen) -> bool:
    pairs = list(enumerate(value)) if type(value) is list else list(value.items())
    return len(pairs) == len(tree["a"]) and all(
        same_as_tree(key, wanted_key, seen) and same_as_tree(item, wanted, seen)
        for (key, item), (wanted_key, wanted) in zip(pairs, tree["a"], strict=True)
    )


def _same_object(value: Any, tree: Any, seen: _Seen) -> bool:
    seen.objects[tree["obj"]] = value
    name = value.class_name if isinstance(value, Placeholder) else type(value).__name__
    name = "stdClass" if type(value) is types.SimpleNamespace else name
    if name != tree["class"]:
        return False
    if isinstance(value, Placeholder):
        return True  # its contents are checked by writing them again
    found = dict(vars(value))
    for key, wanted in tree["props"]:
        schema = schema_for(type(value))
        attribute = attribute_name(bytes.fromhex(key["s"]).decode(), schema) if schema else bytes.fromhex(key["s"]).decode()
        if attribute not in found or not same_as_tree(found.pop(attribute), wanted, seen):
            return False
    return True


def _same_enum(value: Any, tree: Any, _seen: _Seen) -> bool:
    return isinstance(value, enum.Enum) and (type(value).__name__, value.name) == (tree["enum"], tree["case"])


def _same_reference(value: Any, tree: Any, seen: _Seen) -> bool:
    seen.references[tree["ref"]] = value
    return same_as_tree(value, tree["v"], seen)


def _is_again(known: Any, value: Any) -> bool:
    return known is value or (type(known) is type(value) and type(value) in (int, str, float, bytes) and known == value)


_CHECKS = {
    "f": _same_double,
    "s": _same_string,
    "a": _same_array,
    "obj": _same_object,
    "enum": _same_enum,
    "ref": _same_reference,
    "objref": lambda value, tree, seen: seen.objects[tree["objref"]] is value,
    "refref": lambda value, tree, seen: _is_again(seen.references[tree["refref"]], value),
    "unsupported": lambda value, _tree, _seen: value is None,
}
