"""TRL's other trainers that take ``reward_funcs``: two steps each, with the rewards that a plain function gives."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import rewardkit as rk
from rewardkit.errors import BindingError
from tests.adapters.trl import tiny

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

COMMON: dict[str, Any] = {
    "max_steps": 2,
    "per_device_train_batch_size": 8,
    "per_device_eval_batch_size": 8,
    "logging_steps": 1,
    "save_strategy": "no",
    "report_to": [],
    "disable_tqdm": True,
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "seed": 1,
}
OWN: dict[str, tuple[str, dict[str, Any], str]] = {
    "RLOO": ("trl", {"num_generations": 4, "max_completion_length": 4}, "reward"),
    "GMPO": ("trl.experimental.gmpo", {"num_generations": 4, "max_completion_length": 4}, "reward"),
    "SDPO": (
        "trl.experimental.sdpo",
        {"num_generations": 4, "max_completion_length": 4},
        "self_distillation/reward_mean",
    ),
    "A2PO": (
        "trl.experimental.a2po",
        {"num_value_samples": 4, "max_completion_length": 4, "remove_unused_columns": False},
        "reward",
    ),
    "OnlineDPO": ("trl.experimental.online_dpo", {"max_new_tokens": 4, "max_length": 32}, "objective/scores"),
}
"""Trainer -> its module, its settings, and the name of the mean reward in its log."""


@rk.reward(bounds=(0, 1))
def vowels(completion: str) -> float:
    return min(1.0, sum(letter in "ae" for letter in completion) / 4)


@rk.reward(bounds=(0, 1))
def short(completion: str, answer: int) -> float:
    return float(len(completion) <= answer)


def by_hand(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    return [
        min(1.0, sum(letter in "ae" for letter in text) / 4) + 0.5 * (len(text) <= int(limit))
        for text, limit in zip(completions, answer, strict=True)
    ]


def trained(name: str, folder: Path, functions: Any, callbacks: Any = None) -> Any:
    module, settings, _ = OWN[name]
    try:
        trainers = importlib.import_module(module)
    except ImportError:
        pytest.skip(f"this TRL has no {name}")
    tiny.model().save_pretrained(folder / "model")  # RLOO and SDPO load a reference model from the same place
    tiny.tokenizer().save_pretrained(folder / "model")
    trainer = getattr(trainers, f"{name}Trainer")(
        model=str(folder / "model"),
        reward_funcs=functions,
        args=getattr(trainers, f"{name}Config")(str(folder / "out"), **COMMON, **settings),
        train_dataset=tiny.dataset(32),
        processing_class=tiny.tokenizer(),
        callbacks=callbacks,
    )
    trainer.train()
    return trainer


def means(name: str, trainer: Any) -> list[float]:
    return [row[OWN[name][2]] for row in trainer.state.log_history if OWN[name][2] in row]


@pytest.mark.parametrize("name", sorted(OWN))
def test_the_rewards_are_those_of_a_plain_function(name: str, tmp_path: Path) -> None:
    functions = rk.to_trl(vowels + 0.5 * short, record=tmp_path / "record")
    ours = trained(name, tmp_path / "ours", functions, [functions.callback()])
    plain = trained(name, tmp_path / "plain", [by_hand])
    assert len(means(name, ours)) == 2
    assert means(name, ours) == pytest.approx(means(name, plain), abs=1e-6)
    assert max(means(name, ours)) > 0.0
    recorded = rk.open_run(tmp_path / "record").scores().project("step").fetchall()
    assert sorted(set(recorded)) == [(0,), (1,)]


@pytest.mark.parametrize("name", ["RLOO", "GMPO"])
def test_metrics_and_schedules_reach_the_log(name: str, tmp_path: Path) -> None:
    weight = rk.schedules.linear(0.1, 0.5)
    trainer = trained(name, tmp_path, rk.to_trl(vowels + weight * short))
    logged = [row for row in trainer.state.log_history if "components/short" in row]
    assert [row["weights/short"] for row in logged] == pytest.approx([0.1, 0.3])


def test_the_shares_are_those_of_differences_that_are_not_scaled(tmp_path: Path) -> None:
    """RLOO compares a completion with the mean of the others, and divides by no deviation of its group."""
    trainer = trained("RLOO", tmp_path, rk.to_trl(vowels + 0.5 * short, record=tmp_path / "record"))
    logged = [row for row in trainer.state.log_history if "advantage_share/short" in row]
    scores = rk.open_run(tmp_path / "record").scores().order("step, row").df()
    assert len(logged) == 2
    for step, row in enumerate(logged):
        of_step = scores[scores["step"] == step]
        terms = of_step[["components/vowels", "components/short"]].to_numpy().reshape(-1, 4, 2) * [1.0, 0.5]
        own = terms - terms.mean(axis=1, keepdims=True)
        total = own.sum(axis=2)
        assert row["advantage_share/short"] == pytest.approx((own[..., 1] * total).sum() / (total**2).sum(), abs=1e-6)


@pytest.mark.parametrize("name", ["SDPO", "OnlineDPO"])
def test_schedules_work_where_the_trainer_takes_no_metrics(name: str, tmp_path: Path) -> None:
    functions = rk.to_trl(rk.schedules.linear(0.0, 1.0) * rk.length.between(0, 100), record=tmp_path / "record")
    trainer = trained(name, tmp_path, functions)
    assert means(name, trainer) == pytest.approx([0.0, 0.5])


def test_a_trainer_that_scores_before_training_refuses_schedules(tmp_path: Path) -> None:
    functions = rk.to_trl(rk.schedules.linear(0.0, 1.0) * vowels)
    with pytest.raises(BindingError, match="A2PO"):
        trained("A2PO", tmp_path, functions, [functions.callback()])
