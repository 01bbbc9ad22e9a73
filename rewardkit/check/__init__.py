"""Laws, exploits, and mutants for rewards. Users import `rewardkit.testing`."""
