"""Episodes: editing the messages of agents, running their calls, and finding out which parts of them a reward
judges."""
