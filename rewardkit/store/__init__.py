"""The record of a run on disk: what every completion said and earned, written while training, read by anyone."""
