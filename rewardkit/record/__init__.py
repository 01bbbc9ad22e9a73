"""Recorded runs: every completion with its scores, written to disk during training."""
