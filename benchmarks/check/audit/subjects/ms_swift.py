"""ms-swift's reward functions (swift/rewards/orm.py): one file, since the package needs its trainers to be imported.

They are called as its GRPO trainer does, with completions as texts and the columns of the rows. MathORM is called with
requests, as in ``swift sample``: it reads ``messages`` of each, which the trainer does not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from subject import Subject, file_of, stand_in
from texts import (
    BRIEF,
    EXACT,
    FACTS,
    LOOPING,
    MATHEMATICS,
    MISNAMED,
    MISTAKEN,
    NAMED,
    RAMBLING,
    SUMS,
    boxed,
    tagged,
)

NOT_HERE = {
    "a language model judges": "QwenMaxPRM ClientPRM rm_plugins",
    "examples/train/grpo/plugin: not in the wheel": "countdown, multi-modal accuracy, code rewards and others",
}
"""What is left out, by reason."""

ARGS = SimpleNamespace(
    cosine_min_len_value_wrong=-0.5,
    cosine_max_len_value_wrong=0.0,
    cosine_min_len_value_correct=1.0,
    cosine_max_len_value_correct=0.5,
    cosine_max_len=512,
    repetition_n_grams=3,
    repetition_max_penalty=-1.0,
    soft_max_length=100,
    soft_cache_length=40,
)
"""ms-swift's defaults; the lengths have none (cosine_max_len is the trainer's max_completion_length, 512)."""
TOOLS = [
    {"prompt": "Weather in Oslo?", "solution": 'Action: weather\nAction Input: {"city": "Oslo", "days": 1}'},
    {"prompt": "Convert 5 km.", "solution": 'Action: convert\nAction Input: {"value": 5, "unit": "km", "to": "mi"}'},
]
SEARCHES = [
    {"prompt": row["prompt"], "solution": f"Action: search\nAction Input: {query}"}
    for row, query in zip(FACTS, ("author of Middlemarch", "Australian capital", "river in Vienna"), strict=True)
]


def subjects() -> Iterator[Subject]:
    stand_in("swift.infer_engine", InferRequest=dict)
    orm = file_of("swift", "rewards/orm.py")
    rows = [{"prompt": row["prompt"], "solution": f"${row['answer']}$"} for row in MATHEMATICS]
    right, wrong = boxed(EXACT), boxed(MISTAKEN)
    tagged_right, tagged_wrong = (tagged(tuple(f"${one}$" for one in values)) for values in (EXACT, MISTAKEN))
    yield Subject("MathAccuracy", _solved(orm.MathAccuracy()), rows, tagged_right, tagged_wrong)
    yield Subject("MathAccuracy (boxed)", _solved(orm.MathAccuracy()), rows, right, wrong)
    yield Subject("CosineReward", _solved(orm.CosineReward(ARGS)), rows, tagged_right, tagged_wrong)
    answered = [{"prompt": row["prompt"], "answer": row["answer"]} for row in MATHEMATICS]
    yield Subject("MathORM", _sampled(orm.MathORM()), answered, right, wrong)
    facts = [{"prompt": row["prompt"]} for row in FACTS]
    bare = list(MISNAMED)
    yield Subject("Format", _plain(orm.Format()), facts, tagged(NAMED), bare)
    react = [f"<think>I should look it up.</think>\nAction: search\nAction Input: {name}" for name in NAMED]
    yield Subject("ReActFormat", _plain(orm.ReActFormat()), facts, react, bare)
    sums = [{"prompt": row["prompt"]} for row in SUMS]
    yield Subject("RepetitionPenalty", _plain(orm.RepetitionPenalty(ARGS)), sums, BRIEF, LOOPING)
    yield Subject("SoftOverlong", _plain(orm.SoftOverlong(ARGS)), sums, BRIEF, RAMBLING)
    calls = [row["solution"] for row in TOOLS]
    other = ['Action: weather\nAction Input: {"city": "Rome"}', 'Action: convert\nAction Input: {"value": 6}']
    yield Subject("ReactORM", _solved(orm.ReactORM()), TOOLS, calls, other)
    queries = [row["solution"] for row in SEARCHES]
    off = [f"Action: search\nAction Input: {query}" for query in ("cheap flights", "guitar chords", "cat photos")]
    yield Subject("ReactORM (no JSON)", _solved(orm.ReactORM()), SEARCHES, queries, off)


def _plain(found: Callable[..., list[float]]) -> Callable[..., list[float]]:
    def reward(completions: list[str], completion_ids: Any = None, **kwargs: Any) -> list[float]:
        return found(completions, response_token_ids=completion_ids, **kwargs)

    return reward


def _solved(found: Callable[..., list[float]]) -> Callable[..., list[float]]:
    def reward(completions: list[str], solution: list[str], completion_ids: Any = None, **kwargs: Any) -> list[float]:
        return found(completions, solution=solution, response_token_ids=completion_ids, **kwargs)

    return reward


def _sampled(found: Callable[..., list[float]]) -> Callable[..., list[float]]:
    def reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        requests = [SimpleNamespace(messages=[{"role": "assistant", "content": text}]) for text in completions]
        return found(infer_requests=requests, ground_truths=answer)

    return reward
