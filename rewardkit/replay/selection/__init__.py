"""Training data from scored completions: the best of each prompt, or pairs of a better and a worse one."""
