"""Episodes: edit the messages of agents, run their calls, and find out which calls a reward judges."""
