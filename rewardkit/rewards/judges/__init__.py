"""Judges: rewards that ask a language model, and reward models."""
