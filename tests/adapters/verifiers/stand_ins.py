"""What verifiers' own objects look like, without verifiers: its rubric and parser of 0.3, its task of 0.4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar

from pydantic import BaseModel

Function = TypeVar("Function", bound=Callable[..., Any])


class Parser:
    """Takes what stands behind "####"."""

    def parse_answer(self, completion: Any) -> str | None:
        text = completion[-1]["content"]
        return text.rsplit("####", 1)[1].strip() if "####" in text else None

    def get_format_reward_func(self) -> Callable[..., float]:
        def format_reward_func(completion: Any, **kwargs: Any) -> float:
            return float(self.parse_answer(completion) is not None)

        return format_reward_func


class Rubric:
    def __init__(self, funcs: Any = (), weights: Any = None, parser: Any = None) -> None:
        self.funcs = list(funcs)
        self.weights = list(weights) if weights is not None else [1.0] * len(self.funcs)
        self.parser = parser or Parser()
        self.class_objects: dict[str, Any] = {"parser": self.parser}

    def add_metric(self, func: Any, weight: float = 0.0) -> None:
        self.funcs.append(func)
        self.weights.append(weight)

    async def score_group(self, states: Any) -> None: ...


class BindingRubric(Rubric):
    """Binds by itself, as rubrics from 0.1.11 on do, with an object that it provides."""

    def score_objects(self, state: dict[str, Any]) -> dict[str, Any]:
        named = {name: state[name] for name in ("prompt", "completion", "answer", "info", "task")}
        return {**named, **self.class_objects, "state": state, "provided": len(state["answer"])}


class RubricGroup(Rubric):
    def __init__(self, rubrics: list[Any]) -> None:
        super().__init__()
        self.rubrics = rubrics


def mark(attribute: str, weight: float = 1.0) -> Callable[[Function], Function]:
    """``@vf.reward(weight=...)`` and ``@vf.metric``."""

    def decorate(function: Function) -> Function:
        setattr(function, attribute, True)
        setattr(function, "_vf_weight", weight)  # noqa: B010
        return function

    return decorate


class Data(BaseModel):
    prompt: Any = None
    total: float


class Task:
    """A task of 0.4."""

    def __init__(self, data: Any, config: Any = None) -> None:
        self.data = data
        self.config = config or SimpleNamespace(judges=[])

    @classmethod
    def data_type(cls) -> type[Data]:
        return Data

    def hooks(self, attribute: str) -> list[Callable[..., Any]]:
        names = [name for kind in type(self).__mro__ for name, value in vars(kind).items() if hasattr(value, attribute)]
        return [getattr(self, name) for name in sorted(names)]

    def plugged_judges(self) -> list[Any]:
        return list(self.config.judges)


@dataclass
class Trace:
    task: Any
    agent: Any
    nodes: list[Any]
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def last_reply(self) -> str:
        return str(self.nodes[-1].message["content"])

    def record_metrics(self, values: dict[str, float]) -> None:
        self.metrics.update(values)


def version_four() -> ModuleType:
    """``verifiers.v1``, as far as traces need it."""
    module = ModuleType("verifiers.v1")
    for name in ("MessageNode", "AgentInfo", "AgentConfig", "TraceTask"):
        setattr(module, name, SimpleNamespace)
    module.Trace = Trace  # type: ignore[attr-defined]
    return module
