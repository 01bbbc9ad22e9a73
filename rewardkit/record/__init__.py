"""Recorded runs: all completions with their scores, written to disk during training."""
