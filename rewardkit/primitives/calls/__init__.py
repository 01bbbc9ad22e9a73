"""The engine of ``rk.tool_calls``: gold calls, what a call is worth, and the best pairing."""
