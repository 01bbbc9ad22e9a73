"""Running the laws in a child process, and what they print."""
