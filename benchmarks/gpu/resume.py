"""Does a training that is killed and continued give the same numbers as an uninterrupted one?

There are two uninterrupted runs, because on a GPU even two identical runs may differ; the report's first column shows
how much. All three are `rewardkit train` on the project of `rewardkit demo`, each in its own process.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEASURES = ("reward", "loss", "grad_norm")
REWARDKIT = [sys.executable, "-m", "rewardkit.cli.main"]


def measure(out: Path, save: Callable[[dict[str, Any]], None], *, small: bool) -> None:
    """Run `alone`, `again` and `continued`, and save how much the last two differ from the first."""
    steps, half, warm_up = (10, 4, 20) if small else (20, 10, 100)
    project = _project(out / "project", {"max_steps": steps, "save_steps": half}, warm_up)
    train = [*REWARDKIT, "train", str(project), "--preflight", "off"]
    alone, again, continued = (out / name for name in ("alone", "again", "continued"))
    subprocess.run([*train, "--output", str(alone)], check=True)
    subprocess.run([*train, "--output", str(again)], check=True)
    found: dict[str, Any] = {"steps": steps, "checkpoint": half, "again": _differences(alone, again)}
    save(found)
    found["killed"] = _kill_after(half, [*train, "--output", str(continued)], continued)
    subprocess.run([*train, "--output", str(continued), "--resume"], check=True)
    found["continued"] = {**_differences(alone, continued), "recorded_steps": _recorded(continued)}
    save(found)


def _project(folder: Path, steps: dict[str, int], warm_up: int) -> Path:
    """Write the project that `rewardkit init` writes, with other steps; return the path of run.yaml."""
    from rewardkit_adapters.runner.project import write_project

    write_project(folder)
    sizes = {"per_device_train_batch_size": 64, "num_generations": 8, "max_completion_length": 32}
    run = {
        "reward": "reward.py:reward",
        "model": {"name": "tiny", "warm_up_steps": warm_up},
        "dataset": {"path": "data.jsonl", "prompt": "{text}\n"},
        "grpo": {**sizes, **steps, "save_total_limit": 5, "learning_rate": 3e-4},
    }
    (folder / "run.yaml").write_text(json.dumps(run), encoding="utf-8")  # JSON is YAML
    return folder / "run.yaml"


def _kill_after(step: int, command: list[str], output: Path) -> bool:
    """Kill the training a few steps after the checkpoint of `step`; return False if it finished before that."""
    checkpoint = output / "checkpoints" / f"checkpoint-{step}" / "trainer_state.json"
    child = subprocess.Popen(command)
    while child.poll() is None and not checkpoint.is_file():
        time.sleep(0.02)
    time.sleep(0.3)  # let it take a few more steps
    child.kill()  # does nothing if it has ended
    return child.wait() == -signal.SIGKILL


def _differences(first: Path, second: Path) -> dict[str, float | None]:
    """Return the largest absolute difference of the values logged at any step, and of the final weights."""
    import torch
    from safetensors.torch import load_file

    logs = [_logged(folder) for folder in (first, second)]
    found: dict[str, float | None] = {}
    for name in MEASURES:
        pairs = [(one[name], logs[1].get(step, {}).get(name)) for step, one in logs[0].items() if name in one]
        known = [abs(a - b) for a, b in pairs if b is not None]
        found[name] = max(known) if known and len(known) == len(pairs) else None
    weights = [load_file(folder / "model" / "model.safetensors") for folder in (first, second)]
    found["weights"] = max(
        float(torch.max(torch.abs(tensor.float() - weights[1][name].float()))) for name, tensor in weights[0].items()
    )
    return found


def _logged(folder: Path) -> dict[int, dict[str, float]]:
    """Return step -> logged values, from the last checkpoint."""
    checkpoints = sorted((folder / "checkpoints").glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    state = json.loads((checkpoints[-1] / "trainer_state.json").read_text(encoding="utf-8"))
    return {row["step"]: row for row in state["log_history"] if "reward" in row}


def _recorded(folder: Path) -> int:
    import rewardkit as rk

    return int(rk.open_run(folder).sql("select count(distinct step) from scores where training").fetchall()[0][0])
