"""Adapters for trainers and other libraries. Each adapter imports its library only when the adapter is used."""
