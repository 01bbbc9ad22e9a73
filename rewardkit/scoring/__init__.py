"""Replay: a reward over completions that were saved: read, scored on all cores, written, summed up."""
