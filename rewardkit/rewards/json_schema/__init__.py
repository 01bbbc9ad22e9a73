"""``rk.json_schema``: check that a schema is safe, and compute a value's credit under the schema."""
