"""Laws of right and wrong: a correct completion scores highest, and scores lower with an incorrect answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rewardkit.batch.score import Outcome
from rewardkit.check.completion.parsed_completion import ANSWERS, as_number, atoms_of, parsed_json, replaced
from rewardkit.check.completion.tag_violations import misspelled
from rewardkit.check.findings import COMPARE, Finding, Turn
from rewardkit.check.laws.base import (
    Skip,
    Variant,
    about_good,
    finding,
    law,
    misread_chat,
    needs_good,
    needs_own_code,
    shortest,
)
from rewardkit.check.reward_under_test.judgment import Judged, concerns, foreign_trials, is_penalty, judged, wrongness
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, score_sweep
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of
from rewardkit.check.reward_under_test.whole import covered, tells_apart
from rewardkit.check.variants.broken_texts import blocks_of
from rewardkit.check.variants.episodes.messages import has_calls
from rewardkit.check.variants.episodes.wrong_calls import changeable_calls, wrong_calls
from rewardkit.check.variants.own_texts import reacts
from rewardkit.check.variants.wild_texts import TEXTS
from rewardkit.check.variants.wrong_answers import OTHER_TEXT, Wrong, other_value, plain, with_leaf
from rewardkit.errors import RewardKitError, shorten
from rewardkit.progress.schedule import weight_bounds
from rewardkit.text.json_text import Path, path_text
from rewardkit.tree.algebra import summands
from rewardkit.tree.reward import Reward

# Each addend behind a gate of the tree is also tested alone: the total hides an addend that never adds anything.


def gated(subject: RewardUnderTest) -> Iterator[tuple[str, RewardUnderTest]]:
    """Yield (name, addend as a reward under test) for each addend of a sum behind a gate."""
    for reward in _behind_gates(subject.reward):
        yield reward.name or shorten(reward), subject.addend(reward)


def _behind_gates(tree: Reward, inside: bool = False) -> Iterator[Reward]:
    added = [reward for weight, reward in summands(tree) if weight_bounds(weight)[0] > 0]
    for reward in added:
        opened = (reward.facts.addends or ())[:1] if reward.facts.condition is not None else ()
        for then in opened:
            yield from _behind_gates(then, inside=True)
        if inside and len(added) > 1 and not opened:
            yield reward


# The most findings. Arbitrary: a few show whether a completion is compared with its own gold answer.
_MOST = 6
_FOREIGN = "correct for another example"
_ALONE = "a distractor and nothing else"
_SURPLUS = "surplus"
_NOT_JUDGED = "no trial showed that the reward judges answers"
_ENVELOPE = frozenset(("arguments", "parameters", "args", "kwargs", "function"))
"""Keys of the object around a call's arguments. Trainers and servers add other keys to it, such as ``id``."""


@law(
    advice="Compare the reward's pattern with this completion: a correct answer must match it",
    advice_on_calls="Play the correct completion, and read its calls and results: did a tool fail, or is "
    "its name misspelled?",
    fast=True,
    names_line=True,
    every=True,
    applies=needs_good,
)
def gold_gets_the_maximum(subject: RewardUnderTest) -> Iterator[Finding]:
    """If a correct completion cannot score highest, the policy has no reason to write one.

    A reward that never gives it a high score teaches nothing, and a reward that prefers nonsense teaches nonsense.
    """
    lowest = min((score.value for _, score in score_sweep(subject) if score.scored), default=0.0)
    for number, example in enumerate(subject.examples):
        for completion in example.good:
            trial = Trial(completion, number)
            score = subject.see([trial])[0]
            if score.outcome is Outcome.ABSTAINED and _applies_nowhere(subject, number):
                continue
            message = _too_low(subject, score, lowest)
            if message:
                yield finding(subject, trial, score, message + about_good(subject), advice=misread_chat(subject))
                return
    yield from _out_of_reach(subject)
    for name, part in gated(subject):
        unpaid = _never_paid(part)
        if unpaid is not None:
            trial, message = unpaid
            yield finding(
                subject,
                trial,
                subject.see([trial])[0],
                message,
                component=name,
                advice=f"Score the correct completion with only {name}, and read its note",
            )
            return
    for right in judged(subject):
        nonsense = _better_nonsense(subject, right)
        if nonsense is not None:
            trial, score = shortest(subject, nonsense, right.more)
            message = f"scores {score.value:.6g}, but a correct completion scores only {right.value:.6g}"
            yield finding(subject, trial, score, message)
            return
        worse = _better_misspelled(subject, right)
        if worse is not None:
            score = subject.see([worse])[0]
            message = (
                f"with a misspelled tag, a correct completion scores {score.value:.6g} instead of {right.value:.6g}"
            )
            yield finding(subject, worse, score, message)
            return


