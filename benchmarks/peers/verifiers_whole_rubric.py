"""A rubric group of verifiers 0.3 with every kind of function that a rubric can have."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import asyncio
from typing import Any

import verifiers.legacy as vf


def boxed(parser: Any, completion: Any, answer: str) -> float:
    return float(parser.parse_answer(completion) == answer)


async def length(completion: Any, **kwargs: Any) -> float:
    await asyncio.sleep(0)
    return len(completion[-1].content) / 100


def remember(state: Any) -> float:
    state["words"] = state["completion"][-1]["content"].split()
    return 0.0


async def words(state: Any) -> float:
    return len(state["words"]) / 10


def shortest(completions: Any, answers: Any, **kwargs: Any) -> list[float]:
    lengths = [len(completion[-1].content) for completion in completions]
    return [float(length == min(lengths)) for length in lengths]


def whole_rubric() -> vf.RubricGroup:
    """Make a group of three rubrics, two of them with their own parsers."""
    parser = vf.Parser(extract_fn=vf.extract_boxed_answer)
    first = vf.Rubric(funcs=[boxed, length, remember, words], weights=[1.0, -0.01, 0.0, 0.02], parser=parser)
    first.add_reward_func(shortest, weight=0.05)
    tags = vf.XMLParser(["reasoning", "answer"])
    return vf.RubricGroup([first, vf.Rubric(funcs=[tags.get_format_reward_func()], weights=[0.3]), vf.MathRubric()])
