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
        epilog="Exit code 0: the training finished; 1: it stopped with an error; 2: a check failed before it started; "
        "130 or 143: it was interrupted, and --resume continues it.",
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
    verb.add_argument("--processes", type=count, metavar="N", help="processes on this machine, started by accelerate")
    verb.add_argument(
        "--preflight",
        choices=("on", "off", "only"),
        help="on: check everything before the model is loaded (default, unless the file says preflight: false); "
        "off: skip the checks; only: print the report and stop",
    )
    verb.add_argument("--print-config", action="store_true", help="print the whole configuration and stop")
    verb.add_argument("--schema", action="store_true", help="print the JSON schema of the file, for editors, and stop")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, or do what one of the options asks for instead; return the exit code."""
    from rewardkit.errors import RewardKitError
    from rewardkit_adapters.runner import config_file as reader

    if options.schema:
        print(json.dumps(reader.schema(), indent=2))
        return 0
    if options.config is None:
        raise RewardKitError(
            "no configuration given: pass one, rewardkit train run.yaml. `rewardkit init DIR` writes it."
        )
    sets = _sets(options)
    config = reader.read(options.config, sets)
    if options.preflight == "on" and config.preflight is None:
        config = reader.read(options.config, [*sets, "preflight=true"])
    if options.print_config:
        print(reader.printed(config), end="")
        return 0
    if options.preflight == "only":
        return _preflight(config)
    from rewardkit_adapters.runner.training import train

    return train(config)


def _sets(options: argparse.Namespace) -> list[str]:
    """Return the settings of --set, followed by those of the other options, which win."""
    sets = list(options.sets)
    if options.output is not None:
        sets.append(f"output={json.dumps(str(options.output.absolute()))}")
    if options.processes is not None:
        sets.append(f"processes={options.processes}")
    if options.resume is not False:
        folder = isinstance(options.resume, str) and Path(options.resume).is_dir()
        sets.append(f"resume={json.dumps(str(Path(options.resume).absolute()) if folder else options.resume)}")
    if options.preflight == "off":
        sets.append("preflight=false")
    return sets


def _preflight(config: Any) -> int:
    """Print the report of the preflight; return 0 if it found no error, else 2."""
    from rewardkit_adapters.runner.data import training_and_held_out
    from rewardkit_adapters.runner.preflight import preflight
    from rewardkit_adapters.runner.rewards import reward_of

    reward = reward_of(config)
    training, held_out = training_and_held_out(config)
    found = preflight(config, reward=reward, training=training, held_out=held_out)
    print(found.text())
    return 0 if found.ok else 2
