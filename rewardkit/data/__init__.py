"""Data files, their columns, and rewards by name."""
