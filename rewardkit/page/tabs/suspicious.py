"""The *Suspicious* tab: alerts with evidence and completions, followed by observations. An alert is not a verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from rewardkit.alerts import Alert
from rewardkit.page import ui
from rewardkit.page.addresses import Address
from rewardkit.page.alerts import Search
from rewardkit.page.escapes import one_line
from rewardkit.page.label_file import Label
from rewardkit.page.scores import Scores, key_text
from rewardkit.page.style import color_of
from rewardkit.page.tabs.labeling import put_label
from rewardkit.page.tabs.layout import Page, Tab, empty_state, later
from rewardkit.page.watcher import Watched

# Turn completions of an alert into cases for `rewardkit check`: one click labels a completion as an exploit.


_EXPLOIT = "exploit"


class AlertCheck:
    """Buttons for labeling an alert's completions, and the command that checks the reward with these labels.

    Args:
        rows: the completions, as rows in the scores in memory.
        note: the note to save with the label.
    """

    def __init__(self, watched: Watched, rows: Sequence[int], note: str) -> None:
        self.watched = watched
        self.rows = rows
        self.note = note
        self.frame = ui.box("checks")
        self._fill()

    async def _toggle(self, row: int) -> None:
        labels = self.watched.labels
        if labels is None:
            return
        new = None if self._is_exploit(row) else Label(_EXPLOIT, self.note)
        if await put_label(labels, row, new):
            self._fill()

    def _is_exploit(self, row: int) -> bool:
        label = None if self.watched.labels is None else self.watched.labels.by_row.get(row)
        return label is not None and label.label == _EXPLOIT

    def _fill(self) -> None:
        self.frame.clear()
        labels = self.watched.labels
        with self.frame:
            if labels is None:
                ui.text("To check the reward with one of these completions, save labels:", "soft")
                ui.Command(f"rewardkit view {self.watched.path} --labels labels.jsonl")
                return
            ui.text("Check this reward with completion", "soft")
            for number, row in enumerate(self.rows, start=1):
                pressed = self._is_exploit(row)
                title = "Remove the label" if pressed else "Label this completion as an exploit, for the next check"
                button = ui.toggle(str(number), pressed, partial(self._toggle, row), "exploit", title)
                step = f"completion {number}, step {self.watched.scores.step[row]:,}"
                button.props["aria-label"] = f"{title}: {step}"
            if any(map(self._is_exploit, self.rows)):
                ui.Command(
                    f"rewardkit check FILE.py:REWARD --data {one_line(str(labels.file.path), 200)} --label is_good"
                )


# Alerts of at least this strength are worth a look: in 40 simulated healthy runs there were none of the kind `gold`,
# and of the runs with few prompts, one in 25 had one of any kind (docs/suspicious.md). Six completions: arbitrary,
# enough to show what an alert is about.
_STRONG = 0.5
_COMPLETIONS = 6
_GAMED = ("foreign", "form", "gold", "proxy", "copies")
"""The kinds of alerts whose completions get undeserved high scores."""
_OBSERVATIONS = (
    "Runs that game their reward do not show these patterns more often than healthy runs, so the patterns have no "
    "strength and are not evidence against the run."
)
_ABOUT = (
    "These are alerts, not verdicts: patterns that also appear when a model games its reward. Healthy runs also have "
    "some alerts. Read the completions before you change a reward. The bar shows how surprising an "
    "alert is, from 0 to 1."
)


class Suspicious(Tab):
    """The *Suspicious* tab."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.search: Search = watched.cached_for_run("alerts", Search)
        self.all = page.address.get("all") == "1"
        self.is_open = page.address.get("observations") == "1"

    async def build(self) -> None:
        ui.text(_ABOUT, "notice soft", "div")
        self.frame = ui.box("alerts")
        if self.search.scores is not None:
            self._fill()
        elif len(self.watched.scores):
            with self.frame:
                ui.text("Checking all scores and a sample of the completions …", "empty", "div")
        if not self.search.is_fresh(self.watched):
            later(self.frame, self._search(self.frame))
        elif self.search.scores is None:
            self._fill()

    async def update(self) -> None:
        if not self.search.is_fresh(self.watched):
            await self._search(self.frame)

    async def _search(self, frame: ui.element) -> None:
        await asyncio.to_thread(self.search.run, self.watched)
        if not frame.is_deleted:
            self._fill()

    def _fill(self) -> None:
        self.frame.clear()
        alerts, scores = self.search.alerts, self.search.scores
        with self.frame:
            if self.search.problem:
                ui.text(f"The search for alerts failed: {self.search.problem}", "notice bad", "div")
                return
            observations = [alert for alert in alerts if alert.is_observation]
            alerts = [alert for alert in alerts if not alert.is_observation]
            if not alerts or scores is None:
                empty_state(
                    "No alerts",
                    "Nothing in the scores or completions looks unusual so far. This is not proof that "
                    "the run is healthy.",
                )
            if self.search.remark:
                ui.text(self.search.remark, "notice soft", "div")
            if scores is None:
                return
            strong = [alert for alert in alerts if alert.strength >= _STRONG]
            for alert in alerts if self.all or not strong else strong:
                self._alert(alert, scores)
            if strong and len(strong) < len(alerts) and not self.all:
                hidden_count = len(alerts) - len(strong)
                ui.button(
                    f"Show {hidden_count} weaker alert{'' if hidden_count == 1 else 's'}", self._show_all, "alone"
                )
            if observations:
                self._observations(observations, scores)

    def _observations(self, observations: Sequence[Alert], scores: Scores) -> None:
        """Show the observations, collapsed until a user expands them, even after new data is shown."""
        count = len(observations)
        title = f"{count} observation{'' if count == 1 else 's'}, which healthy runs show as often"
        with ui.details(title, "observations", self._open) as folded:
            if self.is_open:
                folded.props["open"] = True
            ui.text(_OBSERVATIONS, "soft", "p")
            for observation in observations:
                self._alert(observation, scores)

    def _open(self, is_open: bool) -> None:
        self.is_open = is_open
        self.page.note(self.page.address.with_state(observations="1" if is_open else None))

    def _alert(self, alert: Alert, scores: Scores) -> None:
        with ui.box("card alert"):
            with ui.box("head"):
                if not alert.is_observation:
                    ui.track(0.0, alert.strength, "var(--accent)", f"Strength {alert.strength:.2f} (0 to 1)")
                    ui.text(f"{alert.strength:.2f}", "soft")
                ui.text(one_line(alert.title, 300), tag="h3")
                ui.box("space")
                ui.text(alert.kind, "badge")
            ui.text(one_line(alert.text, 2_000), tag="p")
            if alert.numbers:
                with ui.box(tag="dl"):
                    for name, value in list(alert.numbers.items())[:10]:
                        with ui.box():
                            ui.text(one_line(name.replace("_", " "), 40), tag="dt")
                            ui.text(f"{value:,.4g}", tag="dd")
            self._evidence(alert, scores)

    def _evidence(self, alert: Alert, scores: Scores) -> None:
        """Show links to the graphs and completions that support an alert."""
        run = self.watched.name
        with ui.box("evidence"):
            first, last = alert.steps
            steps = {"steps": f"{max(first - 1, 0)}-{last + 1}"}
            ui.link(f"Graphs of steps {first:,} to {last:,}", Address(run, "graphs", steps).url)
            if alert.component is not None:
                with ui.box(tag="span"):
                    ui.swatch(color_of(alert.component, self.watched.components))
                    ui.text(one_line(alert.component, 60), "soft")
            for row in alert.rows[:_COMPLETIONS]:
                state = {"prompt": scores.prompt_ids[scores.prompt[row]], "right": key_text(scores.key(row))}
                total = scores.total[row]
                label = f"step {scores.step[row]:,}" + (f", total {total:.2f}" if total == total else "")
                if alert.phrase:
                    state["mark"] = alert.phrase
                url = Address(run, "completions", state).url
                ui.link(label, url, title="Compare this completion with another one")
        if alert.rows and alert.kind in _GAMED and alert.strength >= _STRONG:
            rows = self._rows_now(alert.rows[:_COMPLETIONS], scores)
            AlertCheck(self.watched, rows, f"alert {alert.kind}, strength {alert.strength:.2f}: {alert.title}")

    def _rows_now(self, rows: tuple[int, ...], scores: Scores) -> list[int]:
        """Return the positions of `rows` in the newest scores, to which rows may have been added since the search."""
        current_rows = (self.watched.scores.find(scores.key(row)) for row in rows)
        return [row for row in current_rows if row is not None]

    def _show_all(self) -> None:
        self.all = True
        self.page.note(self.page.address.with_state(all="1"))
        self._fill()
