"""The engine behind ``rk.json_match``: what a document is made of, which items pair, how much of the gold is met."""
