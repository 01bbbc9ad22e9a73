"""The trainings that rewardkit ships (the starter, the demo, the recipes): no search for hacks may accuse them.

``python benchmarks/radar/radar.py own --out runs/radar --seeds 5`` runs those that are missing, as a user would.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rewardkit as rk
from benchmarks.radar.cuts import sampled, strengths, until
from rewardkit.alerts import Evidence, suspicious
from rewardkit.page.alerts import read_evidence

ROOT = Path(__file__).resolve().parents[2]
RUNNER = "-m rewardkit.cli.main"
SETS = "--set seed={seed} --set preflight.laws=false"  # the laws do not change the training
TRAIN = f"{RUNNER} train cookbook/{{name}}/run.yaml --output {{out}}/run {SETS}"
ON_A_CPU = (
    "--set model=tiny --set lora=null --set grpo.max_completion_length=16 "
    "--set grpo.per_device_train_batch_size=64 --set grpo.gradient_accumulation_steps=1"
)
"""What cookbook/README.md says of projects for a GPU, with all of their steps and their 64 completions per step."""
EVERY = 10
"""Steps between two searches, as if live."""


@dataclass(frozen=True)
class Own:
    """Trainings of one seed: words for Python with ``{out}`` and ``{seed}``, and the runs that they record."""

    name: str
    commands: Sequence[str]
    records: Sequence[str] = ("run",)


def _recipe(name: str, *records: str) -> Own:
    return Own(name, [f"cookbook/{name}.py --seed {{seed}} --out {{out}}"], records or (name,))


OWN = (
    Own(
        "starter",
        [
            f"{RUNNER} init {{out}}/orders",
            f"{RUNNER} train {{out}}/orders/run.yaml --output {{out}}/run {SETS}",
        ],
    ),
    Own("reasoning_gym", ["cookbook/reasoning_gym/small.py --seed {seed} --out {out}/run"]),
    _recipe("curriculum_by_time"),
    _recipe("curriculum_by_performance"),
    _recipe("multi_task_routing"),
    _recipe("gdpo", "gdpo_plain_sum", "gdpo"),
    _recipe("gated_reward", "gated_reward_unpaid", "gated_reward_paid"),
    Own("live_update", ["cookbook/live_update/walk.py --seed {seed} --out {out}/run"]),
    Own(
        "drawers",
        [
            f"cookbook/drawers/train.py --reward {one} --seed {{seed}} --out {{out}}"
            for one in ("matched", "exact", "naive")
        ],
        ["matched-{seed}", "exact-{seed}", "naive-{seed}"],
    ),
    Own("demo", [f"{RUNNER} demo --seed {{seed}} --output {{out}}/run"]),
    Own("json_extraction", [f"{TRAIN.replace('{name}', 'json_extraction')} {ON_A_CPU}"]),
    Own("countdown", [f"{TRAIN.replace('{name}', 'countdown')} {ON_A_CPU}"]),
)


def run(own: Own, seed: int, out: Path) -> Iterator[Path]:
    """Run the trainings of one seed unless they are done; yield the folders of their records.

    Raises:
        CalledProcessError: a training failed; ``log.txt`` in its folder says why.
    """
    folder = out.absolute() / "own" / f"{own.name}-{seed}"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with (folder / "log.txt").open("w") as log:
            for command in own.commands:
                words = command.format(out=folder, seed=seed).split()
                subprocess.run([sys.executable, *words], cwd=ROOT, stdout=log, stderr=log, check=True)
        (folder / "done").touch()
    yield from (folder / record.format(seed=seed) for record in own.records)


def line(folder: Path) -> str:
    """Return a row of the table: the strongest alert at the end, at any tenth step, and of the radar while it ran."""
    evidence = read_evidence(folder)
    found = [(*_strongest(until(evidence, cut)), cut) for cut in range(EVERY, int(np.max(evidence.steps)) + 1, EVERY)]
    cells = [
        folder.parent.name,
        folder.name,
        _shown(*_strongest(evidence)),
        _shown(*max(found, key=lambda one: one[1], default=("", 0.0, 0))),
        _shown(*_of_the_radar(folder, evidence)),
        f"{len(sampled(evidence).steps):,}",
    ]
    return f"| {' | '.join(cells)} |"


def _of_the_radar(folder: Path, evidence: Evidence) -> tuple[str, float, int]:
    """Return the kind, the strength and the step of the strongest alert that the radar logged.

    It logs no kind: that is found again in what it scored again.
    """
    query = "select step, value from metrics where name = 'radar/strength' order by value desc, step limit 1"
    (step, strength), *_ = rk.open_run(folder).sql(query).fetchall() or [(0, 0.0)]
    kind, again = _strongest(sampled(until(evidence, step + 1)))
    return kind if abs(strength - again) < 0.01 else "", strength, step


def _strongest(evidence: Evidence) -> tuple[str, float]:
    found = strengths(suspicious(evidence, observations=False))
    return max(found.items(), key=lambda one: one[1], default=("", 0.0))


def _shown(kind: str, strength: float, step: int | None = None) -> str:
    return " ".join([f"{strength:.2f}", kind, "" if step is None or not strength else f"at {step}"]).strip()


HEAD = (
    "| training | record | at the end | at any tenth step | highest radar/strength | completions scored again |\n"
    "|---|---|---|---|---|---|"
)


def table(out: Path, names: Sequence[str], seeds: int) -> Iterator[str]:
    """Run all trainings that are missing, a seed after the other, and yield the lines of the table as they come."""
    yield HEAD
    for seed in range(seeds):
        for own in OWN:
            if not names or own.name in names:
                started = time.monotonic()
                for folder in run(own, seed, out):
                    yield line(folder)
                print(f"{own.name} {seed}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
