"""rewardkit and OpenEnv."""
