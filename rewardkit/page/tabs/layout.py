"""The frame for all pages: header, tabs, keyboard, and history. The address determines the tab."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from nicegui import background_tasks

from rewardkit.errors import RewardKitError
from rewardkit.page import ui
from rewardkit.page.addresses import TABS, Address
from rewardkit.page.alerts import Search
from rewardkit.page.escapes import one_line
from rewardkit.page.library import Library
from rewardkit.page.selection import keep_selection
from rewardkit.page.watcher import Watched, Watcher

if TYPE_CHECKING:
    from rewardkit.page.trials import Trial


# The warning line above every tab of a run with a strong alert: the reward may be gamed.


_LOG = logging.getLogger("rewardkit")
STRONG = 0.8
"""The minimum strength of an alert that is shown above every tab. In healthy runs, alerts are rarely this strong."""


class Alarm:
    """The warning line, which searches a run for alerts while its page is open and shows the strongest (if strong)."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.search: Search = watched.cached_for_run("alerts", Search)
        self._searching = False
        self.line = ui.Alarm(str(watched.run.info["id"]), Address(watched.name, "suspicious").url)
        self._fill()

    async def update(self) -> None:
        """If there is new data, search again in a thread."""
        if self._searching or self.search.is_fresh(self.watched):
            return
        self._searching = True
        await asyncio.to_thread(self.search.run, self.watched)
        self._searching = False
        if not self.line.is_deleted:
            self._fill()

    def _fill(self) -> None:
        strong = next((alert for alert in self.search.alerts if alert.strength >= STRONG), None)
        self.line.show("" if strong is None else one_line(strong.title, 160))


# The line above every tab of a run with the progress of a trial of a reward.


class TrialStrip:
    """A line with a trial's progress and problems; `run` is the run's name if it is not the page's run."""

    def __init__(self, trial: Trial, run: str = "") -> None:
        self.trial = trial
        with ui.box("notice soft trial") as strip:
            strip.props["role"] = "status"
            ui.text("Trying ")
            ui.text(one_line(trial.trials.name, 120), tag="b")
            if run:
                ui.text(f" on {one_line(run, 60)}")
            self.progress = ui.text("")
            self.notes = ui.box()
        self._shown: object = None
        self.update()

    def update(self) -> None:
        """Show the progress."""
        state = self.trial.text, self.trial.notes
        if state == self._shown:
            return
        self._shown = state
        self.progress.show(f": {self.trial.text}")
        self.notes.clear()
        with self.notes:
            for sentence in self.trial.notes:
                ui.text(sentence, "problem" if sentence == self.trial.problem else "", "div")


_SECONDS = 1.0
"""The seconds between page updates. The value is arbitrary: training steps take longer."""
_ABOUT = {
    "graphs": "Rewards, weights, lengths, and the trainer's metrics by step",
    "completions": "Prompts, and their completions side by side",
    "logs": "The output and errors of reward functions, and their running times",
    "suspicious": "Patterns that also appear when a model games its reward",
    "compare": "This run compared with another one, prompt by prompt",
    "explain": "The completions that made a line rise or fall",
    "versions": "The versions of the reward, and the changes between them",
}
"""Each tab's tooltip."""
_KEYS = {
    "?": "show this help",
    "1 2 3 4 5 6 7": "go to graphs, completions, reward logs, suspicious, compare, explain, versions",
    "0": "go to the list of runs",
    "/": "search",
    "j k": "next or previous prompt (also ↓ ↑)",
    "← →": "previous, next completion on the left (Shift: on the right)",
    "n": "reset both sides: best of the first left, best of the newest right",
    "s": "swap left and right",
    "r": "show completions as plain text or rendered",
    "b": "show or hide the prompts",
    "y w x": "label the completion on the left as good, bad, or exploit (Shift: on the right)",
    "e": "add a note to the label (Shift: on the right)",
    "g": "zoom out to all steps",
    "d": "switch between dark and light",
    "Esc": "leave a field, close this help",
}


