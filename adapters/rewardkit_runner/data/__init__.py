"""Training data: from files or the hub to a column of prompts and the columns that the reward reads."""
