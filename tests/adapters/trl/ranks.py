"""One of several processes of a run; ``torchrun --nproc_per_node 2 ranks.py OUT CASE...``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rewardkit as rk
from rewardkit.errors import RunStopped
from rewardkit.progress import states
from rewardkit_adapters.trl.evaluator import Evaluator, Session
from rewardkit_adapters.trl.scored import Prepared, Scored
from tests.adapters.trl import tiny
from tests.adapters.trl.test_training import Recorder, early, echo, generations, judged
from tests.counting import Counting


@rk.reward
def down_on_rank_1(completion: str) -> float:
    if os.environ["RANK"] == "1":
        raise rk.RewardFailure("the judge is down")
    return 0.5


@rk.reward
def parted(completion: str) -> rk.Score:
    """Has a part on each rank that the other one does not have."""
    return rk.Score(0.5, parts={"letters": float(len(completion.split())), f"rank{os.environ['RANK']}": 1.0})


@rk.reward
def unpaid_on_rank_1(completion: str, progress: rk.Progress) -> float:
    if os.environ["RANK"] == "1" and progress.step == 1:
        raise RunStopped("the quota is exhausted")
    return 0.5


@rk.reward(deterministic=False)
def moody(completion: str) -> float:
    """A judge that gives each process a different answer, and often fails."""
    answer = int(os.environ.get("RANK", "0")) + len(completion)
    if answer % 3 == 0:
        raise rk.RewardFailure("the judge is down")
    return answer % 5 / 4


@rk.reward
def open_on_rank_0(completion: str) -> float:
    return float(os.environ["RANK"] == "0")


counting = rk.reward(name="counting", deterministic=False)(Counting("judge_calls"))
often = rk.reward(name="often", deterministic=False)(Counting("judge_calls"))

ADAPTIVE = rk.curriculum(
    [
        rk.Stage("early", early, until=rk.schedules.when_reached("early", level=0.4, window=2, over=2)),
        rk.Stage("echo", echo + 0.3 * early * rk.schedules.track("echo", 0.0, 0.8, half_life=3)),
    ]
) + 0.1 * rk.normalize(echo, by="running")
RELATIVE = 0.5 * rk.rank_in_group(early) + rk.normalize(echo) + 0.2 * rk.diversity(extract=rk.extract.whole()) + early
OVER_THE_BATCH = rk.normalize(early, by="batch") + echo

CASES: dict[str, dict[str, Any]] = {
    "logs": {"reward": judged + 0.5 * early + rk.monitor(parted), "limits": {"max_failure_rate": 1.0}},
    "breaker": {"reward": down_on_rank_1 + early, "limits": {"failure_window": 3}},
    "unpaid": {"reward": unpaid_on_rank_1 + early},
    "adaptive": {"reward": ADAPTIVE, "options": {"learning_rate": 1e-2, "max_steps": 9}},
    "split": {"reward": RELATIVE, "options": {"per_device_train_batch_size": 2}},
    "moody": {
        "reward": rk.fallback(moody, early) + echo * rk.schedules.when_reached("moody", level=0.3, window=2),
        "options": {"per_device_train_batch_size": 2},
        "limits": {"failure_window": 4, "max_failure_rate": 0.0},
    },
    "measured": {"reward": often + rk.gate(open_on_rank_0, counting) + early, "options": {"max_steps": 3}},
    "batch": {"reward": OVER_THE_BATCH, "options": {"max_steps": 3}},
    "some golds": {"reward": rk.number("answer") + early, "golds": ["N/A", "1", "none", "?"]},
    "no golds": {"reward": rk.number("answer") + early, "golds": ["N/A", "none"]},
}


class Watched:
    """The calls and results of an evaluator, batch by batch."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.batches: list[dict[str, Any]] = []
        report = evaluator._report

        def watched(
            prepared: Prepared, session: Session, scored: Scored, means: Mapping[str, float]
        ) -> Mapping[str, float]:
            call, table = prepared.call, scored.table
            self.batches.append(
                {
                    "step": prepared.state.global_step,
                    "completions": call.completions,
                    "prompts": call.prompts,
                    "answer": call.columns["answer"],
                    "totals": table.total.tolist(),
                    "terms": {name: values.tolist() for name, values in table.terms.items()},
                    "weights": dict(table.weights),
                    "gauges": dict(table.gauges),
                    "states": states.saved(evaluator.memory.states),
                }
            )
            return report(prepared, session, scored, means)

        evaluator._report = watched  # type: ignore[method-assign]


def main(name: str, out: Path) -> None:
    case = CASES[name]
    recorder = Recorder()
    functions = rk.to_trl(case["reward"] + recorder.reward(), limits=rk.Limits(**case.get("limits", {})))
    watched = Watched(functions._evaluators[0])
    rows = tiny.dataset(32)
    if "golds" in case:
        rows = rows.map(lambda row, number: {"answer": case["golds"][number % len(case["golds"])]}, with_indices=True)
    given = {"train_dataset": rows}
    trainer = tiny.trainer(out, functions, given=given, **{"max_steps": 6, **case.get("options", {})})
    error = ""
    try:
        trainer.train()
    except (rk.RewardFailure, rk.errors.RewardBug, rk.errors.CoercionError) as failure:
        error = str(failure)
    seen = {
        "world": trainer.accelerator.num_processes,
        "error": error,
        "step": trainer.state.global_step,
        "batches": watched.batches,
        "history": [
            {name: value for name, value in entry.items() if "time" not in name and "radar/" not in name}
            for entry in generations(trainer)
        ],
        "radar": [sorted(name for name in entry if "radar/" in name) for entry in generations(trainer)],
        "advantages": list(trainer._logs["advantages"]),
    }
    (out / f"rank{os.environ['RANK']}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        main(name, Path(sys.argv[1]) / name)
