"""Run the laws in a child process, and capture what the reward prints."""
