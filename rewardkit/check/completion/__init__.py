"""A completion taken apart: its tags, its lines, and where its answer is."""
