"""Count a contestant's verdicts on a set: wrong answers accepted, right ones refused, gold answers refused, time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.accuracy.sets import Case

Verdict = bool | None
"""True: the completion is paid. None: the gold answer is refused, so no completion is."""


@dataclass(frozen=True)
class Counted:
    """One line of the table.

    Attributes:
        set_name: the set.
        contestant: the contestant.
        wrong: how many completions are labeled wrong.
        wrong_accepted: the names of those that are paid.
        right: how many completions are labeled right.
        right_refused: the names of those that are not paid, for whatever reason.
        golds: how many different gold answers there are.
        golds_refused: those that the contestant says it cannot read; it may refuse others without saying so.
        microseconds: CPU time per completion.
    """

    set_name: str
    contestant: str
    wrong: int
    wrong_accepted: tuple[str, ...]
    right: int
    right_refused: tuple[str, ...]
    golds: int
    golds_refused: tuple[str, ...]
    microseconds: float


def counted(
    set_name: str, contestant: str, cases: Sequence[Case], verdicts: Sequence[Verdict], seconds: float
) -> Counted:
    """Count the verdicts, one per case.

    Raises:
        ValueError: there are not as many verdicts as cases.
    """
    pairs = list(zip(cases, verdicts, strict=True))
    return Counted(
        set_name,
        contestant,
        wrong=sum(not case.right for case in cases),
        wrong_accepted=tuple(case.name for case, verdict in pairs if verdict and not case.right),
        right=sum(case.right for case in cases),
        right_refused=tuple(case.name for case, verdict in pairs if not verdict and case.right),
        golds=len({case.gold for case in cases}),
        golds_refused=tuple(sorted({case.gold for case, verdict in pairs if verdict is None})),
        microseconds=1e6 * seconds / max(1, len(cases)),
    )


def table(rows: Iterable[Counted], refused: str = "golds refused") -> str:
    """Return the rows of one set as a Markdown table; 3 / 40 means 3 of 40."""
    lines = [f"| | wrong accepted | right refused | {refused} | us per completion |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        figures = (
            f"{len(row.wrong_accepted)} / {row.wrong}",
            f"{len(row.right_refused)} / {row.right}",
            f"{len(row.golds_refused)} / {row.golds}",
            f"{row.microseconds:,.0f}",
        )
        lines.append(f"| {row.contestant} | {' | '.join(figures)} |")
    return "\n".join(lines)
