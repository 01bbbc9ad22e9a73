"""The bench of `check_reward`: rewards with exactly one fault each, and sound ones."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """A reward with examples, completions and its known defect.

    Attributes:
        name: short and unique.
        reward: a Reward, or a plain reward function as TRL calls it.
        examples: rows of a data set: the prompt and the columns.
        good: ``good[i]`` deserves full marks for ``examples[i]``.
        bad: ``bad[i]`` is an ordinary wrong completion for ``examples[i]``.
        defect: what is wrong with the reward, in one sentence; empty where it is sound.
        origin: where such code is seen.
    """

    name: str
    reward: Any
    examples: list[dict[str, Any]]
    good: list[Any]
    bad: list[Any]
    defect: str = ""
    origin: str = ""


def faulty() -> list[Case]:
    """Every faulty reward, family by family."""
    return _cases("faulty")


def sound() -> list[Case]:
    """Every sound reward, family by family."""
    return _cases("sound")


def _cases(folder: str) -> list[Case]:
    families = sorted(path.stem for path in (Path(__file__).parent / folder).glob("*.py"))
    modules = [importlib.import_module(f"tests.check.{folder}.{family}") for family in families]
    return [case for module in modules for case in module.CASES]
