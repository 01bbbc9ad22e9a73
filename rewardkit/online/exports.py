"""Exports: the files that a trainer needs to use a reward, and the settings for the trainer's configuration.

``export_to("verl", Target("reward", "reward"), {"verl": "rewardkit_adapters.verl"})`` calls ``export`` in that module.
"""

from __future__ import annotations

import importlib
import keyword
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, final

from rewardkit.errors import RewardDefinitionError, near_miss
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.loading import load
from rewardkit.tree.parameters import MISSING
from rewardkit.tree.reward import walk


@final
@dataclass(frozen=True)
class Target:
    """A reward's location, for the files that import the reward.

    Attributes:
        module: the import name for the module that defines the reward.
        name: the reward's name in the module.
        folder: the folder that must be on ``sys.path`` to import the module; empty for an installed module.
        gold: the gold-answer column.
        columns: all columns that the reward needs.
    """

    module: str
    name: str
    folder: str = ""
    gold: str = "answer"
    columns: Sequence[str] = ()

    @property
    def imports(self) -> str:
        """The lines that import the reward."""
        path_lines = f"import sys\n\nsys.path.insert(0, {self.folder!r})\n" if self.folder else ""
        alias = "" if self.name == "reward" else " as reward"
        return f"{path_lines}from {self.module} import {self.name}{alias}"

    def load(self) -> Any:
        """Load the reward and return it."""
        return load(f"{self.file or self.module}:{self.name}")[0].reward

    @property
    def file(self) -> str:
        """The path to the file that defines the reward; empty for an installed module."""
        return self.folder and f"{os.path.join(self.folder, *self.module.split('.'))}.py"


def columns_of(reward: Any) -> tuple[str, Sequence[str]]:
    """Return the gold-answer column, and all columns that `reward` needs.

    The gold-answer column is the column that a ready reward compares answers with. If there is none, it is "answer" or
    the first column.

    Raises:
        RewardTypeError: `reward` is not a reward.
    """
    needed: dict[str, None] = {}
    gold: dict[str, None] = {}
    for node, _, _ in walk(Scorer(reward).reward):
        binding = node.facts.binding
        if binding is None:
            needed |= dict.fromkeys(node.facts.columns)
            continue
        for parameter in binding.columns:
            if parameter.default is MISSING:
                needed[parameter.source] = None
                if parameter.name == "gold":
                    gold[parameter.source] = None
    columns = tuple(needed)
    usual = ["answer"] if "answer" in needed or not needed else columns
    return next(iter([*gold, *usual])), columns


@final
@dataclass(frozen=True)
class Tested:
    """The versions of a trainer that its adapter is tested with.

    Attributes:
        distribution: the trainer's name in the package index, or an empty string if the trainer is not in the index.
        versions: the tested versions, oldest first; for a checkout, the commit or date.
    """

    distribution: str
    versions: Sequence[str]

    def verdict(self) -> str:
        """Return a sentence about the installed version, or an empty string if that version was tested."""
        tested = ", ".join(self.versions)
        if not self.distribution:
            return f"Tested with {tested}."
        try:
            installed = metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return f"{self.distribution} is not installed here, so its version is not checked. Tested with {tested}."
        if installed in self.versions:
            return ""
        return (
            f"{self.distribution} {installed} is installed, but the adapter was tested with {tested}: compare "
            "a few scores by hand before you train."
        )


@final
@dataclass(frozen=True)
class Export:
    """The files and settings that a trainer needs to use a reward.

    Attributes:
        files: file name -> text, for the files to write.
        config: the lines for the trainer's configuration or command line.
        tested: the trainer's tested versions.
        notes: sentences for the user.
    """

    files: Mapping[str, str]
    config: str
    tested: Tested
    notes: Sequence[str] = field(default_factory=tuple)


def export_to(trainer: str, target: Target, modules: Mapping[str, str]) -> Export:
    """Return the export of a reward for a trainer.

    Args:
        modules: trainer -> the module that defines its `export` function.

    Raises:
        RewardDefinitionError: the trainer is unknown or cannot run the reward.
    """
    if trainer not in modules:
        raise RewardDefinitionError(
            f"there is no trainer {trainer!r}. Trainers: {', '.join(sorted(modules))}.{near_miss(trainer, modules)}"
        )
    if not target.name.isidentifier() or keyword.iskeyword(target.name):
        raise RewardDefinitionError(f"the reward must be a variable of its module, got {target.name!r}")
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in target.module.split(".")):
        raise RewardDefinitionError(
            f"Python cannot import a module called {target.module!r}. Rename the file, for example to my_rewards.py"
        )
    export: Export = importlib.import_module(modules[trainer]).export(target)
    return export
