"""`rewardkit demo`: train the bundled project with the runner, and report whether its reward increased."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import RewardKitError
from rewardkit_adapters.runner import config_file as reader, environment, folder
from rewardkit_adapters.runner.project import TASKS

if TYPE_CHECKING:
    from rich.console import Console

CONFIG = TASKS["orders"] / "run.yaml"
OUT = Path("runs/demo")
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


def run_demo(
    *,
    steps: int | None = None,
    out: Path | None = None,
    seed: int = 0,
    size: str = "small",
    console: Console | None = None,
) -> int:
    """Train the bundled project. Return 0 if the held-out total increased, or else 1 or the run's exit code.

    Args:
        steps: the number of GRPO steps, at least 1, or None for the number in the project's ``run.yaml``.
        out: the run's folder. None means ``runs/demo``, or ``runs/demo-2`` and so on if ``runs/demo`` already contains
            a run.
        seed: the seed for the held-out rows, the weights, and the sampling.
        size: the size of the model. ``"small"`` runs on two CPU cores, but ``"medium"`` and ``"large"`` need a GPU.
        console: the console to print to, or None for standard output.

    Raises:
        MissingExtraError: torch, TRL, or another package that the runner needs is not installed.
        RewardKitError: `out` already contains a run.
        ConfigError: `steps` or `size` is not a valid setting.
    """
    environment.prepare()
    for name, value in OFFLINE.items():
        os.environ.setdefault(name, value)
    from rich.console import Console

    from rewardkit_adapters.runner.training import train

    console = console or Console()
    output = _free(OUT) if out is None else Path(out)
    if folder.holds_a_run(output):
        raise RewardKitError(f"{output} already contains a run. Choose another folder with --output DIR")
    changes: dict[str, Any] = {
        "output": str(output.absolute()),
        "seed": seed,
        "model.size": size,
        "preflight.laws": False,  # they take longer than the training, and this reward is tested
    }
    if steps is not None:
        changes["grpo.max_steps"] = steps
    if size != "small":
        changes["grpo.learning_rate"] = _learning_rate(size)
    sets = [f"{name}={json.dumps(value)}" for name, value in changes.items()]
    code = train(reader.read(CONFIG, sets), console=console)
    return code or _verdict(console, output)


def _free(out: Path) -> Path:
    """Return the first of ``demo``, ``demo-2``, ``demo-3``... that does not contain a run."""
    number, candidate = 1, out
    while folder.holds_a_run(candidate):
        number += 1
        candidate = out.with_name(f"{out.name}-{number}")
    return candidate


def _learning_rate(size: str) -> float:
    from rewardkit_adapters.runner.tiny.model import SIZES

    small_rate: float = reader.read(CONFIG).grpo["learning_rate"]
    return small_rate * SIZES[size].learning_rate_factor


def _verdict(console: Console, output: Path) -> int:
    """Print whether the reward increased. Return 0 if it did, or 1 otherwise."""
    from rewardkit_adapters.runner.report import rose

    summary = json.loads((output / folder.SUMMARY).read_text(encoding="utf-8"))
    before, after = (summary[when]["total"] for when in ("before", "after"))
    did_rise = rose(before, after)
    numbers = f"from {before:.3f} to {after:.3f} on held-out prompts, in {sum(summary['seconds'].values()):.0f} s."
    console.print()
    if did_rise:
        console.print(f"The reward rose {numbers}", style="bold green", highlight=False)
    else:
        console.print(f"FAILED: the reward did not rise: {numbers}", style="bold red", highlight=False)
    console.print("Make this project yours: ", end="")
    console.print("rewardkit init DIR", style="bold", highlight=False)
    return 0 if did_rise else 1
