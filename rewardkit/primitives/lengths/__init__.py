"""The engine of the rewards by length: how a length is counted."""
