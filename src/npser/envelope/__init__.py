"""Around a payload: compression, a checksum, a seal. These modules know bytes, and nothing of values."""
