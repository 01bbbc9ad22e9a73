"""The configuration in ``run.yaml``: read it, check it, print it. Imports neither torch nor TRL."""
