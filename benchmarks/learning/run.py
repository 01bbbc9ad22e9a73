"""Run one training in its own process: the cached warm start, GRPO with one arm, greedy held-out scores.

``python benchmarks/learning/run.py TASK ARM SEED --steps 100 --out runs/learning`` prints its record as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]
os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE", CUDA_VISIBLE_DEVICES="")

from rewardkit_adapters.runner import environment  # noqa: E402

environment.prepare()

import torch  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback, set_seed  # noqa: E402

import rewardkit as rk  # noqa: E402
from benchmarks.learning import training  # noqa: E402
from benchmarks.learning.pool import EVERY, Adaptive, distinct  # noqa: E402
from benchmarks.learning.registry import EXPERIMENTS, Experiment  # noqa: E402
from benchmarks.learning.sampling import Rests  # noqa: E402
from benchmarks.learning.tasks import Columns, Task  # noqa: E402
from benchmarks.learning.weights import Following  # noqa: E402
from rewardkit.tree.algebra import summands  # noqa: E402
from rewardkit_adapters.runner.environment import quiet  # noqa: E402
from rewardkit_adapters.runner.tiny.make import BATCH, warm_up  # noqa: E402
from rewardkit_adapters.runner.tiny.model import SIZES, build_model, train_tokenizer  # noqa: E402

WARM_UP_STEPS = 350
HELD_OUT_PROMPTS = 256
SIZE = "small"
FOLLOWED = ("stage/", "threshold/", "gates/", "weights/", "advantage_share/", "frac_reward_zero_std")


class PlainFunctions(list[Any]):
    """TRL reward functions without rewardkit, in a list that the demo's trainer accepts."""

    def callback(self) -> Any:
        return TrainerCallback()


