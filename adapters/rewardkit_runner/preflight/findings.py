"""The findings of a preflight: ``found.text()`` is the report, errors first."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

from rewardkit.core.batch.table_text import visible

Kind = Literal["error", "warning", "fact"]

_WIDTH = 110
_TITLES: dict[Kind, str] = {"error": "errors", "warning": "warnings", "fact": "facts"}


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        kind: an ``"error"`` stops the run, a ``"warning"`` needs a look, a ``"fact"`` is information.
        where: ``"column 'answer'"``, ``"grpo"``, ``"memory"``.
        what: the problem or the fact, in one sentence.
        remedy: how to fix it; empty for facts.
        rows: further lines, printed without wrapping: cells, completions.
    """

    kind: Kind
    where: str
    what: str
    remedy: str = ""
    rows: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the lines of the report."""
        said = _wrapped(f"{self.where}: {self.what}", "  ")
        said += [f"      {visible(row)}" for row in self.rows]
        return said + (_wrapped(f"-> {self.remedy}", "    ") if self.remedy else [])


def _wrapped(text: str, indent: str) -> list[str]:
    further = f"{indent}  "
    return textwrap.wrap(visible(text), _WIDTH, initial_indent=indent, subsequent_indent=further)


@dataclass(frozen=True)
class Preflight:
    """All findings, in the order of the checks."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.of("error")

    def of(self, kind: Kind) -> list[Finding]:
        """Return the findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def text(self) -> str:
        """Return the report: errors, warnings, facts."""
        lines = []
        for kind, title in _TITLES.items():
            found = self.of(kind)
            if found:
                lines += ["", f"{title} ({len(found)})" if kind != "fact" else title]
                lines += [line for finding in found for line in finding.lines()]
        verdict = "ok" if self.ok else "errors found: the run would crash or train on the wrong thing"
        return "\n".join([f"preflight: {verdict}", *lines])
