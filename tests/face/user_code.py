"""User code as type checkers and editors see it: every ``rk.<name>`` is known, and a misspelled one is an error.

``make lint`` runs mypy and basedpyright over this file. A comment that ignores an error is an error itself where there
is none, so the last lines prove that both checkers flag the misspelled name.
"""

from __future__ import annotations

from typing_extensions import assert_type

import rewardkit as rk
from rewardkit_adapters.trl import RewardFunctions


@rk.reward
def closeness(completion: str, answer: float) -> float:
    return 1.0 if completion == str(answer) else 0.0


@rk.reward(scope="group", bounds=(-1.0, 1.0))
async def ranked(completion: list[str]) -> list[float | None]:
    return [0.0 for _ in completion]


def short(completions: list[str], **kwargs: object) -> list[float]:
    return [float(len(text) < 400) for text in completions]


form = rk.tags("think", "answer")
tree = 0.2 * form + rk.gate(when=form, then=rk.number("answer") + 0.3 * closeness * rk.schedules.linear(0.0, 1.0))
course = rk.curriculum([rk.Stage("form", form, until=0.3), rk.Stage("all", tree)])


def use() -> None:
    assert_type(closeness, rk.Reward)
    assert_type(ranked, rk.Reward)
    assert_type(tree, rk.Reward)
    assert_type(tree.name, str)
    assert_type(tree.bounds, tuple[float, float])
    assert_type(tree.fingerprint, str)
    assert_type(rk.schedules.linear(0.0, 1.0), rk.schedules.Schedule)
    assert_type(rk.extract.tag("answer")("<answer>1</answer>"), str | None)
    table = rk.score(course, ["<answer>1</answer>"], answer=["1"])
    assert_type(table, rk.ScoreTable)
    assert_type(table.notes["tags"], list[str])
    functions = rk.to_trl([short, tree], record="runs/x")
    assert_type(functions, RewardFunctions)
    assert_type(functions.reward_weights, list[float])
    assert_type(rk.from_trl(short), rk.Reward)
    assert_type(rk.judge("Is it polite?", model="m"), rk.Reward)
    rk.nunber("answer")  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    tree.fingerprnt  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
