"""Evaluation on held-out prompts, before and after a training, and of checkpoints."""
