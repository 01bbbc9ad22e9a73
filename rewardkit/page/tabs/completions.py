"""Two completions of a prompt side by side, and a table of all completions of the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nicegui import ui

from rewardkit.page import elements as put
from rewardkit.page.advantage import Explained, explained
from rewardkit.page.comparison import Comparison, compare
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.pairs import PromptCompletions
from rewardkit.page.prompts import ranges
from rewardkit.page.reader import LONGEST, Completion, columns_of, completions, prompt_messages
from rewardkit.page.rendering import LONGEST as LONGEST_RENDERED, Node, rendered
from rewardkit.page.scores import Key, Scores, key_text, read_key
from rewardkit.page.selection import Selection, carried, columns, parse_steps, spoken
from rewardkit.page.tabs.all_completions import AllCompletions
from rewardkit.page.tabs.component_scores import TriedFacts, build_scores, format_number
from rewardkit.page.tabs.conversations import Pair, build_conversations, build_roles, build_text, is_long, transcripts
from rewardkit.page.tabs.labeling import KEYS, LabelBar
from rewardkit.page.tabs.layout import Page, empty_state
from rewardkit.page.tabs.prompt_list import PromptList
from rewardkit.page.transcript import as_props, roles_of
from rewardkit.page.watcher import Watched

# Why two completions have their advantages: the steps to each number, and the completions of their groups as dots.


_SIDES = ("left", "right")


def build_advantages(
    watched: Watched,
    shown: Sequence[Explained],
    by: str,
    lined_up: Callable[[str], Awaitable[None]],
    compare: Callable[[str, str], Awaitable[None]],
) -> None:
    """Show the steps to the advantages of the left and the right completion.

    Args:
        by: the component by which groups are lined up; empty for the total.
        lined_up: called with another component.
        compare: called with the side on which a completion of the group is to be shown, and its key.
    """
    with put.box("table-head"):
        put.text("Why this advantage", tag="h3")
        put.box("space")
        names = [name for name in watched.components if name in watched.scores.components]
        put.Choice(
            by,
            {"": "group by total", **{name: f"group by {one_line(name, 40)}" for name in names}},
            lined_up,
            "Line up the completions of the group by this number",
        )
    with put.box("both"):
        for other, one in zip(reversed(_SIDES), shown, strict=True):
            put.Advantage(one.props, other, lambda key, side=other: compare(side, key))


# One of the two completions that are compared: where it is from, its score, and its text.


class Pane:
    """A side of the comparison.

    Args:
        side: ``"left"`` or ``"right"``.
        newest: whether it was not chosen, but is the best of the newest epoch, or of the selected steps.
        step: called with -1 or 1 for the previous or next completion of the same epoch.
        slide: called with the index of another epoch.
    """

    def __init__(
        self,
        side: str,
        choice: PromptCompletions,
        row: int,
        *,
        newest: bool,
        step: Callable[[int], Awaitable[None]],
        slide: Callable[[int], Awaitable[None]],
    ) -> None:
        self.side = side
        self.choice = choice
        self.row = row
        self.scores: Scores = choice.scores
        self._head(newest, slide)
        self._numbers(step)

    def text(self, pieces: Sequence[tuple[str, bool]], note: str) -> None:
        """Show the text, with the pieces that changed marked, and a note below it."""
        put.Text(pieces, "gone" if self.side == "left" else "new", together="panes")
        if note:
            put.text(note, "complaint soft", "div")

    def rendered(self, nodes: Sequence[Node]) -> None:
        """Show the text as Markdown."""
        put.Rendered(nodes, together="panes")

    def cut(self, shown: Completion, show_all: Callable[[], Awaitable[None]]) -> None:
        """Say that the text is not shown to its end."""
        if shown.characters > len(shown.text):
            with put.box("complaint"):
                put.text(f"Showing the first {len(shown.text):,} of {shown.characters:,} characters. ")
                put.button("Show all", show_all, "small")

    def _head(self, newest: bool, slide: Callable[[int], Awaitable[None]]) -> None:
        word = self.scores.visit_word
        with put.box("head"):
            put.text(self._place(), tag="h3")
            if newest:
                put.text("best of these steps" if len(self.choice.selected) else f"best of the newest {word}", "badge")
            with put.box("slide"):
                if len(self.choice.visits) > 1:
                    label = f"{word.capitalize()} of the {self.side} completion"
                    put.Slider(self.choice.visit_of(self.row), len(self.choice.visits) - 1, slide, label)

    def _numbers(self, step: Callable[[int], Awaitable[None]]) -> None:
        scores, row = self.scores, self.row
        length = scores.length[row]
        with put.box("score"):
            put.text(format_number(float(scores.total[row])), tag="b", title="Total reward")
            for name, value in (
                ("advantage", format_number(float(scores.advantage[row]), sign=True)),
                (scores.length_unit, f"{length:,.0f}" if length == length else "–"),
            ):
                with put.box(tag="span"):
                    put.text(f"{name} ")
                    put.text(value, tag="i")
            put.box("space")
            word, (place, count) = scores.visit_word, self.choice.place(row)
            with put.box("places"):
                put.button("‹", lambda: step(-1), "ghost", f"Previous completion of this {word}")
                put.text(f"{place:,} of {count:,}", "soft", title=f"Completion {place:,} of {count:,} in this {word}")
                put.button("›", lambda: step(1), "ghost", f"Next completion of this {word}")

    def details(self) -> None:
        """Show the IDs of the completion, folded."""
        scores, row = self.scores, self.row
        attempt, rank, batch, place = scores.key(row)
        version = scores.versions[scores.version[row]] if len(scores.versions) else ""
        with put.details("Details", "ids"):
            put.text("ID ", "soft")
            put.text(key_text(scores.key(row)), "mono", title="attempt.rank.batch.row")
            put.text(f" (attempt {attempt}, rank {rank}, batch {batch}, row {place})", "soft")
            put.text(" Version of the reward ", "soft")
            put.text(version or "unknown", "mono")

    def _place(self) -> str:
        scores, row = self.scores, self.row
        step = f"step {scores.step[row]:,}"
        place = f"epoch {scores.visit[row]:,} · {step}" if scores.by_epoch else step
        return place if scores.training[row] else f"{place} · evaluation"


# The selected prompt: its messages by role, its example columns, and where it was seen.


VIEWS = {"raw": "Raw", "rendered": "Rendered"}
_COLUMNS = 30


class PromptCard:
    """The card above the two completions. `viewed` is called with a view: raw or rendered."""

    def __init__(self, page: Page, watched: Watched, viewed: Callable[[str], Awaitable[None]]) -> None:
        self.page = page
        self.watched = watched
        self.viewed = viewed
        self.open = False
        self.card: ui.element = put.box("card prompt")

    def missing(self) -> None:
        """Say that the run does not have the prompt."""
        self.card.clear()
        with self.card:
            put.text("This run does not have this prompt", tag="h3")
            put.text("Select a prompt from the list on the left.", "soft", "p")

    def show(self, prompt: str, roles: Sequence[tuple[str, str]]) -> None:
        """Show a prompt, with its messages as (role, text) if it has any."""
        code = self.watched.scores.code_of[prompt]
        text = self.watched.prompts.texts[code]
        size = sum(len(said) for _, said in roles) or len(text)
        rendered = self.page.address.get("view") == "rendered" and size <= LONGEST_RENDERED
        self.card.clear()
        with self.card:
            self._head(code, text, foldable=is_long(text, roles))
            if roles:
                build_roles(roles, render=rendered)
            else:
                build_text(escape(text[:LONGEST]), render=rendered)
            self._columns(code)
            with put.details("Details", "ids"):
                put.text("Prompt ID ", "soft")
                put.text(self.watched.prompts.ids[code], "mono")

    def _head(self, code: int, text: str, *, foldable: bool) -> None:
        scores, prompts = self.watched.scores, self.watched.prompts
        with put.box("head"):
            put.text(f"Prompt {code}", tag="h3")
            put.text(f"{len(text):,} characters", "soft")
            seen = ranges(scores.visit[scores.rows_of(prompts.ids[code])])
            word = scores.visit_word if seen.isdigit() else f"{scores.visit_word}s"
            put.text(one_line(f"in {word} {seen}", 60), "soft", title=one_line(f"Seen in {word} {seen}", 1_000))
            tokens = prompts.numbers["tokens"][code]
            if tokens == tokens:
                put.text(f"{tokens:,.0f} tokens", "soft", title="As the trainer tokenizes it")
            put.box("space")
            if foldable:
                put.button("Show more / less", self._toggle, "ghost")
            put.button(
                "Copy link", lambda: self.page.shell.run_method("copy"), "ghost", "Copy the address of this view"
            )
            put.choices(self.page.address.get("view", "raw"), VIEWS, self.viewed, "Show texts as they are, or rendered")

    def _columns(self, code: int) -> None:
        examples = columns_of(self.watched.prompts.columns[code])
        if examples:
            with put.box("columns"):
                for name, value in list(examples.items())[:_COLUMNS]:
                    with put.box(tag="span"):
                        put.text(f"{one_line(name, 40)} ")
                        put.text(one_line(value, 300), tag="b")

    def _toggle(self) -> None:
        self.open = not self.open
        self.card.classes(**{"add" if self.open else "remove": "open"})


# The steps that are selected, as a chip that removes them. Several tabs show only the completions of these steps.


def build_selected(page: Page, watched: Watched) -> None:
    """Show which steps are selected, with a way back to what changed in them. Nothing if none are."""
    selection = Selection.of(page.address)
    if selection is None:
        return

    async def drop() -> None:
        await page.go(page.address.with_state(steps=None, by=None, before=None))

    with put.box("picked bar-of-tools"):
        put.button(f"{spoken(selection.steps)}  ×", drop, "on", "Show the completions of all steps")
        name = columns(watched.scores).get(selection.by, "Total")
        changes = carried(page.address, page.address.to("explain"))
        put.link(f"What changed {one_line(name, 40)}", changes.url)


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
