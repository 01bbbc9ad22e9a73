"""What a preflight found: ``print(found.text())`` is the report, errors first."""

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
    """One thing that was found.

    Attributes:
        kind: an ``"error"`` stops the run, a ``"warning"`` should be looked at, a ``"fact"`` is good to know.
        where: ``"column 'answer'"``, ``"grpo"``, ``"memory"``.
        what: was found, in a sentence.
        remedy: what to do about it; empty for facts.
        rows: further lines that are shown as they are: cells, completions.
    """

    kind: Kind
    where: str
    what: str
    remedy: str = ""
    rows: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """As it stands in the report."""
        said = _wrapped(f"{self.where}: {self.what}", "  ")
        said += [f"      {visible(row)}" for row in self.rows]
        return said + (_wrapped(f"-> {self.remedy}", "    ") if self.remedy else [])


def _wrapped(text: str, indent: str) -> list[str]:
    further = f"{indent}  "
    return textwrap.wrap(visible(text), _WIDTH, initial_indent=indent, subsequent_indent=further)


@dataclass(frozen=True)
class Preflight:
    """All that was found, in the order in which it was looked for."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing stands in the way of the run."""
        return not self.of("error")

    def of(self, kind: Kind) -> list[Finding]:
        """The findings of one kind."""
        return [finding for finding in self.findings if finding.kind == kind]

    def text(self) -> str:
        """The report: errors, warnings, facts."""
        lines = []
        for kind, title in _TITLES.items():
            found = self.of(kind)
            if found:
                lines += ["", f"{title} ({len(found)})" if kind != "fact" else title]
                lines += [line for finding in found for line in finding.lines()]
        verdict = "nothing stands in the way" if self.ok else "the run would fail or teach the wrong thing"
        return "\n".join([f"preflight: {verdict}", *lines])
