"""A conversation for display: turns with calls, results, and shares, in which every text is escaped and truncated.

``transcript_of(messages, completion="It is 18.").turns[0].calls[0].label`` is ``'open(color="red")'``. Results are
untrusted text and may be very long, so the page gets only each result's first line, beginning, and full length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rewardkit.batch.messages import content_text
from rewardkit.batch.trajectory import ToolCall, Trajectory, Turn
from rewardkit.batch.transcripts import read
from rewardkit.page.comparison import compare
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.rendering import pretty_json, rendered
from rewardkit.record.trajectories import RolloutCell, is_plain

TONES = {"answered": "good", "cut": "warn", "pending": "warn", "silent": "warn"}
"""The badge's tone for each reason why a conversation can end."""
LINE = 140
"""The maximum length of a first line and of a call in characters: about a line on the page."""
RESULT = 4_000
"""The maximum length of a result, of arguments, and of thinking in characters. The limit is arbitrary: a tool may
return a whole file."""
MESSAGE = 20_000
"""The maximum length of a message in characters. The limit is arbitrary and keeps the browser fast."""
# Arbitrary limits that keep the browser fast.
MAX_TURNS = 200
MAX_CALLS = 50
"""The maximum number of turns in a conversation and of calls in a turn."""


@dataclass(frozen=True)
class Passage:
    """A collapsible text: its first `line` and its first `shown` characters."""

    line: str
    text: str
    shown: int
    characters: int
    label: str = ""


@dataclass(frozen=True)
class Share:
    """A turn's share of a component's score, as a bar from `low` to `high`, 0 to 1."""

    name: str
    value: str
    color: str
    low: float
    high: float


@dataclass(frozen=True)
class ShownCall:
    """A tool call as ``open(color="red")``, with its state, its result, and any arguments that the label truncates."""

    label: str
    state: str
    tone: str
    arguments: Passage | None = None
    result: Passage | None = None


@dataclass(frozen=True)
class ShownTurn:
    """A turn in a conversation.

    Attributes:
        pieces: the text with the differences from the other side.
        read: whether this is the message that rewards read.
    """

    number: int
    pieces: Sequence[tuple[str, bool]]
    shown: int
    characters: int
    read: bool
    thinking: Passage | None = None
    calls: Sequence[ShownCall] = ()
    more_calls: int = 0
    heard: Sequence[Passage] = ()
    shares: Sequence[Share] = ()

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


@dataclass(frozen=True)
class Transcript:
    """A conversation: the reason why it ended, its turns, and the messages before the first turn."""

    stop: str
    turns: Sequence[ShownTurn]
    opening: Sequence[Passage] = ()
    broken: str = ""
    more_turns: int = 0
    is_cut: bool = False

    @property
    def tone(self) -> str:
        return TONES.get(self.stop, "")


class _Room:
    """The remaining number of characters for a conversation on the page."""

    def __init__(self, characters: int) -> None:
        self.left = characters
        self.was_short = False

    def take(self, text: str, limit: int) -> str:
        excerpt = text[: min(limit, self.left)]
        self.left -= len(excerpt)
        self.was_short |= len(excerpt) < len(text)
        return excerpt

    def passage(self, text: str, label: str = "") -> Passage:
        excerpt = self.take(text, RESULT)
        return Passage(_first_line(text), escape(excerpt), len(excerpt), len(text), label)


def transcript_of(
    messages: str | None,
    *,
    rollout: str | None = None,
    completion: str = "",
    stop: str = "",
    shares: Mapping[int, Sequence[Share]] | None = None,
    longest: int = 100_000,
    always: bool = False,
) -> Transcript | None:
    """Return the conversation in a completion's recorded cells, or None if it is a single message with text.

    Args:
        messages: the messages, as JSON.
        rollout: the recorded information other than the messages, as JSON.
        completion: the text that rewards read, or its beginning.
        stop: the reason why the conversation ended, if recorded. Messages do not show whether it reached the token
            limit.
        shares: turn number -> the turn's shares.
        longest: the maximum length of the whole conversation in characters.
        always: whether to return a conversation even for a single message with text.
    """
    parsed_messages = _parsed(messages)
    cell, plain = RolloutCell.read(rollout), read(completion if parsed_messages is None else parsed_messages)
    if is_plain(plain) and not (always or cell.broken or any(turn.reasoning for turn in plain.turns)):
        return None
    trajectory = (
        plain if cell.records is None or parsed_messages is None else read(parsed_messages, records=cell.records)
    )
    marked = _marked(trajectory, completion)
    room, turns, call_index = _Room(longest), [], 0
    opening = [room.passage(text) for text in trajectory.opening[:MAX_CALLS]]
    for number, (turn, bare) in enumerate(zip(trajectory.turns[:MAX_TURNS], plain.turns, strict=False)):
        shown_turn = _turn(room, turn, bare, call_index, cell.errors)
        turns.append(
            replace(shown_turn, number=number + 1, read=number == marked, shares=tuple((shares or {}).get(number, ())))
        )
        call_index += len(turn.calls)
    return Transcript(
        one_line(stop or trajectory.stop, 40),
        turns,
        opening,
        escape(cell.broken[:RESULT]),
        max(0, len(trajectory.turns) - MAX_TURNS),
        room.was_short,
    )


