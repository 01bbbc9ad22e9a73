"""Finding: one fault of a reward with its counterexample. LawResult: the findings of one law."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal, Protocol

from rewardkit.batch.table_text import visible
from rewardkit.errors import shorten, shorten_line
from rewardkit.tree.reward import Reward

# Advice: what to do next about a finding, in one sentence.


_SAME_SHAPE = (
    "Match the whole completion once, with one answer: re.fullmatch, or rk.tags and an extractor such as "
    'rk.extract.tag("answer")'
)
_COMPARE = "Extract the answer first and compare it as a whole, with rk.number, rk.exact or ==, not with `in`"

_BY_FAMILY = {
    "special-cased": "Run programs in a sandbox with tests that they cannot see: rk.code_tests",
    "empty": "Give the lowest score if there is no answer",
    "placeholder": "Compare the answer with the gold answer instead of rewarding that there is one",
    "hedge": "Accept one answer only: give the lowest score if the completion has several",
    "repetition": "Count each thing once, and limit what can be counted",
    "shotgun": "Accept one answer only: give the lowest score if the completion has several",
    "leak": "Read the answer after the thinking and from its own tag only; rewardkit's extractors skip the thinking",
    "delimiter": f"Require each tag once, closed and in order. {_SAME_SHAPE}",
    "echo": "Reward what the prompt does not have already",
    "schema": "Compare the values with the gold document, not only the shape",
    "padding": "Do not count whitespace, markup and repeated words as content",
    "length": "Pay for length only together with a right answer: rk.gate",
    "unicode": "Normalize the text and reject invisible characters before you compare",
    "language": "Reward the content, not only the words",
    "tool calls": "Count only calls that the task needs, and read results from the tools, not from the completion",
    "calls": "Let calls beyond the needed ones cost: rk.tool_calls divides by all calls that were made",
    "claims": "Look for the call and its result in the trajectory: rk.agents.no_claim_without_call, "
    "rk.agents.tool_success",
    "self-report": "Do not read what a policy reports about itself; check the result",
    "turns": "Pay for what was reached, not for turns and calls: rk.per_turn(reduce='progress'), rk.tool_calls",
    "injection": "Treat the completion as data: never evaluate it, and quote it in a judge's prompt",
}

_BY_LAW = {
    "total": "Catch this case in the reward and return the lowest score for it",
    "calls_are_not_paid": "Pay for the calls that the task needs and let others cost: rk.tool_calls(column), not a "
    "bonus for each call or result",
    "idle_turns_are_not_paid": "Do not add up or average over turns: rk.per_turn(reduce='last') or 'progress'",
    "results_are_not_answers": "Read the answer from the last turn of the policy: trajectory.answer or `completion`, "
    "not from all messages",
    "one_for_all": "Let calls that a row does not need cost: rk.tool_calls(column) without extra='allow', or a penalty",
    "claims_need_calls": "Check the call and its result, not the words: rk.agents.tool_success, rk.agents.final_state, "
    "rk.agents.no_claim_without_call",
    "missing_calls_cost": "Divide by the calls that are needed, too: rk.tool_calls is 2 * matched / (gold + made)",
    "idle_policy_earns_nothing": "Ask for what has to be done, not only that nothing wrong was done: all() of "
    "nothing is true. Name rows where doing nothing is right in nothing_to_do=",
    "prefix_below_whole": "Score the last state, or gate the reward by rk.agents.finished()",
    "parallel_order_indifferent": "Compare the calls of one turn as a set: rk.tool_calls pairs them in any order",
    "call_forms_indifferent": "Read calls with rk.Trajectory: it reads arguments as text and as a mapping alike",
    "turn_shares_sum": "Return shares that sum to the value, or use rk.per_turn",
    "no_op_tolerated": "Judge what was reached, not the number or the place of the calls",
    "replay_is_deterministic": "Set everything in reset(): what is left of the last episode, and the random numbers",
    "outage_is_failed": "Let ConnectionError and TimeoutError pass in the environment and in the reward; do not turn "
    "them into a score",
    "finite": "Guard the division or logarithm so that every score is a finite number",
    "bounded": "Limit the score: min(score, limit), or .clip(low, high) on the reward",
    "abstains_by_declaration": "Return the lowest score for a bad completion; return None only for rows that the "
    "reward does not apply to",
    "gold_gets_the_maximum": "Compare the reward's pattern with this completion: a right answer has to match it",
    "gold_above_perturbed_gold": _COMPARE,
    "only_answers_are_paid": "Give the lowest score if there is no answer",
    "keys_are_compared_both_ways": "Compare the objects as wholes, made == wanted, or count the keys that only one of "
    "them has: rk.json_match and rk.tool_calls do. If further keys are right, leave this law out with without=[...]",
    "wrong_stays_wrong": _COMPARE,
    "almost_right_is_wrong": "Make the tolerance of numbers small and absolute, and compare texts as wholes",
    "every_part_counts": "Ask for each part: all(...), and as many as there are, not any(...) or the first one",
    "nonsense_earns_less": "Look for a score that is subtracted where it should be added, or for swapped arguments",
    "none_stands_in_for_another": "Compare each part with its own counterpart, in order: zip(..., strict=True)",
    "as_many_as_asked_for": "Compare the number of parts, too: zip(..., strict=True), or len(found) == len(wanted)",
    "more_calls_cost": "Compare all calls with all that are wanted, and give less for each that nobody asked for",
    "order_of_keys_does_not_count": "Parse the JSON and compare the objects, not their texts",
    "errors_on_both_sides": "Take the distance as an absolute value: abs(said - gold)",
    "expressions_are_exact": "Compare the value exactly, with fractions.Fraction or a tolerance of 1e-6",
    "damage_never_pays": "Look for a score that a missing part leaves out: give the lowest score if a part is missing",
    "one_best_length": "Check the signs and the limits of the curve: it should rise up to the best length, then fall",
    "long_texts_like_short_ones": "Divide by the length, or limit what is counted",
    "repetition_in_any_script": "Count the repetition of characters, too, where a script has no spaces",
    "confidence_is_honest": "Use a proper scoring rule, such as 1 - (confidence - right) ** 2, for 0 to 1",
    "stays_in_its_range": "Limit the score to the range of its docstring: min(max(score, low), high)",
    "length_is_of_the_text": 'Measure the text of the message: len(completion[-1]["content"])',
    "earlier_turns_do_not_count": "Read the last assistant message only",
    "only_the_assistant_is_paid": "Read messages whose role is assistant only",
    "the_last_message_counts": "Read the last assistant message: completion[-1], not completion[0]",
    "only_the_completion_counts": "Score the completion without its prompt",
    "right_for_every_gold": "Look at how the code reads this gold answer: 0 and False are values, and a pattern needs "
    "re.escape",
    "rows_of_every_kind": "Let the branch for these rows compare the answer, too",
    "rows_differ": "Pair each completion with its own row: zip(completions, column, strict=True)",
    "reads_what_it_asks_for": "Read the column that the completion is compared with",
    "does_what_it_says": "Change the line as proposed, and check again",
    "tests_reject_wrong_programs": "Add the proposed test to the row",
    "right_however_written": "Allow for it: re.DOTALL in the pattern, .strip() on the answer, commas and units removed "
    "from both sides",
    "separates_good_from_bad": "Make the reward read what is wrong in this completion, or remove it from bad=",
    "informative": "Run the reward's pattern on a right completion; a missing re.DOTALL is the usual reason",
    "reads_its_columns": "Compare the completion with the column, or remove the argument",
    "improves_along_chains": "Make each step toward the right answer earn more",
    "deterministic": "Remove the randomness or seed it with the completion; of a judge, set temperature 0",
    "batch_equals_singles": "Score each completion by itself and build one score per row: zip(completions, column)",
    "permutation": "Keep no state between rows, and pair each completion with its own row: zip(completions, column)",
    "neighbors_do_not_leak": "Compare only completions of one prompt",
    "chat_equals_text": "Read the text of the last assistant message",
    "strings_equal_typed_columns": "Annotate the column with its type (answer: float), and rewardkit converts it",
    "inputs_not_mutated": "Copy a list before you sort, pop or change it: sorted(values), list(values)",
    "picklable": "Define the function at the top level of a module, without lambdas and open files",
    "thread_safe": "Keep state in local variables; for a time limit use @rk.reward(timeout=...), not signals",
    "gate_dominance": "Set otherwise= of the gate to at most the lowest score behind it",
    "schedule_bounds": "Limit the schedule: .clip(low, high)",
    "whitespace_indifferent": "Strip and join the words before you compare: ' '.join(text.split())",
    "unicode_indifferent": "Normalize both sides before you compare: unicodedata.normalize('NFKC', text)",
    "case_indifferent": "Compare text.casefold() on both sides",
    "position_bias": "Ask the judge in both orders and average",
    "verbosity_bias": "Tell the judge that length does not count, or limit the length",
    "time_linear": "Limit the length of what you parse, and use patterns without nested repetition; for a time limit, "
    "@rk.reward(timeout=...)",
    "memory_bounded": "Limit the size of numbers, ranges and repetitions before you compute them",
    "search": _COMPARE,
    "regressions": _COMPARE,
}

_WITH_ENVIRONMENT = {
    "gold_gets_the_maximum": "Play the right completion and read its calls and results: has a tool failed, or is its "
    "name misspelled?",
    "gold_above_perturbed_gold": "If the calls of another row were made, compare their arguments with this row's: "
    "rk.tool_calls, or the state with rk.agents.final_state. If the answer is another's, compare it as a whole",
    "informative": "Play a right completion and read its calls and results: has a tool failed?",
}
"""Advice where calls really ran."""

READS_CHAT = re.compile(r"Nonsense: seems to read chat messages|AttributeError: 'str' object has no attribute 'get'")
_READS_TEXT = re.compile(
    r"TypeError: can only concatenate list"
    r"|TypeError: expected string or bytes-like object"
    r"|AttributeError: '(?:list|dict)' object has no attribute"
    r"|TypeError: .*(?:not list|not \"?list\"?|'list' and 'str'|\"list\"\) to str)"
)


class Found(Protocol):
    """The part of a finding that advice depends on."""

    @property
    def law(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def trace(self) -> str: ...

    @property
    def chat(self) -> bool: ...

    @property
    def environment(self) -> str: ...


def advice_for(found: Found) -> str:
    """Return what to do next, without a full stop; empty for a law of the user's own."""
    raised = found.trace.strip().splitlines()[-1] if found.trace.strip() else ""
    if not found.chat and READS_CHAT.search(raised):
        return (
            "The function reads chat messages: give the examples chat prompts as in your dataset, "
            '{"prompt": [{"role": "user", "content": ...}]}'
        )
    if found.chat and _READS_TEXT.search(raised):
        return (
            "With chat prompts a completion is a list of messages, in TRL, too: read its text as "
            'completion[-1]["content"], or write the function with @rk.reward and `completion: str`'
        )
    if raised:
        return "Fix the line above: the reward must score every completion, a bad one with the lowest score"
    if found.environment and found.law in _WITH_ENVIRONMENT:
        return _WITH_ENVIRONMENT[found.law]
    return _BY_FAMILY.get(found.family) or _BY_LAW.get(found.law, "")


