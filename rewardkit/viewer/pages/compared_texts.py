"""A completion of each run, for the same prompt: texts side by side, and the scores of both by component."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rewardkit.viewer import elements as put
from rewardkit.viewer.comparison import Comparison, compare
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.pages.component_scores import build_scores_of, format_number
from rewardkit.viewer.pages.conversations import build_conversations, build_roles, is_long
from rewardkit.viewer.pages.layout import Page
from rewardkit.viewer.pages.tried_cells import TriedFacts
from rewardkit.viewer.reader import LONGEST, Completion, columns_of, completions, prompt_messages
from rewardkit.viewer.scores import key_text, read_key
from rewardkit.viewer.transcript import Transcript, aligned, roles_of, transcript_of
from rewardkit.viewer.two_runs import TOTAL, TRIED, Side, TwoRuns

_CHIPS = 16
_NO_COMPLETION = Completion()


@dataclass(frozen=True)
class Shown:
    """The completion of one side, among those of the window, the best one first."""

    side: Side
    rows: Sequence[int]
    row: int
    completion: Completion = _NO_COMPLETION

    @property
    def name(self) -> str:
        return self.name_of(self.row)

    def name_of(self, row: int) -> str:
        return key_text(self.side.scores.key(row))

    def neighbor(self, by: int) -> str:
        at = self.rows.index(self.row) + by
        return self.name_of(self.rows[min(max(at, 0), len(self.rows) - 1)])


class ComparedTexts:
    """The right side of the tab *Compare*."""

    def __init__(self, page: Page, chosen: Callable[[str, str], Awaitable[None]]) -> None:
        self.page = page
        self.choose = chosen
        self.longest = LONGEST
        self.sides: dict[str, Shown] = {}
        self.facts: list[TriedFacts] = []
        self._asked: tuple[TwoRuns, str, tuple[int, int] | None] | None = None

    def build(self) -> None:
        self.prompt = put.box("card prompt")
        self.panes = put.box("panes")
        self.scores = put.box("card scores")

    async def show(self, two: TwoRuns, name: str, pair: tuple[int, int] | None) -> None:
        """Show a prompt, given by its number on both sides. By default, the middle one of its completions is shown."""
        self.name = name
        asked = self._asked = (two, name, pair)
        if pair is None:
            for part in (self.prompt, self.panes, self.scores):
                part.clear()
            self.sides = {}
            return
        sides, messages, said, compared = await asyncio.to_thread(self._read, two, name, pair)
        if asked is not self._asked:
            return  # the user has chosen another prompt in the meantime
        self.sides = sides
        self._build_prompt(two, pair[0], roles_of(messages))
        self.panes.clear()
        self.facts = []
        with self.panes:
            for place, shown in sides.items():
                self._pane(place, shown, compared)
            if said is not None:
                build_conversations(said, self._show_all)
        self.scores.clear()
        with self.scores:
            build_scores_of(*((one.side.watched, one.row, one.completion) for one in sides.values()))

    async def update(self, two: TwoRuns, name: str, pair: tuple[int, int] | None) -> None:
        """Show what is new: another completion, or only what the reward that is tried gives."""
        before = self._asked
        same = before is not None and before[1:] == (name, pair) and two.is_like(before[0])
        if not same or not self.sides:
            await self.show(two, name, pair)
            return
        for facts in self.facts:
            facts.update()

    async def step(self, side: str, by: int) -> None:
        """Show the next or previous completion of a side."""
        if side in self.sides:
            await self.choose(side, self.sides[side].neighbor(by))

    def _read(
        self, two: TwoRuns, name: str, pair: tuple[int, int]
    ) -> tuple[dict[str, Shown], str | None, tuple[Transcript, Transcript] | None, Comparison | None]:
        sides = {
            place: self._shown(place, side, name, prompt)
            for place, side, prompt in zip(("left", "right"), (two.left, two.right), pair, strict=True)
        }
        messages = prompt_messages(two.left.watched.run, two.left.prompts.ids[pair[0]])
        said = _transcripts(list(sides.values()), self.longest)
        left, right = (one.completion.text for one in sides.values())
        return sides, messages, said, compare(escape(left), escape(right)).marked() if said is None else None

    def _shown(self, place: str, side: Side, name: str, prompt: int) -> Shown:
        rows = side.best_first(name, prompt)
        row = side.scores.find(read_key(self.page.address.get(place)))
        row = row if row is not None and row in rows else rows[len(rows) // 2]
        key = side.scores.key(row)
        found = completions(side.watched.run, side.prompts.ids[prompt], [key], self.longest)
        return Shown(side, rows, row, found.get(key, _NO_COMPLETION))

    def _build_prompt(self, two: TwoRuns, code: int, roles: list[tuple[str, str]]) -> None:
        prompts = two.left.prompts
        self.prompt.clear()
        with self.prompt:
            with put.box("head"):
                put.text("Prompt", tag="h3")
                put.text(f"{len(prompts.texts[code]):,} characters", "soft")
                put.box("space")
                if is_long(prompts.texts[code], roles):
                    put.button("Show more / less", self._toggle, "ghost")
            if roles:
                build_roles(roles)
            else:
                put.Text([(escape(prompts.texts[code][:LONGEST]), False)])
            with put.box("columns"):
                for name, value in list(columns_of(prompts.columns[code]).items())[:30]:
                    with put.box(tag="span"):
                        put.text(f"{one_line(name, 40)} ")
                        put.text(one_line(value, 300), tag="b")

    def _toggle(self) -> None:
        self.prompt.classes(toggle="open")

    def _pane(self, place: str, shown: Shown, compared: Comparison | None) -> None:
        scores, row = shown.side.scores, shown.row
        with put.box(f"card pane {place}"):
            with put.box("head"):
                put.text(one_line(shown.side.watched.name, 40), tag="h3")
                put.text(f"step {scores.step[row]:,}{'' if scores.training[row] else ' · evaluation'}", "soft")
                put.box("space")
                put.button("‹", lambda: self.step(place, -1), "ghost", "Previous completion")
                put.text(f"{shown.rows.index(row) + 1} of {len(shown.rows):,}", "soft")
                put.button("›", lambda: self.step(place, 1), "ghost", "Next completion")
            if 1 < len(shown.rows) <= _CHIPS:
                self._build_chips(place, shown)
            with put.box("score"):
                put.text(format_number(float(scores.total[row])), tag="b", title="Total reward")
                for fact, value in (("advantage", scores.advantage[row]), (scores.length_unit, scores.length[row])):
                    with put.box(tag="span"):
                        put.text(f"{fact} ")
                        signed = fact == "advantage"
                        put.text(format_number(float(value), sign=True) if signed else _whole(value), tag="i")
            self.facts.append(TriedFacts(shown.side.watched, row))
            if compared is None:
                return
            put.Text(getattr(compared, place), "gone" if place == "left" else "new")
            if not compared.compared:
                put.text("These texts are too long to compare word by word.", "complaint", "div")
            elif not compared.similar:
                put.text("These texts have little in common, so differences are not marked.", "complaint soft", "div")
            cut = shown.completion
            if cut.characters > len(cut.text):
                with put.box("complaint"):
                    put.text(f"Showing the first {len(cut.text):,} of {cut.characters:,} characters. ")
                    put.button("Show all", self._show_all, "small")

    def _build_chips(self, place: str, shown: Shown) -> None:
        values = shown.side.values(self.name)
        label = {TOTAL: "total", TRIED: "new"}.get(self.name) or one_line(self.name, 40)
        with put.box("chips"):
            put.text(label, "soft")
            for row in shown.rows:
                pressed = row == shown.row
                choose = partial(self.choose, place, shown.name_of(row))
                chip = put.button(_short(float(values[row])), choose, "small on" if pressed else "small")
                chip.props["aria-pressed"] = "true" if pressed else "false"

    async def _show_all(self) -> None:
        self.longest = 5_000_000
        if self._asked is not None:
            await self.show(*self._asked)


def _transcripts(sides: Sequence[Shown], longest: int) -> tuple[Transcript, Transcript] | None:
    """Read both completions as conversations; None if both are one message with text."""

    def read(shown: Shown, always: bool) -> Transcript | None:
        found = shown.completion
        return transcript_of(
            found.messages,
            rollout=found.rollout,
            completion=found.text,
            stop=str(shown.side.scores.stop[shown.row]),
            longest=longest,
            always=always,
        )

    if all(read(one, always=False) is None for one in sides):
        return None
    left, right = aligned(*(read(one, always=True) for one in sides))
    return None if left is None or right is None else (left, right)


def _short(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}" if abs(value) < 1e6 else f"{value:.2g}"


def _whole(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:,.0f}"
