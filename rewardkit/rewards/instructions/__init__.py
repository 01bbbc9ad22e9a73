"""``rk.instructions``: the checks of instructions, by family, and the code that reads texts for them."""
