"""Two completions for a prompt side by side, and a table of all completions for the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from rewardkit.page import ui
from rewardkit.page.advantage import Explained, explain_advantage
from rewardkit.page.escapes import one_line
from rewardkit.page.pairs import PromptCompletions
from rewardkit.page.scores import key_text, read_key
from rewardkit.page.selection import Selection, columns, keep_selection, parse_steps, spoken
from rewardkit.page.tabs.all_completions import AllCompletions
from rewardkit.page.tabs.component_scores import TriedFacts, build_scores
from rewardkit.page.tabs.labeling import KEYS, LabelBar
from rewardkit.page.tabs.layout import Page, Tab, empty_state
from rewardkit.page.tabs.panes import (
    NO_COMPLETION,
    SIDES,
    WHOLE,
    PromptCard,
    Side,
    Texts,
    build_conversations,
    build_numbers,
    build_text,
    read_texts,
)
from rewardkit.page.tabs.prompt_list import PromptList
from rewardkit.page.transcript import roles_of
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import LONGEST, completions, prompt_messages
from rewardkit.record.schema import Key


class Completions(Tab):
    """The *Completions* tab."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.longest = LONGEST
        self.choice: PromptCompletions | None = None
        self.rows: dict[str, int] = {}
        self.tried: list[TriedFacts] = []

    async def build(self) -> None:
        if not len(self.watched.scores):
            empty_state("No completions yet", "They appear here after the first training step.")
            return
        note = self.watched.run.info.get("note")
        if isinstance(note, str):
            ui.text(one_line(note, 1_000), "notice soft", "div")
        self._build_selected()
        self.frame = ui.box("completions arrows")
        with self.frame:
            self.prompts = PromptList(self.page, self.watched, self._choose_prompt)
            if not self.page.address.get("prompt"):
                await self._find_prompt()
            await self.prompts.build()
            self.main = ui.box("main")
        if self.page.address.get("prompts") == "no":
            self.frame.classes(add="alone")
        with self.main:
            self.prompt_card = PromptCard(self.page, self.watched, self._view)
            self.marked = ui.Phrase(self.page.address.get("mark"), self._unmark)
            self.panes = ui.box("panes")
            self.scores = ui.box("card scores")
            self.advantages = ui.box("card advantages")
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
        for facts in self.tried:
            facts.update()
        before = self._keys()
        self._choose_rows()
        if self._keys() != before:
            await self._show_panes()
        await self.everything.set(self.choice, self._keys())

    async def key(self, key: str, shift: bool) -> None:
        side = "right" if shift else "left"
        if key in ("b", "/"):
            hide = key == "b" and self.page.address.get("prompts") != "no"
            self.frame.classes(**{"add" if hide else "remove": "alone"})
            self.page.note(self.page.address.with_state(prompts="no" if hide else None))
        if self.choice is None:
            return
        if key in ("ArrowLeft", "ArrowRight"):
            await self._move(side, 1 if key == "ArrowRight" else -1)
        elif key in ("ArrowUp", "ArrowDown", "j", "k"):
            prompt = self.prompts.neighbor(1 if key in ("ArrowDown", "j") else -1)
            if prompt is not None:
                await self._choose_prompt(prompt)
                self._reveal()
        elif key == "s":
            keys = self._keys()
            await self._show_other(left=keys["right"], right=keys["left"])
        elif key in KEYS and side in self.bars:
            await self.bars[side].toggle(KEYS[key])
        elif key == "e":
            self.page.shell.run_method("focus", f".pane.{side} .note")
        elif key == "r":
            await self._view("raw" if self.page.address.get("view") == "rendered" else "rendered")
        elif key == "n":
            await self._show_other(left=None, right=None)

    def _reveal(self) -> None:
        """Scroll the list of prompts to the selected prompt."""
        self.page.shell.run_method("reveal", ".prompts tr.selected")

    def _build_selected(self) -> None:
        """Show the selected steps with a link to the *Explain* tab."""
        address, selection = self.page.address, Selection.of(self.page.address)
        if selection is None:
            return

        async def drop() -> None:
            await self.page.go(self.page.address.with_state(steps=None, by=None, before=None))

        with ui.box("picked bar-of-tools"):
            ui.button(f"{spoken(selection.steps)}  ×", drop, "on", "Show the completions of all steps")
            name = columns(self.watched.scores).get(selection.by, "Total")
            ui.link(f"Explain the change of {one_line(name, 40)}", keep_selection(address, address.to("explain")).url)

    async def _labeled(self) -> None:
        """Update all parts of the tab after a label change."""
        self._show_labels()
        await self.prompts.refresh()
        await self.everything.refresh()

    def _show_labels(self) -> None:
        for bar in self.bars.values():
            bar.refresh()
        self.prompts.labels.refresh()

    async def _find_prompt(self) -> None:
        """Select the prompt for the completion in the address or, by default, the first prompt in the list."""
        address, scores = self.page.address, self.watched.scores
        rows = [scores.find(read_key(address.get(side))) for side in SIDES]
        named = [scores.prompt_ids[scores.prompt[row]] for row in rows if row is not None]
        if not named:
            self.prompts.order, _ = await asyncio.to_thread(self.prompts.find)
        prompt = named[0] if named else self.prompts.neighbor(0)
        if prompt is not None:
            self.page.note(address.with_state(prompt=prompt))

    async def _choose_prompt(self, prompt: str) -> None:
        if prompt == self.page.address.get("prompt"):
            return
        self.longest = LONGEST
        self.page.note(self.page.address.with_state(prompt=prompt, left=None, right=None, open=None), step=True)
        await self.prompts.follow()
        await self._show_prompt()

    async def _choose(self, side: str, row: int, *, step: bool = True) -> None:
        """Show a completion on one side. If `step`, the browser's back button returns to the previous completion."""
        name = key_text(self.watched.scores.key(row))
        if name != self.page.address.get(side):
            await self._show_other(step=step, **{side: name})

    async def _show_other(self, *, step: bool = True, **sides: str | None) -> None:
        """Show other completions for the same prompt."""
        self.page.note(self.page.address.with_state(**sides), step=step)
        self._choose_rows()
        self.everything.mark(self._keys())
        await self._show_panes()

    async def _move(self, side: str, by: int) -> None:
        """On one side, show the completion `by` positions further in the same epoch."""
        if self.choice is not None:
            await self._choose(side, self.choice.neighbor(self.rows[side], by), step=False)

    async def _slide(self, side: str, at: int) -> None:
        """On one side, show the best completion in another epoch."""
        if self.choice is not None:
            visit = self.choice.visits[min(at, len(self.choice.visits) - 1)]
            await self._choose(side, self.choice.best(visit), step=False)

    async def _compare(self, side: str, key: str) -> None:
        """On one side, show the completion with this key in the same group."""
        row = self.watched.scores.find(read_key(key))
        if row is not None:
            await self._choose(side, row)

    async def _view(self, view: str) -> None:
        """Show raw or rendered texts."""
        if view != self.page.address.get("view", "raw"):
            self.page.note(self.page.address.with_state(view=None if view == "raw" else view), step=True)
            await self._show_prompt()

    async def _line_up(self, name: str) -> None:
        """Position the groups' dots by another component."""
        self.page.note(self.page.address.with_state(group=name))
        await self._show_advantages()

    def _unmark(self) -> None:
        """Remove an alert's phrase from the address."""
        self.page.note(self.page.address.with_state(mark=None))

    def _keys(self) -> dict[str, str]:
        """Return both completions' keys. Unlike rows, keys remain valid when new data arrives."""
        scores = self.watched.scores if self.choice is None else self.choice.scores
        return {side: key_text(scores.key(row)) for side, row in self.rows.items()}

    def _choose_rows(self) -> None:
        address, scores = self.page.address, self.watched.scores
        rows = scores.rows_of(address.get("prompt"))
        self.choice, self.rows = None, {}
        if len(rows):
            self.choice = choice = PromptCompletions(scores, rows, parse_steps(address.get("steps")))
            self.rows = {"left": choice.left(address.get("left")), "right": choice.right(address.get("right"))}

    async def _show_prompt(self) -> None:
        self._choose_rows()
        prompt = self.page.address.get("prompt")
        if self.choice is None:
            for part in (self.panes, self.scores, self.advantages):
                part.clear()
            self.prompt_card.missing()
        else:
            messages = await asyncio.to_thread(prompt_messages, self.watched.run, prompt)
            if prompt != self.page.address.get("prompt"):
                return  # the user has selected another one in the meantime
            self.prompt_card.show(self.watched.scores.code_of[prompt], roles_of(messages))
            await self._show_panes()
        await self.everything.set(self.choice, self._keys())

    async def _show_panes(self) -> None:
        if self.choice is None:
            return
        request = self._request()
        sides, texts = await asyncio.to_thread(self._read, list(self.rows.values()), self.choice.scores.key)
        if self.choice is None or request != self._request():
            return  # the user has selected another one in the meantime
        # New data may have moved the rows.
        sides = [side._replace(row=row) for side, row in zip(sides, self.rows.values(), strict=True)]
        self.panes.clear()
        self.bars.clear()
        self.tried.clear()
        with self.panes:
            for side_name, side in zip(SIDES, sides, strict=True):
                with ui.box(f"card pane {side_name}"):
                    self._pane(side_name, side, texts, self.choice)
            build_conversations(texts, self._show_all)
        self.scores.clear()
        with self.scores:
            build_scores(*sides)
        await self._show_advantages()

    def _request(self) -> tuple[str, ...]:
        return self.page.address.get("prompt"), self.page.address.get("view"), *self._keys().values()

    def _read(self, rows: list[int], key_of: Callable[[int], Key]) -> tuple[list[Side], Texts]:
        """Read both completions, and prepare their texts."""
        address, keys = self.page.address, list(map(key_of, rows))
        by_key = completions(self.watched.run, address.get("prompt"), list(set(keys)), self.longest)
        sides = [Side(self.watched, row, by_key.get(key, NO_COMPLETION)) for row, key in zip(rows, keys, strict=True)]
        return sides, read_texts(sides, self.longest, render=address.get("view") == "rendered")

    def _pane(self, side_name: str, side: Side, texts: Texts, choice: PromptCompletions) -> None:
        scores, row, word = side.watched.scores, side.row, side.watched.scores.visit_word
        step = f"step {scores.step[row]:,}{'' if scores.training[row] else ' · evaluation'}"
        with ui.box("head"):
            ui.text(f"epoch {scores.visit[row]:,} · {step}" if scores.by_epoch else step, tag="h3")
            if side_name == "right" and not self.page.address.get("right"):
                ui.text("best of these steps" if len(choice.selected) else f"best of the newest {word}", "badge")
            with ui.box("slide"):
                if len(choice.visits) > 1:
                    label = f"{word.capitalize()} of the {side_name} completion"
                    ui.Slider(choice.visit_of(row), len(choice.visits) - 1, partial(self._slide, side_name), label)
        with ui.box("score"):
            build_numbers(side)
            ui.box("space")
            at, count = choice.place(row)
            with ui.box("places"):
                ui.button("‹", lambda: self._move(side_name, -1), "ghost", f"Previous completion of this {word}")
                ui.text(f"{at:,} of {count:,}", "soft", title=f"Completion {at:,} of {count:,} in this {word}")
                ui.button("›", lambda: self._move(side_name, 1), "ghost", f"Next completion of this {word}")
        self.tried.append(build_text(side_name, side, texts, self._show_all))
        if self.watched.labels is not None:
            self.bars[side_name] = LabelBar(self.watched, side_name, row, self._labeled)
        attempt, rank, batch, number = scores.key(row)
        with ui.details("Details", "ids"):
            ui.text("ID ", "soft")
            ui.text(key_text(scores.key(row)), "mono", title="attempt.rank.batch.row")
            ui.text(f" (attempt {attempt}, rank {rank}, batch {batch}, row {number})", "soft")
            ui.text(" Version of the reward ", "soft")
            ui.text(scores.versions[scores.version[row]] or "unknown", "mono")

    async def _show_advantages(self) -> None:
        if self.choice is None:
            return
        request, rows, by = self._request(), list(self.rows.values()), self.page.address.get("group")
        explanations = await asyncio.to_thread(lambda: [explain_advantage(self.watched, row, by=by) for row in rows])
        if self.choice is not None and request == self._request():
            self.advantages.clear()
            with self.advantages:
                self._build_advantages(explanations, by)

    def _build_advantages(self, explanations: list[Explained], by: str) -> None:
        """Show the steps to both advantages, and the groups as dots positioned by component `by` ("" is the total)."""
        components = [name for name in self.watched.components if name in self.watched.scores.components]
        options = {"": "group by total", **{name: f"group by {one_line(name, 40)}" for name in components}}
        with ui.box("table-head"):
            ui.text("How this advantage is computed", tag="h3")
            ui.box("space")
            ui.Choice(by, options, self._line_up, "Sort the group's completions by this number")
        with ui.box("both"):
            for other, side in zip(reversed(SIDES), explanations, strict=True):
                ui.Advantage(side.props, other, partial(self._compare, other))

    async def _show_all(self) -> None:
        self.longest = WHOLE
        await self._show_panes()
