"""The passes that one process runs over a combination: first call, numerics, timing, capture."""
