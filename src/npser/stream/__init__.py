"""Bytes that come and go: the boundary to files and sockets, frames in them, types that own their bytes.

Strategy: from the ground up. `boundary` is what a stream of bytes is, `packable` the types that write themselves into
one; `layout` is what a frame is, `parser` finds frames in bytes that come in pieces, `frames` moves single ones, `tail`
judges the end of a file. Those know payloads as bytes only. `writer`, `reader`, `files`, `rows` and `asynchronous`
stand above the codec and move values.
Nothing is imported here, so that a module of the lower half does not bring the upper one along.
"""
