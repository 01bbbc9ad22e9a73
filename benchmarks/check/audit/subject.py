"""Subject: one public scorer with rows, right and wrong completions, as `check_reward` needs them."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Subject:
    """One public scorer.

    Attributes:
        name: as in its package.
        reward: the scorer, as TRL would call it, or converted by one of rewardkit's adapters.
        examples: rows: the prompt and the columns.
        good: a completion that deserves full marks, for each row.
        bad: an ordinary wrong completion, for each row.
    """

    name: str
    reward: Callable[..., list[float]]
    examples: Sequence[Mapping[str, Any]]
    good: Sequence[str]
    bad: Sequence[str]


def each(name: str, score: Callable[[str, Any], Any]) -> Callable[..., list[float]]:
    """Return ``score(completion, answer)`` as a reward function of whole columns."""

    def reward(completions: list[str], answer: list[Any], **kwargs: Any) -> list[float]:
        return [float(score(text, gold)) for text, gold in zip(completions, answer, strict=True)]

    reward.__name__ = name
    return reward


def file_of(package: str, path: str) -> ModuleType:
    """Load one file of an installed package without importing the package, which may need a GPU's libraries."""
    return at(folder_of(package) / path)


def at(path: Path) -> ModuleType:
    """Load a file as a module of its own name; its folder is not made importable."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def stand_in(name: str, **members: Any) -> None:
    """Put a module in place of one that the scorer's file imports and does not use in what is checked."""
    module = ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


def bare_package(name: str, folder: Path) -> None:
    """Make a folder importable as the package `name`, without its ``__init__.py``, which may need a GPU's libraries."""
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package


def folder_of(package: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


def checkout(name: str) -> Path:
    """Return the folder of a clone: ``--checkouts`` has it."""
    return Path(os.environ["AUDIT_CHECKOUTS"]) / name
