"""What surrounds a sample in inspect_ai: a store of its own, and no sandbox.

Both are context variables, so each call of a scorer, which is an asyncio task, has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class NoSandbox(Mapping[str, Any]):
    """Takes the place of a sample's sandboxes: there is none, but it is known whether the scorer asked for one.

    Some scorers take the error that they get for a wrong answer.
    """

    def __init__(self) -> None:
        self.asked = False

    def __len__(self) -> int:
        self.asked = True
        return 0

    def __iter__(self) -> Iterator[str]:
        self.asked = True
        return iter(())

    def __getitem__(self, name: str) -> Any:
        self.asked = True
        raise KeyError(name)


def surround(state: Any) -> NoSandbox:
    """Make the store of `state` the one that ``store()`` returns, and return what ``sandbox()`` meets."""
    from inspect_ai.util._sandbox.context import sandbox_environments_context_var
    from inspect_ai.util._store import init_subtask_store

    init_subtask_store(state.store)
    sandboxes = NoSandbox()
    sandbox_environments_context_var.set(sandboxes)
    return sandboxes
