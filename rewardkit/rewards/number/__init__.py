"""The engine of ``rk.number``: which number of a text is its answer."""
