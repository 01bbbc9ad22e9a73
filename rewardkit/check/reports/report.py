"""Report: the results of all laws for one reward.

``print(check_reward(reward, examples=[...]))`` shows a table of laws, then every finding: the completion, its score,
why it matters, and a line of Python that reproduces it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rewardkit.check.findings import Finding, LawResult
from rewardkit.check.reports.sections import Section, budget_for
from rewardkit.check.reports.text import text_of
from rewardkit.check.run.output import Printed


@dataclass(frozen=True)
class Report:
    """All results of a check of one reward.

    Attributes:
        reward: how the reward prints.
        results: one per law, in the order in which the laws ran.
        components: of a list or sum, the reports of its addends, each checked by itself; they lack the findings that
            `results` has.
        seed: repeats the same check.
        seconds: how long it took.
        fingerprint: of the reward.
        budget: the seconds that it was given.
        remarks: what the reader should know about the examples.
        printed: what the reward printed meanwhile; None if nothing.
    """

    reward: str
    results: tuple[LawResult, ...]
    seed: int = 0
    seconds: float = 0.0
    fingerprint: str = ""
    title: str = field(default="", compare=False)
    printed: Printed | None = field(default=None, compare=False)
    components: tuple[Report, ...] = ()
    budget: float = field(default=0.0, compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def findings(self) -> list[Finding]:
        """All faults found, also in its components."""
        own = [finding for result in self.results for finding in result.findings]
        return [*own, *(finding for part in self.components for finding in part.findings)]

    @property
    def merged(self) -> tuple[LawResult, ...]:
        """One result per law, with the findings of the components."""
        found = []
        for result in self.results:
            parts = [one for part in self.components for one in part.results if one.law == result.law]
            findings = (*result.findings, *(finding for one in parts for finding in one.findings))
            found.append(replace(result, findings=findings, outcome="broken" if findings else result.outcome))
        return tuple(found)

    @property
    def asides(self) -> list[Finding]:
        """Faults that no model and trainer of the given data can reach, and faults of the data (`of_data`)."""
        return [aside for result in self.results for aside in result.asides]

    @property
    def ok(self) -> bool:
        """Whether no law is broken and no exploit was found; see `complete` for whether everything was tried."""
        return not self.findings

    @property
    def complete(self) -> bool:
        """Whether the check of every law that applies was finished."""
        own = all(result.outcome != "unfinished" for result in self.results)
        return own and all(part.complete for part in self.components)

    @property
    def needs(self) -> int:
        """The budget, in seconds, that would finish the laws that ran out of time; 0 if none did."""
        return budget_for(self)

    def __getitem__(self, law: str) -> LawResult:
        for result in self.results:
            if result.law == law:
                return result
        raise KeyError(f"this report has no law {law!r}; it has: {', '.join(result.law for result in self.results)}")

    def raise_if_broken(self) -> None:
        """Raise an AssertionError that explains every finding."""
        if not self.ok:
            raise AssertionError(str(self))

    def shown_as(self, title: str) -> Report:
        """Return the same report under another title."""
        return replace(self, title=title)

    def __str__(self) -> str:
        return text_of([Section(self)])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that JSON can hold."""
        return {
            "reward": self.reward,
            "title": self.title,
            "fingerprint": self.fingerprint,
            "ok": self.ok,
            "complete": self.complete,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "budget": self.budget,
            "needs": self.needs,
            "remarks": list(self.remarks),
            "printed": None if self.printed is None else self.printed.to_dict(),
            "laws": [
                {
                    "law": result.law,
                    "outcome": result.outcome,
                    "tries": result.tries,
                    "reason": result.reason,
                    "seconds": round(result.seconds, 3),
                    "findings": [finding.to_dict() for finding in result.findings],
                    "asides": [aside.to_dict() for aside in result.asides],
                }
                for result in self.results
            ],
            "components": [part.to_dict() for part in self.components],
        }

    def to_json(self, path: str | Path) -> None:
        """Write `to_dict` to a file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="ascii")

    def to_html(self, path: str | Path) -> None:
        """Write a self-contained page: no scripts, nothing fetched, everything escaped."""
        from rewardkit.check.reports.page import page_of

        Path(path).write_text(page_of([Section(self)]), encoding="utf-8")