def _out_of_reach(subject: RewardUnderTest) -> Iterator[Finding]:
    """Report a user-defined function whose maximum is out of reach, even for correct completions."""
    low, high = subject.bounds
    is_own_code = all(not binding.foreign and not binding.trusted for _, binding in subject.bindings)
    if not is_own_code or subject.scope != "sample" or not math.isfinite(high - low):
        return
    best = max((score.value for _, score in score_sweep(subject) if score.scored), default=high)
    parts = any(math.isnan(value) for trial in given(subject) for value in subject.see([trial])[0].components.values())
    # A given completion may lose a point for style; below 95% of the range, it does not count as right.
    if best < high - 0.05 * (high - low) and not parts:
        trial = next(trial for trial in given(subject) if trial.completion in subject.examples[trial.example].good)
        message = (
            f"no completion, not even a correct one, scores more than {best:.6g} within bounds of ({low:g}, {high:g})"
        )
        yield finding(subject, trial, subject.see([trial])[0], message)


def _never_paid(part: RewardUnderTest) -> tuple[Trial, str] | None:
    """Return a correct completion and the fault if a component behind a gate gives them all its lowest score."""
    low, _ = part.bounds
    rights = [Trial(good, number) for number, example in enumerate(part.examples) for good in example.good]
    scores = part.see(rights)
    if part.scope != "sample" or not all(score.scored and score.value <= low + EQUAL for score in scores):
        return None
    return rights[0], (
        f"gives {low:.6g}, its lowest score, to every correct completion, and the gate before it hides this"
    )


def _applies_nowhere(subject: RewardUnderTest, number: int) -> bool:
    """Return whether the reward abstains on every completion of an example, which then belongs to another task."""
    return all(score.outcome is Outcome.ABSTAINED for trial, score in score_sweep(subject) if trial.example == number)


def _too_low(subject: RewardUnderTest, score: TrialResult, lowest: float) -> str:
    if not score.tried:
        return ""
    if not score.scored:
        return f"a correct completion is {score.outcome}: {score.reason or 'no score'}"
    if any(math.isnan(value) for value in score.components.values()):
        return ""  # a part does not apply here, and the maximum of the rest is unknown
    low, high = subject.bounds
    if subject.scope == "sample" and math.isfinite(low) and math.isfinite(high):
        # A right answer in an unusual form may lose a little; if it loses half of the range, the answer did not count.
        if score.value < low + 0.5 * (high - low) - EQUAL:
            return f"a correct completion scores {score.value:.6g} within bounds of ({low:g}, {high:g})"
    elif (
        score.value <= lowest + EQUAL
        and len({round(other_score.value, 9) for _, other_score in score_sweep(subject) if other_score.scored}) > 1
    ):
        return f"a correct completion scores {score.value:.6g}, the lowest score of all completions tried"
    elif score.value <= lowest + EQUAL and lowest <= 0.0 and not is_penalty(subject):
        if not subject.mined.has_dots and reacts(subject):
            return ""  # the reward looks for something that these completions lack
        return f"a correct completion scores {score.value:.6g}, the same as every other completion tried"
    return ""


def _better_nonsense(subject: RewardUnderTest, right: Judged) -> Trial | None:
    wild = set(TEXTS.values())
    for trial, score in score_sweep(subject):
        if trial.example != right.example or not right.more(score):
            continue
        text = text_of(trial.completion)
        if text in wild and not _holds(text, right) and not covered(subject, right, trial):
            return trial
    return None


def _better_misspelled(subject: RewardUnderTest, right: Judged) -> Trial | None:
    """Return a correct completion that scores higher with a misspelled tag, or None if there is none."""
    if not right.anatomy.blocks or subject.scope != "sample":  # groups may favor a different text
        return None
    for text in misspelled(blocks_of(right.anatomy)):
        trial = right.trial(text)
        if len(text) == len(right.anatomy.text) and right.more(subject.see([trial])[0]):
            return trial
    return None


def _holds(text: str, right: Judged) -> bool:
    """Return whether `text` may be a correct answer."""
    gold = right.anatomy.gold.lower()
    return not gold or gold in text.lower() or (as_number(gold) is not None and as_number(text) == as_number(gold))


