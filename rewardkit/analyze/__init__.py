"""Analysis of scores: pure functions over arrays and tables."""
