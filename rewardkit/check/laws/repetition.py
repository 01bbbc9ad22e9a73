"""Laws of repetition: the same completion gets the same score each time, also in another process."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from itertools import islice, permutations
from types import CodeType
from typing import Any

from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Unfinished, finding, law
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.sweep import given, swept
from rewardkit.check.reward_under_test.trials import Seen, Trial
from rewardkit.check.reward_under_test.vocabulary import code_of
from rewardkit.workers.worker import Call, Launch, alone

_ROUNDS = 3
_HASH_SEEDS = ("1", "2", "3")
_SENT = 80
"""Completions sent to other processes."""
_JOINED = 4
"""Pairs of completions joined per example."""
_MORE = "Several engineers from northern harbors measured remarkable currents, temperatures, depths and salinity."
"""Words that make the text of a column longer."""
_SECONDS = 60.0
"""Time limit for another process."""


@law
def deterministic(subject: Subject) -> Iterator[Finding]:
    """Equal completions must get equal scores, or GRPO takes noise for an advantage; replay needs it, too.

    Every completion gets the same score again, in another order and in another process.
    """
    if not subject.deterministic:
        raise Skip("the reward declares deterministic=False")
    pairs = [pair for pair in swept(subject)[: subject.affordable(150)] if not subject.skips(pair[0])]
    trials = [trial for trial, _ in pairs]
    first = {id(trial): seen for trial, seen in pairs}
    orders = [list(reversed(trials)), trials, given(subject)]
    for number in range(_ROUNDS):
        order = orders[number % len(orders)]
        for trial, seen in zip(order, subject.see(order, fresh=True), strict=True):
            before = first.get(id(trial)) or next((old for other, old in pairs if other == trial), seen)
            if not before.same(seen):
                small, values = _shrunk(subject, trial)
                why = f"scored {_said(before)} at first and {_said(seen)} the second time"
                if values is not None:
                    why = f"scored {_said(values[0])} once and {_said(values[1])} another time"
                yield finding("deterministic", subject, small, seen, why)
                return
    if not _orders_sets(subject):
        return
    sent = [one for one in (*_joined(subject), *_longer_cells(subject), *trials[:_SENT]) if not subject.skips(one)]
    known = subject.see(sent, fresh=True)  # in the same batches as there: rewards may look at the other rows
    for said in _in_other_processes(subject, sent):
        for trial, here, (value, outcome) in zip(sent, known, said, strict=True):
            if not here.same(Seen(value, type(here.outcome)(outcome))):
                why = (
                    f"scores {_said(here)} here and {value:.6g} in another process: it depends on the order of a set, "
                    "or on a hash"
                )
                yield finding("deterministic", subject, trial, here, why)
                return


def _joined(subject: Subject) -> list[Trial]:
    """Join pairs of given completions: a set made from both shows its order."""
    return [
        Trial(subject.formed(f"{one}\n{other}"), number)
        for number, example in enumerate(subject.examples)
        for one, other in islice(permutations(filter(_is_text, (*example.good, *example.bad)), 2), _JOINED)
    ]


def _longer_cells(subject: Subject) -> list[Trial]:
    """Return right completions for rows with longer texts: a set of a few words may keep its order by chance."""
    found = []
    for number, example in enumerate(subject.examples):
        for column in sorted(subject.columns_read & set(example.columns)):
            texts = [other.columns.get(column) for other in subject.examples]
            if all(isinstance(text, str) and len(text.split()) > 3 for text in texts):
                longer = " ".join([*map(str, texts), _MORE])
                found += [Trial(subject.formed(text), number, {column: longer}) for text in (*map(str, texts), _MORE)]
    return found


def _is_text(completion: Any) -> bool:
    return isinstance(completion, str)


def _shrunk(subject: Subject, trial: Trial) -> tuple[Trial, tuple[Seen, Seen] | None]:
    """Return a shorter completion whose score differs between a few tries, if there is one."""
    for text in ("", "a", "42"):
        small = Trial(subject.formed(text), trial.example)
        seen = [subject.see([small], fresh=True)[0] for _ in range(4)]
        other = next((one for one in seen if not one.same(seen[0])), None)
        if other is not None:
            return small, (seen[0], other)
    return trial, None


def _said(seen: Seen) -> str:
    return f"{seen.value:.6g}" if seen.scored else str(seen.outcome)


def _orders_sets(subject: Subject) -> bool:
    """Whether its code uses sets or hashes, whose order differs between processes."""
    return any(_uses_sets(code) for _, binding in subject.bindings for code in _codes(binding.original))


def _codes(function: Any) -> Iterator[CodeType]:
    code = code_of(function)
    if code is not None:
        yield code
        for name in code.co_names:
            helper = getattr(getattr(function, "func", function), "__globals__", {}).get(name)
            below = getattr(helper, "__code__", None)
            if isinstance(below, CodeType):
                yield below


def _uses_sets(code: CodeType) -> bool:
    if {"set", "frozenset", "hash"} & set(code.co_names):
        return True
    if any(instruction.opname in ("BUILD_SET", "SET_ADD", "SET_UPDATE") for instruction in dis.get_instructions(code)):
        return True
    return any(_uses_sets(constant) for constant in code.co_consts if isinstance(constant, CodeType))


def _in_other_processes(subject: Subject, trials: list[Trial]) -> list[list[tuple[float, str]]]:
    """Score in processes with other hash seeds; return an empty list if the reward cannot be pickled.

    Raises:
        Unfinished: a process took too long.
    """
    sent = (subject.reward, subject.examples, trials, subject.plain, subject.scope, subject.stage)
    calls: list[Call] = []
    try:
        for seed in _HASH_SEEDS:
            calls.append(alone(_scored_again, sent, _SECONDS, Launch(environment={"PYTHONHASHSEED": seed}, quiet=True)))
    except Exception:  # whatever pickle raises; the first call raises it already
        return []
    errors = [call.exception() for call in calls]  # once all have ended, so that none stays behind
    if any(isinstance(error, TimeoutError) for error in errors):
        raise Unfinished(f"a second process did not score {len(trials)} completions within {_SECONDS:g} s")
    return [call.result() for call, error in zip(calls, errors, strict=True) if error is None]


def _scored_again(
    reward: Any, examples: Any, trials: list[Trial], plain: bool, scope: str, stage: Any
) -> list[tuple[float, str]]:
    subject = Subject(reward, examples, plain=plain, stage=stage)
    if scope == "group":
        subject.score_in_groups()
    return [(seen.value, seen.outcome.value) for seen in subject.see(trials)]


ALL = (deterministic,)
