"""Reward functions as people write them for TRL: every type of return value, and every kind of callable."""

from __future__ import annotations

import asyncio
import functools
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from tests.adapters.trl.stand_ins import plain

torch = pytest.importorskip("torch")

TEXTS = ["", "please", "a longer text, please", "no"]
LENGTHS = [len(text) for text in TEXTS]


def integers(completions: list[str], **kwargs: Any) -> list[int]:
    return [len(text) for text in completions]


def booleans(completions: list[str], **kwargs: Any) -> list[bool]:
    return ["please" in text for text in completions]


def some_none(completions: list[str], **kwargs: Any) -> list[float | None]:
    return [None if not text else 0.1 for text in completions]


def some_nan(completions: list[str], **kwargs: Any) -> list[float]:
    return [math.nan if "longer" in text else 1e-3 for text in completions]


def nothing_applies(completions: list[str], **kwargs: Any) -> list[None]:
    return [None] * len(completions)


def numpy_array(completions: list[str], **kwargs: Any) -> Any:
    return np.array([len(text) for text in completions], dtype=np.float32) / 3


def numpy_scalars(completions: list[str], **kwargs: Any) -> list[Any]:
    return [np.float16(len(text) / 3) for text in completions]


def tensor(completions: list[str], **kwargs: Any) -> Any:
    return torch.tensor([len(text) / 7 for text in completions])


def tensor_scalars(completions: list[str], **kwargs: Any) -> list[Any]:
    return [torch.tensor(len(text)) for text in completions]


def generator(completions: list[str], **kwargs: Any) -> Iterator[float | None]:
    return (len(text) / 5 if text else None for text in completions)


def yielding(completions: list[str], **kwargs: Any) -> Iterator[float]:
    for text in completions:
        yield float(len(text))


def mapped(completions: list[str], **kwargs: Any) -> Any:
    return map(len, completions)


def other_containers(completions: list[str], **kwargs: Any) -> Any:
    return deque(len(text) for text in completions)


def values_of_a_dict(completions: list[str], **kwargs: Any) -> Any:
    return dict(enumerate(map(len, completions))).values()


async def later(completions: list[str], **kwargs: Any) -> list[float]:
    await asyncio.sleep(0.001)
    return [float(len(text)) for text in completions]


async def elsewhere(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(len(text)) for text in completions]


def with_columns(
    prompts: list[str], completions: list[str], completion_ids: list[list[int]], answer: list[str], **kwargs: Any
) -> list[float]:
    assert kwargs["trainer_state"].max_steps == 10
    return [
        len(prompt) + len(ids) + float(value)
        for prompt, ids, value in zip(prompts, completion_ids, answer, strict=True)
    ]


@dataclass
class Length:
    """Not hashable, like instances of a mutable dataclass."""

    target: int
    seen: list[str] = field(default_factory=list)

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        self.seen += completions
        return [float(len(text) == self.target) for text in completions]


class Longer(Length):
    def method(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [float(len(text) > self.target) for text in completions]


class LaterInstance:
    async def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [1.0] * len(completions)


def at_least(completions: list[str], length: int = 0, **kwargs: Any) -> list[float]:
    return [float(len(text) >= length) for text in completions]


FUNCTIONS: list[Callable[..., Any]] = [
    plain,
    integers,
    booleans,
    some_none,
    some_nan,
    nothing_applies,
    numpy_array,
    numpy_scalars,
    tensor,
    tensor_scalars,
    generator,
    yielding,
    mapped,
    other_containers,
    values_of_a_dict,
    later,
    with_columns,
    Length(6),
    Longer(3).method,
    LaterInstance(),
    functools.partial(at_least, length=4),
    functools.partial(elsewhere),
    lambda completions, **kwargs: [0.25] * len(completions),
]


def hangs(completions: list[str], **kwargs: Any) -> list[float]:
    assert kwargs["trainer_state"].max_steps
    while "bad" in completions:
        pass
    return [float(len(text)) for text in completions]


async def hangs_later(completions: list[str], **kwargs: Any) -> list[float]:
    await asyncio.sleep(3600 if "bad" in completions else 0)
    return [float(len(text)) for text in completions]


def hangs_on_one(completion: str, answer: str, **kwargs: Any) -> float:
    while completion == "bad":
        pass
    return float(len(completion))


async def hangs_on_one_later(completion: str) -> float:
    await asyncio.sleep(3600 if completion == "bad" else 0)
    return float(len(completion))


def rebound(completions: list[str], **kwargs: Any) -> list[float]:
    return hangs(completions, **kwargs)


rebound = rk.from_trl(rebound, timeout=1.0)  # as people do in scripts


def logging_function(completions: list[str], **kwargs: Any) -> list[float]:
    kwargs["log_metric"]("own", 1.0)
    return [1.0] * len(completions)
