"""What OpenEnv's rubrics look like, without OpenEnv: a base class with children and hooks, and three containers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

CONTAINERS = "openenv.core.rubrics.containers"


class Rubric:
    _rubric_children: dict[str, Any]

    def __init__(self) -> None:
        self.__dict__.update(_rubric_children={}, _forward_hooks=[], _forward_pre_hooks=[], last_score=None)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Rubric):
            self._rubric_children[name] = value
        object.__setattr__(self, name, value)

    def forward(self, action: Any, observation: Any) -> Any:
        raise NotImplementedError

    def __call__(self, action: Any, observation: Any) -> Any:
        if inspect.iscoroutinefunction(self.forward):
            return self._awaited(self.forward(action, observation), action, observation)
        return self._kept(self.forward(action, observation), action, observation)

    async def _awaited(self, result: Any, action: Any, observation: Any) -> Any:
        return self._kept(await result, action, observation)

    def _kept(self, result: Any, action: Any, observation: Any) -> Any:
        self.last_score = result
        for hook in self.__dict__["_forward_hooks"]:
            hook(self, action, observation, result)
        return result

    def register_forward_hook(self, hook: Callable[..., Any]) -> None:
        self.__dict__["_forward_hooks"].append(hook)

    def children(self) -> Iterator[Any]:
        yield from self._rubric_children.values()

    def rubrics(self) -> Iterator[Any]:
        for child in self.children():
            yield child
            yield from child.rubrics()

    def named_rubrics(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        for name, child in self._rubric_children.items():
            path = f"{prefix}.{name}" if prefix else name
            yield path, child
            yield from child.named_rubrics(path)

    def get_rubric(self, path: str) -> Any:
        return dict(self.named_rubrics())[path]

    def reset(self) -> None:
        """Remember nothing."""


class _Container(Rubric):
    def __init__(self, rubrics: Any) -> None:
        super().__init__()
        self._rubric_list = list(rubrics)
        for place, rubric in enumerate(self._rubric_list):
            setattr(self, f"rubric_{place}", rubric)

    def __call__(self, action: Any, observation: Any) -> Any:
        return self._kept(self._combined(action, observation), action, observation)

    def _combined(self, action: Any, observation: Any) -> Any:
        raise NotImplementedError


class WeightedSum(_Container):
    def __init__(self, rubrics: Any, weights: Any) -> None:
        super().__init__(rubrics)
        self._weights = list(weights)

    def __call__(self, action: Any, observation: Any) -> Any:
        results = [rubric(action, observation) for rubric in self._rubric_list]
        if any(map(inspect.iscoroutine, results)):
            return self._gathered(results, action, observation)
        return self._kept(self._summed(results), action, observation)

    async def _gathered(self, results: Any, action: Any, observation: Any) -> Any:
        awaited = [await one if inspect.iscoroutine(one) else one for one in results]
        return self._kept(self._summed(awaited), action, observation)

    def _summed(self, scores: Any) -> float:
        total = 0.0
        for score, weight in zip(scores, self._weights, strict=True):
            total += score * weight
        return total


class Gate(Rubric):
    def __init__(self, rubric: Any, threshold: float = 1.0) -> None:
        super().__init__()
        self.rubric = rubric
        self.threshold = threshold

    def __call__(self, action: Any, observation: Any) -> Any:
        score = self.rubric(action, observation)
        return self._kept(0.0 if score < self.threshold else score, action, observation)


class Sequential(_Container):
    def __init__(self, *rubrics: Any) -> None:
        super().__init__(rubrics)

    def _combined(self, action: Any, observation: Any) -> Any:
        score = 1.0
        for rubric in self._rubric_list:
            score = rubric(action, observation)
            if score == 0.0:
                return 0.0
        return score


for container in (WeightedSum, Gate, Sequential):
    container.__module__ = CONTAINERS


def modules() -> dict[str, ModuleType]:
    """``openenv.core.rubrics``, as far as a rubric needs it."""
    made = {name: ModuleType(name) for name in ("openenv", "openenv.core", "openenv.core.rubrics")}
    made["openenv.core.rubrics"].Rubric = Rubric  # type: ignore[attr-defined]
    return made
