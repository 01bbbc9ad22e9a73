"""Tasks of reasoning-gym as rewards: right answers earn 1, wrong ones 0, and no answer runs or hangs."""

from __future__ import annotations

import json
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit_adapters.reasoning_gym import reasoning_gym_rows

pytest.importorskip("reasoning_gym")

from reasoning_gym.factory import DATASETS

SOME = ["leg_counting", "countdown", "n_queens", "simple_integration", "word_ladder", "rubiks_cube", "graph_color"]
SLOW = ("knight_swap",)
TASKS = sorted(set(DATASETS) - {"composite", *SLOW})


@cache
def rows(task: str, size: int = 3) -> list[dict[str, str]]:
    return reasoning_gym_rows(task, size=size)


def totals(reward: rk.Reward, answers: list[str], task: str, row: int = 0) -> list[float]:
    texts = [f"<think>so</think>\n<answer>{answer}</answer>" for answer in answers]
    table = rk.score(reward, texts, metadata=[rows(task)[row]["metadata"]] * len(texts))
    return [float(total) for total in table.total]


# --- Rows ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rows_are_different_and_the_same_every_time() -> None:
    made = reasoning_gym_rows("word_ladder", size=5)
    assert made == reasoning_gym_rows("word_ladder", size=5)  # its own sets would depend on the process
    assert len({row["question"] for row in made}) == 5
    assert [set(row) for row in made] == [{"prompt", "question", "answer", "metadata"}] * 5
    assert all(row["prompt"].startswith(row["question"]) and "<answer>" in row["prompt"] for row in made)
    assert json.loads(made[0]["metadata"])["task"] == "word_ladder"


@pytest.mark.slow
def test_rows_of_two_seeds_differ() -> None:
    one, other = (reasoning_gym_rows("leg_counting", size=20, seed=seed) for seed in (0, 1))
    assert not {row["question"] for row in one} & {row["question"] for row in other}


@pytest.mark.slow
def test_options_and_instruction() -> None:
    made = reasoning_gym_rows("chain_sum", size=3, instruction="", min_terms=2, max_terms=2)
    assert made[0]["prompt"] == made[0]["question"]
    assert json.loads(made[0]["metadata"])["options"] == {"min_terms": 2, "max_terms": 2}
    answers = [f"<answer>{row['answer']}</answer>" for row in made]
    reward = rk.from_reasoning_gym("chain_sum")
    assert rk.score(reward, answers, metadata=[row["metadata"] for row in made]).total.tolist() == [1.0] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"name": "leg_counter"}, r"no task 'leg_counter'.*leg_counting"),
        ({"name": "composite"}, "no task"),
        ({"name": 5}, "no task"),
        ({"name": "gcd", "size": 0}, "size"),
        ({"name": "gcd", "size": True}, "size"),
        ({"name": "gcd", "seed": -1}, "seed"),
        ({"name": "gcd", "numbers": 3}, "does not accept"),
        ({"name": "coin_flip", "size": 500, "max_trials": 4}, "different questions"),
    ],
)
def test_rows_that_cannot_be_made(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=why):
        reasoning_gym_rows(**arguments)


# --- Scores ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("task", SOME)
def test_right_and_wrong_answers(task: str) -> None:
    reward = rk.from_reasoning_gym(task)
    for row in range(3):
        right = rows(task)[row]["answer"]
        assert totals(reward, [right, f" {right}\n"] if right else [], task, row) == [1.0] * (2 if right else 0)
    wrong = ["", "banana", "0", "[]", "None", "nan", "x" * 30_000, "[" * 10_000, "__import__('os')._exit(1)"]
    assert totals(reward, wrong, task) == [0.0] * len(wrong)


@pytest.mark.slow
def test_notes_and_extraction() -> None:
    reward = rk.from_reasoning_gym("leg_counting")
    right = rows("leg_counting")[0]["answer"]
    texts = [
        "<answer>1</answer>",
        f"The answer is {right}.",
        f"<answer>1</answer><answer>{right}</answer>",
        f"#### {right}",
    ]
    table = rk.score(reward, texts, metadata=[rows("leg_counting")[0]["metadata"]] * 4)
    assert table.total.tolist() == [0.0] * 4
    assert table.notes["leg_counting"] == ["'1': wrong", *["no answer found"] * 3]
    other = rk.from_reasoning_gym("leg_counting", extract=rk.extract.after("####"))
    assert rk.score(other, texts[3:], metadata=[rows("leg_counting")[0]["metadata"]]).total.tolist() == [1.0]


