"""Law, a property that every reward must have; Finding, a fault with its counterexample; and LawResult."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from rewardkit.batch.table_text import visible
from rewardkit.errors import shorten, shorten_line
from rewardkit.tree.reward import Reward
from rewardkit.tree.scripts import loader_of

# Advice: the next step after a finding, in one sentence.


COMPARE = "Extract the answer first and compare it as a whole, with rk.number, rk.exact or ==, not with `in`"
"""Advice for laws whose findings are incorrect answers that score too high."""

_BY_FAMILY = {
    "special_cased": "Run programs in a sandbox with tests that they cannot see: rk.code_tests",
    "empty": "Give the lowest score if there is no answer",
    "structure": "Check the structure before comparing: sides of at least zero, one statement, unchanged indentation",
    "placeholder": "Compare the answer with the gold answer instead of rewarding any answer",
    "hedge": "Accept only one answer: give the lowest score if the completion contains several",
    "repetition": "Count each item once, and limit the number of items that count",
    "shotgun": "Accept only one answer: give the lowest score if the completion contains several",
    "leak": "Read the answer only from its own tag, after the thinking. rewardkit's extractors skip the thinking",
    "delimiter": "Require each tag exactly once, closed, and in order: rk.tags, or re.fullmatch on the completion",
    "echo": "Reward only content that is not already in the prompt",
    "schema": "Compare the values with the gold document, not only the shape",
    "padding": "Do not count whitespace, markup, and repeated words as content",
    "length": "Reward length only together with a correct answer: rk.gate",
    "unicode": "Normalize the text and reject invisible characters before you compare",
    "language": "Reward the content, not only the words",
    "tool_calls": "Count only calls that the task needs, and read results from the tools, not from the completion",
    "calls": "Penalize unnecessary calls: rk.tool_calls divides by the number of all calls",
    "claims": "Look for the call and its result in the trajectory: rk.agents.no_claim_without_call, "
    "rk.agents.tool_success",
    "self_report": "Check the result instead of the policy's own report",
    "turns": "Reward progress, not the number of turns or calls: rk.per_turn(reduce='progress'), rk.tool_calls",
    "injection": "Treat the completion as data: never evaluate it, and quote it in a judge's prompt",
}

# Errors of a reward that expects chat messages but gets text: "'str' object has no attribute 'get'".
READS_CHAT = re.compile(
    r"InvalidReturn: seems to read chat messages|AttributeError: 'str' object has no attribute 'get'"
)
# Errors of a reward that expects text but gets chat messages: "can only concatenate list (not "str") to list".
_READS_TEXT = re.compile(
    r"TypeError: can only concatenate list"
    r"|TypeError: expected string or bytes-like object"
    r"|AttributeError: '(?:list|dict)' object has no attribute"
    r"|TypeError: .*(?:not list|not \"?list\"?|'list' and 'str'|\"list\"\) to str)"
)


def advice_for(law: Law, *, family: str = "", trace: str = "", chat: bool = False, environment: str = "") -> str:
    """Return the next step after a finding, without a final period, or "" for a user-defined law.

    Args:
        law: the broken law.
        family: the exploit's family.
        trace: the traceback if the reward raised an exception.
        chat: whether the completion is a list of chat messages, as for a chat prompt.
        environment: the name of the environment in which the calls ran.
    """
    raised = trace.strip().splitlines()[-1] if trace.strip() else ""
    if not chat and READS_CHAT.search(raised):
        return (
            "The function reads chat messages: give the examples chat prompts as in your dataset, "
            '{"prompt": [{"role": "user", "content": ...}]}'
        )
    if chat and _READS_TEXT.search(raised):
        return (
            "With chat prompts a completion is a list of messages, as in TRL: read its text as "
            'completion[-1]["content"], or write the function with @rk.reward and `completion: str`'
        )
    if raised:
        return "Fix the line above: the reward must score every completion, and give the lowest score to a bad one"
    if environment and law.advice_on_calls:
        return law.advice_on_calls
    return _BY_FAMILY.get(family, law.advice)


_PAID = frozenset((
    "separates_good_from_bad", "gold_above_perturbed_gold", "almost_right_is_wrong", "every_part_counts",
    "only_answers_are_paid", "wrong_stays_wrong", "keys_are_compared_both_ways", "every_element_counts",
    "nonsense_earns_less", "lazy_answers_score_low", "expressions_are_exact", "missing_calls_cost",
    "spraying_calls_costs", "idle_policy_earns_nothing",
    "exploits", "regressions", "search",
))  # fmt: skip
"""Laws whose findings are incorrect completions that score too high."""
_REFUSED = frozenset(("gold_gets_the_maximum", "right_however_written", "right_for_every_gold", "errors_on_both_sides"))
"""Laws whose findings are correct completions that score too low."""
_CRASHES = frozenset(("total", "finite", "time_linear", "memory_bounded"))


def severity_of(finding: Finding) -> int:
    """Return 0 for an incorrect completion that scores too high, the worst fault, 1 for a correct one that scores too
    low, 2 for a crash or a hang, and 3 for the rest.
    """
    if finding.trace or finding.law in _CRASHES:
        return 2
    if finding.law in _PAID:
        return 0
    if finding.law in _REFUSED:
        return 1
    if finding.score is None or finding.correct_score is None:
        return 3
    return 0 if finding.score >= finding.correct_score else 3


# Expressions: Python code to paste, for the values of a finding and the import of the reward.


# Arbitrary: shorter texts are readable when pasted.
_LONG = 300
# "word word word ..." is pasted as 'word ' * 300. Pieces of up to 40 characters, at least 31 times.
_RUN = re.compile(r"(.{1,40}?)\1{30,}", re.DOTALL)


def expression_of(value: Any) -> str:
    """Return a value as a Python expression. Repeated pieces in a long text are written as products."""
    if isinstance(value, str) and len(value) > _LONG:
        return _product(value)
    if type(value) is list:
        return f"[{', '.join(map(expression_of, value))}]"
    if type(value) is dict:
        return f"{{{', '.join(f'{key!r}: {expression_of(item)}' for key, item in value.items())}}}"
    return repr(value)


def _product(text: str) -> str:
    parts, position = [], 0
    for run in _RUN.finditer(text):
        if run.start() > position:
            parts.append(repr(text[position : run.start()]))
        piece = run.group(1)
        parts.append(f"{piece!r} * {len(run.group()) // len(piece):_}")
        position = run.end()
    if position < len(text):
        parts.append(repr(text[position:]))
    return " + ".join(parts)


def imports_of(reward: Any) -> str:
    """Return statements that import a reward as ``reward``, or "" if the reward cannot be located."""
    location = _import_location(reward)
    if location is not None:
        module, name = location
        loader = loader_of(sys.modules[module])
        if loader is not None:  # an import by name would run the whole script
            target = f"{loader.script.path}:{name}"
            return f"from rewardkit.tree.loading import load; reward = load({target!r})[0].reward"
        return f"from {module} import {name}" + ("" if name == "reward" else " as reward")
    if not isinstance(reward, Sequence) or isinstance(reward, str) or not reward:
        return ""
    locations = [_import_location(entry) for entry in reward]
    modules: dict[str, list[str]] = {}
    for entry in locations:
        if entry is None or loader_of(sys.modules[entry[0]]) is not None:
            return ""
        modules.setdefault(entry[0], []).append(entry[1])
    lines = [f"from {module} import {', '.join(dict.fromkeys(names))}" for module, names in modules.items()]
    return "; ".join([*lines, f"reward = [{', '.join(entry[1] for entry in locations if entry is not None)}]"])


def _import_location(reward: Any) -> tuple[str, str] | None:
    """Return the module and name of a variable that holds the reward or the function that it wraps."""
    if isinstance(reward, Reward) and reward.facts.binding is not None and reward.facts.binding.foreign:
        reward = reward.facts.binding.original
    home_module = str(getattr(reward, "__module__", ""))
    for module_name in dict.fromkeys([home_module, *sys.modules]):
        module = sys.modules.get(module_name)
        if module is None or not _is_users(module_name, module):
            continue
        for name, value in list(vars(module).items()):
            if value is reward and name.isidentifier() and not name.startswith("_"):
                return module_name, name
    return None


def _is_users(name: str, module: Any) -> bool:
    """Return whether a module may belong to the user and can be imported by name."""
    if name == "__main__" or name.partition(".")[0] in ("rewardkit", "builtins") or name.startswith("rewardkit_"):
        return False
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not isinstance(getattr(module, "__dict__", None), Mapping):
        return False
    installed = ("site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    return not set(installed) & set(Path(file).parts)


class Turn(IntEnum):
    """The order of laws. Time is limited, so the laws that find the most faults with the fewest calls come first."""

    EARLY = 0
    """Laws that insert incorrect answers into correct completions."""
    SOON = 1
    """The exploits, then `time_linear`. A slow reward uses up the time for all later laws."""
    USUAL = 2
    LATE = 3
    """Laws that take a long time and find few faults."""
    LAST = 4
    """The search, which uses all the time that is left."""


@dataclass(frozen=True)
class Law:
    """A property of rewards that `check_reward` checks.

    Attributes:
        name: the law's name in reports and in ``check_reward(laws=[...])``.
        check: a function that receives the reward under test and yields a `Finding` for each way in which the reward
            breaks the law. It raises `Skip` if the law does not apply. Its docstring explains why a training run needs
            the law.
        advice: the next step after a finding, without a final period.
        advice_on_calls: the next step if the completions' tool calls were really run.
        fast: whether ``rewardkit check --fast`` runs the law.
        turn: the law's position in the order of laws.
        names_line: whether findings name the source line at which the reward decides the score.
    """

    name: str
    check: Callable[[Any], Iterator[Finding]]
    advice: str = ""
    advice_on_calls: str = ""
    fast: bool = False
    turn: Turn = Turn.USUAL
    names_line: bool = False

    @property
    def why(self) -> str:
        """The reason that a training run needs the law."""
        return " ".join(self.__doc__.split("\n\n")[0].split())

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return inspect.getdoc(self.check) or ""

    def __repr__(self) -> str:
        return f"laws.{self.name}"


REFUSED = "correct completions refused"
"""The name of the share of given correct completions that score no higher than the incorrect ones."""


@dataclass(frozen=True)
class Share:
    """A share over the examples, such as what silence gets of the score of correct completions.

    For a lazy policy, 0 is the lowest score of all completions tried, and 1 is the mean score of the example's correct
    completions.

    Attributes:
        name: the lazy policy, such as ``"silence"``, or ``"correct completions refused"``.
        value: the mean share, from 0 to 1.
        low: the lower end of the 95% interval (Wilson).
        high: the upper end of the interval.
        count: the number of examples, or of correct completions.
    """

    name: str
    value: float
    low: float
    high: float
    count: int


LawOutcome = Literal["held", "broken", "unfinished", "skipped"]


@dataclass(frozen=True)
class Finding:
    """One fault in a reward, with the shortest completion found that exposes the fault.

    Attributes:
        law: the broken law's name, or ``"exploits"`` for an exploit.
        component: the component at fault, or ``"total"`` for the reward as a whole.
        completion: a string, or a list of chat messages.
        columns: the example's columns, including the prompt if there is one.
        score: the completion's score, or None if there is none.
        why: a description of the fault, with numbers.
        matters: why a training run needs the law.
        note: the notes that the reward returned with the score.
        family: the exploit's family: ``"empty"``, ``"hedge"``, ...
        source: an earlier report of the exploit, such as a paper.
        trace: the traceback if the reward raised an exception.
        line: the source line at which the reward decides the score (see `deciding_line`), or "" if unknown.
        of: the component's name if it was checked separately, or "" for the reward as a whole.
        own: the raw score of `component`, if this is only a part of the reward.
        advice: the next step, or "" for user-defined laws.
        imports: statements that import the reward as ``reward``, or "" if the reward cannot be located.
        unreachable: why no model and trainer can produce the completion from the given data, or "" if they can.
        of_data: whether the data, rather than the reward, is at fault.
        lead: whether this is evidence that a person must judge, rather than a fault.
        correct: the correct completion with which `completion` was compared, or None.
        correct_score: the score of `correct`, or None if there is none.
        environment: the name of the environment in which the completion's calls were run, or "" if there is none.
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
    advice: str = ""
    imports: str = ""
    unreachable: str = ""
    of_data: bool = False
    lead: bool = False
    correct: Any = None
    correct_score: float | None = None
    environment: str = ""

    @property
    def reproduce(self) -> str:
        """One line of Python that reproduces the finding. It expects ``reward`` to be defined if `imports` is empty."""
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
        """The total and, if only one component of the reward is at fault, the score of that component."""
        total = "no score" if self.score is None else f"{self.score:.6g}"
        if self.own is None or self.component in ("total", self.of):
            return [(self.component, total)]
        component_score = f"{self.own:.6g}" if isfinite(self.own) else "no score"
        return [("total", total), (self.component, component_score)]

    def __str__(self) -> str:
        lines = [
            f"{self.law}{f' ({self.family})' if self.family else ''}: {visible(self.why)}",
            f"  completion  {_shown(self.completion)}",
        ]
        lines += [] if self.correct is None else [f"  correct     {_shown(self.correct)}"]
        lines += [f"  {visible(str(name)):<10}  {_shown(value)}" for name, value in self.columns.items()]
        lines += [f"  {visible(name):<10}  {score}" for name, score in self.scores]
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
        # Arbitrary: nobody pastes longer code from a terminal.
        if len(self.reproduce) <= 1_000:
            lines.append(f"  reproduce   {visible(self.reproduce)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain JSON values. Other values become text."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["columns"] = dict(self.columns)
        plain["reproduce"] = self.reproduce
        jsonable: dict[str, Any] = jsonable_of(plain)
        return jsonable


@dataclass(frozen=True)
class LawResult:
    """The result of checking one law.

    Attributes:
        law: the law's name.
        outcome: ``"held"``, ``"broken"``, ``"unfinished"`` if the law may apply but the check was cut short, or
            ``"skipped"`` if the law does not apply.
        tries: the number of completions scored for this law.
        findings: if the law is broken, one finding for each way in which it is broken.
        reason: why the law was skipped or is unfinished.
        seconds: the duration of the check.
        why: why a training run needs the law.
        asides: faults in the data, and faults that no model and trainer can trigger with the given data. These do not
            break the law.
        leads: evidence that a person must judge. Leads do not break the law.
        reached: if the law is unfinished, the number of kinds of completions that were tried.
        count: the total number of kinds of completions for this law, or 0 if unknown.
        longest: for a slow reward, the maximum length of completions that other laws may try, or 0 for any length.
        first: if the law is broken, the number of tries until the first finding.
        rejects: whether, in this law or before, an incorrect completion was observed to score below a correct one.
        shares: what lazy policies get, for the law `lazy_answers_score_low`.
    """

    law: str
    outcome: LawOutcome
    tries: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    why: str = ""
    asides: tuple[Finding, ...] = ()
    leads: tuple[Finding, ...] = ()
    reached: int = 0
    count: int = 0
    longest: int = 0
    first: int = 0
    rejects: bool = False
    shares: tuple[Share, ...] = ()


def jsonable_of(value: Any) -> Any:
    """Convert `value` to JSON values. A set, NaN, or a key that is not a string becomes its Python repr."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else repr(key): jsonable_of(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable_of(item) for item in value]
    if value is None or type(value) in (str, bool, int) or (type(value) is float and isfinite(value)):
        return value
    return repr(value)


def _shown(value: Any) -> str:
    return shorten_line(visible(repr(value) if isinstance(value, str) else shorten(value)))
