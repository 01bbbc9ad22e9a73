"""The tab *Compare*: two runs, or two windows of one run, prompt by prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rewardkit.analyze.paired import Paired
from rewardkit.errors import RewardKitError
from rewardkit.page import elements as put
from rewardkit.page.addresses import Address
from rewardkit.page.comparison import Comparison, compare
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.filters import Column, Filter
from rewardkit.page.reader import LONGEST, Completion, columns_of, completions, prompt_messages
from rewardkit.page.scores import Floats, Integers, key_text, read_key
from rewardkit.page.tabs.component_scores import TriedFacts, build_scores_of, format_number
from rewardkit.page.tabs.conversations import build_conversations, build_roles, is_long
from rewardkit.page.tabs.layout import Page, TrialStrip, empty_state
from rewardkit.page.transcript import Transcript, aligned, roles_of, transcript_of
from rewardkit.page.two_runs import (
    SIDES,
    TIE,
    TOTAL,
    TRIED,
    Side,
    TwoRuns,
    Window,
    chance_text,
    kinds_of,
    notices_of,
    verdict_of,
)
from rewardkit.page.watcher import Watched

# A completion of each run, for the same prompt: texts side by side, and the scores of both by component.


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


# The prompts of two runs, sorted by their difference: search, filter, select.


_ROWS = 40
_OUTCOMES = {"": "All", "won": "Won", "lost": "Lost", "equal": "Equal"}
_NAMES = {1: "won", -1: "lost", 0: "equal"}
_TOOLTIP = (
    "Words search prompts and their columns. Conditions compare left, right, difference, completions (the fewer of "
    "both sides), result or an example column: difference<-0.5, left=0, result=won, level=hard."
)


class ComparedPrompts:
    """The left side of the tab *Compare*."""

    def __init__(self, page: Page, chosen: Callable[[str], Awaitable[None]]) -> None:
        self.page = page
        self.choose = chosen
        self.words = page.address.get("q")
        self.sort = page.address.get("sort", "difference")
        self.rising = page.address.get("rising") == "1"
        self.at = 0
        self.order: Integers = np.empty(0, dtype=np.int64)
        self.two: TwoRuns | None = None

    def build(self) -> None:
        with put.box("card prompts"):
            with put.box("find"):
                put.Field(self.words, self._search, "Search prompts, or difference<0 …", tooltip=_TOOLTIP, main=True)
            self.chips = put.box("chips")
            self.complaint = put.text("", "complaint", "div")
            with put.box("scroll"):
                self.table = put.Table(self._columns(), empty="No prompt matches.")
                self.table.when("sort", self._sort).when("open", self._open)
            with put.box("pager"):
                self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
                self.count = put.text("")
                self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")

    async def show(self, two: TwoRuns, name: str, found: Paired) -> None:
        """Show the prompts of a comparison."""
        self.two, self.name, self.found = two, name, found
        self.left, self.right = two.means(name)
        self._build_chips()
        await self._find()

    def chosen(self, two: TwoRuns) -> tuple[int, int] | None:
        """Return the numbers of the selected prompt on both sides; by default, of the first one in the list."""
        place = self._selected()
        if place is None:
            return None
        pair = two.seen[place]
        return int(two.pairing.left[pair]), int(two.pairing.right[pair])

    def neighbor(self, by: int) -> str | None:
        """Return the prompt that is `by` places after the selected one."""
        if not len(self.order) or self.two is None:
            return None
        here = np.flatnonzero(self.order == self._selected())
        at = min(max((int(here[0]) if len(here) else -1) + by, 0), len(self.order) - 1)
        self.at = at // _ROWS
        return self._id(int(self.order[at]))

    def fill(self) -> None:
        """Show the rows of the current page."""
        if self.two is None:
            return
        pages = max(1, -(-len(self.order) // _ROWS))
        self.at = min(max(self.at, 0), pages - 1)
        shown = self.order[self.at * _ROWS : (self.at + 1) * _ROWS].tolist()
        selected = self._selected()
        rows = [self._row(one, one == selected) for one in shown]
        self.table.show(rows, sort=self.sort, descending=not self.rising, columns=self._columns())
        start = self.at * _ROWS
        everything = "" if len(self.order) == len(self.left) else f" ({len(self.left):,} in all)"
        self.count.show(f"{start + min(1, len(shown)):,}–{start + len(shown):,} of {len(self.order):,}{everything}")
        self.back.props["disabled"], self.on.props["disabled"] = self.at == 0, self.at == pages - 1

    def find(self) -> tuple[Integers, list[str]]:
        """Return the matching prompts, sorted, as places in `two.seen`, and messages about conditions."""
        two = self.two
        assert two is not None
        asked, only = Filter.parse(self.words), self.page.address.get("only")
        outcomes = self.found.outcomes
        prompts, codes = two.left.prompts, two.pairing.left[two.seen].tolist()
        columns: dict[str, Column] = {
            "left": self.left,
            "right": self.right,
            "difference": self.found.difference,
            "completions": self._completions(two),
            "result": [_NAMES[outcome] for outcome in outcomes.tolist()],
        }
        if any(condition.name not in columns for condition in asked.conditions):
            columns |= _examples([prompts.columns[code] for code in codes], columns)
        texts = [prompts.searched[code] for code in codes] if asked.words or asked.conditions else [""] * len(codes)
        rows, complaints = asked.rows(texts, columns)
        if only in _NAMES.values():
            kept = outcomes[rows] == {name: sign for sign, name in _NAMES.items()}[only]
            rows = rows[kept & ~np.isnan(self.found.difference[rows])]
        if self.sort == "text":
            order = sorted(rows.tolist(), key=lambda place: prompts.texts[codes[place]], reverse=not self.rising)
            return np.array(order, dtype=np.int64), complaints
        values = columns.get(self.sort, self.found.difference)
        numbers = np.asarray(values if isinstance(values, np.ndarray) else self.found.difference)[rows]
        sign = 1.0 if self.rising else -1.0
        return rows[np.argsort(np.where(np.isnan(numbers), np.inf, sign * numbers), kind="stable")], complaints

    def _completions(self, two: TwoRuns) -> Floats:
        pairing = two.pairing
        left, right = two.left.counts[pairing.left[two.seen]], two.right.counts[pairing.right[two.seen]]
        return np.minimum(left, right).astype(np.float64)

    async def _find(self) -> None:
        wanted = self.two, self.name, self.words, self.sort, self.rising
        order, complaints = await asyncio.to_thread(self.find)
        if wanted != (self.two, self.name, self.words, self.sort, self.rising):
            return  # the user has changed the query in the meantime
        self.order = order
        self.complaint.show(" ".join(complaints))
        self.complaint.set_visibility(bool(complaints))
        here = np.flatnonzero(order == self._selected())
        self.at = int(here[0]) // _ROWS if len(here) else 0
        self.fill()

    def _selected(self) -> int | None:
        """Return the selected prompt as a place in `two.seen`; by default, the first one in the list."""
        two = self.two
        code = None if two is None else two.left.scores.code_of.get(self.page.address.get("prompt"))
        found = [] if two is None or code is None else np.flatnonzero(two.pairing.left[two.seen] == code).tolist()
        return int([*found, *self.order[:1]][0]) if found or len(self.order) else None

    def _id(self, place: int) -> str:
        assert self.two is not None
        return self.two.left.prompts.ids[int(self.two.pairing.left[self.two.seen[place]])]

    def _row(self, place: int, selected: bool) -> dict[str, Any]:
        two = self.two
        assert two is not None
        outcome = int(self.found.outcomes[place])
        tone = {1: "good", -1: "bad"}.get(outcome, "soft")
        text = two.left.prompts.texts[int(two.pairing.left[two.seen[place]])]
        cells = {
            "text": one_line(text, 150) or "(empty)",
            "left": _format(self.left[place]),
            "right": _format(self.right[place]),
            "difference": _toned(self.found.difference[place], tone),
        }
        return {"key": self._id(place), "cells": cells, "selected": selected}

    def _columns(self) -> list[dict[str, Any]]:
        numbers = {
            "left": ("Left", "left: the mean of the prompt's completions on the left side"),
            "right": ("Right", "right: the mean of the prompt's completions on the right side"),
            "difference": ("Diff.", "difference: right minus left"),
        }
        return [
            {"name": "text", "label": "Prompt", "kind": "text", "sortable": True},
            *(
                {"name": name, "label": label, "kind": "number", "sortable": True, "title": title}
                for name, (label, title) in numbers.items()
            ),
        ]

    def _build_chips(self) -> None:
        found = self.found
        counts = {"": len(self.left), "won": found.won, "lost": found.lost, "equal": found.equal}
        only = self.page.address.get("only")
        self.chips.clear()
        with self.chips:
            for name, label in _OUTCOMES.items():
                pressed = name == only
                chip = put.button(
                    f"{label} {counts[name]:,}",
                    lambda name=name: self._filter(name),
                    "small on" if pressed else "small",
                )
                chip.props["aria-pressed"] = "true" if pressed else "false"

    async def _filter(self, only: str) -> None:
        self.page.note(self.page.address.with_state(only=only))
        self._build_chips()
        await self._find()

    async def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
        await self._find()

    async def _sort(self, name: str) -> None:
        self.rising = not self.rising if self.sort == name else name == "text"
        self.sort = str(name)
        self.page.note(self.page.address.with_state(sort=self.sort, rising="1" if self.rising else None))
        await self._find()
        self.at = 0
        self.fill()

    async def _open(self, prompt: str) -> None:
        await self.choose(str(prompt))

    def _turn(self, by: int) -> None:
        self.at += by
        self.fill()


def _examples(cells: list[str], taken: dict[str, Column]) -> dict[str, Column]:
    read = [columns_of(text) for text in cells]
    names = dict.fromkeys(name for row in read for name in row if name not in taken)
    return {name: [row.get(name, "") for row in read] for name in names}


def _format(value: float) -> str | None:
    return None if np.isnan(value) else format_number(float(value))


def _toned(value: float, tone: str) -> dict[str, str] | None:
    return None if np.isnan(value) else {"text": format_number(float(value), sign=True), "tone": tone}


_TIES = {"0": "equal: exactly", "0.01": "equal: within 1 %", "0.05": "equal: within 5 %", "0.1": "equal: within 10 %"}
_TITLES = {TOTAL: "Total", TRIED: "New total"}
_CHANCE = (
    "The two-sided sign test: how often wins and losses would be this uneven, or more, if neither side were better"
)
_INTERVAL = (
    "95 % confidence interval of the mean difference over prompts (Student's t). If it contains 0, the difference may "
    "be chance. It does not know how much another seed of the same training would change."
)


class Compare:
    """The tab *Compare*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.other: Watched | None = None
        self.two: TwoRuns | None = None
        self.strip: TrialStrip | None = None

    async def build(self) -> None:
        address = self.page.address
        names = await asyncio.to_thread(self.page.library.names)
        if not len(self.watched.scores):
            empty_state("Nothing to compare yet", "Prompts appear here after the first training step.")
            return
        problem = ""
        if address.get("with"):
            try:
                self.other = await asyncio.to_thread(self.page.watcher.get, address.get("with"))
            except RewardKitError as error:
                problem = str(error)
        self._build_choices(names)
        if self.other is None:
            empty_state(
                "Compare prompt by prompt", problem or "Choose another run, or this one to compare two of its windows."
            )
            return
        self.page.also = [self.other]
        if self.other.trial is not None and self.other is not self.watched:
            self.strip = TrialStrip(self.other.trial, self.other.name)
        self.notices = put.box()
        with put.box("card scroll summary"):
            self.verdict = put.box("verdict")
            self.components = put.Table(self._columns(), empty="")
            self.components.when("open", self._choose_component)
        with put.box("completions") as frame:
            self.prompts = ComparedPrompts(self.page, self._choose_prompt)
            self.prompts.build()
            with put.box("main"):
                self.texts = ComparedTexts(self.page, self._choose_completion)
                self.texts.build()
        frame.classes(add="compared")
        await self._compare()

    async def update(self) -> None:
        if self.two is None:
            await self.page.show(self.page.address)
            return
        if self.strip is not None:
            self.strip.update()
        await self._compare(again=True)

    async def key(self, key: str, shift: bool) -> None:
        if self.two is None:
            return
        if key in ("ArrowUp", "ArrowDown", "j", "k"):
            prompt = self.prompts.neighbor(1 if key in ("ArrowDown", "j") else -1)
            if prompt is not None:
                await self._choose_prompt(prompt)
                self.page.shell.run_method("reveal", ".prompts tr.selected")
        elif key in ("ArrowLeft", "ArrowRight"):
            await self.texts.step("right" if shift else "left", 1 if key == "ArrowRight" else -1)
        elif key == "s":
            await self._swap()

    @property
    def _name(self) -> str:
        """The component that is compared."""
        name = self.page.address.get("of", TOTAL)
        return name if self.two is not None and name in self.two.names else TOTAL

    @property
    def _tie(self) -> float:
        return self.page.address.number("tie", TIE, 0.0, 1.0)

    def _build_choices(self, names: list[str]) -> None:
        address = self.page.address
        chosen = address.get("with")
        options = {name: one_line(name, 60) for name in names if name != self.watched.name}
        options = {"": "Choose a run …", self.watched.name: "this run", **options}
        with put.box("bar-of-tools"):
            put.text(one_line(self.watched.name, 60), "side-name left")
            self._window("a", self.watched)
            put.text("against", "soft")
            put.Choice(chosen if chosen in options else "", options, self._choose_run, "Run to compare with")
            if self.other is None:
                return
            self._window("b", self.other)
            put.button("Swap", self._swap, title="Swap the two sides (s)")
            tie = f"{self._tie:g}"
            ties = _TIES if tie in _TIES else {**_TIES, tie: f"equal: within {100 * self._tie:g} %"}
            put.Choice(tie, ties, self._choose_tie, "Differences that count as equal, as a share of the range")

    def _window(self, side: str, watched: Watched) -> None:
        window = Window.parse(self.page.address.get(side))
        label = f"Completions on the {'left' if side == 'a' else 'right'}"
        put.Choice(window.kind, kinds_of(watched.scores), lambda kind: self._choose_window(side, kind), label)
        if window.kind == "steps":
            field = put.Field(str(window), lambda text: self._choose_steps(side, text), "Steps, such as 200-400")
            field.style("width: 96px")

    async def _compare(self, *, again: bool = False) -> None:
        """Compare, and show everything; or, if nothing else was chosen, what is new."""
        assert self.other is not None
        address = self.page.address
        left, right = (self.watched, Window.parse(address.get("a"))), (self.other, Window.parse(address.get("b")))
        self.two = two = await asyncio.to_thread(TwoRuns.of, left, right)
        found = await asyncio.to_thread(lambda: {name: two.paired(name, self._tie) for name in two.names})
        if self.verdict.is_deleted:
            return  # the user has left the page in the meantime
        self._show_notices(two)
        self._show_verdict(two, found[self._name])
        rows = [self._row(two, name, one) for name, one in found.items()]
        self.components.show(rows, columns=self._columns())
        await self.prompts.show(two, self._name, found[self._name])
        show = self.texts.update if again else self.texts.show
        await show(two, self._name, self.prompts.chosen(two))

    def _show_notices(self, two: TwoRuns) -> None:
        self.notices.clear()
        with self.notices:
            said = notices_of(two, self._name, self._names)
            if said:
                put.text("\n".join(said), "notice", "div")

    @property
    def _names(self) -> tuple[str, str]:
        """What to call both sides."""
        if self.other is None or self.other.name == self.watched.name:
            return SIDES
        return one_line(self.watched.name, 60), one_line(self.other.name, 60)

    def _show_verdict(self, two: TwoRuns, found: Paired) -> None:
        self.verdict.clear()
        with self.verdict:
            put.text(verdict_of(found, self._names[1]), "said")
            if found.count:
                with put.box("split", title=f"won {found.won:,}, equal {found.equal:,}, lost {found.lost:,}"):
                    for tone, count in (("won", found.won), ("equal", found.equal), ("lost", found.lost)):
                        if count:
                            put.box(tone, "i").style(f"flex: {count}")

    def _columns(self) -> list[dict[str, Any]]:
        left, right = "left", "right"
        if self.other is not None and self.other.name != self.watched.name:
            left, right = one_line(self.watched.name, 24), one_line(self.other.name, 24)
        number = "number"
        return [
            {"name": "name", "label": "Mean over prompts", "kind": "name"},
            {"name": "left", "label": left, "kind": number},
            {"name": "right", "label": right, "kind": number},
            {"name": "mean", "label": "Difference", "kind": number},
            {"name": "interval", "label": "95 % interval", "kind": number, "title": _INTERVAL},
            {"name": "won", "label": "Won", "kind": number, "title": f"Prompts on which {right} is better"},
            {"name": "lost", "label": "Lost", "kind": number, "title": f"Prompts on which {right} is worse"},
            {"name": "equal", "label": "Equal", "kind": number},
            {"name": "chance", "label": "Sign test", "kind": number, "title": _CHANCE},
        ]

    def _row(self, two: TwoRuns, name: str, found: Paired) -> dict[str, Any]:
        tone = "" if not found.clear else "good" if (found.mean or 0.0) > 0 else "bad"
        cells = {
            "name": _TITLES.get(name) or one_line(name, 40),
            "left": None if found.left is None else format_number(found.left),
            "right": None if found.right is None else format_number(found.right),
            "mean": None if found.mean is None else {"text": format_number(found.mean, sign=True), "tone": tone},
            "interval": None
            if found.interval is None
            else " to ".join(format_number(end, sign=True) for end in found.interval),
            "won": f"{found.won:,}",
            "lost": f"{found.lost:,}",
            "equal": f"{found.equal:,}",
            "chance": chance_text(found.chance) if found.won + found.lost else None,
        }
        return {"key": f"={name}", "cells": cells, "selected": name == self._name}

    async def _go(self, **changes: str | None) -> None:
        """Choose other completions; a prompt stays chosen, its completions do not."""
        await self.page.go(self.page.address.with_state(**{"left": None, "right": None, **changes}))

    async def _choose_run(self, name: str) -> None:
        windows = {"a": "first", "b": "last"} if name == self.watched.name else {}
        if name != self.page.address.get("with"):
            await self._go(**{"b": None, "prompt": None, **windows, "with": name or None})

    async def _choose_window(self, side: str, kind: str) -> None:
        if kind != "steps":
            await self._go(**{side: kind})
            return
        watched = self.watched if side == "a" else self.other
        assert watched is not None
        steps = watched.scores.step
        await self._go(**{side: f"{steps[len(steps) // 2]}-{steps[-1]}"})

    async def _choose_steps(self, side: str, text: str) -> None:
        window = Window.parse(text)
        if window.kind == "steps":
            self.page.note(self.page.address.with_state(**{side: str(window), "left": None, "right": None}))
            await self._compare()

    async def _choose_tie(self, tie: str) -> None:
        await self._go(tie=tie)

    async def _choose_component(self, key: str) -> None:
        name = key.removeprefix("=")
        self.page.note(self.page.address.with_state(of=name, left=None, right=None), step=True)
        await self._compare()

    async def _choose_prompt(self, prompt: str) -> None:
        if prompt != self.page.address.get("prompt") and self.two is not None:
            self.page.note(self.page.address.with_state(prompt=prompt, left=None, right=None), step=True)
            self.prompts.fill()
            await self.texts.show(self.two, self._name, self.prompts.chosen(self.two))

    async def _choose_completion(self, side: str, name: str) -> None:
        self.page.note(self.page.address.with_state(**{side: name}))
        if self.two is not None:
            await self.texts.show(self.two, self._name, self.prompts.chosen(self.two))

    async def _swap(self) -> None:
        if self.two is None or self.other is None:
            return
        address, chosen = self.page.address, self.prompts.chosen(self.two)
        names = {"a": "b", "b": "a", "left": "right", "right": "left"}
        state = {**address.state, **{name: address.get(other) for name, other in names.items()}}
        state |= {"with": self.watched.name, "prompt": "" if chosen is None else self.two.right.prompts.ids[chosen[1]]}
        await self.page.go(Address(self.other.name, address.tab, state))
