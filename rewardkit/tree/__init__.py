"""Reward trees: their nodes, the operators that combine them, the leaves, and argument binding."""
