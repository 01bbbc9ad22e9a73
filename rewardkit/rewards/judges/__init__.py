"""Judges: rewards from language models and from reward models."""
