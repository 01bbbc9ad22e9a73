"""rewardkit and slime."""
