"""Bytes <-> arrays of one primitive type. Knows nothing of Python containers."""
