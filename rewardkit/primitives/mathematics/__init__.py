"""The engine behind ``rk.math_equal``: reading answers, comparing numbers at a glance, and the rest in a worker."""
