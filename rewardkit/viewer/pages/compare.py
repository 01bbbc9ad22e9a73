"""The tab *Compare*: two runs, or two windows of one run, prompt by prompt."""

from __future__ import annotations

import asyncio
from typing import Any

from rewardkit.analysis.paired import Paired
from rewardkit.core.errors import RewardKitError
from rewardkit.viewer import elements as put
from rewardkit.viewer.addresses import Address
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.pages.compared_prompts import ComparedPrompts
from rewardkit.viewer.pages.compared_texts import ComparedTexts
from rewardkit.viewer.pages.component_scores import format_number
from rewardkit.viewer.pages.layout import Page, empty_state
from rewardkit.viewer.pages.trial_strip import TrialStrip
from rewardkit.viewer.two_runs import TIE, TOTAL, TRIED, TwoRuns
from rewardkit.viewer.verdicts import SIDES, chance_text, notices_of, verdict_of
from rewardkit.viewer.watcher import Watched
from rewardkit.viewer.windows import Window, kinds_of

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
