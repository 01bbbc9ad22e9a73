"""Candidates: which variables of a module count as rewards, and why others are left out."""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from rewardkit.tree.loading import Kind, candidates, kind_of

CODE = """
import math
from functools import partial
from json import dumps
from typing import Optional

import rewardkit as rk
from rewardkit import score, check_reward_name_that_is_missing
from tests.check.rewards import naive, number

def correctness(prompts, completions, answer, **kwargs) -> list[float]: ...
def without_annotation(completions): ...
async def awaited(completions, **kwargs): ...
def service(prompt, completion, example): ...
def chat(messages, answer) -> "rk.Score": ...
def optional(completion: str) -> Optional[float]: ...
at_least = partial(correctness, minimum=3)

def extract(text): ...
def factory(low=0.0, high=1.0): ...
def anything(**kwargs): ...
def read(completion: str) -> str: ...
def numbers(completion: str) -> "list[float]": ...
def contents(completions) -> list[str]: ...
def shown(completions, step) -> None: ...
def _private(completions): ...

@rk.reward
def decorated(completion: str) -> float: ...

class Grader:
    def __call__(self, completions, **kwargs): ...

grader = Grader()
again = correctness
reward_funcs = [correctness, decorated]
pair = (grader, [service])
mixed = [correctness, "a model"]
empty = []
""".replace(", check_reward_name_that_is_missing", "")


def module_of(code: str) -> ModuleType:
    module = ModuleType("a_module")
    exec(code, vars(module))
    return module


def test_every_variable_is_a_candidate_a_helper_or_left_out_with_the_reason() -> None:
    found = {one.name: (one.kind, one.left_out) for one in candidates(module_of(CODE))}
    trl: Kind = "TRL function"
    one: Kind = "function of one completion"
    assert found == {
        "naive": (trl, "imported from tests.check.rewards"),
        "number": ("reward", ""),
        "correctness": (trl, ""),
        "without_annotation": (trl, ""),
        "awaited": (trl, ""),
        "service": (one, ""),
        "chat": (one, ""),
        "optional": (one, ""),
        "at_least": (trl, ""),
        "read": (one, "it returns str, not a score"),
        "numbers": (one, "it returns list[float], not a score"),
        "contents": (trl, "it returns list[str], not scores"),
        "shown": (trl, "it returns None, not scores"),
        "_private": (trl, "its name starts with _"),
        "decorated": ("reward", ""),
        "grader": (trl, ""),
        "again": (trl, "the same as correctness"),
        "reward_funcs": ("list of rewards", ""),
        "pair": ("list of rewards", ""),
    }


def test_all_decides_where_there_is_one() -> None:
    module = module_of(CODE + '\n__all__ = ["_private", "naive", "extract"]\n')
    found = {one.name: one.left_out for one in candidates(module)}
    assert (found["_private"], found["naive"]) == ("", "")
    assert "extract" not in found
    assert set(found.values()) == {"", "not in __all__"}


def test_annotations_that_are_scores() -> None:
    for said in ("float", "float | None", "'bool'", "int", "object", "'np.ndarray'", "list", "list[Optional[float]]"):
        (found,) = candidates(module_of(f"from typing import *\ndef f(completions) -> {said!r}: ..."))
        assert not found.left_out, said


@pytest.mark.parametrize("value", [3, "text", None, sys, int, print, dict.fromkeys, [], [1], {"a": 1}, partial(print)])
def test_other_values_are_no_candidates(value: Any) -> None:
    assert kind_of(value) == ""
