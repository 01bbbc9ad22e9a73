"""Unchanged functions in real trainings: TRL's trainer, `rewardkit train` with evaluations, `--evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.cli.main import main
from tests.entry_points.cases import CASES, DELAYED, WEIGHTED, Case

pytest.importorskip("trl")
from datasets import Dataset

from tests.adapters.trl import tiny

pytestmark = pytest.mark.slow

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def trained(case: Case, out: Path, functions: Any, **options: Any) -> Any:
    tokenizer = tiny.tokenizer()
    tokenizer.chat_template = TEMPLATE
    rows = [{**row, "prompt": _letters(row["prompt"])} for row in case.rows * 8]
    given = {"train_dataset": Dataset.from_list(rows), "processing_class": tokenizer}
    if options.get("eval_strategy"):
        given["eval_dataset"] = Dataset.from_list(rows[:2])
    trainer = tiny.trainer(out, functions, given=given, max_steps=4, **options)
    trainer.train()
    return [entry for entry in trainer.state.log_history if "reward" in entry]


def _letters(prompt: Any) -> Any:
    return "ab" if isinstance(prompt, str) else [{"role": "user", "content": "ab"}]


@every_case
def test_a_real_trainer(case: Case, tmp_path: Path) -> None:
    history = trained(case, tmp_path, rk.to_trl(case.reward), eval_strategy="steps", eval_steps=2)
    assert len(history) == 4
    if case is DELAYED:
        rewards = [entry["reward"] for entry in history]
        assert rewards[:2] == [0.0, 0.0]  # at 0 % and 25 % of the training
        assert min(rewards[2:]) > 0.0


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "hosted"], ids=lambda case: case.name)
def test_the_trainer_logs_what_it_logs_without_rewardkit(case: Case, tmp_path: Path) -> None:
    functions = case.reward if isinstance(case.reward, list) else [case.reward]
    options = {"reward_weights": [1.0, 2.0]} if case is WEIGHTED else {}
    ours = trained(case, tmp_path / "ours", rk.to_trl(functions), **options)
    theirs = trained(case, tmp_path / "theirs", functions, **options)
    for own, other in zip(ours, theirs, strict=True):
        for name in ("reward", "reward_std", "loss", "grad_norm"):
            assert own[name] == other[name]


def test_the_functions_of_a_decorated_reward_log_through_the_trainer(tmp_path: Path) -> None:
    @rk.reward
    def logging(completion: str, trainer_state: Any, log_metric: Any, log_extra: Any) -> float:
        log_metric("own/step", trainer_state.global_step)
        log_extra("length", len(completion))
        return len(set(completion)) / 16

    history = trained(CASES[1], tmp_path, rk.to_trl(logging), log_completions=True)
    assert [entry["own/step"] for entry in history] == [0.0, 1.0, 2.0, 3.0]
    tables = sorted((tmp_path / "completions").glob("*.parquet"))
    frame = Dataset.from_parquet(str(tables[0]))
    assert frame["length"] == [len(text) for text in frame["completion"]]


@every_case
def test_the_command_train_evaluates_before_during_and_after(case: Case, tmp_path: Path) -> None:
    target, data = case.written(tmp_path, completions=False, times=8)
    path = tmp_path / "run.yaml"
    grpo: dict[str, Any] = {"max_steps": 4, "per_device_train_batch_size": 4, "num_generations": 4}
    if case is WEIGHTED:
        grpo["reward_weights"] = [1.0, 2.0]
    written = {
        "reward": {"path": target, "packages": ["numpy"]},
        "model": {"name": "tiny", "warm_up_steps": 0},
        "dataset": str(data),
        "eval": {"hold_out": 2, "every": 2, "prompts": 2},
        "preflight": {"laws": False},
        "output": "out",
        "grpo": {**grpo, "max_completion_length": 6, "per_device_eval_batch_size": 4, "save_steps": 4},
    }
    path.write_text(json.dumps(written))
    assert main(["train", str(path)]) == 0
    found = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert found["before"]["unscorable"] == found["after"]["unscorable"] == 0
    if case is DELAYED:
        assert found["before"]["total"] > 0.0  # scored as at the end of the training
    assert main(["train", str(path), "--evaluate", "start", "last"]) == 0
