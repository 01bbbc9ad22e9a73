"""Axolotl's own loader and trainers with `rk.to_axolotl`: the same totals, and failed rows are left out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rewardkit as rk
from tests.trainers.reward import agrees, expected, rows
from tests.trainers.tiny import make_model

from axolotl.core.trainers.grpo import GRPOStrategy  # isort: skip
from datasets import Dataset  # isort: skip
from transformers import AutoModelForCausalLM, AutoTokenizer  # isort: skip

_FILE = """
import rewardkit as rk
from tests.trainers.reward import reward
from tests.trainers.test_axolotl import judged

globals().update(rk.to_axolotl(reward))
globals().update(rk.to_axolotl(judged, prefix="alone_"))
"""
_NAMES = ("number", "concise", "checked")


@rk.reward
def judged(completion: str, rank: int) -> float:
    """Score 1, fail, score 0 and 0 for the rows of a group."""
    if rank == 1:
        raise rk.RewardFailure("the judge is down")
    return float(rank == 0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return folder


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_rewards.py").write_text(_FILE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("my_rewards", None)


def functions(*names: str) -> list[Any]:
    return [GRPOStrategy.get_reward_func(f"my_rewards.{name}") for name in names]


def trainer(model: Path, reward_functions: list[Any], *, background: bool = False, **options: Any) -> Any:
    given = {
        "output_dir": "output",
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "max_completion_length": 8,
        "max_steps": 2,
        "logging_steps": 1,
        "use_cpu": True,
        "bf16": False,
        "report_to": "none",
        "save_strategy": "no",
        "beta": 0.0,
    }
    data = Dataset.from_list([{"prompt": f"{number}+1?", "answer": str(number + 1)} for number in range(16)])
    return GRPOStrategy.get_trainer_class(async_grpo=background)(
        AutoModelForCausalLM.from_pretrained(model),
        reward_functions,
        args=GRPOStrategy.get_training_args_class(background)(**given, **options),
        train_dataset=data,
        processing_class=AutoTokenizer.from_pretrained(model),
    )


def test_totals_are_those_of_score(model: Path) -> None:
    given = rows()
    made = trainer(model, functions(*_NAMES))
    inputs = [{"prompt": "q", "answer": gold} for _, gold in given]
    texts = [text for text, _ in given]
    found = made._calculate_rewards(inputs, ["q"] * len(given), texts, [[1]] * len(given))
    unscored = found.isnan().all(dim=1)
    totals = [
        None if absent else float(np.float32(total))
        for absent, total in zip(unscored.tolist(), found.to(torch.float64).nansum(dim=1).tolist(), strict=True)
    ]
    pairs = list(zip(totals, expected(given), strict=True))
    assert [absent is None for absent, _ in pairs] == [bool(np.isnan(total)) for _, total in pairs]
    assert all(abs(own - total) < 1e-6 for own, total in pairs if own is not None)
    assert 100 < totals.count(None) < 2_000
    single = trainer(model, functions("alone_judged"))
    ranks = [{"prompt": "q", "rank": place % 4} for place in range(8)]
    alone = single._calculate_rewards(ranks, ["q"] * 8, ["a"] * 8, [[1]] * 8).flatten().tolist()
    table = [1.0, np.nan, 0.0, 0.0] * 2
    assert all(agrees(None if own != own else own, total) for own, total in zip(alone, table, strict=True))


@pytest.mark.parametrize("options", [{}, {"use_data_producer": True}, {"use_data_producer": True, "workers": 2}])
def test_a_failed_row_is_left_out(model: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    if options.pop("workers", None):
        options = {**options, "reward_num_workers": 2}
    made = trainer(model, functions("alone_judged"), background=bool(options), **options)
    original, advantages = made._calculate_rewards, []

    def ranked(inputs: list[Any], *given: Any) -> Any:
        return original([{**one, "rank": place % 4} for place, one in enumerate(inputs)], *given)

    def spied(*given: Any, **more: Any) -> Any:
        output = type(made)._generate_and_score_completions(made, *given, **more)
        advantages.append([round(value, 2) for value in output["advantages"].tolist()])
        return output

    monkeypatch.setattr(made, "_calculate_rewards", ranked)
    monkeypatch.setattr(made, "_generate_and_score_completions", spied)
    made.train()
    assert advantages[0] == [1.15, 0.0, -0.58, -0.58]
    first = made.state.log_history[0]
    assert first["unscorable"] == 0.25
    assert first["components/judged"] == pytest.approx(1 / 3)
    assert first["reward"] == pytest.approx(1 / 3)


def test_prefetching_is_refused(model: Path) -> None:
    made = trainer(model, functions("alone_judged"), background=True, use_data_producer=True, async_prefetch=True)
    inputs = [{"prompt": "q", "rank": 0}] * 4
    with pytest.raises(rk.RewardDefinitionError, match="async_prefetch"):
        made._compute_rewards_for_batch(inputs, ["q"] * 4, ["a"] * 4, [[1]] * 4)


def test_an_error_in_reward_workers_ends_the_run_in_the_main_process(model: Path) -> None:
    made = trainer(
        model,
        functions("alone_judged"),
        background=True,
        use_data_producer=True,
        async_prefetch=True,
        reward_num_workers=2,
    )
    inputs = [{"prompt": "q", "rank": 0}] * 8
    try:
        with pytest.raises(rk.RewardDefinitionError, match="async_prefetch"):
            made._compute_rewards_for_batch(inputs, ["q"] * 8, ["a"] * 8, [[1]] * 8)
    finally:
        made._shutdown_reward_workers()


def test_calls_of_another_trainer_are_refused() -> None:
    (function,) = functions("alone_judged")
    with pytest.raises(rk.RewardDefinitionError, match="context_parallel_size"):
        function(prompts=["q"], completions=["a"], rank=[0])
