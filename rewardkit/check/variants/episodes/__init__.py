"""Episodes: how the messages of agents are edited, where their calls run, and what a reward judges of them."""
