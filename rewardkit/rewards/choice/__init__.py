"""``rk.choice``: find the option of a question that a text chooses."""
