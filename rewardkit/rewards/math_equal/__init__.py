"""The engine of ``rk.math_equal``: reads answers and compares simple ones; leaves the rest to a worker process."""
