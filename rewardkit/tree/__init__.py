"""Reward trees: nodes, the operators that combine them, leaves, and argument binding."""
