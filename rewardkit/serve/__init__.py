"""The reward server: one reward over HTTP, in the dialects of several trainers."""
