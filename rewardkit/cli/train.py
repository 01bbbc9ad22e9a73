"""``rewardkit train run.yaml``: train a model with a reward and a dataset."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.cli.arguments import add_settings, count

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options."""
    verb = verbs.add_parser(
        "train",
        help="train a language model with GRPO from a YAML file",
        description="Trains a language model with TRL's GRPOTrainer. One YAML file names the reward, the model, the "
        "data and the settings. Everything is checked before the model is loaded. `rewardkit init DIR` writes a file "
        "to start from.",
        epilog="Exit code 0: the training finished; 1: it failed; 2: it could not start; 130 or 143: it was "
        "interrupted (continue with --resume).",
    )
    verb.add_argument("config", type=Path, nargs="?", metavar="RUN.YAML", help="the configuration of the run")
    add_settings(verb)
    verb.add_argument(
        "--resume",
        nargs="?",
        const=True,
        default=False,
        metavar="CHECKPOINT",
        help="continue from the last complete checkpoint, or from CHECKPOINT (a step or a folder)",
    )
    verb.add_argument("--output", type=Path, metavar="DIR", help="the folder for everything that the run writes")
    verb.add_argument(
        "--processes", type=count, metavar="N", help="the number of processes (accelerate starts them on this machine)"
    )
    verb.add_argument("--print-config", action="store_true", help="print the whole configuration and exit")
    verb.add_argument("--schema", action="store_true", help="print the JSON schema of the file, for editors")
    verb.add_argument("--no-preflight", action="store_true", help="check nothing before the model is loaded")
    verb.add_argument("--preflight-only", action="store_true", help="check everything, print the report, train nothing")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train the model; return 0 if the training finished."""
    from rewardkit.core.errors import RewardKitError
    from rewardkit_runner.configuration import reader as reading

    if options.schema:
        print(json.dumps(reading.schema(), indent=2))
        return 0
    if options.config is None:
        raise RewardKitError("no configuration is given. Pass one: rewardkit train run.yaml (rewardkit init writes it)")
    config = reading.read(options.config, _sets(options))
    if options.print_config:
        print(reading.printed(config), end="")
        return 0
    if options.preflight_only:
        return _preflight(config)
    from rewardkit_runner.training import train

    return train(config)


def _sets(options: argparse.Namespace) -> list[str]:
    """Return the settings of --set, then those of the other options, which override them."""
    sets = list(options.sets)
    if options.output is not None:
        sets.append(f"output={json.dumps(str(options.output.absolute()))}")
    if options.processes is not None:
        sets.append(f"processes={options.processes}")
    if options.resume is not False:
        folder = isinstance(options.resume, str) and Path(options.resume).is_dir()
        sets.append(f"resume={json.dumps(str(Path(options.resume).absolute()) if folder else options.resume)}")
    if options.no_preflight:
        sets.append("preflight=false")
    return sets


def _preflight(config: Any) -> int:
    """0 where nothing stands in the way of training."""
    from rewardkit_runner.data.datasets import training_and_held_out
    from rewardkit_runner.preflight import preflight
    from rewardkit_runner.rewards import reward_of

    reward = reward_of(config)
    training, held_out = training_and_held_out(config)
    found = preflight(config, reward=reward, training=training, held_out=held_out)
    print(found.text())
    return 0 if found.ok else 2
