"""Columns of leaves <-> blocks: n values that are not containers, of one kind or of several."""
