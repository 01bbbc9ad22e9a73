"""``rk.number``: find the number that a text gives as its answer."""
