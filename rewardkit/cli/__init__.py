"""The `rewardkit` command, with one file per verb."""
