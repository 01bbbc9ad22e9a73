"""Transcripts: trajectories written as text for a judge, turn by turn.

Every line of content is indented, so text from a model or a tool cannot look like a turn's heading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from rewardkit.batch.trajectory import Trajectory
from rewardkit.text.visibility import spoken_text

RESULT_CHARACTERS = 2_000
"""The maximum number of characters shown from one result. The limit is arbitrary: a tool may return a whole file, and
you pay for each token that the judge reads."""

_ENDS = {
    "answered": "the assistant answered",
    "cut": "the assistant ran into its token limit",
    "pending": "the last calls got no result",
    "silent": "nothing followed",
}


@final
@dataclass(frozen=True)
class Transcript:
    """A function that writes a trajectory as text with named roles, calls, and results. It shortens long results."""

    show_thinking: bool = False

    def __call__(self, trajectory: Trajectory) -> str:
        return "\n".join([*self._lines(trajectory), f"END: {_ENDS[trajectory.stop]}"])

    def _lines(self, trajectory: Trajectory) -> Iterator[str]:
        for text in trajectory.opening:
            yield from ("USER OR ENVIRONMENT", *_indented(text))
        for number, turn in enumerate(trajectory.turns, 1):
            yield f"ASSISTANT, turn {number}"
            if self.show_thinking and turn.reasoning:
                yield from ("  (thinking)", *_indented(turn.reasoning))
            yield from _indented(spoken_text(turn.text) if self.show_thinking else turn.visible)
            for call in turn.calls:
                yield from _indented(f"calls {call}")
            for result in turn.results:
                error = " (error)" if result.error is not None else ""
                yield f"RESULT of {_word(result.name)}{error}"
                yield from _indented(_cut(result.text))
            for text in turn.heard:
                yield from ("USER OR ENVIRONMENT", *_indented(text))


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.strip().splitlines()]


def _word(name: str) -> str:
    return " ".join(name.split())[:80] or "a tool"


def _cut(text: str) -> str:
    missing = len(text) - RESULT_CHARACTERS
    if missing <= 0:
        return text
    half = RESULT_CHARACTERS // 2
    return f"{text[:half]}\n[{missing:,} characters are left out here]\n{text[-half:]}"
