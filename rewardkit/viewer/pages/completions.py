"""Two completions of a prompt side by side, and a table of all completions of the prompt."""

from __future__ import annotations

import asyncio

from nicegui import ui

from rewardkit.viewer import elements as put
from rewardkit.viewer.comparison import Comparison, compare
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.pages.all_completions import AllCompletions
from rewardkit.viewer.pages.component_scores import build_scores, format_number
from rewardkit.viewer.pages.conversations import build_conversations, build_roles, transcripts
from rewardkit.viewer.pages.layout import Page, empty_state
from rewardkit.viewer.pages.prompt_list import PromptList
from rewardkit.viewer.pairs import PromptCompletions
from rewardkit.viewer.reader import LONGEST, Completion, columns_of, completions, prompt_messages
from rewardkit.viewer.scores import key_text, read_key
from rewardkit.viewer.transcript import roles_of
from rewardkit.viewer.watcher import Watched

_NO_COMPLETION = Completion()


class Completions:
    """The tab *Completions*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.longest = LONGEST
        self.open_prompt = False
        self.choice: PromptCompletions | None = None

    async def build(self) -> None:
        if not len(self.watched.scores):
            empty_state("No completions yet", "They appear here after the first training step.")
            return
        note = self.watched.run.info.get("note")
        if isinstance(note, str):
            put.text(one_line(note, 1_000), "notice soft", "div")
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
            self.prompt_card = put.box("card prompt")
            self.panes = put.box("panes")
            self.scores = put.box("card scores")
            self.everything = AllCompletions(self.page, self.watched, self._choose)
            self.everything.build()
        await self._show_prompt()

    async def update(self) -> None:
        if self.choice is None:
            await self.page.show(self.page.address)
            return
        await self.prompts.refresh()
        before = self.left, self.right
        keys = [self.choice.scores.key(row) for row in before]
        self._choose_rows()
        if self.choice is not None and [self.choice.scores.key(row) for row in (self.left, self.right)] != keys:
            await self._show_panes()
        await self._show_everything()

    async def key(self, key: str, shift: bool) -> None:
        if key == "b":
            alone = "no" if self.page.address.get("prompts") != "no" else None
            self.frame.classes(**{"add" if alone else "remove": "alone"})
            self.page.note(self.page.address.with_state(prompts=alone))
        if self.choice is None:
            return
        if key in ("ArrowLeft", "ArrowRight"):
            side = "right" if shift else "left"
            row = self.choice.neighbor(self.right if shift else self.left, 1 if key == "ArrowRight" else -1)
            await self._choose(side, row)
        elif key in ("ArrowUp", "ArrowDown", "j", "k"):
            prompt = self.prompts.neighbor(1 if key in ("ArrowDown", "j") else -1)
            if prompt is not None:
                await self._choose_prompt(prompt)
                self.page.shell.run_method("reveal", ".prompts tr.selected")
        elif key == "s":
            left, right = self._name(self.left), self._name(self.right)
            self.page.note(self.page.address.with_state(left=right, right=left), step=True)
            await self._show_sides()
        elif key == "n":
            self.page.note(self.page.address.with_state(left=None, right=None), step=True)
            await self._show_sides()

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
        self.page.note(self.page.address.with_state(prompt=prompt, left=None, right=None), step=True)
        self.prompts.show()
        await self._show_prompt()

    async def _choose(self, side: str, row: int) -> None:
        """Show a completion on one side."""
        name = self._name(row)
        if name != self.page.address.get(side):
            self.page.note(self.page.address.with_state(**{side: name}))
            await self._show_sides()

    def _name(self, row: int) -> str:
        return key_text(self.watched.scores.key(row))

    def _choose_rows(self) -> None:
        address, scores = self.page.address, self.watched.scores
        rows = scores.rows_of(address.get("prompt"))
        self.choice = PromptCompletions(scores, rows) if len(rows) else None
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
        self.prompt_card.clear()
        if self.choice is None:
            for part in (self.panes, self.scores):
                part.clear()
            with self.prompt_card:
                put.text("This run does not have this prompt", tag="h3")
                put.text("Select a prompt from the list on the left.", "soft", "p")
            self.everything.show(None, [])
            return
        self._build_prompt(roles_of(messages))
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

    def _build_prompt(self, roles: list[tuple[str, str]]) -> None:
        prompts = self.watched.prompts
        code = self.watched.scores.code_of[self.page.address.get("prompt")]
        text = prompts.texts[code]
        self.prompt_card.classes(remove="open")
        with self.prompt_card:
            with put.box("head"):
                put.text(f"Prompt {code}", tag="h3")
                put.text(f"{len(text):,} characters", "soft")
                put.text(prompts.ids[code], "soft mono")
                put.box("space")
                if len(text) > 200 or text.count("\n") > 2 or len(roles) > 1:
                    put.button("Show more / less", self._toggle_prompt, "ghost")
                put.button(
                    "Copy link", lambda: self.page.shell.run_method("copy"), "ghost", "Copy the address of this view"
                )
            if roles:
                build_roles(roles)
            else:
                put.Text([(escape(text[:LONGEST]), False)])
            examples = columns_of(prompts.columns[code])
            if examples:
                with put.box("columns"):
                    for name, value in list(examples.items())[:30]:
                        with put.box(tag="span"):
                            put.text(f"{one_line(name, 40)} ")
                            put.text(one_line(value, 300), tag="b")

    def _toggle_prompt(self) -> None:
        self.open_prompt = not self.open_prompt
        self.prompt_card.classes(**{"add" if self.open_prompt else "remove": "open"})

    async def _show_panes(self) -> None:
        choice = self.choice
        if choice is None:
            return
        left, right = self.left, self.right
        keys = {row: choice.scores.key(row) for row in (left, right)}
        prompt = self.page.address.get("prompt")
        found = await asyncio.to_thread(completions, self.watched.run, prompt, list(set(keys.values())), self.longest)
        if (self.left, self.right, self.choice) != (left, right, choice):
            return  # the user has selected another one in the meantime
        one, other = (found.get(keys[row], _NO_COMPLETION) for row in (left, right))
        said = await asyncio.to_thread(transcripts, self.watched, [(left, one), (right, other)], self.longest)
        compared = None
        if said is None:
            compared = await asyncio.to_thread(compare, escape(one.text), escape(other.text))
        self.panes.clear()
        with self.panes:
            self._pane("left", left, one, compared)
            self._pane("right", right, other, compared)
            if said is not None:
                build_conversations(said, self._show_all)
        self.scores.clear()
        with self.scores:
            build_scores(self.watched, (left, one), (right, other))

    def _pane(self, side: str, row: int, shown: Completion, compared: Comparison | None) -> None:
        """Show a completion; its text only if it is compared here, and not as a conversation below."""
        scores, choice = self.watched.scores, self.choice
        assert choice is not None
        newest = side == "right" and not self.page.address.get("right")
        with put.box(f"card pane {side}"):
            with put.box("head"):
                put.text(self._place(row), tag="h3")
                if newest:
                    put.text(f"best of the newest {scores.visit_word}", "badge")
                if side == "left":
                    self._slider(choice, row)
                else:
                    put.box("space")
                put.button("‹", lambda: self._choose(side, choice.neighbor(row, -1)), "ghost", "Previous completion")
                put.button("›", lambda: self._choose(side, choice.neighbor(row, 1)), "ghost", "Next completion")
            with put.box("score"):
                put.text(format_number(float(scores.total[row])), tag="b", title="Total reward")
                self._fact("advantage", format_number(float(scores.advantage[row]), sign=True))
                self._fact(
                    scores.length_unit,
                    f"{scores.length[row]:,.0f}" if scores.length[row] == scores.length[row] else "–",
                )
                put.text(self._name(row), "mono", title="The ID of this completion: attempt.rank.batch.row")
            if compared is None:
                return
            put.Text(getattr(compared, side), "gone" if side == "left" else "new")
            if not compared.compared:
                put.text("These texts are too long to compare word by word.", "complaint", "div")
            if shown.characters > len(shown.text):
                with put.box("complaint"):
                    put.text(f"Showing the first {len(shown.text):,} of {shown.characters:,} characters. ")
                    put.button("Show all", self._show_all, "small")

    def _slider(self, choice: PromptCompletions, row: int) -> ui.element:
        with put.box("slide") as frame:
            label = f"{self.watched.scores.visit_word.capitalize()} of the left completion"
            if len(choice.visits) > 1:
                put.Slider(
                    choice.visit_of(row),
                    len(choice.visits) - 1,
                    self._slide,
                    label,
                )
        return frame

    def _place(self, row: int) -> str:
        scores = self.watched.scores
        step = f"step {scores.step[row]:,}"
        place = f"epoch {scores.visit[row]:,} · {step}" if scores.by_epoch else step
        return place if scores.training[row] else f"{place} · evaluation"

    def _fact(self, name: str, value: str) -> None:
        with put.box(tag="span"):
            put.text(f"{name} ")
            put.text(value, tag="i")

    async def _slide(self, at: int) -> None:
        if self.choice is not None:
            await self._choose("left", self.choice.best(self.choice.visits[min(at, len(self.choice.visits) - 1)]))

    async def _show_all(self) -> None:
        self.longest = 5_000_000
        await self._show_panes()
