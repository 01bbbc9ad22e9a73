"""Differences: the effects of another reward on a training, over the same completions."""
