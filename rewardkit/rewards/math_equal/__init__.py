"""The engine behind ``rk.math_equal``. It parses answers and compares simple ones. A worker process compares the
rest."""
