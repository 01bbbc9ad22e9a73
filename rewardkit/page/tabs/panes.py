"""Elements that the *Completions* and *Compare* tabs share: a prompt and two of its completions side by side."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rewardkit.page import ui
from rewardkit.page.comparison import Comparison, compare
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.prompts import example_columns, ranges
from rewardkit.page.rendering import LONGEST as LONGEST_RENDERED, Node, rendered
from rewardkit.page.style import color_of
from rewardkit.page.tabs.component_scores import TriedFacts, bounds_of, format_number, share_of
from rewardkit.page.tabs.layout import Page
from rewardkit.page.transcript import MESSAGE, Share, Transcript, aligned, as_props, transcript_of
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import LONGEST, Completion, shares_of_turns

SIDES = ("left", "right")
WHOLE = 5_000_000
"""The maximum number of a completion's characters for "Show all". The limit is arbitrary and keeps the browser from
crashing."""
NO_COMPLETION = Completion()
VIEWS = {"raw": "Raw", "rendered": "Rendered"}
MAX_ROLES = 100
"""The maximum number of a prompt's messages to show. The limit is arbitrary and keeps the browser fast."""
_COLUMNS = 30
"""The maximum number of dataset columns to show. The limit is arbitrary: a dataset may have hundreds of columns."""

Roles = Sequence[tuple[str, str]]
"""A prompt's messages: (role, text) each."""


class Side(NamedTuple):
    """One of the two completions: its run, row in the scores, and texts."""

    watched: Watched
    row: int
    completion: Completion = NO_COMPLETION


@dataclass(frozen=True)
class Texts:
    """Both sides' texts in one of three forms: as conversations, rendered, or compared word by word.

    Attributes:
        conversations: the conversations for the browser; empty for plain text.
        is_cut: whether a conversation is truncated.
        nodes: the rendered texts; empty for texts that are compared.
    """

    conversations: Sequence[Mapping[str, Any]] = ()
    is_cut: bool = False
    nodes: Sequence[list[Node]] = ()
    compared: Comparison | None = None


def read_texts(sides: Sequence[Side], longest: int, *, render: bool = False) -> Texts:
    """Return both sides' texts. This takes a moment, so call it in a thread."""
    conversations = _conversations(sides, longest)
    if conversations:
        is_cut = any(conversation.is_cut for conversation in conversations)
        return Texts([as_props(conversation, render=render) for conversation in conversations], is_cut)
    texts = [escape(side.completion.text) for side in sides]
    return Texts(nodes=list(map(rendered, texts))) if render else Texts(compared=compare(*texts).marked())


def _conversations(sides: Sequence[Side], longest: int) -> list[Transcript]:
    """Return both completions as conversations; empty if both are single messages with text."""
    shares = _shares(sides)

    def read(side: Side, number: int, always: bool) -> Transcript | None:
        return transcript_of(
            side.completion.messages,
            rollout=side.completion.rollout,
            completion=side.completion.text,
            stop=str(side.watched.scores.stop[side.row]),
            shares=shares[number],
            longest=longest,
            always=always,
        )

    if all(read(side, number, False) is None for number, side in enumerate(sides)):
        return []
    return list(filter(None, aligned(*(read(side, number, True) for number, side in enumerate(sides)))))


def _shares(sides: Sequence[Side]) -> list[dict[int, list[Share]]]:
    """Return each side's shares by turn. All of a component's bars have the same scale."""
    recorded = [
        [row[1:] for row in shares_of_turns(side.watched.run, [side.watched.scores.key(side.row)])] for side in sides
    ]
    ends: dict[str, list[float]] = {}
    for side, rows in zip(sides, recorded, strict=True):
        for _, name, value in rows:
            ends.setdefault(name, [0.0, *bounds_of(side.watched).get(name, (0.0, 1.0))]).append(value)
    shares: list[dict[int, list[Share]]] = []
    for side, rows in zip(sides, recorded, strict=True):
        shares.append({})
        for turn, name, value in rows:
            bar = share_of(value, (min(ends[name]), max(ends[name]))) or (0.0, 0.0)
            color = color_of(name, side.watched.components)
            share = Share(one_line(name, 40), format_number(value, sign=True), color, *bar)
            shares[-1].setdefault(turn, []).append(share)
    return shares


def build_numbers(side: Side) -> None:
    """Show a completion's total, advantage, and length."""
    scores, row = side.watched.scores, side.row
    length = scores.length[row]
    ui.text(format_number(float(scores.total[row])), tag="b", title="Total reward")
    ui.facts(
        {
            "advantage": format_number(float(scores.advantage[row]), sign=True),
            scores.length_unit: f"{length:,.0f}" if length == length else "–",
        }
    )


