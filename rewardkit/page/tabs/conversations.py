"""Two completions as conversations, aligned by turn, with the shares of each turn; and the roles of a prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from rewardkit.page import elements as put
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.reader import Completion, shares_of_turns
from rewardkit.page.rendering import rendered
from rewardkit.page.scores import Key
from rewardkit.page.style import color_of
from rewardkit.page.tabs.component_scores import bounds_of, format_number, share_of
from rewardkit.page.transcript import MESSAGE, Share, Transcript, aligned, as_props, transcript_of
from rewardkit.page.watcher import Watched

Pair = tuple[Transcript, Transcript]
MAX_ROLES = 100
"""The most messages of a prompt to show."""


def transcripts(watched: Watched, sides: Sequence[tuple[int, Completion]], longest: int) -> Pair | None:
    """Read two completions, (row, texts) each, as conversations; None if both are one message with text."""
    scores = watched.scores
    keys = {row: scores.key(row) for row, _ in sides}
    shares = _shares(watched, list(keys.values()))

    def read(row: int, shown: Completion, always: bool) -> Transcript | None:
        return transcript_of(
            shown.messages,
            rollout=shown.rollout,
            completion=shown.text,
            stop=str(scores.stop[row]),
            shares=shares.get(keys[row]),
            longest=longest,
            always=always,
        )

    if all(read(*side, always=False) is None for side in sides):
        return None
    left, right = aligned(*(read(*side, always=True) for side in sides))
    return None if left is None or right is None else (left, right)


def _shares(watched: Watched, keys: list[Key]) -> dict[Key, dict[int, list[Share]]]:
    bounds = bounds_of(watched)
    found: dict[Key, dict[int, list[Share]]] = {}
    recorded = shares_of_turns(watched.run, keys)
    ends: dict[str, list[float]] = {}
    for _, _, name, value in recorded:
        ends.setdefault(name, []).append(value)
    for key, turn, name, value in recorded:
        low, high = bounds.get(name, (0.0, 1.0))
        bar = share_of(value, (min(low, *ends[name], 0.0), max(high, *ends[name], 0.0))) or (0.0, 0.0)
        shown = Share(
            one_line(name, 40), format_number(value, sign=True), color_of(name, watched.components), bar[0], bar[1]
        )
        found.setdefault(key, {}).setdefault(turn, []).append(shown)
    return found


def build_conversations(
    pair: Pair, show_all: Callable[[], Awaitable[None]], shown: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """Show two conversations; `shown` is what `as_props` returned for them, if it was called before."""
    left, right = pair
    with put.box("card conversation"):
        put.Transcripts(*(map(as_props, pair) if shown is None else shown))
        if left.is_cut or right.is_cut:
            with put.box("complaint"):
                put.text("Long texts are cut. ")
                put.button("Show all", show_all, "small")


def build_roles(roles: Sequence[tuple[str, str]], *, render: bool = False) -> None:
    """Show a conversational prompt, role by role; `render` it as Markdown."""
    with put.box("roles"):
        for role, text in roles[:MAX_ROLES]:
            with put.box("message"):
                put.text(one_line(role, 40), "role")
                build_text(escape(text[:MESSAGE]), render=render)
                if len(text) > MESSAGE:
                    put.text(f"The first {MESSAGE:,} of {len(text):,} characters.", "complaint", "div")
        if len(roles) > MAX_ROLES:
            put.text(f"… and {len(roles) - MAX_ROLES:,} more messages", "soft", "div")


def is_long(text: str, roles: Sequence[tuple[str, str]]) -> bool:
    """Return whether a prompt may not fit in its card, which has about four lines or two messages."""
    texts = [said for _, said in roles] or [text]
    return len(texts) > 2 or sum(len(one) // 100 + one.count("\n") + 1 for one in texts) > 4 - len(roles)


def build_text(text: str, *, render: bool) -> None:
    """Show an escaped text as it is, or as Markdown."""
    if render:
        put.Rendered(rendered(text))
    else:
        put.Text([(text, False)])
