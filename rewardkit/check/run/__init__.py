"""Running the laws in a child process, and their output."""
