"""The reward that is checked: how it scores, and what is known of it."""
