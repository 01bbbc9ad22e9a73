"""The selected prompt: its messages by role, its example columns, and where it was seen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import ui

from rewardkit.viewer import elements as put
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.pages.conversations import build_roles, build_text, is_long
from rewardkit.viewer.pages.layout import Page
from rewardkit.viewer.prompts import ranges
from rewardkit.viewer.reader import LONGEST, columns_of
from rewardkit.viewer.rendering import LONGEST as LONGEST_RENDERED
from rewardkit.viewer.watcher import Watched

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
