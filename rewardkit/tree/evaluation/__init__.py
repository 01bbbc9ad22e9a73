"""Evaluation of a reward tree for a batch."""
