"""Differences: what another reward would have taught, over the same completions."""
