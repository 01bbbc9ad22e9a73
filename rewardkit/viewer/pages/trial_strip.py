"""The line that says how far the trial of a reward is, above every tab of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewardkit.viewer import elements as put
from rewardkit.viewer.escapes import one_line

if TYPE_CHECKING:
    from rewardkit.viewer.trials import Trial


class TrialStrip:
    """Progress and problems of a trial; `run` is the name of the run, if it is not that of the page."""

    def __init__(self, trial: Trial, run: str = "") -> None:
        self.trial = trial
        with put.box("notice soft trial") as strip:
            strip.props["role"] = "status"
            put.text("Trying ")
            put.text(one_line(trial.trials.name, 120), tag="b")
            if run:
                put.text(f" on {one_line(run, 60)}")
            self.progress = put.text("")
            self.notes = put.box()
        self._shown: object = None
        self.update()

    def update(self) -> None:
        """Show how far it is."""
        shown = self.trial.text, self.trial.notes
        if shown == self._shown:
            return
        self._shown = shown
        self.progress.show(f": {self.trial.text}")
        self.notes.clear()
        with self.notes:
            for sentence in self.trial.notes:
                put.text(sentence, "problem" if sentence == self.trial.problem else "", "div")
