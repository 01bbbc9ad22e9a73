"""What rewardspy and rl-doctor raise on recorded runs, and what rewardkit's search finds in the same ones.

``compare(Path("runs/radar/runs/sums-exact-0"), peers).alarms`` has an entry per tool, and one more if it takes the
truth; rewardspy does not. Only rewardkit has the gold answers. TRL computes no KL divergence with ``beta=0``, so
rl-doctor's ``kl_drift`` has no input. Written for rewardspy 0.1.0 (2b775fe) and rldoctor 0.2.0.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import rewardkit as rk
from benchmarks.radar.labels import Label
from benchmarks.radar.tasks import TASKS
from benchmarks.radar.training import GENERATIONS, PROMPTS_PER_STEP, TRUTH
from benchmarks.radar.verdicts import ALARM, Verdict, verdict

LEVELS = {
    "rewardspy": ("WARNING", "ALERT"),
    "rl-doctor": ("WARNING", "CRITICAL"),
    "rewardkit": ("strength 0.5", f"strength {ALARM}"),
}
"""The lower and the upper level at which each tool calls for a look."""
LOOK = 0.5
"""The strength from which on rewardkit's documentation says to look at an alert."""
EVALUATED = 5
"""Steps between two held-out scores for rl-doctor, each the mean truth of those steps. Of 1, 2, 5, 10 and
20, this is where it did best in the runs with seed 0."""


@dataclass(frozen=True)
class Alarms:
    """The alarms of one tool in one run. A level is 0 or 1, an index of `LEVELS`.

    Attributes:
        informed: whether it was given the truth.
        raised: (detector, level, step) of each alarm while the run went on.
        at_end: detector -> level of the alarms at its end.
    """

    tool: str
    informed: bool
    raised: Sequence[tuple[str, int, int]] = ()
    at_end: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Peers:
    """Folders that have the packages `rewardspy` and `rl_doctor`."""

    rewardspy: Path
    rldoctor: Path


@dataclass(frozen=True)
class Comparison:
    """The alarms of all tools in one run."""

    name: str
    label: Label
    alarms: Sequence[Alarms]

    def of(self, tool: str, informed: bool) -> Alarms:
        return next(one for one in self.alarms if (one.tool, one.informed) == (tool, informed))

    @property
    def shown(self) -> str:
        """The alarms at the end, in a line."""
        return "; ".join(f"{one.tool}{' with truth' * one.informed} {one.at_end}" for one in self.alarms if one.at_end)


def compared(folders: Sequence[Path], peers: Peers, workers: int = 1) -> Iterator[Comparison]:
    """Yield the alarms of all tools in each run, in order."""
    if workers == 1:
        yield from (compare(folder, peers) for folder in folders)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(compare, folders, [peers] * len(folders))


def compare(folder: Path, peers: Peers) -> Comparison:
    """Show a recorded run of `radar.training` to all tools."""
    judged = verdict(folder)
    config, by_step, truth = _configuration(folder), _logs(folder), _truth(folder)
    logs = list(by_step.values())
    with_truth = [{**one, **truth.get(step, {})} for step, one in by_step.items()]
    alarms = (
        _alarms("rewardspy", peers.rewardspy, {"maximum": _maximum(judged), "groups": list(_groups(folder))}),
        _alarms("rl-doctor", peers.rldoctor, {"config": config, "logs": logs}),
        _alarms("rl-doctor", peers.rldoctor, {"config": config, "logs": with_truth}, informed=True),
        *_own(judged),
    )
    return Comparison(folder.name, judged.label, alarms)


def _alarms(tool: str, package: Path, run: dict[str, Any], *, informed: bool = False) -> Alarms:
    script = Path(__file__).with_name(f"with_{tool.replace('-', '')}.py")
    environment = {**os.environ, "PYTHONPATH": str(package.resolve())}
    process = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps(run),
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        check=True,
    )
    answer = json.loads(process.stdout)
    levels = LEVELS[tool]
    return Alarms(
        tool,
        informed,
        [(detector, levels.index(level), step) for detector, level, step in answer["raised"]],
        {detector: levels.index(level) for detector, level in answer["at_end"].items()},
    )


def _own(judged: Verdict) -> Iterator[Alarms]:
    for informed, alerts, cuts in ((False, judged.alerts, judged.cuts), (True, judged.informed, judged.cuts_informed)):
        raised = [(kind, level, cut - 1) for cut, found in cuts.items() for kind, level in _levels(found).items()]
        yield Alarms("rewardkit", informed, raised, _levels(alerts))


def _levels(alerts: dict[str, float]) -> dict[str, int]:
    return {kind: int(strength >= ALARM) for kind, strength in alerts.items() if strength >= LOOK}


def _groups(folder: Path) -> Iterator[tuple[int, list[tuple[str, dict[str, float]]]]]:
    """Yield (step, its completions with their terms and total) for each group of a prompt."""
    run = rk.open_run(folder)
    terms = [name for name in run.sql("select * from scores limit 0").columns if name.startswith("terms/")]
    query = (
        f's.step, s."group", c.completion, c.messages, s.total, {", ".join(f"s.{json.dumps(one)}" for one in terms)} '
        "from scores s join completions c using (attempt, rank, part, row) where s.training order by s.step, s.row"
    )
    names = [name.removeprefix("terms/") for name in terms]
    for (step, _), rows in groupby(run.sql(f"select {query}").fetchall(), lambda row: row[:2]):
        yield (
            step,
            [
                (_text(completion, messages), {**_known(names, values), "total": total})
                for _, _, completion, messages, total, *values in rows
            ],
        )


def _text(completion: str, messages: str | None) -> str:
    """Return all that was written, also to and by tools."""
    return "\n".join(str(one["content"]) for one in json.loads(messages)) if messages else completion


def _known(names: Sequence[str], values: Sequence[float | None]) -> dict[str, float]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None and np.isfinite(value)}


def _maximum(judged: Verdict) -> float | None:
    high = TASKS[judged.task].reward(judged.reward).bounds[1]
    return high if np.isfinite(high) else None


def _logs(folder: Path) -> dict[int, dict[str, float]]:
    """Return what TRL logged, step by step, under TRL's names: step -> name -> value."""
    query = "select step, name, value from metrics where name like 'trainer/%' order by step, part"
    logs: dict[int, dict[str, float]] = {}
    for step, name, value in rk.open_run(folder).sql(query).fetchall():
        logs.setdefault(step, {}).setdefault(name.removeprefix("trainer/"), value)
    return logs


def _truth(folder: Path) -> dict[int, dict[str, float]]:
    """Return the held-out score of each step that has one: the mean of the last steps."""
    query = f'select step, avg("components/{TRUTH}") from scores where training group by step order by step'
    steps, means = zip(*rk.open_run(folder).sql(query).fetchall(), strict=True)
    return {
        step: {"eval_score": float(np.mean(means[max(0, place + 1 - EVALUATED) : place + 1]))}
        for place, step in enumerate(steps)
        if (step + 1) % EVALUATED == 0
    }


def _configuration(folder: Path) -> dict[str, Any]:
    """Return what rl-doctor's callback for TRL reads of the trainer's arguments."""
    query = "select max(value) from metrics where name = 'limit/tokens'"
    ((limit,),) = rk.open_run(folder).sql(query).fetchall()
    return {
        "algorithm": "grpo",
        "num_generations": GENERATIONS,
        "per_device_train_batch_size": GENERATIONS * PROMPTS_PER_STEP,
        "max_completion_length": limit,
        "beta": 0.0,
        "epsilon": 0.2,
    }
