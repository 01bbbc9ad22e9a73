"""The reward under test: its scores, and facts about the reward."""
