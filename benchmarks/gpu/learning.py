"""Does it learn? A model of 20 million parameters on the demo's task; the goal is a held-out exact match above 0.9."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rewardkit as rk

GOAL = 0.9
POLL_SECONDS = 5.0
_LAST_FIVE = """
    select max(step), avg(coalesce("components/exact", 0.0)) from scores
    where training and step > (select max(step) from scores) - 5
"""


def measure(out: Path, save: Callable[[dict[str, Any]], None], *, small: bool) -> None:
    """Run `rewardkit demo` and keep its numbers and curve; until it ends, save what its record shows so far."""
    from rewardkit_adapters.runner.demo.run import run_demo

    size, steps = ("small", 40) if small else ("medium", 200)
    ended = threading.Event()
    poll = threading.Thread(target=_poll, args=(out / "demo", {"size": size, "steps": steps}, save, ended))
    poll.start()
    try:
        run_demo(steps=steps, out=out / "demo", seed=0, size=size)
    finally:
        ended.set()
        poll.join()
    summary = json.loads((out / "demo/summary.json").read_text(encoding="utf-8"))
    shutil.copy(out / "demo/plot.png", out / "keep-learning.png")
    state = json.loads((out / f"demo/checkpoints/checkpoint-{steps}/trainer_state.json").read_text(encoding="utf-8"))
    curve = "".join(json.dumps(row) + "\n" for row in state["log_history"] if "reward" in row)
    (out / "keep-learning.jsonl").write_text(curve, encoding="utf-8")
    evaluation = json.loads((out / "demo/evaluation.json").read_text(encoding="utf-8"))
    weights = (out / "demo/model/model.safetensors").stat().st_size / 4
    save(
        {
            "size": size,
            "parameters": round(weights),
            "steps": steps,
            "held_out_prompts": evaluation["prompts"],
            "exact_before": summary["before"]["components"]["exact"],
            "exact_after": summary["after"]["components"]["exact"],
            "total_before": summary["before"]["total"],
            "total_after": summary["after"]["total"],
            "goal": GOAL,
            "phases": {name: round(seconds, 1) for name, seconds in summary["seconds"].items()},
        }
    )


def _poll(record: Path, facts: dict[str, Any], save: Callable[[dict[str, Any]], None], ended: threading.Event) -> None:
    """Save the share of right samples in the last five steps every few seconds, in case the time runs out."""
    while not ended.wait(POLL_SECONDS):
        try:
            step, exact = rk.open_run(record).sql(_LAST_FIVE).fetchall()[0]
        except rk.RewardKitError:  # nothing has been scored yet
            continue
        if step is not None:
            save({**facts, "step": step, "sampled_exact": exact})
