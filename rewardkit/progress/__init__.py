"""How far training is, and the numbers that depend on it."""
