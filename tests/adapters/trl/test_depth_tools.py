"""Tools and environments in real runs: a random model that sometimes calls one, and rewards that see the answers."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from datasets import Dataset

from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import Generation, advantages, watched
from tests.adapters.trl.test_training import generations

pytestmark = [
    pytest.mark.filterwarnings("ignore:You are using 'environment_factory'"),
    pytest.mark.filterwarnings("ignore:the environments .* do not record"),
    pytest.mark.filterwarnings("ignore:.*also has reward functions"),
]

RIGHT = '<call>{"name": "spell", "arguments": {"letter": "a"}}</call>'
WRONG = '<call>{"name": "spell", "arguments": {"letter": "h"}}</call>'
UNKNOWN = '<call>{"name": "sing", "arguments": {}}</call>'
TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ message['content'] }}"
    "{% for call in message['tool_calls'] or [] %}<call>{{ call['function'] | tojson }}</call>{% endfor %}<eos>"
    "{% elif message['role'] == 'tool' %}<tool>{{ message['name'] }} {{ message['content'] }}</tool>"
    "{% else %}{{ message['content'] }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
RESPONSE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<assistant>",
    "fields": {
        "tool_calls": {
            "open": "<call>",
            "close_pattern": r"</call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<eos>\s*", "content": "text"},
    },
}


def spell(letter: str) -> str:
    """Says a letter twice.

    Args:
        letter: one of the first four.
    """
    if letter not in "abcd":
        raise ValueError("no such letter")
    return 2 * letter


def calling_tokenizer() -> Any:
    """Whole calls are single tokens, so that random weights make some."""
    tokenizer = tiny.tokenizer()
    tokenizer.add_tokens([RIGHT, WRONG, UNKNOWN, "<tool>", "</tool>", "<assistant>"])
    tokenizer.chat_template = TEMPLATE
    tokenizer.response_template = RESPONSE
    return tokenizer


def calling_model() -> Any:
    model = tiny.model()
    model.config.max_position_embeddings = 256
    model.resize_token_embeddings(len(calling_tokenizer()))
    return model


def given(**others: Any) -> dict[str, Any]:
    prompts = [[{"role": "user", "content": tiny.PROMPTS[row % 8]}] for row in range(32)]
    data = {"prompt": prompts, "answer": [str(row % 5) for row in range(32)], **others.pop("columns", {})}
    return {
        "model": calling_model(),
        "processing_class": calling_tokenizer(),
        "train_dataset": Dataset.from_dict(data),
        **others,
    }


class Heard:
    """A TRL function that stores its arguments and scores 0."""

    def __init__(self) -> None:
        self.batches: list[dict[str, Any]] = []
        self.__name__ = "heard"

    def __call__(self, completions: Any, prompts: Any, **kwargs: Any) -> list[float]:
        columns = {name: kwargs[name] for name in ("answer",)}
        environments = [None if one is None else one.purse for one in kwargs.get("environments") or []]
        self.batches.append(
            {"completions": completions, "prompts": prompts, "columns": columns, "purses": environments}
        )
        return [0.0] * len(completions)

    def reward(self) -> rk.Reward:
        return rk.monitor(rk.from_trl(self))


@rk.reward
def early(completion: str) -> float:
    """The share of letters from the first half of the alphabet."""
    letters = [letter for letter in completion.split() if letter in tiny.LETTERS]
    return sum(letter in "abcd" for letter in letters) / len(letters) if letters else 0.0


@rk.reward
def called(messages: list[dict[str, Any]]) -> float:
    """The share of calls that a tool answered; an error is not an answer."""
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    return sum("error" not in answer for answer in answers) / len(answers) if answers else 0.0


@rk.reward
def spelled(completion: str, messages: list[dict[str, Any]]) -> float | None:
    """1 if the last word follows the answer of the tool; abstains without a call."""
    said = [message["content"] for message in messages if message["role"] == "tool"]
    return float(said[-1][0] in completion) if said else None


REWARD = called + 0.5 * spelled + 0.25 * early + 0.3 * rk.rank_in_group(called)
OPTIONS: dict[str, Any] = {"max_completion_length": 96, "max_steps": 4, "max_tool_calling_iterations": 2}


def run(out: Path, parts: dict[str, Any], reward: rk.Reward = REWARD) -> tuple[Any, list[Generation], Heard]:
    heard = Heard()
    trainer = tiny.trainer(out, rk.to_trl(reward + heard.reward()), given=parts, **OPTIONS)
    seen = watched(trainer)
    trainer.train()
    return trainer, seen, heard


@pytest.mark.slow
def test_rewards_see_the_calls_and_their_answers(tmp_path: Path) -> None:
    trainer, seen, heard = run(tmp_path, given(tools=[spell]))
    roles, answers = [], []
    for generation, batch, entry in zip(seen, heard.batches, generations(trainer), strict=True):
        table = rk.score(REWARD, batch["completions"], prompts=batch["prompts"], **batch["columns"])
        np.testing.assert_allclose(generation.advantages, advantages(table.total, 4), atol=1e-3)
        assert entry["components/called"] == pytest.approx(np.nanmean(table["called"]))
        roles += [[message["role"] for message in completion] for completion in batch["completions"]]
        answers += [m["content"] for completion in batch["completions"] for m in completion if m["role"] == "tool"]
    assert ["assistant"] in roles  # no call
    assert ["assistant", "tool", "assistant"] in roles
    assert any(len(conversation) > 3 for conversation in roles)  # several calls
    assert {"aa", "{'error': 'no such letter'}", "{'error': 'Tool sing not found.'}"} <= set(answers)


def test_a_call_whose_answer_does_not_match_is_judged_by_its_text(tmp_path: Path) -> None:
    heard = Heard()
    trainer = tiny.trainer(
        tmp_path,
        rk.to_trl(REWARD + heard.reward()),
        given=given(tools=[spell]),
        **(OPTIONS | {"max_completion_length": 5}),
    )
    trainer.train()
    conversations = [completion for batch in heard.batches for completion in batch["completions"]]
    alone = [one[0] for one in conversations if one[0].get("tool_calls")]
    assert alone
    assert all(len(one) == 1 for one in conversations)
    scored = rk.score(early, [[message] for message in alone])
    np.testing.assert_array_equal(scored.total, rk.score(early, [message["content"] for message in alone]).total)


@pytest.mark.slow
def test_tools_may_be_called_like_rewards(tmp_path: Path) -> None:
    """The trainer adds its tools to our list when it looks for asynchronous ones."""
    trainer, _, _ = run(tmp_path, given(tools=[spell]), REWARD + 0.1 * early.named("spell"))
    assert trainer.state.global_step == 4


class Purse:
    """An environment that counts, in one of several moods."""

    moods: tuple[str, ...] = ("",)

    def __init__(self) -> None:
        self.purse = 0
        self._mood = random.Random(7)

    def reset(self, **kwargs: Any) -> str:
        self.purse = 1
        return self._mood.choice(self.moods)

    def spell(self, letter: str) -> str:
        """Pays for a letter.

        Args:
            letter: the letter.
        """
        self.purse += 2
        return 2 * letter


class Paying(Purse):
    """An environment that scores."""

    def get_reward(self) -> float:
        return float(self.purse)


@pytest.mark.slow
def test_functions_of_trl_see_the_environments(tmp_path: Path) -> None:
    def purse(environments: list[Purse], **kwargs: Any) -> list[float]:
        return [environment.purse / 4 for environment in environments]

    reward = REWARD + rk.from_trl(purse)
    _, seen, heard = run(tmp_path, given(environment_factory=Purse), reward)
    spent = set()
    for generation, batch in zip(seen, heard.batches, strict=True):
        table = rk.score(REWARD, batch["completions"], prompts=batch["prompts"], **batch["columns"])
        total = table.total + np.array(batch["purses"]) / 4
        np.testing.assert_allclose(generation.advantages, advantages(total, 4), atol=1e-3)
        spent |= set(batch["purses"])
    assert {1, 3} <= spent


@pytest.mark.slow
def test_an_environment_that_scores_works_with_our_list(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rk.errors.RewardKitWarning)
        _, seen, heard = run(tmp_path, given(environment_factory=Paying))
    said = [str(one.message) for one in caught if issubclass(one.category, rk.errors.RewardKitWarning)]
    assert len([text for text in said if "also has reward functions" in text]) == 1
    for generation, batch in zip(seen, heard.batches, strict=True):
        assert generation.held["Paying"] == 1.0
        table = rk.score(REWARD, batch["completions"], prompts=batch["prompts"], **batch["columns"])
        np.testing.assert_allclose(generation.columns["Paying"], batch["purses"])
        np.testing.assert_allclose(
            generation.advantages, advantages(table.total + np.array(batch["purses"]), 4), atol=1e-3
        )


class Moody(Purse):
    """Greets every completion of a prompt differently."""

    moods = ("a", "b", "c")
    seeds = iter(range(1000))

    def __init__(self) -> None:
        super().__init__()
        self._mood = random.Random(next(self.seeds))


@pytest.mark.slow
def test_completions_of_one_prompt_with_different_greetings_are_one_group(tmp_path: Path) -> None:
    reward = rk.rank_in_group(early) + 0.1 * rk.normalize(called)
    trainer, seen, heard = run(tmp_path, given(environment_factory=Moody), reward)
    for generation, batch, entry in zip(seen, heard.batches, generations(trainer), strict=True):
        groups = [slice(0, 4), slice(4, 8)]
        assert len({str(prompt) for prompt in batch["prompts"][:4]}) > 1
        parts = [rk.score(reward, batch["completions"][group], prompts=["p"] * 4) for group in groups]
        total = np.concatenate([part.total for part in parts])
        np.testing.assert_allclose(generation.advantages, advantages(total, 4), atol=1e-3)
        shares = [value for name, value in entry.items() if name.startswith("advantage_share/")]
        assert sum(shares) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
def test_environments_by_name(tmp_path: Path) -> None:
    columns = {"environment": ["plain" if row % 2 else "paying" for row in range(32)]}
    factories = {"plain": Purse, "paying": Paying}
    _, seen, heard = run(tmp_path, given(environment_factory=factories, columns=columns))
    for generation, batch in zip(seen, heard.batches, strict=True):
        table = rk.score(REWARD, batch["completions"], prompts=batch["prompts"], **batch["columns"])
        theirs = generation.columns["Paying"]
        np.testing.assert_allclose(generation.advantages, advantages(table.total + np.nan_to_num(theirs), 4), atol=1e-3)
    assert np.isnan([generation.columns["Paying"] for generation in seen]).any()
