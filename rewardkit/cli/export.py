"""``rewardkit export reward.py:reward --to verl --out DIR``: write the files that a trainer needs to use a reward."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rewardkit.cli.arguments import REWARD
from rewardkit.errors import RewardDefinitionError

if TYPE_CHECKING:
    from rewardkit.online.exports import Target

ADAPTERS = {
    "axolotl": "rewardkit_adapters.axolotl",
    "hosted": "rewardkit_adapters.hosted",
    "nemo-gym": "rewardkit_adapters.nemo_gym",
    "openenv": "rewardkit_adapters.openenv.rewards",
    "openrlhf": "rewardkit_adapters.openrlhf",
    "slime": "rewardkit_adapters.slime",
    "swift": "rewardkit_adapters.swift",
    "verifiers": "rewardkit_adapters.verifiers.mixin",
    "verl": "rewardkit_adapters.verl",
}
"""Trainer -> the module that defines its `export` function."""


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Writes the file that the trainer loads, and prints the settings for the trainer's configuration. The reward "
        "is loaded first. If the trainer cannot run it, the command fails with the reason."
    )
    verb.add_argument("target", metavar="REWARD", help=REWARD)
    verb.add_argument("--to", required=True, choices=sorted(ADAPTERS), help="the trainer")
    verb.add_argument(
        "--out", type=Path, default=Path("."), metavar="DIR", help="the output folder (default: the current folder)"
    )
    verb.add_argument("--force", action="store_true", help="replace existing files that differ")


def run(options: argparse.Namespace) -> int:
    """Write the files, load each one as the trainer would, and print the configuration."""
    from rewardkit.online.exports import export_to
    from rewardkit.tree.loading import load_module

    target = _target(options.target)
    export = export_to(options.to, target, ADAPTERS)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in export.files.items():
        path = options.out / name
        if target.file and path.resolve() == Path(target.file):
            raise RewardDefinitionError(f"{path} defines the reward and would be replaced. Choose another --out")
        if path.exists() and path.read_text(encoding="utf-8") != text and not options.force:
            raise RewardDefinitionError(
                f"{path} exists and differs. Add --force to replace it, or choose another --out"
            )
        path.write_text(text, encoding="utf-8")
        if name.endswith(".py"):
            load_module(str(path))
        print(f"wrote {path}")
    print(f"\n{export.config.format(folder=options.out, file=options.out / next(iter(export.files)))}\n")
    for note in (*export.notes, export.tested.verdict()):
        if note:
            print(note, file=sys.stderr if note == export.tested.verdict() else sys.stdout)
    return 0


def _target(text: str) -> Target:
    from rewardkit.online.exports import Target, columns_of
    from rewardkit.tree.loading import is_file, load, path_of, place_of, split

    source, name = split(text)
    loaded = load(text)
    if len(loaded) != 1:
        listed = ", ".join(reward.name for reward in loaded)
        raise RewardDefinitionError(
            f"{source} has {len(loaded)} rewards ({listed}). Name one: {source}:{loaded[0].name}"
        )
    name, (gold, columns) = name or loaded[0].name, columns_of(loaded[0].reward)
    if not is_file(source):
        return Target(source, name, gold=gold, columns=columns)
    module, folder = place_of(path_of(source))
    return Target(module, name, str(folder), gold, columns)
