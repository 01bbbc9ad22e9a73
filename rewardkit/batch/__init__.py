"""Batches of rows that are scored together, and their scores."""
