"""The engine of ``rk.number``: find the number of a text that is its answer."""
