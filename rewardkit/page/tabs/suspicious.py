"""Leads worth checking, each with its evidence and completions, then facts. A lead is not a verdict."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from nicegui import ui

from rewardkit.alerts import Lead
from rewardkit.errors import RewardKitError
from rewardkit.page import elements as put
from rewardkit.page.addresses import Address
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.label_file import Label
from rewardkit.page.leads import Search
from rewardkit.page.scores import Scores, key_text
from rewardkit.page.style import color_of
from rewardkit.page.tabs.layout import Page, empty_state, later
from rewardkit.page.watcher import Watched

# A completion of a lead as a case for the check of the reward: one click labels it as an exploit.


_EXPLOIT = "exploit"


class LeadCheck:
    """Buttons that label the completions of a lead, and the command that checks the reward with them.

    Args:
        rows: the completions, as rows of the scores in memory.
        note: what is noted about the label.
    """

    def __init__(self, watched: Watched, rows: Sequence[int], note: str) -> None:
        self.watched = watched
        self.rows = rows
        self.note = note
        self.frame = put.box("checks")
        self._fill()

    async def _toggle(self, row: int) -> None:
        labels = self.watched.labels
        if labels is None:
            return
        new = None if self._is_exploit(row) else Label(_EXPLOIT, self.note)
        try:
            await asyncio.to_thread(labels.put, row, new)
        except RewardKitError as error:
            ui.notify(escape(str(error)), type="negative")
            return
        self._fill()

    def _is_exploit(self, row: int) -> bool:
        label = None if self.watched.labels is None else self.watched.labels.by_row.get(row)
        return label is not None and label.label == _EXPLOIT

    def _fill(self) -> None:
        self.frame.clear()
        labels = self.watched.labels
        with self.frame:
            if labels is None:
                put.text("To check the reward with one of these completions, keep labels:", "soft")
                put.Command(f"rewardkit view {self.watched.path} --labels labels.jsonl")
                return
            put.text("Check this reward with completion", "soft")
            for number, row in enumerate(self.rows, start=1):
                pressed = self._is_exploit(row)
                title = "Remove the label" if pressed else "Label this completion as an exploit, for the next check"
                button = put.button(
                    str(number), lambda row=row: self._toggle(row), f"small exploit{' on' * pressed}", title
                )
                step = f"completion {number}, step {self.watched.scores.step[row]:,}"
                button.props.update({"aria-pressed": "true" if pressed else "false", "aria-label": f"{title}: {step}"})
            if any(map(self._is_exploit, self.rows)):
                put.Command(
                    f"rewardkit check FILE.py:REWARD --data {one_line(str(labels.file.path), 200)} --label is_good"
                )


_LOG = logging.getLogger("rewardkit")
_STRONG = 0.5
_COMPLETIONS = 6
_GAMED = ("foreign", "form", "gold", "proxy", "copies")
"""Kinds of leads whose completions are paid for too little."""
_FACTS = (
    "Healthy runs show these as often as runs that game their reward, so they have no strength and are no reason to "
    "doubt the run."
)
_ABOUT = (
    "These are leads, not verdicts: patterns that also appear if a model games its reward. Healthy runs have some, "
    "too. Read the completions before you change a reward. The bar shows how surprising a lead is, from 0 to 1."
)


class Suspicious:
    """The tab *Suspicious*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.search: Search = watched.cached_for_run("leads", Search)
        self.all = page.address.get("all") == "1"

    async def build(self) -> None:
        put.text(_ABOUT, "notice soft", "div")
        self.frame = put.box("leads")
        if self.search.scores is not None:
            self._fill()
        elif len(self.watched.scores):
            with self.frame:
                put.text("Checking all scores and a sample of the texts …", "empty", "div")
        if not self.search.is_fresh(self.watched):
            later(self.frame, self._search(self.frame))
        elif self.search.scores is None:
            self._fill()

    async def update(self) -> None:
        if not self.search.is_fresh(self.watched):
            await self._search(self.frame)

    async def key(self, key: str, shift: bool) -> None:
        return None

    async def _search(self, frame: ui.element) -> None:
        try:
            await asyncio.to_thread(self.search.run, self.watched)
        except Exception as error:
            _LOG.warning("the search for leads failed", exc_info=True)
            frame.clear()
            with frame:
                put.text(f"The search for leads failed: {type(error).__name__}: {error}", "notice bad", "div")
            return
        if not frame.is_deleted:
            self._fill()

    def _fill(self) -> None:
        self.frame.clear()
        leads, scores = self.search.leads, self.search.scores
        with self.frame:
            facts = [lead for lead in leads if lead.is_fact]
            leads = [lead for lead in leads if not lead.is_fact]
            if not leads or scores is None:
                empty_state(
                    "No leads",
                    "Nothing in the scores or texts looks unusual so far. This does not prove that all is well.",
                )
            if scores is None:
                return
            strong = [lead for lead in leads if lead.strength >= _STRONG]
            for lead in leads if self.all or not strong else strong:
                self._lead(lead, scores)
            if strong and len(strong) < len(leads) and not self.all:
                left = len(leads) - len(strong)
                put.button(f"Show {left} weaker lead{'' if left == 1 else 's'}", self._show_all, "alone")
            if facts:
                put.text("Facts about this run", tag="h2")
                put.text(_FACTS, "soft", "p")
            for fact in facts:
                self._lead(fact, scores)

    def _lead(self, lead: Lead, scores: Scores) -> None:
        with put.box("card lead"):
            with put.box("head"):
                if not lead.is_fact:
                    with put.box("track", "span", f"Strength {lead.strength:.2f} (0 to 1)"):
                        put.box("fill", "span").style(
                            f"left: 0; width: {100 * lead.strength:.0f}%; background: var(--accent)"
                        )
                    put.text(f"{lead.strength:.2f}", "soft")
                put.text(one_line(lead.title, 300), tag="h3")
                put.box("space")
                put.text(lead.kind, "badge")
            put.text(one_line(lead.text, 2_000), tag="p")
            if lead.numbers:
                with put.box(tag="dl"):
                    for name, value in list(lead.numbers.items())[:10]:
                        with put.box():
                            put.text(one_line(name.replace("_", " "), 40), tag="dt")
                            put.text(f"{value:,.4g}", tag="dd")
            self._evidence(lead, scores)

    def _evidence(self, lead: Lead, scores: Scores) -> None:
        """Link to the graphs and completions that show a lead."""
        run = self.watched.name
        with put.box("evidence"):
            first, last = lead.steps
            steps = {"steps": f"{max(first - 1, 0)}-{last + 1}"}
            put.link(f"Graphs of steps {first:,} to {last:,}", Address(run, "graphs", steps).url)
            if lead.component is not None:
                with put.box(tag="span"):
                    put.box("swatch", "i").style(f"background: {color_of(lead.component, self.watched.components)}")
                    put.text(one_line(lead.component, 60), "soft")
            for row in lead.rows[:_COMPLETIONS]:
                state = {"prompt": scores.prompt_ids[scores.prompt[row]], "right": key_text(scores.key(row))}
                total = scores.total[row]
                place = f"step {scores.step[row]:,}" + (f", total {total:.2f}" if total == total else "")
                if lead.phrase:
                    state["mark"] = lead.phrase
                url = Address(run, "completions", state).url
                put.link(place, url, title="Compare this completion with another one")
        if lead.rows and lead.kind in _GAMED and lead.strength >= _STRONG:
            rows = self._rows_now(lead.rows[:_COMPLETIONS], scores)
            LeadCheck(self.watched, rows, f"lead {lead.kind}, strength {lead.strength:.2f}: {lead.title}")

    def _rows_now(self, rows: tuple[int, ...], scores: Scores) -> list[int]:
        """Return the rows in the newest scores: there may be more than those that were searched."""
        found = (self.watched.scores.find(scores.key(row)) for row in rows)
        return [row for row in found if row is not None]

    def _show_all(self) -> None:
        self.all = True
        self.page.note(self.page.address.with_state(all="1"))
        self._fill()