def warm_start(task: Task, seed: int, out: Path) -> tuple[Path, dict[str, float]]:
    """Return the folder of the warm model and its held-out scores; train the model if it is missing."""
    folder = out / "warm" / f"{task.key}-{seed}"
    scores = folder / "scores.json"
    if not scores.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
        set_seed(seed)
        pairs = task.demonstrations(WARM_UP_STEPS * BATCH, seed)
        tokenizer = train_tokenizer([text for pair in pairs for text in pair])
        model = build_model(tokenizer, SIZES[SIZE])
        warm_up(model, tokenizer, pairs)
        model.save_pretrained(unfinished)
        tokenizer.save_pretrained(unfinished)
        means, completions = held_out_scores(task, model, tokenizer, seed)
        (unfinished / "samples.json").write_text(json.dumps(completions[:20], indent=1), encoding="utf-8")
        (unfinished / scores.name).write_text(json.dumps(means), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    means = json.loads(scores.read_text(encoding="utf-8"))
    return folder, means


def held_out_scores(
    task: Task, model: Any, tokenizer: Any, seed: int, *, sample: bool = False
) -> tuple[dict[str, float], list[str]]:
    """Return the means of the watched rewards over completions of held-out prompts, and the completions."""
    columns = task.columns(HELD_OUT_PROMPTS, seed, "held-out")
    completions = training.complete(
        model, tokenizer, columns["prompt"], max_new_tokens=training.LONGEST_COMPLETION, sample=sample
    )
    gold: dict[str, Any] = {column: values for column, values in columns.items() if column != "prompt"}
    means = {name: float(rk.score(one, completions, **gold).total.mean()) for name, one in watched(task)}
    return means, completions


def watched(task: Task) -> list[tuple[str, rk.Reward]]:
    return list(task.all_watched.items())


class HeldOut(TrainerCallback):  # type: ignore[misc]
    """Keep the exact match of sampled held-out completions every few steps; the training's random numbers stay."""

    def __init__(self, task: Task, tokenizer: Any, seed: int) -> None:
        self.curve: list[float] = []
        self._given = task, tokenizer, seed

    def on_step_end(self, _: Any, state: Any, __: Any, *, model: Any, **___: Any) -> None:
        task, tokenizer, seed = self._given
        if state.global_step % EVERY == 0:
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                self.curve.append(held_out_scores(task, model, tokenizer, seed, sample=True)[0]["exact"])


def reward_functions(task: Task, arm: Any) -> Any:
    """Return an arm in the form TRL needs; the watched rewards are logged but do not count."""
    monitors = [rk.monitor(one) for _, one in watched(task)]
    if isinstance(arm, Adaptive) and arm.follows:  # a list, so that the trainer weights the items
        return rk.to_trl([*(one for _, one in summands(arm.reward)), *monitors])
    if isinstance(arm, Adaptive):
        arm = arm.reward
    if isinstance(arm, rk.Reward):
        return rk.to_trl(sum(monitors, arm))

    def watch(completions: list[str], log_metric: Any, **columns: Any) -> list[None]:
        gold = {name: columns[name] for name in task.columns(0, 0, "training") if name != "prompt"}
        for _, one in watched(task):
            log_metric(f"components/{one.name}", float(rk.score(one, completions, **gold).total.mean()))
        return [None] * len(completions)

    return PlainFunctions([*arm, watch])


def training_columns(experiment: Experiment, seed: int, steps: int) -> Columns:
    """Return the prompts to train on: new ones in every step, or the experiment's pool of different ones."""
    if experiment.pool is None:
        return experiment.task.columns((steps + 1) * training.PROMPTS_PER_STEP, seed, "training")
    return distinct(experiment.task.columns(2 * experiment.pool, seed, "training"), experiment.pool)


def adaptive_parts(arm: Adaptive, prompts: int, seed: int) -> dict[str, Any]:
    """Return what adapts during the training of `arm`, as arguments of `train`."""
    rests = None if arm.first_rest is None else Rests(prompts, first=arm.first_rest, seed=seed)
    start = {one.name: weight for weight, one in summands(arm.reward) if isinstance(weight, float)}
    return {"rests": rests, "following": Following(start) if arm.follows else None}


def train_one(name: str, arm_name: str, seed: int, steps: int, out: Path) -> dict[str, Any]:
    """Run one training and return its record."""
    experiment = EXPERIMENTS[name]
    task = experiment.task
    started = time.perf_counter()
    folder, before = warm_start(task, seed, out)
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    columns = training_columns(experiment, seed, steps)
    arm = experiment.arms()[arm_name]
    functions = reward_functions(task, arm)
    held_out = HeldOut(task, tokenizer, seed)
    adapting: dict[str, Any] = {"callbacks": [held_out]} if experiment.pool else {}
    if isinstance(arm, Adaptive):
        adapting |= adaptive_parts(arm, len(columns["prompt"]), seed)
    warmed = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        settings = training.Settings(steps, seed)
        history = training.train(model, tokenizer, functions, columns, settings, out=Path(scratch), **adapting)
    trained = time.perf_counter()
    after, completions = held_out_scores(task, model, tokenizer, seed)
    return {
        "task": name,
        "arm": arm_name,
        "seed": seed,
        "steps": steps,
        "before": before,
        "after": after,
        "curves": {one: [row.get(f"components/{r.name}") for row in history] for one, r in watched(task)},
        "followed": {key: [row.get(key) for row in history] for key in history[0] if key.startswith(FOLLOWED)},
        "held_out": held_out.curve,
        "samples": completions[:8],
        "seconds": {"warm": warmed - started, "train": trained - warmed, "all": time.perf_counter() - started},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("task")
    parser.add_argument("arm", help="an arm, or 'warm' for the warm start alone")
    parser.add_argument("seed", type=int)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("runs/learning"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    with quiet():
        if options.arm == "warm":
            _, scores = warm_start(EXPERIMENTS[options.task].task, options.seed, options.out)
            record: dict[str, Any] = {"warm": scores}
        else:
            record = train_one(options.task, options.arm, options.seed, options.steps, options.out)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
