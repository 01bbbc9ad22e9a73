"""Replay: reads saved completions, scores them with a reward on all cores, writes the scores, and summarizes them."""
