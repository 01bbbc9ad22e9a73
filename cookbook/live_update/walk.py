"""Change a reward while it trains: other weights, other components, a refused mistake, and a rollback.

``python cookbook/live_update/walk.py`` starts `rewardkit train` with the tiny model and sends updates, as
`rewardkit update` does from another terminal. It takes two to three minutes on two CPU cores.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import rewardkit as rk

HERE = Path(__file__).parent
UPDATES: list[tuple[str, dict[str, Any]]] = [
    ("other weights", {"weights": {"valid": 0.3, "fields": 0.7}}),
    ("other components", {"reward": f"{HERE / 'stricter.py'}:reward"}),
    ("a mistake", {"reward": f"{HERE / 'broken.py'}:reward"}),
    ("back to the version before", {"rollback": True}),
]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/live_update"), help="a new folder: %(default)s")
    parser.add_argument("--steps", type=int, default=120, help="of GRPO: %(default)s")
    parser.add_argument("--warm-up", type=int, default=350, help="supervised steps of the tiny model: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "rewardkit.cli.main",
        "train",
        str(HERE / "run.yaml"),
        "--output",
        str(options.out),
    ]
    command += ["--set", f"grpo.max_steps={options.steps}", "--set", f"model.warm_up_steps={options.warm_up}"]
    command += ["--set", f"seed={options.seed}"]
    with (options.out / "train.log").open("w") as log:
        training = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        for place, (what, update) in enumerate(UPDATES, start=1):
            _wait_for(options.out, place * options.steps // (len(UPDATES) + 2), training)
            _show(what, rk.update_config(options.out, **update, wait=120))
        if training.wait():
            sys.exit(f"the training ended with code {training.returncode}: {options.out / 'train.log'}")
    finally:
        training.kill()  # no effect if it has ended
    _versions(options.out)


def _wait_for(run: Path, step: int, training: subprocess.Popen[bytes]) -> None:
    """Wait until the run has recorded `step`."""
    while training.poll() is None:
        try:
            if rk.open_run(run).steps[-1] >= step:
                return
        except (rk.RewardKitError, IndexError):
            pass  # nothing is scored yet
        time.sleep(0.3)
    sys.exit(f"the training ended with code {training.returncode}: see {run / 'train.log'}")


def _show(what: str, answer: dict[str, Any]) -> None:
    where = f" at step {answer['step']}" if answer.get("step") is not None else ""
    print(f"\n=== {what}: {answer['status']}{where}")
    if answer.get("reason"):
        print(f"  {answer['reason']}")
    trial = answer.get("trial") or {}
    for name, means in {**trial.get("components", {}), "total": trial.get("total", ())}.items():
        if means:
            print(f"  {name:<8}" + " -> ".join("  - " if mean is None else f"{mean:.2f}" for mean in means))
    if trial.get("advantages"):
        print(f"  {trial['advantages']['changed_sign']} of {trial['rows']} advantages change their sign")


def _versions(run: Path) -> None:
    """Print the mean scores of each version, which every row of the record names."""
    recorded = rk.open_run(run)
    names = ["total", *recorded.components]
    means = ", ".join(f'avg("components/{name}")' for name in recorded.components)
    query = (
        f"select step, any_value(version), avg(total), {means} from scores where training group by step order by step"
    )
    print(f"\n{'version':<18}{'steps':<9}" + "".join(f"{name:>8}" for name in names))
    for version, group in groupby(recorded.sql(query).fetchall(), key=lambda row: row[1]):
        steps = list(group)
        columns = [[row[place] for row in steps if row[place] is not None] for place in range(2, 2 + len(names))]
        shown = "".join(f"{sum(column) / len(column):>8.2f}" if column else f"{'-':>8}" for column in columns)
        print(f"{version:<18}{f'{steps[0][0]}-{steps[-1][0]}':<9}{shown}")


if __name__ == "__main__":
    main()
