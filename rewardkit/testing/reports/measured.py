"""Measurements of a reward on data: its agreement with labels, and its learning signal.

Both score every completion of a file in a child process, so that a reward that hangs does not lose the report.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from rewardkit.core.errors import RewardKitError
from rewardkit.core.tree.conversion import tree_of
from rewardkit.testing.calibration import calibrate
from rewardkit.testing.isolation import Lost, Note, can_isolate, isolated
from rewardkit.testing.labels import labeled
from rewardkit.testing.output import Output, diverted
from rewardkit.testing.reports.report import Report
from rewardkit.testing.reports.sections import Section
from rewardkit.testing.signals import estimate_signal

Result = TypeVar("Result")


class _Unfinished(RewardKitError):
    """Scoring all completions did not finish."""


_LIMIT = 120.0
"""Time limit for all completions of a file, in seconds."""


def measured(report: Report, reward: Any, data: str | Path, *, label: str = "label", seed: int = 0) -> Section:
    """Return the report with measurements on the completions of a file.

    Labels give a calibration, and several completions per prompt give an estimate of the signal. If one of them is
    missing, a remark says why.
    """
    found = labeled(reward, data, label)
    remarks: list[str] = []
    calibration = signal = None
    tree = tree_of(reward, "a reward with labels")
    rows = found.records.records
    unlabeled = [{name: value for name, value in row.items() if name != label} for row in rows]
    missing = ""
    output = Output()
    try:
        if found.has_labels:
            missing = f"agreement with {label!r} not measured"
            calibration = _tried(lambda: calibrate(tree, rows, label=label, seed=seed), missing, remarks, output)
        if found.has_groups:
            missing = "learning signal not estimated"
            signal = _tried(lambda: estimate_signal(tree, unlabeled), missing, remarks, output)
    except _Unfinished as error:  # the second measurement would not finish either
        remarks.append(f"{missing}: {error}")
    if output.printed is not None:
        remarks.append(f"the reward printed {output.printed} while it scored the file, not shown here")
    used = f"{found.used} of " if found.used < found.prompts else ""
    return Section(
        report,
        data=f"{data}: {len(rows):,} rows; laws checked on {used}{found.prompts:,} distinct examples",
        calibration=calibration,
        signal=signal,
        remarks=tuple(remarks),
    )


def _tried(measure: Callable[[], Result], missing: str, remarks: list[str], output: Output) -> Result | None:
    try:
        return _apart(measure, output)
    except _Unfinished:
        raise
    except RewardKitError as error:
        remarks.append(f"{missing}: {error}")
        return None


def _apart(measure: Callable[[], Result], output: Output) -> Result:
    """Call `measure` in a child process, where the system can fork.

    Raises:
        RewardKitError: `measure` raised it, or did not finish.
    """
    if not can_isolate():
        with diverted(output.hear):
            return measure()

    def work(send: Callable[[Any], None]) -> None:
        try:
            send((True, measure()))
        except Exception as error:
            send((False, str(error) if isinstance(error, RewardKitError) else f"{type(error).__name__}: {error}"))

    for said in isolated(work, Note(), patience=1.0, limit=_LIMIT, heard=output.hear):
        if isinstance(said, Lost):
            raise _Unfinished(f"scoring all completions did not finish ({said.reason})")
        ended, value = said
        if ended:
            result: Result = value
            return result
        raise RewardKitError(value)
    raise RewardKitError("scoring all completions returned no result")
