"""The code that reads completions: extraction, JSON, numbers, literals, and invisible characters."""