@pytest.mark.slow
def test_partial_credit() -> None:
    reward = rk.from_reasoning_gym("rectangle_count", credit="partial")
    right = int(rows("rectangle_count")[0]["answer"])
    near, far, other = totals(reward, [str(right + 1), "banana", f"0 1 2 3 or {right}"], "rectangle_count")
    assert 0.0 < near < 1.0
    assert far == other == 0.0
    assert totals(rk.from_reasoning_gym("rectangle_count"), [str(right + 1)], "rectangle_count") == [0.0]
    countdown = rk.from_reasoning_gym("countdown", credit="partial")
    assert totals(countdown, ["1 + 1", "banana", "0"], "countdown") == [0.0, 0.0, 0.0]


@pytest.mark.slow
def test_no_answer_runs(tmp_path: Path) -> None:
    made = tmp_path / "made"
    code = [
        f"__import__('pathlib').Path({str(made)!r}).touch()",
        f"open({str(made)!r}, 'w')",
        f"[open({str(made)!r}, 'w')]",
    ]
    for task in (
        "countdown",
        "puzzle24",
        "simple_integration",
        "polynomial_multiplication",
        "n_queens",
        "spiral_matrix",
    ):
        assert totals(rk.from_reasoning_gym(task), code, task) == [0.0] * len(code)
        assert not made.exists()


@pytest.mark.slow
def test_an_answer_that_takes_forever_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit_adapters.reasoning_gym._SECONDS", 0.001)
    reward = rk.from_reasoning_gym("intermediate_integration")
    answer = "<answer>" + " + ".join(f"sin({n}*x)**{n}*cos(x)**{n}" for n in range(2, 40)) + "</answer>"
    table = rk.score(reward, [answer], metadata=[rows("intermediate_integration")[0]["metadata"]])
    assert table.total.tolist() == [0.0]
    assert "time" in table.notes["intermediate_integration"][0]


def test_a_cell_that_is_no_entry_of_the_task() -> None:
    reward = rk.from_reasoning_gym("gcd")
    for cell in ("{}", rows("leg_counting")[0]["metadata"]):
        with pytest.raises(rk.errors.CoercionError, match=r"column 'metadata', row 0"):
            rk.score(reward, ["<answer>1</answer>"], metadata=[cell])


def test_rewards_are_values() -> None:
    reward = rk.from_reasoning_gym("gcd", credit="partial")
    assert pickle.loads(pickle.dumps(reward)) == reward == rk.from_reasoning_gym("gcd", credit="partial")
    assert repr(reward) == "from_reasoning_gym('gcd', credit='partial')"
    assert reward.name == "gcd"
    with pytest.raises(rk.RewardDefinitionError, match="credit"):
        rk.from_reasoning_gym("gcd", credit="all")  # type: ignore[arg-type]
    with pytest.raises(rk.RewardDefinitionError, match="no task"):
        rk.from_reasoning_gym("gdc")


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_every_task(task: str) -> None:
    reward = rk.from_reasoning_gym(task)
    some = [row for row in rows(task) if row["answer"]]
    answers = [f"<answer>{row['answer']}</answer>" for row in some]
    if task != "intermediate_integration":  # some of its own answers restate the integral
        assert rk.score(reward, answers, metadata=[row["metadata"] for row in some]).total.tolist() == [1.0] * len(some)
    nothing = ["<answer></answer>", "<answer>banana</answer>", "", f"<answer>{rows(task)[0]['question']}</answer>"]
    column = [rows(task)[0]["metadata"]] * len(nothing)
    assert rk.score(reward, nothing, metadata=column).total.tolist() == [0.0] * len(nothing)


@pytest.mark.slow
def test_the_laws(check_reward: Any) -> None:
    for task in ("leg_counting", "gcd"):
        some = reasoning_gym_rows(task, size=4)
        good = [f"<answer>{row['answer']}</answer>" for row in some]
        bad = ["<answer>-1</answer>"] * 4
        check_reward(rk.from_reasoning_gym(task), examples=some, good=good, bad=bad, budget=120, without=("search",))
