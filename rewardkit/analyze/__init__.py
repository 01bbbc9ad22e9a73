"""Analysis of scores with pure functions of arrays and tables."""