# Expressions: Python that can be pasted, for the values of a finding and the import of its reward.


_LONG = 300
_RUN = re.compile(r"(.{1,40}?)\1{30,}", re.DOTALL)


def expression_of(value: Any) -> str:
    """Return a value as Python; repeated pieces of a long text are written as products."""
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
    """Return statements that import a reward as ``reward``; an empty text if its place is not known."""
    place = _place(reward)
    if place is not None:
        module, name = place
        return f"from {module} import {name}" + ("" if name == "reward" else " as reward")
    if not isinstance(reward, Sequence) or isinstance(reward, str) or not reward:
        return ""
    places = [_place(one) for one in reward]
    modules: dict[str, list[str]] = {}
    for one in places:
        if one is None:
            return ""
        modules.setdefault(one[0], []).append(one[1])
    lines = [f"from {module} import {', '.join(dict.fromkeys(names))}" for module, names in modules.items()]
    return "; ".join([*lines, f"reward = [{', '.join(one[1] for one in places if one is not None)}]"])


def _place(reward: Any) -> tuple[str, str] | None:
    """Return the module and the name of a variable that holds the reward, or the function that it was made of."""
    if isinstance(reward, Reward) and reward.facts.binding is not None and reward.facts.binding.foreign:
        reward = reward.facts.binding.original
    own = str(getattr(reward, "__module__", ""))
    for module_name in dict.fromkeys([own, *sys.modules]):
        module = sys.modules.get(module_name)
        if module is None or not _is_users(module_name, module):
            continue
        for name, value in list(vars(module).items()):
            if value is reward and name.isidentifier() and not name.startswith("_"):
                return module_name, name
    return None


def _is_users(name: str, module: Any) -> bool:
    """Whether a module may be the user's own and can be imported by its name."""
    if name == "__main__" or name.partition(".")[0] in ("rewardkit", "builtins") or name.startswith("rewardkit_"):
        return False
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not isinstance(getattr(module, "__dict__", None), Mapping):
        return False
    installed = ("site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    return not set(installed) & set(Path(file).parts)


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
