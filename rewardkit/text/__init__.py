"""Reading completions: extraction, JSON, numbers, literals, invisible characters."""
