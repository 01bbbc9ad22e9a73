"""Two completions of a prompt side by side, and a table of all completions of the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.viewer import elements as put
from rewardkit.viewer.advantage import explained
from rewardkit.viewer.comparison import Comparison, compare
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.mathematics import Node
from rewardkit.viewer.pages.advantage import build_advantages
from rewardkit.viewer.pages.all_completions import AllCompletions
from rewardkit.viewer.pages.component_scores import build_scores
from rewardkit.viewer.pages.conversations import Pair, build_conversations, transcripts
from rewardkit.viewer.pages.labeling import KEYS, LabelBar
from rewardkit.viewer.pages.layout import Page, empty_state
from rewardkit.viewer.pages.pane import Pane
from rewardkit.viewer.pages.prompt_card import PromptCard
from rewardkit.viewer.pages.prompt_list import PromptList
from rewardkit.viewer.pages.selected import build_selected
from rewardkit.viewer.pages.tried_cells import TriedFacts
from rewardkit.viewer.pairs import PromptCompletions
from rewardkit.viewer.reader import LONGEST, Completion, completions, prompt_messages
from rewardkit.viewer.rendering import rendered
from rewardkit.viewer.scores import Key, key_text, read_key
from rewardkit.viewer.selection import parse_steps
from rewardkit.viewer.transcript import as_props, roles_of
from rewardkit.viewer.watcher import Watched

_NO_COMPLETION = Completion()
Side = tuple[int, Completion]


@dataclass(frozen=True)
class _Shown:
    """The texts of both sides in one of three forms: conversations, rendered, or compared."""

    conversations: Pair | None = None
    props: Sequence[dict[str, Any]] = ()
    nodes: Sequence[list[Node] | None] = field(default=(None, None))
    compared: Comparison | None = None


class Completions:
    """The tab *Completions*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.longest = LONGEST
        self.choice: PromptCompletions | None = None
        self.tried: dict[str, TriedFacts] = {}

    async def build(self) -> None:
        if not len(self.watched.scores):
            empty_state("No completions yet", "They appear here after the first training step.")
            return
        note = self.watched.run.info.get("note")
        if isinstance(note, str):
            put.text(one_line(note, 1_000), "notice soft", "div")
        build_selected(self.page, self.watched)
        self.frame = put.box("completions arrows")
        with self.frame:
            self.prompts = PromptList(self.page, self.watched, self._choose_prompt)
            if not self.page.address.get("prompt"):
                await self._find_prompt()
            await self.prompts.build()
            self.main = put.box("main")
        if self.page.address.get("prompts") == "no":
            self.frame.classes(add="alone")
        with self.main:
            self.prompt_card = PromptCard(self.page, self.watched, self._view)
            self.marked = put.Phrase(self.page.address.get("mark"), self._unmark)
            self.panes = put.box("panes")
            self.scores = put.box("card scores")
            self.advantages = put.box("card advantages")
            self.bars: dict[str, LabelBar] = {}
            self.everything = AllCompletions(self.page, self.watched, self._choose)
            self.everything.build()
        await self._show_prompt()
        self._reveal()

    async def update(self) -> None:
        if self.choice is None:
            await self.page.show(self.page.address)
            return
        await self.prompts.refresh()
        self._show_labels()
        for facts in self.tried.values():
            facts.update()
        before = self.left, self.right
        keys = [self.choice.scores.key(row) for row in before]
        self._choose_rows()
        if self.choice is not None and [self.choice.scores.key(row) for row in (self.left, self.right)] != keys:
            await self._show_panes()
        await self._show_everything()

    async def key(self, key: str, shift: bool) -> None:
        if key in ("b", "/"):
            hide = key == "b" and self.page.address.get("prompts") != "no"
            self.frame.classes(**{"add" if hide else "remove": "alone"})
            self.page.note(self.page.address.with_state(prompts="no" if hide else None))
        if self.choice is None:
            return
        if key in ("ArrowLeft", "ArrowRight"):
            await self._move("right" if shift else "left", 1 if key == "ArrowRight" else -1)
        elif key in ("ArrowUp", "ArrowDown", "j", "k"):
            prompt = self.prompts.neighbor(1 if key in ("ArrowDown", "j") else -1)
            if prompt is not None:
                await self._choose_prompt(prompt)
                self._reveal()
        elif key == "s":
            left, right = self._name(self.left), self._name(self.right)
            self.page.note(self.page.address.with_state(left=right, right=left), step=True)
            await self._show_sides()
        elif key in (*KEYS, "e"):
            await self._label_by_key(key, "right" if shift else "left")
        elif key == "r":
            await self._view("raw" if self.page.address.get("view") == "rendered" else "rendered")
        elif key == "n":
            self.page.note(self.page.address.with_state(left=None, right=None), step=True)
            await self._show_sides()

    def _reveal(self) -> None:
        """Scroll the list of prompts to the one that is selected."""
        self.page.shell.run_method("reveal", ".prompts tr.selected")

    async def _label_by_key(self, key: str, side: str) -> None:
        if self.watched.labels is None:
            return
        if key == "e":
            self.page.shell.run_method("focus", f".pane.{side} .note")
        elif side in self.bars:
            await self.bars[side].toggle(KEYS[key])

    async def _labeled(self) -> None:
        """Show a label that has changed everywhere."""
        self._show_labels()
        await self.prompts.refresh()
        await self.everything.refresh()

    def _show_labels(self) -> None:
        for bar in self.bars.values():
            bar.refresh()
        self.prompts.labels.refresh()

    async def _find_prompt(self) -> None:
        """Select the prompt of the completion in the address, or else the first prompt of the list."""
        address, scores = self.page.address, self.watched.scores
        named = next(
            (row for side in ("left", "right") if (row := scores.find(read_key(address.get(side)))) is not None), None
        )
        if named is not None:
            prompt: str | None = scores.prompt_ids[scores.prompt[named]]
        else:
            self.prompts.order, _ = await asyncio.to_thread(self.prompts.find)
            prompt = self.prompts.neighbor(0)
        if prompt is not None:
            self.page.note(address.with_state(prompt=prompt))

    async def _choose_prompt(self, prompt: str) -> None:
        if prompt == self.page.address.get("prompt"):
            return
        self.longest = LONGEST
        self.page.note(self.page.address.with_state(prompt=prompt, left=None, right=None, open=None), step=True)
        self.prompts.show()
        await self._show_prompt()

    async def _choose(self, side: str, row: int, *, step: bool = True) -> None:
        """Show a completion on one side. If `step`, the browser's back button returns to the one before."""
        name = self._name(row)
        if name != self.page.address.get(side):
            self.page.note(self.page.address.with_state(**{side: name}), step=step)
            await self._show_sides()

    async def _move(self, side: str, by: int) -> None:
        """Show the previous or next completion of the same epoch on one side."""
        if self.choice is not None:
            await self._choose(side, self.choice.neighbor(self._row(side), by), step=False)

    async def _slide(self, side: str, at: int) -> None:
        """Show the best completion of another epoch on one side."""
        if self.choice is not None:
            visit = self.choice.visits[min(at, len(self.choice.visits) - 1)]
            await self._choose(side, self.choice.best(visit), step=False)

    async def _compare(self, side: str, key: str) -> None:
        """Show a completion of the same group on the other side."""
        row = self.watched.scores.find(read_key(key))
        if row is not None:
            await self._choose(side, row)

    async def _view(self, view: str) -> None:
        """Show texts as they are, or rendered."""
        if view != self.page.address.get("view", "raw"):
            self.page.note(self.page.address.with_state(view=None if view == "raw" else view), step=True)
            await self._show_prompt()

    async def _line_up(self, name: str) -> None:
        """Line up groups by another component."""
        self.page.note(self.page.address.with_state(group=name))
        await self._show_advantages()

    def _unmark(self) -> None:
        """No longer highlight the phrase of a lead."""
        self.page.note(self.page.address.with_state(mark=None))

    def _row(self, side: str) -> int:
        return self.left if side == "left" else self.right

    def _name(self, row: int) -> str:
        return key_text(self.watched.scores.key(row))

    def _choose_rows(self) -> None:
        address, scores = self.page.address, self.watched.scores
        rows = scores.rows_of(address.get("prompt"))
        self.choice = PromptCompletions(scores, rows, parse_steps(address.get("steps"))) if len(rows) else None
        if self.choice is not None:
            self.right = self.choice.right(address.get("right"))
            self.left = self.choice.left(address.get("left"))

    async def _show_prompt(self) -> None:
        self._choose_rows()
        prompt = self.page.address.get("prompt")
        messages = None
        if self.choice is not None:
            messages = await asyncio.to_thread(prompt_messages, self.watched.run, prompt)
        if prompt != self.page.address.get("prompt"):
            return  # the user has selected another one in the meantime
        if self.choice is None:
            for part in (self.panes, self.scores, self.advantages):
                part.clear()
            self.prompt_card.missing()
            self.everything.show(None, [])
            return
        self.prompt_card.show(prompt, roles_of(messages))
        await self._show_panes()
        await self._show_everything()

    async def _show_sides(self) -> None:
        self._choose_rows()
        await self._show_panes()
        if self.choice is not None:
            self.everything.mark(self.left, self.right)

    async def _show_everything(self) -> None:
        if self.choice is not None:
            await self.everything.set(self.choice, self.left, self.right)

    async def _show_panes(self) -> None:
        if self.choice is None:
            return
        wanted = prompt, view, *keys = self._wanted()
        found = await asyncio.to_thread(completions, self.watched.run, prompt, list(set(keys)), self.longest)
        one, other = (found.get(key, _NO_COMPLETION) for key in keys)
        sides = (self.left, one), (self.right, other)
        shown = await asyncio.to_thread(self._texts, *sides, view == "rendered")
        if self.choice is None or wanted != self._wanted():
            return  # the user has selected another one in the meantime
        left, right = self.left, self.right  # new data may have moved them
        self.panes.clear()
        self.bars.clear()
        with self.panes:
            for side, row, completion, nodes in zip(
                ("left", "right"), (left, right), (one, other), shown.nodes, strict=True
            ):
                with put.box(f"card pane {side}"):
                    self._pane(side, row, completion, shown, nodes)
            if shown.conversations is not None:
                build_conversations(shown.conversations, self._show_all, shown.props)
        self.scores.clear()
        with self.scores:
            build_scores(self.watched, (left, one), (right, other))
        await self._show_advantages()

    def _wanted(self) -> tuple[str, str, Key, Key]:
        """Return the prompt, the view, and the keys of both completions, which new data does not change."""
        assert self.choice is not None
        keys = self.choice.scores.key(self.left), self.choice.scores.key(self.right)
        return self.page.address.get("prompt"), self.page.address.get("view"), *keys

    def _texts(self, left: Side, right: Side, render: bool) -> _Shown:
        """Return the texts of both sides: as conversations, rendered, or compared word by word."""
        said = transcripts(self.watched, [left, right], self.longest)
        if said is not None:
            return _Shown(said, [as_props(side, render=render) for side in said])
        texts = [escape(completion.text) for _, completion in (left, right)]
        if render:
            return _Shown(nodes=[rendered(text) for text in texts])
        return _Shown(compared=compare(*texts).marked())

    def _pane(self, side: str, row: int, completion: Completion, shown: _Shown, nodes: list[Node] | None) -> None:
        assert self.choice is not None
        newest = side == "right" and not self.page.address.get("right")
        pane = Pane(
            side,
            self.choice,
            row,
            newest=newest,
            step=lambda by: self._move(side, by),
            slide=lambda at: self._slide(side, at),
        )
        self.tried[side] = TriedFacts(self.watched, row)
        if nodes is not None:
            pane.rendered(nodes)
        elif shown.compared is not None:
            pane.text(getattr(shown.compared, side), _note(shown.compared))
        if shown.conversations is None:
            pane.cut(completion, self._show_all)
        if self.watched.labels is not None:
            self.bars[side] = LabelBar(self.watched, side, row, self._labeled)
        pane.details()

    async def _show_advantages(self) -> None:
        if self.choice is None:
            return
        wanted, rows, by = self._wanted(), (self.left, self.right), self.page.address.get("group")
        shown = await asyncio.to_thread(lambda: [explained(self.watched, row, by=by) for row in rows])
        if self.choice is not None and wanted == self._wanted():
            self.advantages.clear()
            with self.advantages:
                build_advantages(self.watched, shown, by, self._line_up, self._compare)

    async def _show_all(self) -> None:
        self.longest = 5_000_000
        await self._show_panes()


def _note(compared: Comparison) -> str:
    if not compared.compared:
        return "These texts are too long to compare word by word."
    return "" if compared.similar else "These texts have little in common, so differences are not marked."
