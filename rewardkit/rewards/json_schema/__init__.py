"""``rk.json_schema``: check that a schema is safe, and compute the credit of a value under it."""
