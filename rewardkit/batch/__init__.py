"""What is scored together, and what comes out of it."""
