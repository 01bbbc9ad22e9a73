"""What the preflight says of ``environment:`` before the model is loaded."""

from __future__ import annotations

from typing import Any

import pytest
from datasets import Dataset

from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.preflight import Preflight, preflight
from rewardkit_adapters.runner.rewards import reward_of
from tests.adapters.runner.preflight import acting

SMALL = {"per_device_train_batch_size": 4, "num_generations": 4, "max_steps": 5, "max_tool_calling_iterations": 3}


def rows(**columns: Any) -> list[dict[str, Any]]:
    chat = [{"role": "user", "content": "What does it cost?"}]
    return [{"prompt": chat, "answer": str(row), **columns} for row in range(8)]


def looked(environment: str | None, data: Any = None, reward: str = "reward") -> Preflight:
    config = RunConfig.model_validate(
        {
            "reward": f"{acting.__file__}:{reward}",
            "environment": None if environment is None else f"{acting.__file__}:{environment}",
            "model": "org/model",
            "dataset": "data.jsonl",
            "grpo": SMALL,
            "preflight": {"laws": False},
        }
    )
    return preflight(config, reward=reward_of(config), training=Dataset.from_list(data or rows()), held_out=None)


def said(found: Preflight, kind: Any) -> str:
    return " ".join(" ".join(line for finding in found.of(kind) for line in finding.lines()).split())


def test_a_sound_environment_passes_and_its_tools_are_named() -> None:
    found = looked("Shop", rows(color="red"))
    assert found.ok
    assert found.of("warning") == []  # the same question has other answers in other shops
    assert "environment Shop: its tools are add, look" in said(found, "fact")
    assert "the reward reads answer; only the environment gets: color" in said(found, "fact")


def test_without_an_environment_nothing_is_said() -> None:
    found = looked(None, rows(color="red"))
    assert "environment" not in found.text()
    assert "unused: color" in found.text()
    assert "8 rows repeat" not in found.text()
    assert "7 rows repeat a prompt with a different answer" in said(found, "warning")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ("Shopp", "has no 'Shopp'. Did you mean 'Shop'?"),
        ("Toolless", "environments: Toolless has no tool"),
        ("SMALL", "has no 'SMALL'"),
        ("PRICE", "environments: expected an environment class"),
        (
            "Narrow",
            "environment Narrow: reset does not accept a row with the columns prompt, answer: got an unexpected",
        ),
        ("Narrow", "-> write def reset(self, **row)"),
        ("Silent", "environment Silent: the tool 'buy' cannot be described to the model: Cannot generate JSON schema"),
        ("Silent", "its tools are add, look"),
        ("SHOPS", "the data has no column 'environment', which chooses from 'small', 'large'"),
    ],
)
def test_each_fault_has_its_message(environment: str, message: str) -> None:
    found = looked(environment)
    assert not found.ok
    assert message in " ".join(found.text().split())


def test_rows_choose_from_several_environments() -> None:
    found = looked("SHOPS", [*rows(environment="small"), *rows(environment="huge")])
    assert "8 rows choose none of the environments ('small', 'large')" in said(found, "error")
    assert "row 8: 'huge'" in said(found, "error")
    small = looked("SHOPS", rows(environment="small"))
    assert [finding.where for finding in small.of("error")] == ["environment Narrow"]


def test_text_prompts_are_refused_for_tools_need_chats() -> None:
    texts = [{"prompt": f"{row}?", "answer": "1"} for row in range(8)]
    found = looked("Shop", texts)
    assert "8 prompts are strings, but TRL's tools need chats" in said(found, "error")
    assert "write dataset.messages instead of dataset.prompt" in said(found, "error")
    assert looked(None, texts).ok


def test_a_function_that_makes_one_is_not_called() -> None:
    assert looked("made").ok


def test_a_reward_of_the_state_needs_an_environment() -> None:
    found = looked("Shop", reward="state")
    assert found.ok
    assert "laws were not tested, because the reward reads the environment" in said(found, "fact")
    assert ("reads the environment of each rollout, but no environments were passed") in said(
        looked(None, reward="state"), "error"
    )
