"""Test the laws of ``rewardkit check`` on a few rows, in a few seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rewardkit.core.errors import RewardKitError
from rewardkit.core.tree.reward import Reward
from rewardkit.testing.check import check_reward
from rewardkit.testing.findings import Finding as Broken
from rewardkit.testing.reports.report import Report
from rewardkit_runner.preflight.findings import Finding
from rewardkit_runner.preflight.golds import Form
from rewardkit_runner.preflight.table import Table

ROWS = 3
STOPPING = ("total", "finite", "bounded", "inputs_not_mutated", "time_linear", "memory_bounded")
"""Laws that a training depends on: without them it raises, hangs, or learns from NaN."""
_SHOWN = 5
_LONGEST = 300
"""Characters of a line that reproduces a fault; a longer one is left to `rewardkit check`."""


def laws(
    reward: Any, tree: Reward, table: Table, constants: Mapping[str, Any], best: Form | None, budget: float, seed: int
) -> Iterator[Finding]:
    """Find broken laws.

    Args:
        constants: of the reward's module: ``examples``, ``good``, ``bad`` and so on.
        best: the format of a right completion, if the golds showed it.
        budget: in seconds.
    """
    said = {name: value for name, value in constants.items() if name != "laws"}
    if "examples" not in said:
        said |= _from(table, best)
    without = [*said.pop("without", ())]
    try:
        report = check_reward(
            reward, **said, without=without, laws=constants.get("laws"), exploits=False, budget=budget, seed=seed
        )
    except RewardKitError as error:
        yield Finding("error", "laws", str(error), "fix EXAMPLES, GOOD and BAD next to the reward")
        return
    yield Finding("fact", "laws", _summary(report, "examples" in constants))
    slow = next((one for one in report.merged if one.law == "time_linear"), None)
    if slow is not None and slow.outcome == "unfinished":
        yield Finding(
            "warning",
            "law time_linear",
            f"whether long completions take long was not seen to the end: {slow.reason} within {budget:g} s",
            f"raise preflight.budget to about {report.needs or 2 * budget:g}, or run rewardkit check",
        )
    for broken in report.findings[:_SHOWN]:
        yield _finding(broken)
    if len(report.findings) > _SHOWN:
        more = len(report.findings) - _SHOWN
        yield Finding("warning", "laws", f"{more} more broken laws", "run rewardkit check to see them")


def _from(table: Table, best: Form | None) -> dict[str, Any]:
    rows = table.spread(ROWS)
    examples = [
        {"prompt": table.prompts[row], **{name: table.values(name)[row] for name in table.read}} for row in rows
    ]
    if best is None:
        return {"examples": examples}
    conversational = bool(rows) and not isinstance(table.prompts[rows[0]], str)
    cells = table.values(best.column)
    return {"examples": examples, "good": [[best.completion(cells[row], conversational)] for row in rows]}


def _finding(broken: Broken) -> Finding:
    return Finding(
        "error" if broken.law in STOPPING else "warning",
        f"law {broken.law}",
        f"{broken.component}: {broken.why}",
        broken.matters,
        (broken.reproduce,) if len(broken.reproduce) <= _LONGEST else (),
    )


def _summary(report: Report, own: bool) -> str:
    counts = {
        outcome: sum(result.outcome == outcome for result in report.results)
        for outcome in ("held", "broken", "unfinished", "skipped")
    }
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    source = (
        "the module's examples"
        if own
        else "rows of the data; EXAMPLES, GOOD and BAD next to the reward would test more"
    )
    return f"{told} in {report.seconds:.0f} s, on {source}"
