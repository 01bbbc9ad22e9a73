"""Episodes: edit the messages of agents, run their calls, and find out which of them a reward judges."""
