"""The reward server, which provides one reward over HTTP in several trainers' dialects."""
