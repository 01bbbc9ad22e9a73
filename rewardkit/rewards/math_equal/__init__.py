"""The engine behind ``rk.math_equal``: it parses answers, compares simple ones, and sends the rest to a worker
process."""
