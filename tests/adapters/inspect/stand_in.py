"""A stand-in for inspect_ai: the few classes of it that scorers read, without their validation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

STORE: ContextVar[Any] = ContextVar("store")
SANDBOXES: ContextVar[Any] = ContextVar("sandboxes", default=None)


def message(role: str) -> Callable[..., SimpleNamespace]:
    def made(**fields: Any) -> SimpleNamespace:
        return SimpleNamespace(role=role, **fields)

    return made


class Target(list[str]):
    @property
    def text(self) -> str:
        return "".join(self)


@dataclass
class ModelOutput:
    model: str
    choices: list[Any] = field(default_factory=list)

    @property
    def completion(self) -> str:
        content = self.choices[0].message.content if self.choices else ""
        texts = content if isinstance(content, list) else [{"text": content}]
        return "\n".join(part["text"] for part in texts if "text" in part)


@dataclass
class Score:
    value: Any
    answer: str | None = None
    explanation: str | None = None
    reason: str | None = None
    metadata: dict[str, Any] | None = None


@dataclass
class TaskState:
    model: str
    sample_id: Any
    epoch: int
    input: Any
    messages: list[Any]
    target: Any = None
    choices: Any = None
    output: Any = None
    completed: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    store: dict[str, Any] = field(default_factory=dict)


def multiple_choice(multiple_correct: bool) -> Any:
    async def solve(state: TaskState, generate: Any) -> TaskState:
        state = await generate(state)
        marked = state.output.completion.rpartition("ANSWER: ")[2].replace(", ", "")
        picked = marked if multiple_correct or len(marked) == 1 else ""
        state.choices = [chr(65 + place) for place in range(len(state.choices)) if chr(65 + place) in picked]
        return state

    return solve


def sandbox() -> Any:
    if not SANDBOXES.get():
        raise ProcessLookupError("No sandbox environment has been provided")
    return SANDBOXES.get()["default"]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `inspect_ai` importable."""
    modules: dict[str, dict[str, Any]] = {
        "inspect_ai": {},
        "inspect_ai.model": {
            "ChatMessageAssistant": message("assistant"),
            "ChatMessageSystem": message("system"),
            "ChatMessageTool": message("tool"),
            "ChatMessageUser": message("user"),
            "ChatCompletionChoice": SimpleNamespace,
            "ModelName": str,
            "ModelOutput": ModelOutput,
        },
        "inspect_ai.scorer": {"Target": Target},
        "inspect_ai.solver": {"TaskState": TaskState, "multiple_choice": multiple_choice},
        "inspect_ai.tool": {"ToolCall": SimpleNamespace, "ToolCallError": lambda kind, said: (kind, said)},
        "inspect_ai.util": {},
        "inspect_ai.util._store": {"init_subtask_store": STORE.set},
        "inspect_ai.util._sandbox": {},
        "inspect_ai.util._sandbox.context": {"sandbox_environments_context_var": SANDBOXES},
    }
    for name, attributes in modules.items():
        module = ModuleType(name)
        vars(module).update(attributes, __path__=[])
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)
