"""rewardkit and Axolotl."""
