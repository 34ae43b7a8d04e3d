"""The house holds: imports go down, tables are total, one place compiles, importing is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import npser
from npser.blocks import binary, bits, floats, ints, text
from npser.blocks.cursor import Cursor
from npser.columns import kinds, singles, slotreader, unpooled
from npser.shapes import build, emit, infer
from npser.shapes.leaves import LeafRun
from npser.shapes.node import Node as NodeOfShape
from npser.shapes.node import ShapeReader
from npser.tags import BitCode, BytesCode, FloatCode, IntCode, Kind, Node, TextCode

SOURCE = Path(npser.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in ("cli", "adapters"))
ALL_MODULES = sorted(SOURCE.rglob("*.py"))

FLOORS = (
    ("errors", "limits", "tags", "choices"),
    ("weights",),
    ("stream.boundary", "stream.packable"),
    ("blocks.cursor", "blocks.sink"),
    ("blocks",),
    ("blocks.choose",),
    ("envelope",),
    ("columns",),
    ("types",),
    ("shapes",),
    ("encoder", "decoder", "foreign", "codegen", "phpser"),
    ("stream.choices", "stream.layout", "stream.parser", "stream.frames", "stream.tail"),
    ("wires", "partial", "canonical", "canonicalarrays", "concat", "digests"),
    ("codec", "bound", "looking", "inspection"),
    ("stream",),
    ("",),
    ("adapters",),
    ("cli",),
)
"""From the ground up. A module stands on the floor of its longest prefix; within a floor, imports must not be circular."""

MAX_LINES = 400
MAX_ADAPTER_LINES = 150

GENERATED_CODE = {"compile": "shapes/generated.py"}
FORBIDDEN = {"eval", "exec", "__import__", "compile"}
ONLY_DUMPS = "columns/proofs.py"
RACES_PICKLE = "inspection/rivals.py"
"""Loads nothing but what it has dumped itself."""

FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "importlib", "imp", "runpy", "code", "subprocess"}


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor(module: str) -> int:
    best = max(
        (prefix for names in FLOORS for prefix in names if module == prefix or module.startswith(prefix + ".") or not prefix),
        key=len,
    )
    return next(level for level, names in enumerate(FLOORS) if best in names)


def imports(path: Path) -> Iterator[str]:
    """The npser modules that a module imports when it runs; imports for annotations do not count."""
    tree = ast.parse(path.read_text())
    skipped = {
        id(node)
        for guard in ast.walk(tree)
        if isinstance(guard, ast.If) and getattr(guard.test, "id", "") == "TYPE_CHECKING"
        for node in ast.walk(guard)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "npser":
            module = (node.module or "").removeprefix("npser").removeprefix(".")
            for alias in node.names:
                inner = f"{module}.{alias.name}".removeprefix(".")
                is_module = (SOURCE / Path(*inner.split("."))).with_suffix(".py").exists() or (
                    SOURCE / Path(*inner.split(".")) / "__init__.py"
                ).exists()
                yield inner if is_module else module
        elif isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("npser.") for alias in node.names if alias.name.startswith("npser."))


def test_there_are_modules() -> None:
    assert len(MODULES) > 50


@pytest.mark.parametrize("path", ALL_MODULES, ids=name_of)
def test_imports_go_down(path: Path) -> None:
    module = name_of(path)
    for imported in imports(path):
        assert floor(imported) <= floor(module), f"{module} imports {imported}"


def test_no_floor_has_circular_imports() -> None:
    edges = {name_of(path): set(imports(path)) for path in ALL_MODULES}
    finished: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, " -> ".join((*above, module))
        if module in finished:
            return
        for imported in edges.get(module, ()):
            if imported != module:
                visit(imported, (*above, module))
        finished.add(module)

    for module in edges:
        visit(module, ())


@pytest.mark.parametrize("path", ALL_MODULES, ids=name_of)
def test_a_file_is_one_idea(path: Path) -> None:
    source = path.read_text()
    assert len(source.splitlines()) <= (MAX_ADAPTER_LINES if path.parent == SOURCE / "adapters" else MAX_LINES)
    assert ast.get_docstring(ast.parse(source))


def uses_of(tree: ast.AST, module: str) -> set[str]:
    """What is taken out of a module, by `from module import name` or as `module.name`."""
    found = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == module
        for alias in node.names
    }
    return found | {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module
    }


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_runs_what_it_reads(path: Path) -> None:
    tree = ast.parse(path.read_text())
    calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    allowed = {name for name, where in GENERATED_CODE.items() if path == SOURCE / where}
    assert not calls & FORBIDDEN - allowed
    named = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    if uses_of(tree, "marshal") <= {"dumps"}:  # its bytes tell the types in a list; it is never given any to load
        named.discard("marshal")
    needed = {SOURCE / ONLY_DUMPS: {"marshal"}, SOURCE / RACES_PICKLE: {"pickle"}}
    assert named & FORBIDDEN_MODULES <= needed.get(path, set())


def test_marshal_only_dumps() -> None:
    tree = ast.parse((SOURCE / ONLY_DUMPS).read_text())
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "marshal"
    }
    assert used == {"dumps"}


def test_there_is_one_call_of_compile() -> None:
    calls = [
        path
        for path in ALL_MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "compile"
    ]
    assert calls == [SOURCE / "shapes/generated.py"]


def test_every_code_is_read() -> None:
    assert set(ints.READERS) == set(ints.LIST_READERS) == set(IntCode)
    assert set(floats.READERS) == set(FloatCode)
    assert set(bits.READERS) == set(BitCode)
    assert set(text.READERS) == set(TextCode)
    assert set(binary.READERS) == set(BytesCode)


def test_every_kind_is_read() -> None:
    pooled = set(Kind) - {kind for kind in Kind if kind >= Kind.INT}
    assert set(unpooled.CELL_READERS) == pooled - {Kind.POOL_COPIES}  # which is no column of its own, but lengths
    apart = {Kind.ARRAY, Kind.POOL_COPIES}
    for table in (slotreader.LISTS, slotreader.CELLS):
        assert {kind for kind, read in enumerate(table) if read is not slotreader._unknown} == set(Kind) - apart
    assert set(singles._FORMAT_OF_KIND) == {kind for kind in pooled if Kind.POOL_U8 <= kind <= Kind.POOL_F64}
    # NONE, FALSE and TRUE stand inside other columns, too; arrays have a node of their own
    assert set(kinds.READERS) == set(Kind) - pooled - {Kind.ARRAY} | {Kind.NONE, Kind.FALSE, Kind.TRUE}


def test_every_node_is_read() -> None:
    # PRESERVE is a mark in front of a node; of leaves, several are one node, which is no parser's
    assert set(build.PARSERS) == set(Node) - {Node.PRESERVE, Node.LEAF}
    assert set(emit._EMITTERS) <= {type(node) for node in every_node()}


def every_node() -> list[NodeOfShape]:
    keys = b"\x04\x01a"
    after = {
        **dict.fromkeys((Node.LIST_ROW, Node.TUPLE_ROW), b"\1"),
        **dict.fromkeys((Node.TABLE,), keys),
        **dict.fromkeys((Node.VARIED_TABLE,), keys + b"\0"),
        **dict.fromkeys((Node.RECORD, Node.NAMED_TUPLE), b"\2n" + keys),
        **dict.fromkeys((Node.VARIED_RECORD,), b"\2n" + keys + b"\0"),
        **dict.fromkeys((Node.ENUM, Node.STATE, Node.BUILT), b"\2n"),
        Node.UNION: b"\2",
        Node.DEFAULT_DICT: b"\0",
    }
    shapes = [bytes([tag]) + after.get(tag, b"") for tag in set(Node) - {Node.PRESERVE, Node.LEAF}]
    cursors = [Cursor(memoryview(shape), 1) for shape in shapes]
    found = [
        build.PARSERS[shape[0]](shape[0], ShapeReader(cursor)) for shape, cursor in zip(shapes, cursors, strict=True)
    ]
    return [*found, LeafRun(1)]


def test_only_nodes_whose_children_run_over_their_own_instances_hand_on_that_they_are_single() -> None:
    for node in every_node():
        if node.passes:
            assert node.slots == node.more == 0


def test_no_type_is_both_a_leaf_and_a_container() -> None:
    assert not set(infer.PLACERS) & kinds.LEAF_TYPES


@pytest.mark.parametrize("folder", ["blocks", "envelope", "columns", "shapes", "stream", "phpser", "inspection"])
def test_tests_mirror_the_source(folder: str) -> None:
    """tests/blocks/test_ints.py is about blocks/ints.py, test_choose_ints.py about blocks/choose/ints.py."""
    names = {name_of(path).replace(".", "_") for path in MODULES}
    tests = list((Path(__file__).parent / folder).glob("test_*.py"))
    assert tests
    for path in tests:
        assert f"{folder}_{path.stem.removeprefix('test_')}" in names, path.name


def test_importing_brings_numpy_and_the_standard_library() -> None:
    script = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import npser\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "new = {name for name in new if not name.startswith('_sysconfigdata')}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'numpy'}))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SOURCE.parent), "PATH": ""},
    )
    assert run.stdout.strip() == "['npser']"


def test_everything_public_is_there_and_documented() -> None:
    for name in npser.__all__:
        thing = getattr(npser, name)
        assert name.startswith("__") or thing.__doc__
