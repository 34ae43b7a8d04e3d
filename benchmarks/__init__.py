"""Benchmarks of npser beside its peers: shapes and real documents, the codecs, the timing, the table."""
