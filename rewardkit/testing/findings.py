"""What a check found: Finding (one fault with its counterexample), LawResult (one law), Report (all of them).

``print(check_reward(reward, examples=[...]))`` is a table of laws; below it every finding with the completion that
shows it, what the reward said, why it matters, and a line that reproduces it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from rewardkit.core.batch.table_text import visible
from rewardkit.core.errors import shorten, shorten_line

LawOutcome = Literal["held", "broken", "unfinished", "skipped"]


@dataclass(frozen=True)
class Finding:
    """One fault of a reward, with the shortest completion found that shows it.

    Attributes:
        law: the name of the law that is broken, or ``"exploit"``.
        component: the component that is to blame; ``"total"`` where it is the reward as a whole.
        completion: a text, or a list of chat messages.
        columns: of the example, the prompt among them where there is one.
        score: what the reward gave; None where it gave nothing.
        why: what is wrong, in a sentence with the numbers.
        matters: why a training run needs the law.
        note: the notes of the score.
        family: of the exploit: ``"empty"``, ``"hedge"``, ...
        source: where the exploit was seen.
        trace: the traceback, where the reward raised.
    """

    law: str
    component: str
    completion: Any
    columns: Mapping[str, Any]
    score: float | None
    why: str
    matters: str = ""
    note: str = ""
    family: str = ""
    source: str = ""
    trace: str = ""

    @property
    def reproduce(self) -> str:
        """A line of Python that shows it again, given ``reward``."""
        columns = "".join(
            f", {'prompts' if name == 'prompt' else name}=[{value!r}]"
            for name, value in self.columns.items()
            if isinstance(name, str) and name.isidentifier()
        )
        return f"rk.score(reward, [{self.completion!r}]{columns})"

    def __str__(self) -> str:
        said = "nothing" if self.score is None else f"{self.score:.6g}"
        lines = [
            f"{self.law}{f' ({self.family})' if self.family else ''}: {visible(self.why)}",
            f"  completion  {_shown(self.completion)}",
        ]
        lines += [f"  {visible(str(name)):<10}  {_shown(value)}" for name, value in self.columns.items()]
        lines.append(f"  {self.component:<10}  {said}{f'   {visible(self.note)}' if self.note else ''}")
        if self.matters:
            lines.append(f"  matters     {self.matters}")
        if self.source:
            lines.append(f"  seen        {self.source}")
        if self.trace:
            lines.append(f"  raised      {visible(self.trace.strip().splitlines()[-1])}")
        lines.append(f"  reproduce   {visible(shorten_line(self.reproduce))}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them; what JSON cannot hold is shown as text."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["columns"] = dict(self.columns)
        plain["reproduce"] = self.reproduce
        jsonable: dict[str, Any] = jsonable_of(plain)
        return jsonable


@dataclass(frozen=True)
class LawResult:
    """What came of one law.

    Attributes:
        law: its name.
        outcome: ``"held"``, ``"broken"``, ``"unfinished"`` where it may apply but was not looked at to its end, or
            ``"skipped"`` where it does not apply.
        tries: how many completions were scored for it.
        findings: where it is broken; one per way in which it is.
        reason: why it was skipped or is unfinished.
        seconds: how long it took.
    """

    law: str
    outcome: LawOutcome
    tries: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Report:
    """All that a check found about one reward.

    Attributes:
        reward: how the reward prints.
        results: one per law, in the order in which they ran.
        seed: gives the same check again.
        seconds: how long it took.
        fingerprint: of the reward.
    """

    reward: str
    results: tuple[LawResult, ...]
    seed: int = 0
    seconds: float = 0.0
    fingerprint: str = ""
    title: str = field(default="", compare=False)

    @property
    def findings(self) -> list[Finding]:
        """All faults that were found."""
        return [finding for result in self.results for finding in result.findings]

    @property
    def ok(self) -> bool:
        """Whether no law is broken and no exploit was found."""
        return not self.findings

    @property
    def complete(self) -> bool:
        """Whether every law that applies was looked at to its end."""
        return all(result.outcome != "unfinished" for result in self.results)

    def __getitem__(self, law: str) -> LawResult:
        for result in self.results:
            if result.law == law:
                return result
        raise KeyError(f"no law {law!r} in this report; there are: {', '.join(result.law for result in self.results)}")

    def raise_if_broken(self) -> None:
        """Raises an AssertionError that explains every finding."""
        if not self.ok:
            raise AssertionError(str(self))

    def shown_as(self, title: str) -> Report:
        """The same under another title."""
        return replace(self, title=title)

    def __str__(self) -> str:
        from rewardkit.testing.reports import as_text

        return as_text(self)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them."""
        return {
            "reward": self.reward,
            "title": self.title,
            "fingerprint": self.fingerprint,
            "ok": self.ok,
            "complete": self.complete,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "laws": [
                {
                    "law": result.law,
                    "outcome": result.outcome,
                    "tries": result.tries,
                    "reason": result.reason,
                    "seconds": round(result.seconds, 3),
                    "findings": [finding.to_dict() for finding in result.findings],
                }
                for result in self.results
            ],
        }

    def to_json(self, path: str | Path) -> None:
        """Writes `to_dict` to a file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="ascii")

    def to_html(self, path: str | Path) -> None:
        """Writes a page that stands by itself: no scripts, nothing fetched, everything escaped."""
        from rewardkit.testing.reports import as_html

        Path(path).write_text(as_html(self), encoding="utf-8")


def jsonable_of(value: Any) -> Any:
    """`value` as JSON holds it: what it has no form for (a set, NaN, a key that is no text) as Python writes it."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else repr(key): jsonable_of(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable_of(item) for item in value]
    if value is None or type(value) in (str, bool, int) or (type(value) is float and isfinite(value)):
        return value
    return repr(value)


def _shown(value: Any) -> str:
    return shorten_line(visible(repr(value) if isinstance(value, str) else shorten(value)))
