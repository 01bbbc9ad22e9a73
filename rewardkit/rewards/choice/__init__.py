"""The engine of ``rk.choice``: which option of a question a text chooses."""
