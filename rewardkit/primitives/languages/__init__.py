"""The engine of ``rk.language`` and ``rk.script``: what is prose in a completion, and its words."""
