"""Worker processes that can be killed, with their limits and signals."""
