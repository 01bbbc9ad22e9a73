"""rewardkit and NeMo Gym."""
