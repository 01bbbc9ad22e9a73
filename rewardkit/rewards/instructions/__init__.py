"""The engine of ``rk.instructions``: what each instruction asks of a text, by family, and how texts are read."""
