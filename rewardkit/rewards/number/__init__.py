"""``rk.number``: find the numeric answer in a text."""