class Tab(ABC):
    """The content of a page below the header."""

    @abstractmethod
    async def build(self) -> None:
        """Create the elements."""

    @abstractmethod
    async def update(self) -> None:
        """Show new data from the run."""

    async def key(self, key: str, shift: bool) -> None:
        """Handle a key press that the frame does not handle."""
        return


class Page:
    """A page in a browser tab. `open_tab` creates the view for the current address."""

    def __init__(
        self,
        library: Library,
        watcher: Watcher,
        address: Address,
        open_tab: Callable[[Page, Watched | None], Tab],
    ) -> None:
        self.library = library
        self.watcher = watcher
        self.address = address
        self._open_tab = open_tab
        self.tab: Tab | None = None
        self.strip: TrialStrip | None = None
        self.alarm: Alarm | None = None
        self._left: dict[tuple[str | None, str], Address] = {}
        self._going = 0
        self.also: list[Watched] = []
        """The other runs that the tab shows."""
        self._shown: list[tuple[int, ...]] = []
        self._built = self._updating = False

    async def build(self) -> None:
        """Create the frame and show the first view."""
        self.shell = ui.Shell()
        self.shell.on("key", lambda event: self._key(event.args))
        self.shell.on("go", lambda event: self.go(Address.of_url(str(event.args))))
        self.shell.on("went", lambda event: self.show(Address.of_url(str(event.args))))
        ui.query("html").props("lang=en")
        self.header = ui.box("top", "header")
        self.content = ui.box("page")  # NiceGUI puts a <main> around it
        self._build_help()
        await self.show(self.address)
        ui.timer(_SECONDS, self._update, immediate=False)

    async def go(self, address: Address) -> None:
        """Open another view. The browser's back button returns to the current view."""
        self.shell.run_method("push", address.url)
        await self.show(address)
        self.shell.run_method("top")

    def note(self, address: Address, *, step: bool = False) -> None:
        """Update the current view's address. If `step`, the browser's back button undoes the change."""
        self.address = address
        self._left[address.run, address.tab] = address
        self.shell.run_method("push" if step else "replace", address.url)

    def to(self, tab: str) -> Address:
        """Return the address of another tab for this run, as the user left it, with the currently selected steps."""
        return keep_selection(self.address, self._left.get((self.address.run, tab), self.address.to(tab)))

    async def show(self, address: Address, *, read: bool = False) -> None:
        """Show the view at `address`; if the run must first be read from disk, show a "reading" message before."""
        self.address = self._left[address.run, address.tab] = address
        self._going += 1
        request_number, self._built = self._going, False
        if address.run is not None and self.watcher.opened(address.run) is None and not read:
            self._clear(None)
            with self.content:
                ui.text("Reading the run …", "empty", "div")
            later(self.content, self.show(address, read=True))
            return
        try:
            watched = None if address.run is None else await asyncio.to_thread(self.watcher.get, address.run)
        except Exception as error:  # without this, the page would say "Reading the run …" forever
            message = str(error)
            if not isinstance(error, RewardKitError):
                _LOG.exception("Cannot show run %s", address.run)
                message = f"{type(error).__name__}: {error}"
            self._clear(None)
            with self.content:
                empty_state("This run cannot be shown", message, back=True)
            return
        if request_number != self._going:
            return
        self._clear(watched)
        self.also, stamp = [], (0, 0, 0) if watched is None else watched.stamp
        tab = self.tab = self._open_tab(self, watched)
        with self.content:
            await tab.build()
        if request_number != self._going:
            return
        self._built = True  # an earlier update would find an unfinished tab
        if self.alarm is not None:
            later(self.content, self.alarm.update())
        self._shown = [stamp, *(run.stamp for run in self.also)]
        self.shell.run_method("title", f"{one_line(address.run or 'Runs', 60)} · rewardkit")

    def _clear(self, watched: Watched | None) -> None:
        self.tab = None
        self.strip = self.alarm = None
        self.content.clear()
        self.header.clear()
        with self.header:
            self._build_header()
            if watched is not None:
                self._set_badge(watched)
        with self.content:
            if self.address.run is not None:
                ui.text(TABS[self.address.tab], "unseen", "h2")
            if watched is not None and watched.problem:
                ui.text(watched.problem, "notice warn", "div")
            if watched is not None and watched.trial is not None:
                self.strip = TrialStrip(watched.trial)
            if watched is not None:
                self.alarm = Alarm(watched)

    def _build_header(self) -> None:
        runs = self._left.get((None, "runs"), Address())
        ui.link("rewardkit", runs.url, "brand", "All runs")
        self.badge: ui.Label | None = None
        if self.address.run is None:
            ui.text("Runs", "unseen", "h1")
        else:
            ui.text("/", "slash")
            ui.text(one_line(self.address.run, 60), "run", "h1")
            self.badge = ui.text("…", "badge")
            with ui.box("tabs", "nav"):
                for tab, title in TABS.items():
                    class_name = "here" if tab == self.address.tab else ""
                    ui.link(title, self.to(tab).url, class_name, _ABOUT[tab])
        ui.box("space")
        ui.button("", lambda: self.shell.run_method("toggle"), "ghost theme", "Switch between dark and light (d)")
        ui.button("?", self.help.open, "ghost", "Keyboard shortcuts (?)")

    def _set_badge(self, watched: Watched) -> None:
        if self.badge is not None:
            scores = watched.scores
            first = " (counted from 0)" if len(scores) and not scores.step[0] else ""
            last = f" · step {int(scores.step[-1]):,}{first}" if len(scores) else ""
            self.badge.show(f"{watched.state}{last}")
            self.badge.classes(replace=f"badge {watched.state}")

    def _build_help(self) -> None:
        self.help = ui.dialog().props('aria-label="Keyboard shortcuts"')
        with self.help, ui.box("help"):
            ui.text("Keyboard shortcuts", tag="h2")
            with ui.box(tag="dl"):
                for keys, meaning in _KEYS.items():
                    with ui.box(tag="dt"):
                        for key in keys.split(" "):
                            ui.text(key, tag="kbd")
                    ui.text(meaning, tag="dd")

    async def _key(self, event: dict[str, object]) -> None:
        key, shift = str(event.get("key")), bool(event.get("shift"))
        if key == "?":
            self.help.value = not self.help.value
        elif key == "0":
            await self.go(self._left.get((None, "runs"), Address()))
        elif key in "1234567" and self.address.run is not None:
            await self.go(self.to(list(TABS)[int(key) - 1]))
        elif self.tab is not None:
            with self.content:
                await self.tab.key(key, shift)

    async def _update(self) -> None:
        """Update the tab if there is new data."""
        if self._updating or self.tab is None or not self._built:
            return
        self._updating = True
        try:
            if self.address.run is None:
                with self.content:
                    await self.tab.update()
                return
            watched = await asyncio.to_thread(self.watcher.get, self.address.run)
            for other in self.also:
                other.asked = watched.asked
            if self.strip is not None:
                self.strip.update()
            stamps: list[tuple[int, ...]] = [run.stamp for run in (watched, *self.also)]
            if stamps != self._shown and self.tab is not None:
                self._shown = stamps
                self._set_badge(watched)
                with self.content:
                    await self.tab.update()
            if self.alarm is not None:
                await self.alarm.update()
        except RewardKitError:
            return
        finally:
            self._updating = False


def empty_state(title: str, message: str, example: str = "", *, back: bool = False) -> None:
    """Show a message with advice instead of missing content."""
    with ui.box("empty"):
        ui.text(title, tag="h2")
        ui.text(message, tag="p")
        if example:
            ui.text(example, tag="pre")
        if back:
            with ui.box(tag="p"):
                ui.link("All runs", "/")


def later(frame: ui.element, work: Coroutine[Any, Any, None]) -> None:
    """Run `work` after the page has been sent, in the context of `frame`."""
    background_tasks.create(_within(frame, work))


async def _within(frame: ui.element, work: Coroutine[Any, Any, None]) -> None:
    try:
        with frame:
            await work
    except RuntimeError:
        if not frame.is_deleted:  # otherwise the user has closed the browser tab
            raise
