"""Batches: the rows that are scored together, and their scores."""
