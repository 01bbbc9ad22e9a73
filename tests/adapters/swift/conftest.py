"""A stand-in for the parts of ms-swift that a reward function meets: the registry, the ORM, the trainer."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class Orm:
    """The base class of reward functions."""

    def __init__(self, args: Any = None, **_: Any) -> None:
        self.args = args


class Trainer:
    """Makes reward functions by their names and calls them with the rows of its process, as ms-swift does."""

    def __init__(self, names: Sequence[Any], *, num_generations: int = 4, tokenizer: Any = None, **args: Any) -> None:
        self.args = SimpleNamespace(**{"num_generations": num_generations, "num_generations_eval": None, **args})
        registry = sys.modules["swift.rewards"].orms
        self.reward_funcs = [registry[name](args=self.args) if isinstance(name, str) else name for name in names]
        self.reward_func_names = [type(function).__name__ for function in self.reward_funcs]
        self.reward_weights = args.get("reward_weights") or [1.0] * len(names)
        self.model = SimpleNamespace(training=True)
        self.template = SimpleNamespace(tokenizer=tokenizer)
        self.state: Any = SimpleNamespace(global_step=0, max_steps=10, epoch=0)
        self._metrics: dict[str, dict[str, list[float]]] = {"train": defaultdict(list), "eval": defaultdict(list)}

    def score(self, completions: Sequence[str], **columns: Sequence[Any]) -> list[list[float | None]]:
        """Return the values of each reward function; rows of one prompt follow each other."""
        group, count = self.args.num_generations, len(completions)
        prompts = [f"prompt {row // group}" for row in range(count)]
        given: dict[str, Any] = {
            "trainer_state": self.state,
            "messages": [
                [{"role": "user", "content": prompt}, {"role": "assistant", "content": text}]
                for prompt, text in zip(prompts, completions, strict=True)
            ],
            "prompt_id": prompts,
            "request_id": [str(row) for row in range(count)],
            "is_truncated": [False] * count,
            "rollout_infos": [{} for _ in range(count)],
            "response_token_ids": [[1, 2, 3] for _ in range(count)],
            **columns,
        }
        texts = list(completions)
        return [function(texts, **given) for function in self.reward_funcs]


@pytest.fixture(autouse=True)
def orms(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Install the stand-in; return its registry."""
    swift, rewards = ModuleType("swift"), ModuleType("swift.rewards")
    rewards.__dict__.update(ORM=Orm, orms={"accuracy": Orm, "format": Orm})
    monkeypatch.setitem(sys.modules, "swift", swift)
    monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
    registry: dict[str, Any] = rewards.orms
    return registry
