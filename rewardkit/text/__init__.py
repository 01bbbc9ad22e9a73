"""The code that reads completions: extraction, JSON, numbers, literals, invisible characters."""
