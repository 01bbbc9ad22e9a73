"""Files of rows, their columns, and rewards found by name."""
