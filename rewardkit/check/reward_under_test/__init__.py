"""The reward that is checked: its scores, and the facts about it."""
