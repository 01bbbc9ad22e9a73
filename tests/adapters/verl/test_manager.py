"""The reward manager gets the prompt, the token ids, the columns of the data, and the training step."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.errors import RewardDefinitionError
from rewardkit.online import recording
from rewardkit.online.batches import RunExit
from rewardkit_adapters.verl import Columns, max_steps_of, progress_of, row_of
from tests.adapters.verl import stand_in
from tests.adapters.verl.stand_in import CONFIG, Sample, Tokenizer

SEPARATE = {"trainer_mode": "separate_async", "separate_async": {"parameter_sync_step": 4}}
UNKNOWN = {"actor": {"optim": {"total_training_steps": -1}}}
CHAT = [{"role": "user", "content": "6 * 7?"}]


@pytest.fixture(autouse=True)
def _verl(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.install(monkeypatch)


def row(sample: Sample, longest: int | None = None) -> Any:
    return row_of(sample, Tokenizer(), Columns("answer"), longest)


def test_padding_is_no_text() -> None:
    found = row(Sample("42", "6 * 7?"))
    assert (found.completion, found.prompt, found.completion_ids) == ("42", "6 * 7?", [52, 50])


def test_messages_are_the_prompt_where_they_arrive() -> None:
    messages = np.empty(1, dtype=object)  # verl makes an array of what is a list
    messages[:] = CHAT
    assert row(Sample("42", raw_prompt=messages)).prompt == CHAT


def test_the_length_that_verl_hands_over_counts() -> None:
    assert row(Sample("42 and more", response_len=2)).completion == "42"


def test_all_columns_of_the_data_arrive() -> None:
    sample = Sample(
        "42",
        reward_model={"ground_truth": "4", "style": "rule"},
        extra_info={"index": 3, "level": 1, "answer": "the solution"},
        tool_extra_fields={"turn_scores": [], "found": True},
        level=np.int64(2),
        unit=np.array(["m", "s"]),
        uid="u",
        __num_turns__=np.int64(4),
    )
    assert row(sample).columns == {
        "level": 1, "unit": ["m", "s"], "found": True, "num_turns": 4, "data_source": "made", "ground_truth": "4",
        "answer": "4",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("completion", "longest", "cut"),
    [("42", None, None), ("42", 3, False), ("42", 2, True), ("4\0", 2, False), ("", 2, False)],
)
def test_a_completion_is_cut_at_the_token_limit(completion: str, longest: int | None, cut: bool | None) -> None:
    assert row(Sample(completion), longest).cut is cut


@pytest.mark.parametrize(
    ("fields", "step"),
    [
        ({"global_steps": 1}, 0),
        ({"global_steps": np.int64(5), "tool_extra_fields": {"min_global_steps": 2}}, 4),
        ({"global_steps": 0}, 0),
        ({"tool_extra_fields": {"min_global_steps": 7}}, 7),
        ({"tool_extra_fields": {"min_global_steps": None}}, None),
        ({}, None),
    ],
)
def test_the_step_is_that_of_the_prompt(fields: dict[str, Any], step: int | None) -> None:
    found = progress_of(fields, 10)
    assert (None if found is None else found.step) == step


@pytest.mark.parametrize(
    ("trainer", "optim", "steps"),
    [
        ({"total_training_steps": 7}, 10, 7),
        ({"use_v1": True, "v1": {"trainer_mode": "sync"}}, 10, 10),
        (
            {"use_v1": True, "v1": SEPARATE},
            40,
            10,
        ),
        (
            {"use_v1": False, "v1": SEPARATE},
            40,
            40,
        ),
    ],
)
def test_the_number_of_steps_is_in_the_configuration(trainer: Any, optim: int, steps: int) -> None:
    optimizer = {"actor": {"optim": {"total_training_steps": optim}}}
    assert max_steps_of({"trainer": trainer, "actor_rollout_ref": optimizer}) == steps


@pytest.mark.parametrize(
    "config", [{}, {"trainer": {}, "actor_rollout_ref": {"actor": {"optim": {"total_training_steps": -1}}}}]
)
def test_a_training_of_unknown_length_runs_no_schedule(config: Any) -> None:
    scheduled = rk.to_verl(rk.schedules.linear(0.0, 1.0) * rk.exact("answer"), manager=True)
    with pytest.raises(RewardDefinitionError, match=r"Set trainer\.total_training_steps"):
        scheduled(config, Tokenizer(), None)
    assert rk.to_verl(rk.exact("answer"), manager=True)(config, Tokenizer(), None)


def test_schedules_follow_the_step() -> None:
    made = rk.to_verl(rk.schedules.linear(0.0, 1.0) * rk.exact("answer"), manager=True)(CONFIG, Tokenizer(), None)
    gold = {"ground_truth": "4"}
    found = [
        stand_in.run_single(made, Sample("4", reward_model=gold, global_steps=step))["reward_score"]
        for step in (1, 6, 11)
    ]
    assert found == [0.0, 0.5, 1.0]
    with pytest.raises(RunExit, match=r"does not pass the step .* Train with trainer\.use_v1=True"):
        stand_in.run_single(made, Sample("4", reward_model=gold))


def test_a_reward_model_that_would_score_instead_is_refused() -> None:
    config: Any = copy.deepcopy(CONFIG)
    config["reward"]["reward_model"]["enable"] = True
    manager = rk.to_verl(rk.exact("answer"), manager=True)
    with pytest.raises(RewardDefinitionError, match="never calls this reward manager"):
        manager(config, Tokenizer(), None)
    config["reward"]["custom_reward_function"]["path"] = "judge.py"
    manager(config, Tokenizer(), None)


def test_steps_are_recorded(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_SECONDS", 0.1)
    gold = {"ground_truth": "4"}
    manager = rk.to_verl(rk.exact("answer"), manager=True, record=tmp_path / "run")(CONFIG, Tokenizer(), None)
    for step in (1, 2):
        stand_in.run_single(manager, Sample("4", reward_model=gold, global_steps=step, raw_prompt=CHAT))
    assert sorted(stand_in.recorded(tmp_path / "run", 2)["step"]) == [1, 2]
    assert "6 * 7?" in str(rk.open_run(tmp_path / "run").prompts().df().iloc[0].to_dict())