def _needs_both(subject: RewardUnderTest) -> None:
    """Raise `Skip` unless correct and incorrect completions were given."""
    needs_good(subject)
    if not any(example.bad for example in subject.examples):
        raise Skip("no incorrect completions: pass bad=[...]")


@law(
    advice="Make the reward detect the error in this completion, or remove the completion from bad=",
    skip="bad= differs from good= only in answers, and the reward reads no column that contains the answers",
    applies=_needs_both,
    fast=True,
    turn=Turn.EARLY,
    names_line=True,
)
def separates_good_from_bad(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """A policy learns only from the order of scores within a group, so correct completions must score above
    incorrect ones.
    """
    margin = subject.declarations.margin
    for number, example in enumerate(subject.examples):
        rights = [Trial(good, number) for good in example.good]
        scored = [score.value for score in subject.see(rights) if score.scored]
        for wrong in (Trial(bad, number) for bad in example.bad):
            if not margin and not concerns(subject, number, wrong.completion):
                continue
            yield None
            (score,) = subject.see([wrong])
            if not scored or not score.scored or min(scored) - score.value >= max(margin, EQUAL):
                continue
            if all(tells_apart(subject, right, wrong) for right in rights):
                continue
            margin_note = f" (margin={margin:g})" if margin else ""
            unread = ", ".join(map(repr, sorted(subject.columns_forgotten)))
            asks = f". The reward requests {unread} but never reads it" if unread else ""
            message = (
                f"an incorrect completion scores {score.value:.6g}, and a correct one scores "
                f"{min(scored):.6g}{margin_note}{asks}"
            )
            correct = rights[0].completion if rights else None
            yield finding(subject, wrong, score, message, advice=misread_chat(subject), correct=correct)


@law(
    advice=COMPARE,
    advice_on_calls="If this completion makes another row's calls, compare their arguments with this row's: "
    "rk.tool_calls, or the state with rk.agents.final_state. If it contains another row's answer, compare "
    "answers as a whole",
    fast=True,
    turn=Turn.EARLY,
    names_line=True,
    every=True,
    skip=_NOT_JUDGED,
    applies=needs_good,
)
def gold_above_perturbed_gold(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """A policy learns an incorrect answer just as readily if it scores as high as the correct one.

    The answer in a correct completion is replaced with an answer that is certainly incorrect: a distant number, NaN, a
    prefix, another option, another example's gold answer, or one of `distractors=`. The law applies only to rewards
    that were observed to judge answers. Tool calls are also tried with an empty column: then no call is correct,
    but this is a lead unless an example has an empty column.
    """
    violations: dict[str, Finding] = {}
    for right in judged(subject):
        blind = _pays_any_answer(subject, right)
        if blind is not None:
            yield blind
            return
        for trial in wrong_calls(subject, right):
            yield None
            score = subject.see([trial])[0]
            if right.paid(score) and not covered(subject, right, trial):
                message = (
                    f"an incorrect tool call scores {score.value:.6g}, and the correct one scores {right.value:.6g}"
                )
                violations.setdefault("call", finding(subject, trial, score, message, correct=right.completion))
        for trial in _calls_when_none_is_expected(subject, right):
            score = subject.see([trial])[0]
            message = (
                f"with an empty list of calls in the column, calls score {score.value:.6g}, and no call scores less"
            )
            columns = trial.columns or {}
            is_seen = any(
                example.columns.get(name) == columns[name] for name in columns for example in subject.examples
            )
            violations.setdefault("no call", finding(subject, trial, score, message, lead=not is_seen))
        if not right.judges:
            continue
        yield None
        texts = list(perturbed(subject, right))
        for text, kind in texts:
            trial = right.trial(text)
            score = subject.see([trial])[0]
            # One unrelated word may be another correct answer, such as another fruit.
            if kind == OTHER_TEXT and sum(map(right.paid, _scores_of(subject, right, texts, kind))) < 2:
                continue
            if right.paid(score) and kind not in violations and not covered(subject, right, trial):
                violations[kind] = _wrong_paid(subject, right, trial, kind)
        for trial in foreign_trials(subject, right.example, right.completion):
            score = subject.see([trial])[0]
            if right.paid(score) and not covered(subject, right, trial):
                violations.setdefault("other", _wrong_paid(subject, right, trial, _FOREIGN))
        if len(violations) >= _MOST:
            break
    yield from list(violations.values())[:_MOST]


def _calls_when_none_is_expected(subject: RewardUnderTest, right: Judged) -> Iterator[Trial]:
    """Yield the correct completion with an empty list in the column of its calls, if a sentence scores lower there."""
    if not has_calls(right.completion) and "tool_call" not in right.anatomy.text:
        return
    words = set(re.findall(r"\w+", json.dumps(right.completion, ensure_ascii=False)))
    for name in sorted(subject.columns_read):
        value = subject.examples[right.example].columns.get(name)
        calls = parsed_json(value) if isinstance(value, str) else value
        # A list of messages or available tools has other words.
        if (
            not isinstance(calls, list)
            or not calls
            or not words.issuperset(re.findall(r"\w+", " ".join(atoms_of(calls))))
        ):
            continue
        columns = {name: "[]" if isinstance(value, str) else []}
        idle = Trial(subject.formed("No function fits this request."), right.example, columns)
        calling = replace(right.as_given, columns=columns)
        with suppress(RewardKitError):  # the annotation does not allow an empty list
            scores = subject.see([calling, idle])
            if right.paid(scores[0]) and scores[1].scored and not right.paid(scores[1]):
                yield calling


def _scores_of(subject: RewardUnderTest, right: Judged, texts: list[tuple[str, str]], kind: str) -> list[TrialResult]:
    return subject.see([right.trial(text) for text, other in texts if other == kind])


def _pays_any_answer(subject: RewardUnderTest, right: Judged) -> Finding | None:
    """Return a finding if a reward reads the gold column but accepts any answer."""
    column = right.anatomy.column
    honest = [(text, score) for text, score in right.honest if text != right.anatomy.text]
    if right.judges or column not in subject.columns_named or not any(word in column.lower() for word in ANSWERS):
        return None
    thinking = right.anatomy.thinking
    if thinking is not None and thinking.body.holds(right.anatomy.places[-1]):
        return None
    enough = 1 if right.anatomy.gold[:1] in "{[" else 4  # a wrong document is not rewarded by chance
    if len(honest) < enough or not all(right.paid(score) for _, score in honest) or len(right.anatomy.gold) < 2:
        return None
    text, score = honest[0]
    if covered(subject, right, right.trial(text)):
        return None
    message = (
        f"the reward reads {column!r} but scores {len(honest)} incorrect answers {score.value:.6g}, the same as "
        "the correct one"
    )
    return finding(subject, right.trial(text), score, message, correct=right.completion)


@law(advice="Give the lowest score if there is no answer", skip=_NOT_JUDGED, applies=needs_good, per=judged)
def only_answers_are_paid(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If a completion without an answer (``{"answer": null}``, half a tag) is rewarded, the policy stops answering.

    All completions in the sweep that are certainly not correct, such as a hundred spaces, must score lower than the
    correct completion.
    """
    wrong = wrongness(subject, right)
    if wrong is None:
        return
    yield None
    paid = [trial for trial, score in score_sweep(subject) if trial.example == right.example and right.paid(score)]
    left = replaced(right.anatomy.region.of(right.anatomy.text), [(right.anatomy.in_region, "")]).strip()
    if plain(left) and right.anatomy.marked:  # the letter next to the text of an option is right by itself
        alone = re.compile(rf"(?<!\w){re.escape(left)}(?!\w)")
        paid = [trial for trial in paid if not alone.search(text_of(trial.completion))]
    for trial in sorted(paid, key=lambda trial: len(text_of(trial.completion))):
        if wrong(text_of(trial.completion)):
            yield Variant(trial, "a completion without the answer scores {score}, and the correct one scores {base}")


def perturbed(subject: RewardUnderTest, right: Judged) -> Iterator[tuple[str, str]]:
    """Yield each text with a certainly incorrect answer once, together with the kind of incorrect answer."""
    distinct = {right.anatomy.text}
    for text, kind in _all_perturbed(subject, right):
        if text not in distinct:
            distinct.add(text)
            yield text, kind


def _all_perturbed(subject: RewardUnderTest, right: Judged) -> Iterator[tuple[str, str]]:
    distractors = tuple(Wrong(text, "distractor", "a distractor") for text in subject.declarations.distractors)
    answers = (*distractors, *right.wrong) if right.anatomy.gold else ()
    for wrong in answers:
        yield right.anatomy.saying(wrong.text), wrong.kind
    for distractor in distractors:
        yield distractor.text, _ALONE
    # A name in a program also occurs where it does not count.
    if right.anatomy.marked and not (right.anatomy.region.kind == "fence" and len(right.anatomy.places) > 1):
        for wrong in answers:
            yield right.anatomy.answering(wrong.text), f"{wrong.kind}, with the gold answer elsewhere"
            if right.anatomy.region.of(right.anatomy.text).strip() != right.anatomy.gold:
                yield right.anatomy.with_region(wrong.text), wrong.kind


def _wrong_paid(subject: RewardUnderTest, right: Judged, trial: Trial, kind: str) -> Finding:
    text = text_of(trial.completion)
    region = right.anatomy.region
    tail = text[region.start :] if right.anatomy.marked else text
    keep = tail if len(text) > 100 and len(tail) < len(text) and kind not in (_FOREIGN, _ALONE) else text
    small, score = (trial, subject.see([trial])[0]) if keep == text else shortest(subject, trial, right.paid, keep=keep)
    message = f"an incorrect answer ({kind}) scores {score.value:.6g}, and the correct one scores {right.value:.6g}"
    return finding(subject, small, score, message, correct=right.completion)


@law(
    advice="Compare the whole objects, made == wanted, or count the keys that only one of them has, as rk.json_match "
    "and rk.tool_calls do. If additional keys are correct, skip this law with without=[...]",
    skip="no trial showed that the reward compares all values of a JSON object in a column",
    applies=needs_own_code,
    per=judged,
)
def keys_are_compared_both_ways(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If only the gold answer's keys are compared, the policy can add keys at no cost, although they break the call.

    The law applies to JSON objects from a column, in a correct completion or as the arguments of its calls, if the
    reward compares the value of each key. A key is added to the object or to a nested object, and each key that has a
    value is removed. Each change must lower the score.
    """
    for value, trial_with in _json_values(subject, right):
        for path, part in _objects(value):
            altered = [trial_with(with_leaf(value, (*path, key), other_value(part[key]))) for key in part]
            if any(map(right.paid, subject.see(altered))):
                continue  # some values do not count, so whole keys may not count either
            yield None
            changes: list[tuple[dict[str, Any], str]] = []
            if not _ENVELOPE & part.keys():
                changes.append(({**part, _SURPLUS: 1}, f"with a key {_SURPLUS!r} that the gold answer lacks"))
            for key in part if len(part) > 1 else ():
                if part[key] not in (None, "", [], {}, False, 0):
                    rest = {name: part[name] for name in part if name != key}
                    changes.append((rest, f"without the key {key!r}"))
            location = f" in {path_text(path)}" if path else ""
            for changed, description in changes:
                message = f"{description}{location}, it scores {{score}}, the same as the correct completion"
                yield Variant(trial_with(with_leaf(value, path, changed)), message)


def _json_values(subject: RewardUnderTest, right: Judged) -> Iterator[tuple[Any, Callable[[Any], Trial]]]:
    """Yield each JSON value in a correct completion that a column has, with a function that replaces it in a trial.

    The value is an object or a list of objects.
    """
    yield from changeable_calls(subject, right)
    if right.anatomy.gold[:1] in ("{", "[") and right.anatomy.column in subject.columns_read | subject.columns_named:
        with suppress(ValueError, RecursionError):
            yield json.loads(right.anatomy.gold), lambda other: right.trial(right.anatomy.saying(json.dumps(other)))


def _objects(value: Any) -> list[tuple[Path, dict[str, Any]]]:
    """Return at most six (an arbitrary limit) objects with keys in a JSON value, outermost first."""
    objects: list[tuple[Path, dict[str, Any]]] = []
    queue: list[tuple[Path, Any]] = [((), value)]
    for path, part in queue:  # the list grows
        if isinstance(part, dict) and part:
            objects.append((path, part))
        # Arbitrary limit: a gold answer may be a large document.
        if isinstance(part, (dict, list)) and len(queue) < 50:
            items = part.items() if isinstance(part, dict) else enumerate(part)
            queue += [((*path, key), inside) for key, inside in items]
    return objects[:6]


@law(advice=COMPARE, skip="no incorrect completion is rejected", applies=needs_good, per=judged)
def wrong_stays_wrong(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If a stray letter makes an incorrect completion count as correct, the policy learns to write the letter.

    Text that the reward cannot parse must not be treated as missing text. An incorrect completion is tried with a word
    before it, and without its last letter. The law is broken if both versions score as high as the correct completions.
    """
    for text in map(text_of, subject.examples[right.example].bad):
        (refused,) = subject.see([right.trial(text)])
        # Shorter texts occur in other words by chance: "A", "in", "no".
        if len(text) >= 4 and refused.scored and not right.paid(refused):
            message = (
                f"an incorrect completion scores {refused.value:.6g}, but with a word before it, it scores {{score}}"
            )
            yield Variant(right.trial(f"So: {text}"), message, twins=(right.trial(text[:-1]),))
