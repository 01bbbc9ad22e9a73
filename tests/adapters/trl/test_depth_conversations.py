"""Conversations and evaluation in real runs: the same numbers as plain text, and evaluation does not train."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from datasets import Dataset

from tests.adapters.logs import steady
from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import advantages, watched
from tests.adapters.trl.test_training import TREE, Recorder, assert_logged, counted, early, echo, generations

TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


@rk.reward(bounds=(-0.4, 1.0))
def in_messages(messages: list[dict[str, Any]], answer: int) -> float:
    """The score of the last message by its length."""
    (message,) = messages
    assert message["role"] == "assistant"
    return min(len(message["content"].split()), 4) / 4 - 0.1 * answer


@rk.reward
def graded(completion: str, example: dict[str, Any]) -> float:
    return completion.count("a") / 4 * float(example["level"])


def talking_tokenizer() -> Any:
    tokenizer = tiny.tokenizer()
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def rows(conversational: bool, system: str = "", count: int = 32) -> Any:
    """The same texts and columns in both forms."""
    texts = [tiny.PROMPTS[row % 8] for row in range(count)]
    prompts: list[Any] = [system + text for text in texts]
    if conversational:
        prompts = [
            [{"role": "system", "content": system}] * bool(system) + [{"role": "user", "content": text}]
            for text in texts
        ]
    return Dataset.from_dict(
        {
            "prompt": prompts,
            "answer": [str(row % 5) for row in range(count)],
            "level": [row % 3 for row in range(count)],
            "gold": [{"value": row} for row in range(count)],
        }
    )


def history_of(out: Path, conversational: bool, reward: rk.Reward, system: str = "", **options: Any) -> Any:
    given = {"train_dataset": rows(conversational, system), "processing_class": talking_tokenizer()}
    trainer = tiny.trainer(out, rk.to_trl(reward), given=given, **options)
    seen = watched(trainer)
    trainer.train()
    numbers = [steady(entry) for entry in trainer.state.log_history]
    return numbers, [generation.advantages.tolist() for generation in seen]


@pytest.mark.slow
def test_a_conversation_trains_like_its_text(tmp_path: Path) -> None:
    reward = TREE + 0.5 * in_messages + 0.25 * graded + rk.rank_in_group(early)
    plain, talking = (history_of(tmp_path, form, reward) for form in (False, True))
    assert plain == talking
    assert any(advantage for batch in plain[1] for advantage in batch)


@pytest.mark.slow
def test_a_system_prompt_is_part_of_the_prompt(tmp_path: Path) -> None:
    @rk.reward
    def guided(completion: str, prompt: str) -> float:
        system, user = prompt.split("\n\n")
        assert system == "hg"
        return completion.count(user[0]) / 4

    @rk.reward
    def same(completion: str, prompt: str) -> float:
        return completion.count(prompt[2]) / 4

    talking = history_of(tmp_path, True, guided.named("same"), system="hg")
    plain = history_of(tmp_path, False, same, system="hg")
    assert plain == talking


def test_the_log_of_a_conversation_is_our_own_table(tmp_path: Path) -> None:
    recorder = Recorder()
    given = {"train_dataset": rows(True), "processing_class": talking_tokenizer()}
    trainer = tiny.trainer(tmp_path, rk.to_trl(TREE + recorder.reward()), given=given)
    seen = watched(trainer)
    trainer.train()
    tables = recorder.tables(TREE)
    for generation, table, entry in zip(seen, tables, generations(trainer), strict=True):
        assert_logged(entry, table)
        np.testing.assert_allclose(generation.advantages, advantages(table.total, 4), atol=1e-3)


# Evaluation

ADAPTIVE = (
    rk.curriculum(
        [
            rk.Stage("form", early, until=rk.schedules.when_reached("early", level=0.9, window=2)),
            rk.Stage("rest", echo + 0.2 * early),
        ]
    )
    + rk.schedules.track("echo", 0.0, 1.0, half_life=2) * counted
    + rk.schedules.linear(0.0, 0.5) * rk.normalize(early, by="running").named("relative")
)


def remembered(trainer: Any, functions: Any) -> Any:
    memory = functions._evaluators[0].memory
    return copy.deepcopy([list(memory.states.values()), dict(memory.means), trainer.state.stateful_callbacks])


def of_the_stage(functions: Any) -> Any:
    """The state of the condition of the first stage."""
    (state,) = [state for state in functions._evaluators[0].memory.states.values() if "recent" in state]
    return state


@pytest.mark.parametrize("conversational", [False, True])
def test_evaluation_changes_no_state_and_everything_counts_as_reached(tmp_path: Path, conversational: bool) -> None:
    recorder = Recorder()
    functions = rk.to_trl(ADAPTIVE + recorder.reward())
    given = {
        "train_dataset": rows(conversational),
        "eval_dataset": rows(conversational, count=3),
        "processing_class": talking_tokenizer(),
    }
    trainer = tiny.trainer(tmp_path, functions, given=given, max_steps=4)
    trainer.train()
    before = remembered(trainer, functions)
    training = len(recorder.batches)
    logged = trainer.evaluate()
    assert remembered(trainer, functions) == before
    batches = recorder.batches[training:]
    assert [len(batch["completions"]) for batch in batches] == [8, 4]
    for batch in batches:
        assert not batch["others"]["progress"].training
    # Told of no progress, rk.score stands at the end of training.
    tables = [rk.score(ADAPTIVE, batch["completions"], **{**batch["others"], "progress": None}) for batch in batches]
    assert {name: logged[f"eval_weights/{name}"] for name in tables[0].weights} == pytest.approx(
        {name: np.mean([table.weights[name] for table in tables]) for name in tables[0].weights}
    )
    assert logged["eval_stage/curriculum"] == 2.0
    assert logged["eval_reward"] == pytest.approx(np.mean([np.nanmean(table.total) for table in tables]), abs=1e-6)
    means = [np.mean(table["early"]) for table in recorder.tables(early)[:training]]
    assert of_the_stage(functions)["recent"] == pytest.approx(means[-2:])


def test_evaluation_during_training_does_not_change_training(tmp_path: Path) -> None:
    """Evaluation uses the same random numbers, so the batches differ; the states follow those of training."""
    recorder = Recorder()
    functions = rk.to_trl(ADAPTIVE + recorder.reward())
    trainer = tiny.trainer(
        tmp_path, functions, eval_rows=4, eval_strategy="steps", eval_steps=1, eval_on_start=True, max_steps=4
    )
    trainer.train()
    modes = [batch["others"]["progress"].training for batch in recorder.batches]
    assert modes.count(True) == 4
    assert modes.count(False) == 2 * 5  # before, and after each of four steps
    means = [np.mean(table["early"]) for table, mode in zip(recorder.tables(early), modes, strict=True) if mode]
    assert of_the_stage(functions)["recent"] == pytest.approx(means[-2:])
    assert [entry["weights/relative"] for entry in generations(trainer)] == [0.0, 0.125, 0.25, 0.375]
    assert {entry["eval_weights/relative"] for entry in generations(trainer, "eval_")} == {0.5}


def test_evaluation_before_any_training(tmp_path: Path) -> None:
    recorder = Recorder()
    functions = rk.to_trl(ADAPTIVE + recorder.reward())
    trainer = tiny.trainer(tmp_path, functions, eval_rows=2, max_steps=2)
    first = trainer.evaluate()
    assert first["eval_stage/curriculum"] == 2.0
    assert of_the_stage(functions) == {"recent": [], "held": 0, "reached": False, "way": 0}
    trainer.train()
    assert [entry["stage/curriculum"] for entry in generations(trainer)] == [1.0, 1.0]


def test_evaluation_groups_have_its_own_number_of_generations(tmp_path: Path) -> None:
    recorder = Recorder()
    reward = rk.rank_in_group(early) + rk.normalize(echo)
    functions = rk.to_trl(reward + recorder.reward())
    trainer = tiny.trainer(tmp_path, functions, eval_rows=4, num_generations_eval=2, max_steps=1)
    trainer.train()
    seen = watched(trainer)
    trainer.evaluate()
    (generation,), batch = seen, recorder.batches[-1]
    prompts = batch["others"]["prompts"]
    assert prompts[0] == prompts[1] != prompts[2]
    pairs = [
        rk.score(reward, batch["completions"][at : at + 2], prompts=prompts[at : at + 2]).total for at in range(0, 8, 2)
    ]
    np.testing.assert_allclose(np.sum(list(generation.columns.values()), axis=0), np.concatenate(pairs), atol=1e-6)
