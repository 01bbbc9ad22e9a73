"""What several verbs read from the command line."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A whole number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value
