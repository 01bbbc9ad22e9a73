"""The engine of ``rk.math_equal``. It parses answers, compares simple ones, and leaves the rest to a worker process."""
