"""A project as a user has it, whose training takes a second: a reward, rows, and a model without any warm start."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.tiny.make import as_columns, examples
from rewardkit_adapters.runner.training import train
from tests.adapters.logs import steady

STEPS = 4

REWARD = """
import os, signal
import rewardkit as rk

@rk.reward
def letters(completion: str) -> float:
    return sum(map(str.isalpha, completion)) / max(len(completion), 1)

@rk.reward
def named(completion: str, order: dict) -> float:
    return float(order["name"][0] in completion)

reward = letters * rk.schedules.linear(1.0, 0.5) + 0.5 * named

@rk.reward
def signaled(completion: str, progress: rk.Progress) -> float:
    # "2 9": signal 9 to this process when it scores after 2 steps.
    step, number = map(int, os.environ["SIGNALED"].split())
    if progress.training and progress.step == step:
        os.environ["SIGNALED"] = "-1 0"
        os.kill(os.getpid(), signal.Signals(number))
    return 0.0

interrupted = reward + rk.monitor(signaled)

@rk.reward
def broken(completion: str, progress: rk.Progress) -> float:
    if progress.training and progress.step >= 2:
        raise rk.RewardFailure("the judge is down")
    return len(completion) / 100

def short(completions, **kwargs):
    return [-len(completion) / 100 for completion in completions]

def first_letter(completions, order, **kwargs):
    return [float(text[:1] == gold[:1]) for text, gold in zip(completions, order)]

plain = [short, first_letter]
spoken = 0.5 * letters + named
"""

CONFIG: dict[str, Any] = {
    "reward": "reward.py:reward",
    "model": {"name": "tiny", "warm_up_steps": 0},
    "dataset": "data.jsonl",
    "eval": {"hold_out": 4, "prompts": 4},
    "output": "out",
    "preflight": False,
    "seed": 7,
    "grpo": {
        "max_steps": STEPS,
        "save_steps": 2,
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 6,
        "learning_rate": 1e-3,
    },
}


def project(folder: Path, **changes: Any) -> Path:
    """Writes it; the configuration's file. Changes under ``grpo`` are added to what stands there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reward.py").write_text(REWARD)
    columns = as_columns(examples(24, seed=0, split="training"))
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "run.yaml"
    # JSON is YAML.
    path.write_text(json.dumps(CONFIG | changes | {"grpo": CONFIG["grpo"] | changes.get("grpo", {})}))
    return path


def config(folder: Path, **changes: Any) -> RunConfig:
    return read(project(folder, **changes))


def trained(config: RunConfig, *, resume: bool | str | Path = False, expect: int = 0, terminal: bool = False) -> str:
    """Trains in this process; what was printed."""
    torch.set_num_threads(1)
    printed = io.StringIO()
    console = Console(file=printed, width=200, force_terminal=terminal)
    code = train(config, resume=resume, console=console)
    assert code == expect, printed.getvalue()
    return printed.getvalue()


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``rewardkit ...`` in a process of its own, on one thread."""
    process = started(*arguments, environment=environment)
    output, errors = process.communicate(timeout=240)
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def started(
    *arguments: str, terminal: int = subprocess.PIPE, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """``rewardkit ...`` as it runs."""
    root = Path(__file__).parents[3]
    paths = os.pathsep.join([str(root), str(root / "adapters")])
    return subprocess.Popen(
        [sys.executable, "-m", "rewardkit.cli.main", *arguments],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **(environment or {})},
        stdout=terminal,
        stderr=terminal,
        text=True,
    )


def in_terminal(*arguments: str) -> str:
    """What ``rewardkit ...`` shows in a terminal of 100 columns, without the codes for colors and cursor."""
    main, child = pty.openpty()
    with started(*arguments, terminal=child, environment={"COLUMNS": "100", "TERM": "xterm"}) as process:
        os.close(child)
        shown = bytearray()
        with contextlib.suppress(OSError):  # the process has closed its end
            while part := os.read(main, 1 << 16):
                shown += part
        assert process.wait() == 0, shown.decode(errors="replace")
    os.close(main)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))


def weights(model: Path) -> dict[str, torch.Tensor]:
    """Of a saved model, by name."""
    from safetensors.torch import load_file

    return dict(load_file(next(model.glob("*.safetensors"))))


def same_weights(one: Path, other: Path) -> bool:
    """Whether two saved models are bit for bit the same."""
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def steps(output: Path) -> list[int]:
    """The steps in the record, those that count."""
    from rewardkit.record.run import open_run

    return open_run(output).steps


def losses(output: Path, step: int = STEPS) -> list[dict[str, float]]:
    """What the trainer logged of every step, but for what depends on time."""
    state = json.loads((output / "checkpoints" / f"checkpoint-{step}" / "trainer_state.json").read_text())
    return [steady(entry) for entry in state["log_history"] if "reward" in entry]
