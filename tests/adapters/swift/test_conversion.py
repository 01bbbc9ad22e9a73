"""from_swift: ORMs get what ms-swift passes, and their numbers become scores."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

import rewardkit as rk

CHAT = [[{"role": "user", "content": "2+2?"}]] * 3
TEXTS = ["4", "5", "none"]


class Right:
    """As users write them: a class that ms-swift makes with its arguments."""

    def __init__(self, args: Any = None, **kwargs: Any) -> None:
        self.args = args

    def __call__(self, completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
        return [float(one == gold) for one, gold in zip(completions, solution, strict=True)]


class Later(Right):
    """An AsyncORM."""

    async def __call__(self, completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:  # type: ignore[override]
        await asyncio.sleep(0.001)
        return [2.0 * float(one == gold) for one, gold in zip(completions, solution, strict=True)]


class Heard(Right):
    """Remembers what it gets."""

    seen: dict[str, Any] = {}  # noqa: RUF012

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float | None]:  # type: ignore[override]
        Heard.seen = {"completions": completions, **kwargs}
        return [1.0, None, float("nan")]


def test_classes_instances_and_functions() -> None:
    def length(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(len(one)) for one in completions]

    for orm, expected in ((Right, [1.0, 0.0, 0.0]), (Right(), [1.0, 0.0, 0.0]), (Later, [2.0, 0.0, 0.0])):
        assert rk.score(rk.from_swift(orm), TEXTS, solution=["4"] * 3).total.tolist() == expected
    assert rk.score(rk.from_swift(length), TEXTS).total.tolist() == [1.0, 1.0, 4.0]


def test_it_gets_what_ms_swift_passes() -> None:
    chats = [[{"role": "assistant", "content": text}] for text in TEXTS]
    table = rk.score(rk.from_swift(Heard), chats, prompts=CHAT, completion_ids=[[7], [8], [9, 9]], solution=["4"] * 3)
    assert [str(outcome) for outcome in table.outcomes["Heard"]] == ["scored", "abstained", "abstained"]
    assert Heard.seen["completions"] == TEXTS
    assert Heard.seen["messages"][0] == [*CHAT[0], *chats[0]]
    assert Heard.seen["response_token_ids"] == [[[7]], [[8]], [[9, 9]]]
    assert Heard.seen["solution"] == ["4"] * 3
    assert Heard.seen["trainer_state"].global_step >= 0
    assert not {"prompts", "log_metric", "log_extra", "completion_ids"} & set(Heard.seen)


def test_a_missing_column_and_a_wrong_length_are_errors() -> None:
    with pytest.raises(rk.errors.BindingError, match="'Right' needs the column 'solution'"):
        rk.score(rk.from_swift(Right), TEXTS, answer=["4"] * 3)

    def one(completions: list[str], **kwargs: Any) -> list[float]:
        return [1.0]

    with pytest.raises(rk.errors.RewardBug, match="returned 1 scores for 3 completions"):
        rk.score(rk.from_swift(one), TEXTS)  # ms-swift gives it to all rows


class Needs:
    def __init__(self, args: Any) -> None:
        self.length = args.max_length

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [0.0] * len(completions)


def test_what_is_no_orm_is_refused() -> None:
    with pytest.raises(rk.errors.RewardTypeError, match=r"pass the instance: rk\.from_swift\(Needs\(\.\.\.\)\)"):
        rk.from_swift(Needs)
    with pytest.raises(rk.errors.RewardTypeError, match="infer_requests and is not used in training"):
        rk.from_swift(lambda infer_requests, solution: [0.0])
    with pytest.raises(rk.errors.RewardTypeError, match="expected an ms-swift ORM"):
        rk.from_swift("accuracy")


def test_it_composes_and_pickles() -> None:
    reward = 0.5 * rk.from_swift(Right) + rk.from_swift(Later, name="later")
    assert repr(reward) == "0.5*from_swift(Right) + from_swift(Later, name='later')"
    again = pickle.loads(pickle.dumps(reward))
    assert rk.score(again, TEXTS, solution=["4"] * 3).total.tolist() == [2.5, 0.0, 0.0]
