"""Case: one reward function of a peer, with completions that it should score differently."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Literal

Peer = Literal["trl", "verifiers-rubric", "verifiers", "eval-protocol"]
"""Where to run it: ``.venv`` for TRL, ``.venv-<peer>`` for the others. verifiers-rubric is verifiers 0.3.1."""


@dataclass(frozen=True)
class Case:
    """One reward function with examples and completions for them.

    Attributes:
        name: the function's name.
        signature: as in the peer's code, without arguments that are only passed through.
        make: imports the peer and returns a function, a rubric or a class of tasks.
        examples: the prompt and the columns of each row.
        good: a completion that deserves full marks, for each example.
        bad: an ordinary wrong completion, for each example.
        best: the score for full marks.
        needs_ids: whether it counts token ids (`token_ids` makes some).
        finding: why `good` does not score above `bad`, or gets less than `best`, where that is so.
    """

    peer: Peer
    name: str
    signature: str
    make: Callable[[], Any]
    examples: tuple[Mapping[str, Any], ...]
    good: tuple[str, ...]
    bad: tuple[str, ...]
    best: float = 1.0
    finding: str = ""
    needs_ids: bool = False

    def column(self, name: str) -> list[Any]:
        """One column of the examples."""
        return [example[name] for example in self.examples]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """All columns except the prompt."""
        return {name: self.column(name) for name in self.examples[0] if name != "prompt"}


def token_ids(text: str) -> list[int]:
    """Return one number per word, the same for equal words, for functions that count tokens."""
    return [zlib.crc32(word.encode()) % 50_000 for word in text.split()]


def importer(path: str, **options: Any) -> Callable[[], Any]:
    """Return a function that imports ``module:name``, with `options` bound if there are any."""

    def make() -> Any:
        module, _, name = path.partition(":")
        found = getattr(import_module(module), name)
        return partial(found, **options) if options else found

    return make


def factory(path: str, **options: Any) -> Callable[[], Any]:
    """Return a function that imports ``module:name`` and calls it with `options`."""
    return lambda: importer(path)()(**options)


def rows(*examples: tuple[str, Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple({"prompt": prompt, **columns} for prompt, columns in examples)


# Texts that several cases use

SHORT = (
    "A pen costs 12 and a book costs 30, so both together cost 42.",
    "Of 1200 boxes 65 are unloaded, which leaves 1135 on the ship.",
)
LOOPING = ("So both cost 42. " * 12, "So 1135 are left. " * 12)
RAMBLING = (
    " ".join(f"Then I look at word number {number} of the task again." for number in range(12)),
    " ".join(f"Wait, maybe box {number} was not unloaded after all." for number in range(14)),
)
