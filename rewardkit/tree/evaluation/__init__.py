"""The evaluation of a tree over a batch."""
