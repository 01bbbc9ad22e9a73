"""``rk.number``: find the number that is a text's answer."""
