"""Differences between two rewards on the same completions, and their effect on training."""
