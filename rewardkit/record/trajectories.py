"""Trajectories in the record: statistics for each conversation, and information that its messages do not contain.

``Trajectories.of(batch).calls`` is ``array([3, 0])`` if the first of two completions called tools three times.
``Trajectories.of(batch)`` is None for a batch of plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, final

import numpy as np

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Numbers
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.text_calls import begins_like_a_call, may_hold_calls, read_text_calls
from rewardkit.batch.trajectory import Trajectory
from rewardkit.batch.transcripts import CallRecord
from rewardkit.record.cells import as_json
from rewardkit.text.thinking import visible_text

MAX_NAMES = 64
"""The maximum number of tool names per completion, and the maximum number of characters in a name. The limit is
arbitrary: a policy may invent any number of names of any length."""

# Characters that normal tool names do not have, and that could break a table or a path.
_UNUSUAL = re.compile(r"[^\w.:/-]+")


@final
@dataclass(frozen=True)
class Trajectories:
    """The recorded information about n trajectories, other than their messages.

    Attributes:
        turns: (n,) the number of assistant messages.
        calls: (n,) the number of tool calls.
        repeated: (n,) the number of calls that repeat an earlier call: the same tool with equal arguments.
        errors: (n,) the number of error results and malformed calls, or 0 if the environment broke.
        stops: n reasons why the trajectory ended: answered, cut, pending, or silent.
        broken: n reasons why the environment broke, or an empty string if it did not break.
        tools: for each row, tool name -> the number of calls.
        malformed: (n,) 1 if the last message begins like a call that the trainer did not parse or that cannot be
            parsed.
        plain: whether every row is a single message with text.
        records: for each row, the calls that its environment recorded, or None. None if no environment recorded calls.
        marks: for each row, a call's position -> its error. None unless a user's function identifies errors.
    """

    turns: Numbers
    calls: Numbers
    repeated: Numbers
    errors: Numbers
    stops: tuple[str, ...]
    broken: tuple[str, ...]
    tools: tuple[Mapping[str, int], ...]
    malformed: Numbers
    plain: bool
    records: Sequence[Sequence[CallRecord] | None] | None = None
    marks: Sequence[Mapping[int, str]] | None = None

    @classmethod
    def of(cls, batch: Batch) -> Trajectories | None:
        """Return a batch's record, or None if all completions are plain text."""
        rollouts = batch.rollouts
        facts = rollouts.environments, rollouts.records, rollouts.trajectories
        if set(map(type, batch.completions)) <= {str} and all(entry is None for entry in facts):
            return None
        if all(entry is None for entry in facts) and all(map(_is_message, batch.completions)):
            return cls._of_messages([completion[0]["content"] for completion in batch.completions], rollouts)
        trajectories = [batch.trajectory(row) for row in range(len(batch))]
        broken = tuple(rollouts.broken.get(row, "") for row in range(len(batch)))
        return cls(
            turns=np.array([len(entry.turns) for entry in trajectories], dtype=np.int64),
            calls=np.array([len(entry.calls) for entry in trajectories], dtype=np.int64),
            repeated=np.array([_repeated(entry) for entry in trajectories], dtype=np.int64),
            errors=np.array(
                [0 if reason else entry.errors for entry, reason in zip(trajectories, broken, strict=True)],
                dtype=np.int64,
            ),
            stops=tuple(entry.stop for entry in trajectories),
            broken=broken,
            tools=tuple(_tools(entry) for entry in trajectories),
            malformed=np.array([is_malformed(entry) for entry in trajectories], dtype=np.int64),
            plain=rollouts.environments is None and all(map(is_plain, trajectories)),
            records=None if rollouts.records is None else tuple(rollouts.records),
            marks=None if rollouts.is_error is None else tuple(map(_marks, trajectories)),
        )

    @classmethod
    def _of_messages(cls, texts: Sequence[str], rollouts: RolloutInfo) -> Trajectories:
        """Return the result of `of` for messages that contain only text: a faster implementation of the usual case."""
        none = np.zeros(len(texts), dtype=np.int64)
        cut = [False] * len(texts) if rollouts.cut is None else [rollouts.cut[row] for row in range(len(texts))]
        return cls(
            turns=none + 1,
            calls=none,
            repeated=none,
            errors=none,
            stops=tuple("cut" if is_cut else "answered" for is_cut in cut),
            broken=tuple(rollouts.broken.get(row, "") for row in range(len(texts))),
            tools=({},) * len(texts),
            malformed=np.array([_is_malformed(text, rollouts.runs_calls) for text in texts], dtype=np.int64),
            plain=True,
            marks=None if rollouts.is_error is None else ({},) * len(texts),
        )

    def part(self, start: int, stop: int) -> Trajectories:
        """Return the rows from `start` to `stop` (excluded)."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        of_rows = {name: value[start:stop] for name, value in values.items() if name != "plain" and value is not None}
        return replace(self, **of_rows)

    def columns(self) -> dict[str, Any]:
        """Return the columns that these rows add to the table ``scores``."""
        return {
            "turns": self.turns,
            "calls": self.calls,
            "repeated_calls": self.repeated,
            "tool_errors": self.errors,
            "stop": list(self.stops),
            "broken": [bool(reason) for reason in self.broken],
            "tools": [" ".join(tools) for tools in self.tools],
        }

    def rollouts(self) -> list[str | None]:
        """Return each row's information that its messages lack, as JSON for `RolloutCell`, or None if there is none."""
        return [self._rollout(row) for row in range(len(self.turns))]

    def _rollout(self, row: int) -> str | None:
        cell: dict[str, Any] = {}
        records = None if self.records is None else self.records[row]
        if records is not None:
            cell["records"] = [[record.name, record.arguments, record.text, record.error] for record in records]
        if self.marks is not None:
            cell["errors"] = self.marks[row]
        if self.broken[row]:
            cell["broken"] = self.broken[row]
        return as_json(cell) if cell else None


