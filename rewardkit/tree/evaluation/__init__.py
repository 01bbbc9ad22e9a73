"""How a tree is evaluated over a batch."""
