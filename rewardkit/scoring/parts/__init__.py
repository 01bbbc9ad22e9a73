"""Parts of saved completions that any process can read by itself: bytes of a file, rows of a table, steps of a run."""
