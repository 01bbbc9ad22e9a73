"""Where training stands, and the numbers that depend on it."""
