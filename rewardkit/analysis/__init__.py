"""What scores say, as pure functions over arrays and tables."""
