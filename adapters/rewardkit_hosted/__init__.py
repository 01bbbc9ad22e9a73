"""rewardkit and a hosted trainer."""
