"""The steps and the line that a user selects in a graph and that filter several tabs: ``steps=601-650&by=judge``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rewardkit.analyze.contributions import Change, change
from rewardkit.page.addresses import Address
from rewardkit.page.scores import Floats, Integers, Scores

Steps = tuple[int, int]
"""The first and the last step, both inclusive."""

_SHARED = ("explain", "completions", "logs")
_STATE = ("steps", "by", "before")


def parse_steps(text: str) -> Steps | None:
    """Parse steps such as ``"601-650"``; return None if the text is not a range."""
    low, _, high = text.partition("-")
    # Arbitrary limit, two numbers of eleven digits: int() takes quadratic time.
    if not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit() and len(text) < 24):
        return None
    return (int(low), int(high)) if int(low) <= int(high) else None


def format_steps(steps: Steps) -> str:
    """Format steps so that `parse_steps` can parse them."""
    return f"{steps[0]}-{steps[1]}"


def spoken(steps: Steps) -> str:
    """Return ``"steps 601 to 650"`` or ``"step 601"``."""
    return f"step {steps[0]:,}" if steps[0] == steps[1] else f"steps {steps[0]:,} to {steps[1]:,}"


@dataclass(frozen=True)
class Selection:
    """A range of training steps, the range to compare it with, and one of the completions' columns.

    Attributes:
        by: ``"total"``, ``"length"``, a component, or a term such as ``"terms/answer"``.
    """

    steps: Steps
    before: Steps
    by: str = "total"

    @classmethod
    def of(cls, address: Address) -> Selection | None:
        """Read the selection from an address.

        By default, steps are compared with the same number of preceding steps.
        """
        steps = parse_steps(address.get("steps"))
        if steps is None:
            return None
        return cls(steps, parse_steps(address.get("before")) or preceding(steps), address.get("by", "total"))

    @classmethod
    def latest(cls, scores: Scores, by: str = "total") -> Selection:
        """Return a selection of the last tenth of training."""
        steps = scores.step[scores.training]
        low, high = (int(steps[0]), int(steps[-1])) if len(steps) else (0, 0)
        # Arbitrary: any share that leaves the same number of steps before it for comparison.
        chosen = high - max((high - low) // 10, 0), high
        return cls(chosen, preceding(chosen), by)

    def changes(self, scores: Scores) -> tuple[Integers, Change]:
        """Return the rows in the selected steps (n,), and each row's contribution to the change."""
        values = measured(scores, self.by)
        now, before = rows_in(scores, self.steps), rows_in(scores, self.before)
        return now, change(values[now], scores.prompt[now], values[before], scores.prompt[before])


def preceding(steps: Steps) -> Steps:
    """Return the range of the same length immediately before `steps`."""
    return steps[0] - (steps[1] - steps[0] + 1), steps[0] - 1


def rows_in(scores: Scores, steps: Steps) -> Integers:
    """Return the rows with the training completions in `steps`."""
    low, high = np.searchsorted(scores.step, [steps[0], steps[1] + 1])
    return np.asarray(np.flatnonzero(scores.training[low:high]) + low, dtype=np.int64)


def in_steps(prompts: Integers, scores: Scores, address: Address) -> Integers:
    """Return the prompts that have a completion in the selected steps; all prompts if no steps are selected."""
    selection = Selection.of(address)
    if selection is None:
        return prompts
    has_completion = np.zeros(len(scores.prompt_ids), dtype=np.bool_)
    has_completion[scores.prompt[rows_in(scores, selection.steps)]] = True
    return prompts[has_completion[prompts]]


def component(by: str, scores: Scores) -> str:
    """Return the component that a column belongs to; ``""`` if there is none."""
    name = by.removeprefix("terms/")
    return name if name in scores.components and by not in ("total", "length") else ""


def columns(scores: Scores) -> dict[str, str]:
    """Return the columns that a selection can use: name -> text to display."""
    terms = {f"terms/{name}": f"{name} (weighted)" for name in scores.terms}
    return {"total": "Total", **{name: name for name in scores.components}, **terms, "length": "Length"}


def measured(scores: Scores, by: str) -> Floats:
    """Return one of the completions' columns (n,); the total if the column does not exist."""
    if by == "length":
        return scores.length
    score_columns: Mapping[str, Floats] = scores.components
    if by.startswith("terms/") and by[6:] in scores.terms:
        score_columns, by = scores.terms, by[6:]
    return scores.total if by == "total" else score_columns.get(by, scores.total)


def keep_selection(here: Address, destination: Address) -> Address:
    """Return `destination` with the selection in `here` if both tabs show the selection."""
    if here.tab not in _SHARED or destination.tab not in _SHARED:
        return destination
    return destination.with_state(**{name: here.get(name) for name in _STATE})
