"""The code that npser generates for the shape of a payload, for a person to read.

Strategy: it is written down as the decoder would do it for a shape that is met again and again, and never compiled.
Keys and class names stand above it as comments, as Python spells them, so that nothing of a payload is a line of code.
"""

from __future__ import annotations

from npser.inspection.members import class_names
from npser.inspection.report import Report
from npser.shapes.emit import reader_source
from npser.shapes.emitter import ANY
from npser.shapes.hot import may_be_hot
from npser.shapes.node import Node, Program
from npser.types.shown import show_name

__all__ = ["shape_source"]


def shape_source(report: Report) -> str:
    """The source of the function that builds the values of a payload's shape.

    >>> import npser
    >>> print(shape_source(npser.inspect(npser.dumps([1, 2, 3]))))
    # a payload without a shape: no code is generated for it
    """
    program = report._walked.program
    if program is None:
        return "# a payload without a shape: no code is generated for it"
    lines = [f"# a shape of {len(program.nodes)} nodes and {program.singles + program.columns} slots"]
    lines += [f"# class {show_name(name)!r}: npser codegen MODULE:CLASS shows its own" for name in _classes(report)]
    if not may_be_hot(program):
        return "\n".join([*lines, "# it is too large for a function of its own; plain loops serve"])
    generated, out = reader_source(program, ANY * program.singles)
    lines += [f"# f{at} = {key!r}" for at, key in enumerate(out.keys)]
    lines += [f"# g{at}: {_told(program, thing)}" for at, thing in enumerate(out.things)]
    return "\n".join([*lines, generated.source.rstrip()])


def _classes(report: Report) -> list[str]:
    return sorted(class_names(report))


def _told(program: Program, thing: object) -> str:
    if isinstance(thing, Node):
        return f"{type(thing).__name__} at {ascii(program.path(thing))[1:-1]}"
    return type(thing).__name__ if not isinstance(thing, type) else "a class whose objects share their keys"
