"""What is hashed is complete by then: the order in which nodes are closed, and what waits for the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

import npser
from npser.errors import DecodeError
from npser.shapes import build
from npser.types.registry import class_name


@dataclasses.dataclass(frozen=True)
class Key:
    x: int = 0


def program_of(value: Any) -> Any:
    build.SHAPES.clear()
    npser.loads(npser.dumps(value))
    (program,) = build.SHAPES.programs
    return program


def mutual(count: int) -> Iterator[Any]:
    """Objects whose dicts have each other as keys."""
    nodes = [Node(str(i)) for i in range(count)]
    for i, node in enumerate(nodes):
        node.links = dict.fromkeys(nodes, i)
    yield from nodes


class Node:
    def __init__(self, name: str) -> None:
        self.name = name
        self.links: dict[Node, int] = {}

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.name == other.name


def test_only_what_hashes_references_is_ordered() -> None:
    key = Key(1)
    assert program_of([key, {key: 1}]).ordered
    assert program_of([key, [{key}]]).ordered
    assert not program_of([key, [key]]).ordered
    assert not program_of([{1: 2}, {3, 4}]).ordered
    assert not program_of([{key: 1}, "x"]).ordered


def test_an_ordered_shape_is_never_compiled() -> None:
    """The generated code closes in the other order."""
    key = Key(5)
    data = npser.dumps([key, {key: 1}])
    for _ in range(60):
        listed, mapped = npser.loads(data, classes=[Key])
        assert mapped[listed] == 1
        assert Key(5) in mapped


@pytest.mark.parametrize("count", [1, 2, 30])
def test_dicts_that_wait_are_filled_at_the_end(count: int) -> None:
    nodes = list(mutual(count))
    found = npser.loads(npser.dumps(nodes), classes=[Node])
    for i, node in enumerate(found):
        assert [other.name for other in node.links] == [str(k) for k in range(count)]
        assert all(node.links[Node(str(k))] == i for k in range(count))
        assert all(other is found[k] for k, other in enumerate(node.links))


def test_what_cannot_be_hashed_in_the_end_is_a_decode_error() -> None:
    data = npser.dumps(list(mutual(2)))

    class Bad(Node):
        def __hash__(self) -> int:
            raise RuntimeError("no hash")

    with pytest.raises(DecodeError, match="no hash"):
        npser.loads(data, classes={class_name(Node): Bad})

    class Alike(Node):
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            return True

    with pytest.raises(DecodeError, match="twice"):
        npser.loads(data, classes={class_name(Node): Alike})
