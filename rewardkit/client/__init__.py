"""The client of the reward server: ``rk.remote("http://host:8000")`` is the served reward."""
