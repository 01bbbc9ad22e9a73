"""Does a pretrained model learn? cookbook/instructions with two seeds, and one run with a reward that has a hole."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECIPE = Path(__file__).resolve().parents[2] / "cookbook" / "instructions"


def measure(out: Path, save: Callable[[dict[str, Any]], None], *, small: bool) -> None:
    """Train, and save the held-out scores of each finished run."""
    import benchmarks.radar.tasks  # noqa: F401 -- adds cookbook/drawers to the import path, for the next modules
    from benchmarks.radar.labels import label
    from benchmarks.radar.training import Training, train as train_task
    from rewardkit_adapters.runner.config_file import read
    from rewardkit_adapters.runner.training import train

    steps, length = (2, 16) if small else (100, 48)
    found: dict[str, Any] = {"steps": steps, "runs": {}}
    for seed in (1, 2):
        began = time.perf_counter()
        settings = [f"seed={seed}", f"output={out / f'gated-{seed}'}", "preflight=false", f"grpo.max_steps={steps}"]
        settings += [f"grpo.max_completion_length={length}", f"eval.prompts={4 if small else 64}"]
        train(read(RECIPE / "run.yaml", settings))
        summary = json.loads((out / f"gated-{seed}" / "summary.json").read_text(encoding="utf-8"))
        found["runs"][f"gated, seed {seed}"] = {
            "seconds": round(time.perf_counter() - began, 1),
            "before": summary["before"]["components"],
            "after": summary["after"]["components"],
        }
        save(found)
    began = time.perf_counter()
    verdict = label(train_task(Training("keywords", "count", 0, steps), out))
    found["hacked"] = {
        "seconds": round(time.perf_counter() - began, 1),
        "verdict": verdict.verdict,
        "total": verdict.total,
        "truth": verdict.truth,
    }
    save(found)
