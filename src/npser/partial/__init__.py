"""Partial reads: what stands where in a payload is found without decoding it, and parts of it are decoded alone."""
