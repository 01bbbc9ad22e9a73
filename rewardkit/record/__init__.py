"""The record of a run on disk: every completion with its scores, written during training."""
