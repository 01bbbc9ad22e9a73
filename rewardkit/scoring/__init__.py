"""Replay: read saved completions, score them with a reward on all cores, write the scores, and summarize them."""
