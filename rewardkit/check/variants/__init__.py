"""Completions made from other completions: right ones in other formats, and wrong, broken and wild ones."""
