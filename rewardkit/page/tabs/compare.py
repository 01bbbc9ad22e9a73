"""The *Compare* tab, which compares two runs or two windows of one run, prompt by prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rewardkit.analyze.paired import Paired
from rewardkit.errors import RewardKitError
from rewardkit.page import ui
from rewardkit.page.addresses import Address
from rewardkit.page.escapes import one_line
from rewardkit.page.filters import Column, Filter
from rewardkit.page.prompts import example_columns
from rewardkit.page.scores import Integers, key_text, read_key
from rewardkit.page.tabs.component_scores import TriedFacts, build_scores, format_number
from rewardkit.page.tabs.layout import Page, Tab, TrialStrip, empty_state
from rewardkit.page.tabs.panes import (
    NO_COMPLETION,
    SIDES as PLACES,
    WHOLE,
    PromptCard,
    Side as Shown,
    Texts,
    build_conversations,
    build_numbers,
    build_text,
    read_texts,
)
from rewardkit.page.tabs.tables import PagedTable, in_order
from rewardkit.page.transcript import roles_of
from rewardkit.page.two_runs import (
    SIDES,
    TIE,
    TOTAL,
    TRIED,
    TwoRuns,
    Window,
    chance_text,
    kinds_of,
    notices_of,
    verdict_of,
)
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import LONGEST, completions, prompt_messages

# The right side of the tab: one completion from each run for the same prompt, with texts and component scores.


_CHIPS = 16
"""The maximum number of chips. The limit is arbitrary: more chips do not fit on the line above the completion."""


class Pair(NamedTuple):
    """The component or total to compare, and the index of the prompt on each side.

    `prompts` is None if there is no prompt to show.
    """

    two: TwoRuns
    name: str
    prompts: tuple[int, int] | None


class ComparedTexts:
    """The right side of the *Compare* tab. Its buttons call `choose` with a side and the key of a completion."""

    def __init__(self, page: Page, watched: Watched, choose: Callable[[str, str], Awaitable[None]]) -> None:
        self.page = page
        self.watched = watched
        self.choose = choose
        self.longest = LONGEST
        self.rows: dict[str, list[int]] = {}
        self.shown: dict[str, Shown] = {}
        self.facts: list[TriedFacts] = []
        self._pair: Pair | None = None

    def build(self) -> None:
        self.prompt = PromptCard(self.page, self.watched)
        self.panes = ui.box("panes")
        self.scores = ui.box("card scores")

    async def show(self, pair: Pair) -> None:
        """Show a prompt and one completion per side: the one in the address or, by default, the middle one by score."""
        self._pair = pair
        if pair.prompts is None:
            for part in (self.prompt.card, self.panes, self.scores):
                part.clear()
            self.shown = {}
            return
        messages, rows, shown_sides, texts = await asyncio.to_thread(self._read, pair, pair.prompts)
        if pair is not self._pair:
            return  # the user has chosen another prompt in the meantime
        self.rows, self.shown = rows, shown_sides
        self.prompt.show(pair.prompts[0], roles_of(messages))
        self.panes.clear()
        self.facts.clear()
        with self.panes:
            for side_name in PLACES:
                with ui.box(f"card pane {side_name}"):
                    self._pane(side_name, shown_sides[side_name], texts)
            build_conversations(texts, self._show_all)
        self.scores.clear()
        with self.scores:
            build_scores(*shown_sides.values())

    async def update(self, pair: Pair) -> None:
        """Update the view: show another completion, or only refresh the trial reward's scores."""
        before = self._pair
        same = before is not None and before[1:] == pair[1:] and pair.two.is_like(before.two)
        if not same or not self.shown:
            await self.show(pair)
            return
        for facts in self.facts:
            facts.update()

    async def step(self, side_name: str, by: int) -> None:
        """On one side, show the completion `by` positions further."""
        if side_name in self.shown:
            rows, shown_side = self.rows[side_name], self.shown[side_name]
            at = min(max(rows.index(shown_side.row) + by, 0), len(rows) - 1)
            await self.choose(side_name, key_text(shown_side.watched.scores.key(rows[at])))

    def _read(
        self, pair: Pair, prompts: tuple[int, int]
    ) -> tuple[str | None, dict[str, list[int]], dict[str, Shown], Texts]:
        """Read the prompt's messages and, for both sides, the rows, the completion to show, and the texts."""
        rows, shown_sides = {}, {}
        for side_name, side, prompt in zip(PLACES, (pair.two.left, pair.two.right), prompts, strict=True):
            rows[side_name] = side.best_first(pair.name, prompt)
            row = side.scores.find(read_key(self.page.address.get(side_name)))
            row = row if row is not None and row in rows[side_name] else rows[side_name][len(rows[side_name]) // 2]
            key = side.scores.key(row)
            by_key = completions(side.watched.run, side.prompts.ids[prompt], [key], self.longest)
            shown_sides[side_name] = Shown(side.watched, row, by_key.get(key, NO_COMPLETION))
        messages = prompt_messages(pair.two.left.watched.run, pair.two.left.prompts.ids[prompts[0]])
        return messages, rows, shown_sides, read_texts(list(shown_sides.values()), self.longest)

    def _pane(self, side_name: str, shown_side: Shown, texts: Texts) -> None:
        scores, row, rows = shown_side.watched.scores, shown_side.row, self.rows[side_name]
        with ui.box("head"):
            ui.text(one_line(shown_side.watched.name, 40), tag="h3")
            ui.text(f"step {scores.step[row]:,}{'' if scores.training[row] else ' · evaluation'}", "soft")
            ui.box("space")
            ui.button("‹", lambda: self.step(side_name, -1), "ghost", "Previous completion")
            ui.text(f"{rows.index(row) + 1} of {len(rows):,}", "soft")
            ui.button("›", lambda: self.step(side_name, 1), "ghost", "Next completion")
        if 1 < len(rows) <= _CHIPS:
            self._build_chips(side_name, shown_side)
        with ui.box("score"):
            build_numbers(shown_side)
        self.facts.append(build_text(side_name, shown_side, texts, self._show_all))

    def _build_chips(self, side_name: str, shown_side: Shown) -> None:
        assert self._pair is not None
        two, name, _ = self._pair
        values = (two.left if side_name == "left" else two.right).values(name)
        with ui.box("chips"):
            ui.text({TOTAL: "total", TRIED: "new"}.get(name) or one_line(name, 40), "soft")
            for row in self.rows[side_name]:
                key = key_text(shown_side.watched.scores.key(row))
                ui.toggle(_short(float(values[row])), row == shown_side.row, partial(self.choose, side_name, key))

    async def _show_all(self) -> None:
        self.longest = WHOLE
        if self._pair is not None:
            await self.show(self._pair)


def _short(value: float) -> str:
    # Larger numbers would not fit on a chip.
    return "–" if np.isnan(value) else f"{value:.2f}" if abs(value) < 1e6 else f"{value:.2g}"


# The prompts of two runs, sorted by their difference: search, filter, select.


_OUTCOMES = {"": "All", "won": "Won", "lost": "Lost", "equal": "Equal"}
_NAMES = {1: "won", -1: "lost", 0: "equal"}
_TOOLTIP = (
    "Words search prompts and their columns. Conditions compare left, right, difference, completions (the smaller "
    "number of the two sides), result, or an example column: difference<-0.5, left=0, result=won, level=hard."
)


class ComparedPrompts(PagedTable):
    """The left side of the *Compare* tab. Rows are numbered by their position in `TwoRuns.seen`."""

    size = 40
    names = ("q", "sort", "rising")

    def __init__(self, page: Page, choose: Callable[[str], Awaitable[None]]) -> None:
        super().__init__(page, "difference")
        self.choose = choose
        self.compared: tuple[TwoRuns, str, Paired] | None = None

    def build(self) -> None:
        with ui.box("card prompts"):
            with ui.box("find"):
                ui.Field(self.words, self.search, "Search prompts, or difference<0 …", tooltip=_TOOLTIP, main=True)
            self.chips = ui.box("chips")
            self.build_table("No prompt matches.")
            self.table.when("open", self.choose)
            self.build_pager()

    async def compare(self, two: TwoRuns, name: str, paired: Paired) -> None:
        """Show the prompts of a comparison."""
        self.compared = two, name, paired
        self.left, self.right = two.means(name)
        self._build_chips()
        await self.refresh()

    @property
    def two(self) -> TwoRuns:
        assert self.compared is not None
        return self.compared[0]

    @property
    def paired(self) -> Paired:
        assert self.compared is not None
        return self.compared[2]

    def chosen(self) -> tuple[int, int] | None:
        """Return the selected prompt's numbers on both sides. The default is the first prompt in the list."""
        index = self._selected()
        if index is None:
            return None
        pair = self.two.seen[index]
        return int(self.two.pairing.left[pair]), int(self.two.pairing.right[pair])

    def neighbor(self, by: int) -> str | None:
        """Return the id of the prompt `by` positions after the selected one."""
        if not len(self.order):
            return None
        position = self.place()
        at = min(max((-1 if position is None else position) + by, 0), len(self.order) - 1)
        return self._id(int(self.order[at]))

    def find(self) -> tuple[Integers, list[str]]:
        two, paired = self.two, self.paired
        query, only = Filter.parse(self.words), self.page.address.get("only")
        prompts, codes = two.left.prompts, two.pairing.left[two.seen].tolist()
        counts = two.left.counts[codes], two.right.counts[two.pairing.right[two.seen]]
        columns: dict[str, Column] = {
            "left": self.left,
            "right": self.right,
            "difference": paired.difference,
            "completions": np.minimum(*counts).astype(np.float64),
            "result": [_NAMES[outcome] for outcome in paired.outcomes.tolist()],
        }
        if any(condition.name not in columns for condition in query.conditions):
            examples = _examples([prompts.columns[code] for code in codes])
            columns = {**columns, **examples, **columns}  # example columns must not hide the others
        searches = query.words or query.conditions
        rows, complaints = query.rows([prompts.searched[code] if searches else "" for code in codes], columns)
        if only in _NAMES.values():
            matching = [_NAMES[outcome] == only for outcome in paired.outcomes[rows].tolist()]
            rows = rows[np.array(matching, dtype=bool) & ~np.isnan(paired.difference[rows])]
        values = columns.get(self.sort, paired.difference)
        by: Column = values[rows] if isinstance(values, np.ndarray) else paired.difference[rows]
        if self.sort == "text":
            by = [prompts.texts[codes[row]] for row in rows.tolist()]
        return in_order(rows, by, descending=self.descending), complaints

    def place(self) -> int | None:
        return next(iter(np.flatnonzero(self.order == self._selected()).tolist()), None)

    def selected(self) -> dict[str, str]:
        index = self._selected()
        return {} if index is None else {"prompt": self._id(index)}

    def falls_first(self, column: str) -> bool:
        return column != "text"

    def remark(self) -> str:
        return "" if len(self.order) == len(self.left) else f" ({len(self.left):,} in all)"

    def rows(self, numbers: list[int]) -> list[dict[str, Any]]:
        return [{"key": self._id(number), "cells": self._cells(number)} for number in numbers]

    def columns(self) -> list[dict[str, Any]]:
        mean = "the mean of the prompt's completions on the"
        return [
            ui.column("text", "Prompt", "text", sortable=True),
            ui.column("left", "Left", sortable=True, title=f"left: {mean} left side"),
            ui.column("right", "Right", sortable=True, title=f"right: {mean} right side"),
            ui.column("difference", "Diff.", sortable=True, title="difference: right minus left"),
        ]

    def _query(self) -> tuple[object, ...]:
        return (*super()._query(), self.compared)

    def _selected(self) -> int | None:
        """Return the selected prompt's position in `TwoRuns.seen`. The default is the first prompt in the list."""
        code = self.two.left.scores.code_of.get(self.page.address.get("prompt"), -1)
        indices = np.flatnonzero(self.two.pairing.left[self.two.seen] == code).tolist()
        return next(iter([*indices, *self.order[:1].tolist()]), None)

    def _id(self, index: int) -> str:
        return self.two.left.prompts.ids[int(self.two.pairing.left[self.two.seen[index]])]

    def _cells(self, index: int) -> dict[str, Any]:
        tone = {1: "good", -1: "bad"}.get(int(self.paired.outcomes[index]), "soft")
        text = self.two.left.prompts.texts[int(self.two.pairing.left[self.two.seen[index]])]
        return {
            "text": one_line(text, 150) or "(empty)",
            "left": _cell(self.left[index]),
            "right": _cell(self.right[index]),
            "difference": _cell(self.paired.difference[index], tone),
        }

    def _build_chips(self) -> None:
        paired = self.paired
        counts = {"": len(self.left), "won": paired.won, "lost": paired.lost, "equal": paired.equal}
        only = self.page.address.get("only")
        self.chips.clear()
        with self.chips:
            for name, label in _OUTCOMES.items():
                ui.toggle(f"{label} {counts[name]:,}", name == only, partial(self._filter, name))

    async def _filter(self, only: str) -> None:
        self.note(only=only)
        self._build_chips()
        await self.refresh()


def _examples(cells: Sequence[str]) -> dict[str, Column]:
    rows = list(map(example_columns, cells))
    return {name: [row.get(name, "") for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def _cell(value: float | None, tone: str | None = None) -> Any:
    """Return a number's table cell. With a `tone`, the number is colored and has a sign."""
    if value is None or np.isnan(value):
        return None
    text = format_number(float(value), sign=tone is not None)
    return text if tone is None else {"text": text, "tone": tone}


_TIES = {"0": "equal: exactly", "0.01": "equal: within 1%", "0.05": "equal: within 5%", "0.1": "equal: within 10%"}
_TITLES = {TOTAL: "Total", TRIED: "New total"}
_CHANCE = (
    "The two-sided sign test: how often wins and losses would be this uneven, or more uneven, if "
    "neither side were better"
)
_INTERVAL = (
    "95% confidence interval of the mean difference over prompts (Student's t). If it contains 0, the difference may "
    "be chance. It does not include the difference between two seeds of the same training run."
)


class Compare(Tab):
    """The *Compare* tab."""

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
                "Compare prompt by prompt",
                problem or "Choose another run. To compare two windows of this run, choose this run.",
            )
            return
        self.page.also = [self.other]
        if self.other.trial is not None and self.other is not self.watched:
            self.strip = TrialStrip(self.other.trial, self.other.name)
        self.notices = ui.box()
        with ui.box("card scroll summary"):
            self.verdict = ui.box("verdict")
            self.components = ui.Table(self._columns(), empty="")
            self.components.when("open", self._choose_component)
        with ui.box("completions") as frame:
            self.prompts = ComparedPrompts(self.page, self._choose_prompt)
            self.prompts.build()
            with ui.box("main"):
                self.texts = ComparedTexts(self.page, self.watched, self._choose_completion)
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
        """The compared component, or the total."""
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
        with ui.box("bar-of-tools"):
            ui.text(one_line(self.watched.name, 60), "side-name left")
            self._window("a", self.watched)
            ui.text("against", "soft")
            ui.Choice(chosen if chosen in options else "", options, self._choose_run, "Run to compare with")
            if self.other is None:
                return
            self._window("b", self.other)
            ui.button("Swap", self._swap, title="Swap the two sides (s)")
            tie = f"{self._tie:g}"
            ties = _TIES if tie in _TIES else {**_TIES, tie: f"equal: within {100 * self._tie:g}%"}
            ui.Choice(tie, ties, self._choose_tie, "Differences that count as equal, as a share of the range")

    def _window(self, side: str, watched: Watched) -> None:
        window = Window.parse(self.page.address.get(side))
        label = f"Completions on the {'left' if side == 'a' else 'right'}"
        ui.Choice(window.kind, kinds_of(watched.scores), lambda kind: self._choose_window(side, kind), label)
        if window.kind == "steps":
            field = ui.Field(str(window), lambda text: self._choose_steps(side, text), "Steps, such as 200-400")
            field.style("width: 96px")

    async def _compare(self, *, again: bool = False) -> None:
        """Compare the two sides and show everything; with `again`, show only the changes since the last call."""
        assert self.other is not None
        address = self.page.address
        left, right = (self.watched, Window.parse(address.get("a"))), (self.other, Window.parse(address.get("b")))
        self.two = two = await asyncio.to_thread(TwoRuns.of, left, right)
        paired_by_name = await asyncio.to_thread(lambda: {name: two.paired(name, self._tie) for name in two.names})
        if self.verdict.is_deleted:
            return  # the user has left the page in the meantime
        self._show_notices(two)
        self._show_verdict(two, paired_by_name[self._name])
        rows = [self._row(name, paired) for name, paired in paired_by_name.items()]
        self.components.show(rows, columns=self._columns(), selected={"component": f"={self._name}"})
        await self.prompts.compare(two, self._name, paired_by_name[self._name])
        show = self.texts.update if again else self.texts.show
        await show(Pair(two, self._name, self.prompts.chosen()))

    def _show_notices(self, two: TwoRuns) -> None:
        self.notices.clear()
        with self.notices:
            notices = notices_of(two, self._name, self._names)
            if notices:
                ui.text("\n".join(notices), "notice", "div")

    @property
    def _names(self) -> tuple[str, str]:
        """The two sides' names in messages."""
        if self.other is None or self.other.name == self.watched.name:
            return SIDES
        return one_line(self.watched.name, 60), one_line(self.other.name, 60)

    def _show_verdict(self, two: TwoRuns, paired: Paired) -> None:
        self.verdict.clear()
        with self.verdict:
            ui.text(verdict_of(paired, self._names[1]), "said")
            if paired.count:
                with ui.box("split", title=f"won {paired.won:,}, equal {paired.equal:,}, lost {paired.lost:,}"):
                    for tone, count in (("won", paired.won), ("equal", paired.equal), ("lost", paired.lost)):
                        if count:
                            ui.box(tone, "i").style(f"flex: {count}")

    def _columns(self) -> list[dict[str, Any]]:
        left, right = "left", "right"
        if self.other is not None and self.other.name != self.watched.name:
            left, right = one_line(self.watched.name, 24), one_line(self.other.name, 24)
        return [
            ui.column("name", "Mean over prompts", "name"),
            ui.column("left", left),
            ui.column("right", right),
            ui.column("mean", "Difference"),
            ui.column("interval", "95% interval", title=_INTERVAL),
            ui.column("won", "Won", title=f"Prompts on which {right} is better"),
            ui.column("lost", "Lost", title=f"Prompts on which {right} is worse"),
            ui.column("equal", "Equal"),
            ui.column("chance", "Sign test", title=_CHANCE),
        ]

    def _row(self, name: str, paired: Paired) -> dict[str, Any]:
        interval = paired.interval and " to ".join(format_number(end, sign=True) for end in paired.interval)
        cells = {
            "name": _TITLES.get(name) or one_line(name, 40),
            "left": _cell(paired.left),
            "right": _cell(paired.right),
            "mean": _cell(paired.mean, "" if not paired.clear else "good" if (paired.mean or 0.0) > 0 else "bad"),
            "interval": interval,
            "won": f"{paired.won:,}",
            "lost": f"{paired.lost:,}",
            "equal": f"{paired.equal:,}",
            "chance": chance_text(paired.chance) if paired.won + paired.lost else None,
        }
        return {"key": f"={name}", "cells": cells}

    async def _go(self, **changes: str | None) -> None:
        """Change the choices in the address. The prompt remains selected, but the two completions are reset."""
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
            await self.prompts.follow()
            await self.texts.show(Pair(self.two, self._name, self.prompts.chosen()))

    async def _choose_completion(self, side: str, name: str) -> None:
        self.page.note(self.page.address.with_state(**{side: name}))
        if self.two is not None:
            await self.texts.show(Pair(self.two, self._name, self.prompts.chosen()))

    async def _swap(self) -> None:
        if self.two is None or self.other is None:
            return
        address, chosen = self.page.address, self.prompts.chosen()
        names = {"a": "b", "b": "a", "left": "right", "right": "left"}
        state = {**address.state, **{name: address.get(other) for name, other in names.items()}}
        state |= {"with": self.watched.name, "prompt": "" if chosen is None else self.two.right.prompts.ids[chosen[1]]}
        await self.page.go(Address(self.other.name, address.tab, state))
