"""Rewards for the tests of the preflight."""

from __future__ import annotations

from typing import Any

import rewardkit as rk

EXAMPLES = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "1+1?", "answer": "2"}]
GOOD = ["<answer>42</answer>", "<answer>2</answer>"]
BAD = ["<answer>41</answer>", "<answer>3</answer>"]

number = rk.number("answer", extract=rk.extract.tag("answer"))
exact = rk.exact("answer")
routed = rk.route({"math": number, "text": exact}, by="task")
ranked = number + rk.rank_in_group(rk.length.between(1, 9, unit="words"))


@rk.reward
def typed(completion: str, answer: float) -> float:
    """1 at the number."""
    return float(completion == str(answer))


@rk.reward
def raising(completion: str) -> float:
    """Fails at what it does not know."""
    return float(completion)


@rk.reward
def naive(completion: str, answer: str) -> float:
    """Pays whatever contains the answer."""
    return float(answer in completion)


@rk.reward
def picky(completion: str, answer: str) -> float:
    """1 at the answer, which must be digits."""
    return float(answer.isdigit() and completion == f"<answer>{answer}</answer>")


@rk.reward
def picky_and_raising(completion: str, answer: str) -> float:
    """1 at the answer, with a bug at 777."""
    if "777" in completion:
        raise ValueError("too long")
    return float(answer.isdigit() and completion == f"<answer>{answer}</answer>")


@rk.reward
def distant(completion: str, answer: str) -> float:
    """A tenth for the tags, the rest for what is no form of the gold."""
    return 0.1 * ("<answer>" in completion and answer != "7")


@rk.reward
def failing(completion: str) -> float:
    """Cannot be computed here."""
    raise rk.RewardFailure("the sandbox does not start")


renamed = typed.named("close")
named = number.named("close") + exact


def plain(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """As TRL takes it."""
    return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]


def judged(**options: Any) -> rk.Reward:
    """Asks a judge that must not be asked here: there is none."""
    return rk.judge(rubric="Is it polite?", model=rk.Endpoint("judge", "http://127.0.0.1:9/v1"), **options)


def watching(completions: list[str], trainer_state: Any, **kwargs: Any) -> list[float]:
    """Reads where the training stands."""
    return [float(trainer_state.global_step)] * len(completions)