def build_text(side_name: str, side: Side, texts: Texts, show_all: Callable[[], Awaitable[None]]) -> TriedFacts:
    """Show the text on the ``left`` or ``right`` side, below its scores from the reward on trial."""
    facts = TriedFacts(side.watched, side.row)
    if texts.conversations:
        return facts
    if texts.compared is None:
        ui.Rendered(texts.nodes[SIDES.index(side_name)], together="panes")
    else:
        pieces, tone = getattr(texts.compared, side_name), "gone" if side_name == "left" else "new"
        ui.Text(pieces, tone, together="panes")
        if not texts.compared.compared:
            ui.text("These completions are too long to compare word by word.", "complaint soft", "div")
        elif not texts.compared.similar:
            ui.text("These completions have little in common, so differences are not marked.", "complaint soft", "div")
    shown_length, characters = len(side.completion.text), side.completion.characters
    if characters > shown_length:
        _build_cut(f"Showing the first {shown_length:,} of {characters:,} characters. ", show_all)
    return facts


def build_conversations(texts: Texts, show_all: Callable[[], Awaitable[None]]) -> None:
    """Show both conversations if `texts` contains conversations."""
    if texts.conversations:
        with ui.box("card conversation"):
            ui.Transcripts(*texts.conversations)
            if texts.is_cut:
                _build_cut("Long completions are shortened. ", show_all)


def _build_cut(text: str, show_all: Callable[[], Awaitable[None]]) -> None:
    with ui.box("complaint"):
        ui.text(text)
        ui.button("Show all", show_all, "small")


class PromptCard:
    """A card with a prompt and its dataset columns.

    If `viewed` is given, buttons call it with ``raw`` or ``rendered``.
    """

    def __init__(self, page: Page, watched: Watched, viewed: Callable[[str], Awaitable[None]] | None = None) -> None:
        self.page = page
        self.watched = watched
        self.viewed = viewed
        self.card = ui.box("card prompt")

    def missing(self) -> None:
        """Show that the run does not contain the prompt."""
        self.card.clear()
        with self.card:
            ui.text("This run does not have this prompt", tag="h3")
            ui.text("Select a prompt from the list on the left.", "soft", "p")

    def show(self, code: int, roles: Roles) -> None:
        """Show a prompt: its messages if it is a conversation; otherwise, its text."""
        prompts = self.watched.prompts
        text = prompts.texts[code]
        size = sum(len(message) for _, message in roles) or len(text)
        view = self.page.address.get("view", "raw") if self.viewed else "raw"
        render = view == "rendered" and size <= LONGEST_RENDERED
        self.card.clear()
        with self.card:
            with ui.box("head"):
                self._build_facts(code, text)
                ui.box("space")
                if _is_long(text, roles):
                    ui.button("Show more / less", lambda: self.card.classes(toggle="open"), "ghost")
                ui.button(
                    "Copy link", lambda: self.page.shell.run_method("copy"), "ghost", "Copy the address of this view"
                )
                if self.viewed is not None:
                    ui.choices(view, VIEWS, self.viewed, "Show completions as plain text or rendered")
            if roles:
                _build_roles(roles, render=render)
            else:
                _build_escaped(escape(text[:LONGEST]), render=render)
            columns = list(example_columns(prompts.columns[code]).items())[:_COLUMNS]
            if columns:
                with ui.box("columns"):
                    ui.facts({one_line(name, 40): one_line(value, 300) for name, value in columns}, "b")
            with ui.details("Details", "ids"):
                ui.text("Prompt ID ", "soft")
                ui.text(prompts.ids[code], "mono")

    def _build_facts(self, code: int, text: str) -> None:
        scores, prompts = self.watched.scores, self.watched.prompts
        ui.text(f"Prompt {code}", tag="h3")
        ui.text(f"{len(text):,} characters", "soft")
        visits = ranges(scores.visit[scores.rows_of(prompts.ids[code])])
        word = scores.visit_word if visits.isdigit() else f"{scores.visit_word}s"
        ui.text(one_line(f"in {word} {visits}", 60), "soft", title=one_line(f"Seen in {word} {visits}", 1_000))
        tokens = prompts.numbers["tokens"][code]
        if tokens == tokens:
            ui.text(f"{tokens:,.0f} tokens", "soft", title="As the trainer tokenizes it")


def _build_roles(roles: Roles, *, render: bool) -> None:
    with ui.box("roles"):
        for role, text in roles[:MAX_ROLES]:
            with ui.box("message"):
                ui.text(one_line(role, 40), "role")
                _build_escaped(escape(text[:MESSAGE]), render=render)
                if len(text) > MESSAGE:
                    ui.text(f"The first {MESSAGE:,} of {len(text):,} characters.", "complaint", "div")
        if len(roles) > MAX_ROLES:
            ui.text(f"… and {len(roles) - MAX_ROLES:,} more messages", "soft", "div")


def _build_escaped(text: str, *, render: bool) -> None:
    if render:
        ui.Rendered(rendered(text))
    else:
        ui.Text([(text, False)])


def _is_long(text: str, roles: Roles) -> bool:
    """Return whether a prompt may not fit in its card, which has room for about four lines or two messages."""
    texts = [message for _, message in roles] or [text]
    # A line of the card holds about 100 characters.
    return len(texts) > 2 or sum(len(text) // 100 + text.count("\n") + 1 for text in texts) > 4 - len(roles)
