"""``rk.instructions``: the instruction checks, by family, and the text parsing for them."""
