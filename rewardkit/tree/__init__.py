"""The structure of a reward: nodes, their algebra, leaves, and how their arguments are bound."""
