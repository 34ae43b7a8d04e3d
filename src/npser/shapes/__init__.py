"""What a value looks like: nodes, and how each takes values apart and puts them together."""