def _parsed(messages: str | None) -> Any:
    """Parse the messages in a recorded cell; return None if there are none."""
    try:
        parsed_messages = json.loads(messages or "null")
    except (ValueError, RecursionError):
        return None
    return parsed_messages if isinstance(parsed_messages, (list, dict)) else None


def _marked(trajectory: Trajectory, completion: str) -> int:
    """Return the number of the turn that rewards read: the last assistant message whose text matches `completion`."""
    same = [number for number, turn in enumerate(trajectory.turns) if turn.text[: len(completion)] == completion]
    return same[-1] if same and completion else len(trajectory.turns) - 1


def _turn(room: _Room, turn: Turn, bare: Turn, call_index: int, errors: Mapping[int, str] | None) -> ShownTurn:
    """Return a turn for display. `bare` is the same turn without the environment's records."""
    visible, thinking = turn.visible, turn.thinking.strip()
    thought = room.passage(thinking) if thinking else None
    excerpt = room.take(visible, MESSAGE)
    calls = [
        _call(room, call, without, None if errors is None else errors.get(call_index + number, ""))
        for number, (call, without) in enumerate(zip(turn.calls[:MAX_CALLS], bare.calls, strict=False))
    ]
    matched = {id(call.result) for call in bare.calls}
    passages = [
        room.passage(result.text, f"result of {one_line(result.name, 60) or 'no known call'}")
        for result in bare.results[:MAX_CALLS]
        if id(result) not in matched
    ]
    passages += [room.passage(text, "user") for text in turn.heard[:MAX_CALLS]]
    pieces = [(escape(excerpt), False)] if excerpt else []
    more = max(0, len(turn.calls) - MAX_CALLS)
    return ShownTurn(0, pieces, len(excerpt), len(visible), False, thought, calls, more, passages)


def _call(room: _Room, call: ToolCall, bare: ToolCall, mark: str | None) -> ShownCall:
    """Return a call for display.

    `mark` is the error that a user's function found in the result: empty for no error, None if there is no function.
    """
    call_text = str(call)
    label = one_line(call_text, LINE)
    arguments = None
    if call.arguments is not None and (
        len(call_text) > LINE or any("\n" in str(argument) for argument in call.arguments.values())
    ):
        arguments = room.passage("\n".join(f"{name} = {_plain(value)}" for name, value in call.arguments.items()))
    state, tone = _state(call, bare, mark)
    result = None if call.result is None else room.passage(call.result.text)
    return ShownCall(label, state, tone, arguments, result)


def _state(call: ToolCall, bare: ToolCall, mark: str | None) -> tuple[str, str]:
    if call.result is None:
        if call.fault:
            return "malformed", "bad"
        return ("never ran" if call.ran is False else "no result"), "warn"
    error = call.result.error is not None if mark is None else bool(mark)
    if bare.result is None:  # the environment recorded a result that is not in the messages
        return ("error, dropped" if error else "ran, result dropped"), ("bad" if error else "warn")
    if error:
        return ("error, did not run" if call.ran is False else "error"), "bad"
    return "ok", "good"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first_line(text: str) -> str:
    # Arbitrary factor: the text may begin with blank lines.
    start = text[: 8 * LINE].lstrip()
    return one_line(start.split("\n", 1)[0], LINE)


def aligned(left: Transcript | None, right: Transcript | None) -> tuple[Transcript | None, Transcript | None]:
    """Compare two conversations turn by turn, and return both with the differing words marked."""
    if left is None or right is None:
        return left, right
    left_turns, right_turns = list(left.turns), list(right.turns)
    for number, (turn, other) in enumerate(zip(left_turns, right_turns, strict=False)):
        compared = compare(turn.text, other.text).marked()
        left_turns[number], right_turns[number] = (
            replace(turn, pieces=compared.left),
            replace(other, pieces=compared.right),
        )
    return replace(left, turns=left_turns), replace(right, turns=right_turns)


def as_props(transcript: Transcript, *, render: bool = False) -> dict[str, Any]:
    """Return a transcript as plain lists and dicts for the browser.

    Args:
        render: whether to also add the texts as rendered Markdown and indent JSON in arguments and results.
    """
    props = {**asdict(transcript), "tone": transcript.tone}
    if render:
        for turn in props["turns"]:
            turn["nodes"] = rendered("".join(text for text, _ in turn["pieces"]))
            for passage in filter(None, (turn["thinking"], *turn["heard"])):
                passage["nodes"] = rendered(passage["text"])
            for call in turn["calls"]:
                for passage in filter(None, (call["arguments"], call["result"])):
                    passage["text"] = pretty_json(passage["text"]) or passage["text"]
        for passage in props["opening"]:
            passage["nodes"] = rendered(passage["text"])
    return props


def roles_of(messages: str | None) -> list[tuple[str, str]]:
    """Return a prompt's messages as unescaped (role, text) pairs; empty for a plain-text prompt."""
    role_texts = []
    parsed_messages = _parsed(messages)
    for message in parsed_messages if isinstance(parsed_messages, list) else ():
        if isinstance(message, dict):
            calls = [str(call) for call in Trajectory.of([{**message, "role": "assistant"}]).calls]
            text = "\n".join(filter(None, (content_text(message.get("content")), *calls)))
            role_texts.append((str(message.get("role") or "assistant"), text))
    return role_texts
