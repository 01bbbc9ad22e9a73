"""The `rewardkit` command, one file per verb."""
