"""Completions derived from other completions: correct ones in other formats, and incorrect, broken, and wild ones."""
