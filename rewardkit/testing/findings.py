"""Finding: one fault of a reward with its counterexample. LawResult: the findings of one law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from rewardkit.core.batch.table_text import visible
from rewardkit.core.errors import shorten, shorten_line
from rewardkit.testing.advice import advice_for
from rewardkit.testing.expressions import expression_of

LawOutcome = Literal["held", "broken", "unfinished", "skipped"]


@dataclass(frozen=True)
class Finding:
    """One fault of a reward, with the shortest completion found that shows it.

    Attributes:
        law: the name of the broken law; ``"exploits"`` for an exploit.
        component: the component at fault; ``"total"`` for the reward as a whole.
        completion: a text, or a list of chat messages.
        columns: the columns of the example, and the prompt if there is one.
        score: the score; None if there is none.
        why: what is wrong, with the numbers.
        matters: why a training run needs the law.
        note: the notes of the score.
        family: the family of the exploit: ``"empty"``, ``"hedge"``, ...
        source: where the exploit was seen before.
        trace: the traceback, if the reward raised.
        line: the line of the reward's source at which the completion parts from one with another score; empty if it is
            not known.
        of: the name of the component that was checked by itself; empty for the reward as a whole.
        own: the raw score of `component`, if it is a part of the reward.
        tip: what to do next, if more is known than the law.
        imports: statements that import the reward as ``reward``; empty if they are not known.
        unreachable: why no model and trainer of the given data produce the completion; empty if they can.
        of_data: whether the data is at fault, not the reward.
        environment: the name of the environment in which the completion was played; empty without one.
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
    line: str = ""
    of: str = ""
    own: float | None = None
    tip: str = ""
    imports: str = ""
    unreachable: str = ""
    of_data: bool = False
    environment: str = ""

    @property
    def reproduce(self) -> str:
        """A line of Python that reproduces the finding; given ``reward``, where its import is not known."""
        columns = "".join(
            f", {'prompts' if name == 'prompt' else name}=[{expression_of(value)}]"
            for name, value in self.columns.items()
            if isinstance(name, str) and name.isidentifier()
        )
        part = f".components[{self.of!r}].values" if self.of and not self.imports else ""
        imports = f"import rewardkit as rk; {self.imports}; " if self.imports else ""
        if self.environment:
            played = f"play({self.environment}, {expression_of(self.completion)}, {dict(self.columns)!r})"
            scored = f"rk.score(reward, [messages], environments=[environment]{columns}){part}"
            return f"{imports}from rewardkit.testing import play; messages, environment = {played}; {scored}"
        return f"{imports}rk.score(reward, [{expression_of(self.completion)}]{columns}){part}"

    @property
    def scores(self) -> list[tuple[str, str]]:
        """The total, and the score of the component at fault where it is a part of it."""
        said = "no score" if self.score is None else f"{self.score:.6g}"
        if self.own is None or self.component in ("total", self.of):
            return [(self.component, said)]
        own = f"{self.own:.6g}" if isfinite(self.own) else "no score"
        return [("total", said), (self.component, own)]

    @property
    def chat(self) -> bool:
        """Whether the completion was chat messages, as from a chat prompt."""
        return not isinstance(self.completion, str) or isinstance(self.columns.get("prompt"), (list, tuple))

    @property
    def advice(self) -> str:
        """What to do next; empty for a law of your own."""
        return self.tip or advice_for(self)

    def __str__(self) -> str:
        lines = [
            f"{self.law}{f' ({self.family})' if self.family else ''}: {visible(self.why)}",
            f"  completion  {_shown(self.completion)}",
        ]
        lines += [f"  {visible(str(name)):<10}  {_shown(value)}" for name, value in self.columns.items()]
        lines += [f"  {visible(name):<10}  {said}" for name, said in self.scores]
        lines += [f"  note        {visible(self.note)}"] if self.note else []
        if self.matters:
            lines.append(f"  matters     {self.matters}")
        if self.source:
            lines.append(f"  seen        {self.source}")
        if self.trace:
            lines.append(f"  raised      {visible(self.trace.strip().splitlines()[-1])}")
        if self.line:
            lines.append(f"  line        {visible(self.line)}")
        if self.advice:
            lines.append(f"  next        {self.advice}")
        if len(self.reproduce) <= 1_000:
            lines.append(f"  reproduce   {visible(self.reproduce)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; other values become text."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["columns"] = dict(self.columns)
        plain["advice"] = self.advice
        plain["reproduce"] = self.reproduce
        jsonable: dict[str, Any] = jsonable_of(plain)
        return jsonable


@dataclass(frozen=True)
class LawResult:
    """The result of checking one law.

    Attributes:
        law: its name.
        outcome: ``"held"``, ``"broken"``, ``"unfinished"`` if it may apply but the check was cut short, or
            ``"skipped"`` if it does not apply.
        tries: number of completions scored for it.
        findings: if it is broken, one for each way in which it is.
        reason: why it was skipped or is unfinished.
        seconds: how long it took.
        why: why a training run needs the law.
        asides: faults that no model and trainer of the given data can reach, and faults of the data; they do not break
            the law.
        reached: if it is unfinished, how many kinds of completions were tried.
        count: of how many; 0 if that is not known.
        longest: of a slow reward, the length of the longest completions that other laws try; 0 for any length.
        first: if it is broken, how many of the tries the first finding took.
    """

    law: str
    outcome: LawOutcome
    tries: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    why: str = ""
    asides: tuple[Finding, ...] = ()
    reached: int = 0
    count: int = 0
    longest: int = 0
    first: int = 0


def jsonable_of(value: Any) -> Any:
    """Return `value` as JSON values; a set, NaN, or a key that is not text becomes its Python repr."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else repr(key): jsonable_of(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable_of(item) for item in value]
    if value is None or type(value) in (str, bool, int) or (type(value) is float and isfinite(value)):
        return value
    return repr(value)


def _shown(value: Any) -> str:
    return shorten_line(visible(repr(value) if isinstance(value, str) else shorten(value)))
