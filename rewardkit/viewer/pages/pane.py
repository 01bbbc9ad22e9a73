"""One of the two completions that are compared: where it is from, its score, and its text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from rewardkit.viewer import elements as put
from rewardkit.viewer.mathematics import Node
from rewardkit.viewer.pages.component_scores import format_number
from rewardkit.viewer.pairs import PromptCompletions
from rewardkit.viewer.reader import Completion
from rewardkit.viewer.scores import Scores, key_text


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
