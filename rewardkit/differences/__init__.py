"""Differences: how another reward would affect training, compared on the same completions."""
