"""A run as it stands in ``run.yaml``: read, checked, printed. Neither torch nor TRL is loaded for it."""
