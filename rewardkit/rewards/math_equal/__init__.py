"""The engine for ``rk.math_equal``: it parses answers, compares simple ones, and sends others to a worker process."""
