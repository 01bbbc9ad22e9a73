"""``rewardkit train run.yaml``: from a reward and a dataset to a trained model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.cli.arguments import count

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_to(verbs: Verbs) -> None:
    """Adds the verb with its options."""
    verb = verbs.add_parser(
        "train",
        help="train a language model with GRPO as a YAML file says",
        description="Trains a language model with TRL's GRPOTrainer: reward, model, data and settings stand in one "
        "YAML file. Everything is checked before a model is loaded. `rewardkit init DIR` writes a file to begin with.",
        epilog="Exit code 0: it trained to its end; 1: it could not go on; 2: something was wrong before it began; "
        "130 or 143: it was interrupted, and --resume goes on.",
    )
    verb.add_argument("config", type=Path, nargs="?", metavar="RUN.YAML", help="the configuration")
    verb.add_argument(
        "--set",
        dest="sets",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="over what the file says, as often as you like: --set grpo.max_steps=5 --set 'guards=[]'",
    )
    verb.add_argument(
        "--resume",
        nargs="?",
        const=True,
        default=False,
        metavar="CHECKPOINT",
        help="go on from the last complete checkpoint, or from this one",
    )
    verb.add_argument("--output", type=Path, metavar="DIR", help="the folder of everything that the run leaves")
    verb.add_argument("--processes", type=count, metavar="N", help="on this machine, through accelerate")
    verb.add_argument("--print-config", action="store_true", help="print the whole configuration, and do nothing")
    verb.add_argument("--schema", action="store_true", help="print the JSON schema of the file, for editors")
    verb.add_argument("--no-preflight", action="store_true", help="check nothing before the model is loaded")
    verb.add_argument("--preflight-only", action="store_true", help="check everything, print the report, train nothing")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """0 where it trained to its end."""
    from rewardkit.core.errors import RewardKitError
    from rewardkit_runner.configuration import reader as reading

    if options.schema:
        print(json.dumps(reading.schema(), indent=2))
        return 0
    if options.config is None:
        raise RewardKitError("name a configuration: rewardkit train run.yaml (rewardkit init DIR writes one)")
    config = reading.read(options.config, _sets(options))
    if options.print_config:
        print(reading.printed(config), end="")
        return 0
    if options.preflight_only:
        return _preflight(config)
    from rewardkit_runner.training import train

    return train(config)


def _sets(options: argparse.Namespace) -> list[str]:
    """The options that stand for settings, after --set, so that they hold."""
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
