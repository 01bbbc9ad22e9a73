"""Training progress and the numbers that depend on it."""
