"""Laws, exploits and mutants for rewards; users import `rewardkit.testing`."""
