"""Faults of OpenRLHF's scorers."""

from __future__ import annotations

from importlib import import_module

from repros_outcome import unfinished
from subjects import openrlhf

next(openrlhf.subjects())  # loads the module
math_utils = import_module("openrlhf.utils.math_utils")


def grade_answer_hang() -> None:
    """A tower of powers is computed, without a time limit."""
    assert unfinished(lambda: math_utils.grade_answer("9**9**9**9", r"\frac{1}{3}"), 20)
