"""``rk.choice``: find the answer option that a text chooses."""
