"""What a reward is: nodes, their algebra, leaves, and how their arguments are bound."""