@final
@dataclass(frozen=True)
class RolloutCell:
    """The recorded information about a completion, other than its messages.

    Attributes:
        records: the calls that the environment recorded, or None if the environment does not record calls.
        errors: a call's position -> its error, or None if errors were identified by the default rule.
        broken: the reason why the environment broke, or an empty string if it did not break.
    """

    records: tuple[CallRecord, ...] | None = None
    errors: Mapping[int, str] | None = None
    broken: str = ""

    @classmethod
    def read(cls, text: str | None) -> RolloutCell:
        """Read a cell in the column ``rollout``; return an empty RolloutCell if the cell is not valid."""
        try:
            content = json.loads(text or "{}")
            records, errors = content.get("records"), content.get("errors")
            return cls(
                None if records is None else tuple(CallRecord(*record) for record in records),
                None if errors is None else {int(index): str(error) for index, error in errors.items()},
                str(content.get("broken", "")),
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            return cls()


def is_plain(trajectory: Trajectory) -> bool:
    """Return whether a trajectory is a single message with text."""
    if trajectory.opening or len(trajectory.turns) > 1:
        return False
    return not any(turn.calls or turn.results or turn.heard for turn in trajectory.turns)


_MESSAGE = {"role", "content"}


def is_malformed(trajectory: Trajectory) -> bool:
    """Return whether the last message begins like a tool call that the trainer did not or could not parse."""
    if not trajectory.turns or trajectory.turns[-1].calls:
        return False
    return _is_malformed(trajectory.turns[-1].text, trajectory.calls_are_run)


def _is_malformed(text: str, calls_are_run: bool) -> bool:
    if not may_hold_calls(text) or not begins_like_a_call(visible_text(text)):
        return False
    return calls_are_run or not read_text_calls(text).readable


def _is_message(completion: Any) -> bool:
    """Return whether a completion is a single assistant message with text."""
    if type(completion) is not list or len(completion) != 1 or type(completion[0]) is not dict:
        return False
    message = completion[0]
    return message.keys() == _MESSAGE and message["role"] == "assistant" and type(message["content"]) is str


def tool_name(name: str) -> str:
    """Return a tool's name in a form for logs and tables: short and without spaces or control characters."""
    return _UNUSUAL.sub("_", name[:MAX_NAMES]) or "?"


def _tools(trajectory: Trajectory) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for call in trajectory.calls:
        name = tool_name(call.name)
        if name in counts or len(counts) < MAX_NAMES:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _repeated(trajectory: Trajectory) -> int:
    calls = trajectory.calls
    if len(calls) < 2:
        return 0
    return len(calls) - len({(call.name, call.arguments, call.fault) for call in calls})


def _marks(trajectory: Trajectory) -> Mapping[int, str]:
    results = enumerate(call.result for call in trajectory.calls)
    return {index: result.error for index, result in results if result is not None and result.error is not None}
