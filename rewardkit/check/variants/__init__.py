"""Completions made from others: right ones in other forms, wrong, broken and wild ones."""
