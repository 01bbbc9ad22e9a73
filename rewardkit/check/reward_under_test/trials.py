"""Trial, a completion to try; and TrialResult, its result.

``Trial("<answer>42</answer>", 0)`` is a completion for the first example. `text_of` and `with_text` read and replace a
completion's text in any format.
"""

from __future__ import annotations

import math
import re
import traceback
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from rewardkit.batch.messages import completion_text
from rewardkit.batch.score import Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import RewardBug, RewardFailure

# Words of more than six letters become several tokens, as in most vocabularies.
_PIECE = re.compile(r"\w{1,6}|[^\w\s]|\s{4}")
EQUAL = 1e-9
"""Scores that differ by no more than this are equal, as in gates. Sums of floats in a different order differ by
less."""


@dataclass(frozen=True)
class Trial:
    """A completion to score for one example. `columns` overrides the example's columns or prompt."""

    completion: Any
    example: int = 0
    columns: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The completion's text. For chat messages, it is the text of the last assistant message."""
        return text_of(self.completion)

    def with_text(self, text: str) -> Trial:
        """Return the same trial with another text, in the completion's format."""
        return replace(self, completion=with_text(self.completion, text))


@dataclass(frozen=True)
class TrialResult:
    """The result of scoring a trial.

    Attributes:
        value: the total, or NaN if the completion has none.
        outcome: the outcome of the total.
        reason: the reason that there is no total, or the exception that was raised.
        component: the component that caused the outcome.
        components: the raw value of each component, by name.
        terms: the share of each term in the total, by name.
        notes: the note of each component, by name.
        parts: the parts of component scores, by ``component.part``.
        trace: the traceback if the reward raised an exception.
    """

    value: float
    outcome: Outcome
    reason: str = ""
    component: str = "total"
    components: Mapping[str, float] = field(default_factory=dict)
    terms: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    trace: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def scored(self) -> bool:
        return self.outcome is Outcome.SCORED

    @property
    def tried(self) -> bool:
        """Whether the reward was called. The check skips completions on which it is slow, or on which it hung."""
        return self.outcome is not Outcome.SKIPPED

    @property
    def note(self) -> str:
        return "; ".join(f"{name}: {note}" for name, note in self.notes.items() if note)

    @property
    def paying(self) -> str:
        """The term that contributes most to the total, or ``"total"`` if there is only one."""
        return max(self.terms, key=lambda name: self.terms[name]) if len(self.terms) > 1 else "total"

    @property
    def score(self) -> float | None:
        return None if math.isnan(self.value) else self.value

    def same(self, other: TrialResult, tolerance: float = EQUAL) -> bool:
        """Return whether both results have the same outcome and total."""
        if self.outcome is not other.outcome:
            return False
        if math.isnan(self.value) or math.isnan(other.value):
            return math.isnan(self.value) and math.isnan(other.value)
        return abs(self.value - other.value) <= tolerance * max(1.0, abs(self.value))


def text_of(completion: Any) -> str:
    """Return a completion's text in any format."""
    return completion_text(completion)


def with_text(completion: Any, text: str) -> Any:
    """Return the completion with its text replaced by `text`."""
    if isinstance(completion, str):
        return text
    messages = [dict(message) for message in completion] if isinstance(completion, list) else []
    if any(message.get("tool_calls") or message.get("role") == "tool" for message in messages):
        return [{"role": "assistant", "content": text}]  # a remaining call would still score
    for message in reversed(messages):
        if message.get("role", "assistant") == "assistant":
            message["content"] = text
            return messages
    return [*messages, {"role": "assistant", "content": text}]


def token_ids(completion: Any) -> list[int]:
    """Return fake token ids: one per word piece or mark. Equal pieces have equal ids."""
    return list(map(_token_id, _PIECE.findall(text_of(completion)[:200_000])))


@lru_cache(maxsize=1 << 16)
def _token_id(piece: str) -> int:
    # Below 50,000, like the ids of small vocabularies.
    return zlib.crc32(piece.encode(errors="surrogatepass")) % 50_000


def result_in_row(table: ScoreTable, row: int) -> TrialResult:
    """Return the result in one row of a score table."""
    values = {name: float(column.values[row]) for name, column in table.components.items()}
    notes = {name: column.notes[row] for name, column in table.components.items() if row in column.notes}
    terms = {name: float(term[row]) for name, term in table.terms.items()}
    total = float(table.total[row])
    faults = [fault for fault in table.faults if fault.row == row]
    errored = next((fault for fault in faults if fault.outcome is Outcome.ERRORED), None)
    if errored is not None:
        return TrialResult(
            total, Outcome.ERRORED, errored.reason, errored.component, values, terms, notes, errored.traceback
        )
    if math.isnan(total):
        failed = next((fault for fault in faults if fault.outcome is Outcome.FAILED), None)
        if failed is not None:
            return TrialResult(total, Outcome.FAILED, failed.reason, failed.component, values, terms, notes)
        return TrialResult(total, Outcome.ABSTAINED, components=values, terms=terms, notes=notes)
    parts = {
        f"{name}.{part}": float(scores[row])
        for name, column in table.components.items()
        for part, scores in column.parts.items()
    }
    return TrialResult(total, Outcome.SCORED, components=values, terms=terms, notes=notes, parts=parts)


def result_of_error(error: RewardBug | RewardFailure) -> TrialResult:
    """Return the result for an exception from a reward that has no lower bound."""
    first = str(error).splitlines()[0]
    name = re.match(r"reward '([^']*)' ", first)
    outcome = Outcome.FAILED if "could not be computed" in first else Outcome.ERRORED
    cause = error.__cause__
    trace = "".join(traceback.format_exception(cause)) if cause is not None else ""
    return TrialResult(
        math.nan, outcome, first[name.end() :] if name else first, name.group(1) if name else "total", trace=trace
    )
