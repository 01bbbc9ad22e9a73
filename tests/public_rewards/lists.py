"""The four lists as data: the functions of each, with rows, right and wrong completions.

Every function that a test checks or calls is one `Listed`; ``EVERY`` has all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tests.public_rewards import countdown, gsm8k_gist, open_r1, unsloth

LISTS: dict[str, ModuleType] = {one.__name__.split(".")[-1]: one for one in (gsm8k_gist, open_r1, countdown, unsloth)}


@dataclass(frozen=True)
class Listed:
    """One function of a list, with the data that its list is trained on.

    Attributes:
        source: the name of the list.
        function: as the list has it.
        examples: rows of the data, with prompts.
        good: right completions, one per row, as text.
        bad: wrong completions, one per row, as text.
    """

    source: str
    function: Callable[..., Any]
    examples: list[dict[str, Any]]
    good: list[str]
    bad: list[str]

    @property
    def name(self) -> str:
        return f"{self.source}.{self.function.__name__}"


def _listed() -> list[Listed]:
    found = [
        Listed(name, function, one.EXAMPLES, one.GOOD, one.BAD)
        for name, one in LISTS.items()
        for function in one.FUNCTIONS
    ]
    code = open_r1.CODE_EXAMPLES, open_r1.CODE_GOOD, open_r1.CODE_BAD
    return [*found, Listed("open_r1", open_r1.code_format_reward, *code)]


EVERY = _listed()


def batch_of(rows: list[dict[str, Any]], texts: list[str]) -> dict[str, Any]:
    """Return the arguments that TRL passes for one completion per row: as messages if the prompts are messages."""
    chat = isinstance(rows[0]["prompt"], list)
    completions: list[Any] = [[{"role": "assistant", "content": text}] for text in texts] if chat else list(texts)
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
    ids = [[ord(letter) % 97 for letter in text] for text in texts]
    return {"prompts": [row["prompt"] for row in rows], "completions": completions, "completion_ids": ids, **columns}
