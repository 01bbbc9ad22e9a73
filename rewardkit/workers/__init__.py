"""Processes that can be killed, their limits and their signals."""
