"""The progress of a training, and the numbers that depend on it."""
