"""The engine of ``rk.instructions``: the checks of instructions, by family, and the reading of texts."""
