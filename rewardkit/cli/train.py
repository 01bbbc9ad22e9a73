"""``rewardkit train run.yaml``: train a model with a reward and a dataset, or evaluate its checkpoints."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rewardkit.cli.arguments import add_settings, count

_OF_EVALUATION = ("split", "prompts", "generations", "out")


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Trains with TRL's GRPOTrainer. One YAML file names the reward, the model, the data, and the settings. "
        "Everything is checked before the model is loaded. `rewardkit init DIR` writes a file to start from."
    )
    verb.epilog = (
        "Exit code 0: training finished, or all completions in the evaluation were scored; 1: training stopped with an "
        "error, or some completions could not be scored; 2: a check failed before training started; 130 or 143: "
        "training was interrupted, and --resume continues it."
    )
    verb.add_argument("config", type=Path, nargs="?", metavar="RUN.YAML", help="the run's configuration file")
    add_settings(verb)
    verb.add_argument(
        "--resume",
        nargs="?",
        const=True,
        default=False,
        metavar="CHECKPOINT",
        help="continue from the last complete checkpoint, or from CHECKPOINT (a step or a folder)",
    )
    verb.add_argument("--output", type=Path, metavar="DIR", help="the folder for all files that the run writes")
    verb.add_argument(
        "--processes", type=count, metavar="N", help="the number of processes on this machine, launched by accelerate"
    )
    verb.add_argument(
        "--preflight",
        choices=("on", "off", "only"),
        help="on: check everything before the model is loaded (default, unless the file has preflight: false); "
        "off: skip the checks; only: print the report and stop",
    )
    verb.add_argument("--print-config", action="store_true", help="print the whole configuration and stop")
    verb.add_argument("--schema", action="store_true", help="print the JSON schema of the file, for editors, and stop")
    group = verb.add_argument_group(
        "evaluation",
        "With --evaluate, nothing is trained. Checkpoints generate completions for the run's held-out prompts, and the "
        "configured reward scores them. Two checkpoints are compared. More are shown side by side.",
    )
    group.add_argument(
        "--evaluate",
        nargs="*",
        action="extend",
        metavar="CHECKPOINT",
        help="the checkpoints to evaluate: last, start (the model before training), a step such as 50, or a folder "
        "(default: last)",
    )
    group.add_argument(
        "--split", metavar="NAME", help="the dataset split to take prompts from (default: the one in eval)"
    )
    group.add_argument(
        "--prompts", type=count, metavar="N", help="the number of prompts (default: the number in eval, or 64)"
    )
    group.add_argument(
        "--generations",
        type=count,
        metavar="N",
        help="the number of completions per prompt (default: 1). If it is more than one, they are sampled as in "
        "training, and pass@k is reported",
    )
    group.add_argument(
        "--out", type=Path, metavar="FILE", help="write all completions with their totals to FILE as JSON"
    )


def run(options: argparse.Namespace) -> int:
    """Train, or run the action that an option such as ``--evaluate`` or ``--schema`` requests; return the exit code."""
    from rewardkit.errors import RewardKitError
    from rewardkit_adapters.runner import config_file as reader

    if options.schema:
        print(json.dumps(reader.schema(), indent=2))
        return 0
    if options.config is None:
        raise RewardKitError(
            "no configuration given: pass one, as in rewardkit train run.yaml. `rewardkit init DIR` writes an example"
        )
    if options.evaluate is not None:
        return _evaluate(options)
    if evaluation_options := [f"--{name}" for name in _OF_EVALUATION if getattr(options, name) is not None]:
        raise RewardKitError(f"{', '.join(evaluation_options)}: only for an evaluation. Add --evaluate")
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


def _evaluate(options: argparse.Namespace) -> int:
    """Evaluate checkpoints; return 0 if all completions were scored."""
    from rewardkit_adapters.runner.config_file import read
    from rewardkit_adapters.runner.evaluate import evaluate

    return evaluate(
        read(options.config, options.sets),
        checkpoint=options.evaluate or ["last"],
        split=options.split,
        prompts=options.prompts,
        generations=options.generations or 1,
        out=options.out,
    )


def _sets(options: argparse.Namespace) -> list[str]:
    """Return the settings from --set, followed by the settings from other options, which take precedence."""
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
    """Run the preflight checks and print the report; return 0 if there are no errors; otherwise, 2."""
    from rich.console import Console

    from rewardkit.check.run.status import shown_status
    from rewardkit_adapters.runner.models import convert
    from rewardkit_adapters.runner.plan import Plan
    from rewardkit_adapters.runner.preflight import preflight

    plan = Plan.of(config, None)
    convert(config, Console(stderr=True))
    with shown_status() as show:
        report = preflight(
            config,
            reward=plan.reward,
            training=plan.training,
            held_out=plan.held_out,
            locations=plan.locations,
            show=show,
        )
    print(report.text())
    return 0 if report.ok else 2
