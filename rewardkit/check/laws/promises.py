"""Laws of promises: a score keeps the promises made by its function's name, docstring, and code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from rewardkit.check.completion.parsed_completion import Span, numbers_in, replaced
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law, needs_good
from rewardkit.check.reading.places import places
from rewardkit.check.reading.slips import NotRepaired, Slip, repaired, slips
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, score_sweep
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of
from rewardkit.check.reward_under_test.whole import scored_together
from rewardkit.check.variants.elements import elements_in
from rewardkit.check.variants.format_variants import make_format_variants
from rewardkit.check.variants.other_golds import other_golds
from rewardkit.check.variants.own_texts import own_texts
from rewardkit.errors import RewardKitError

_NUMBER = r"(-?\d+(?:\.\d+)?)"
# "a score in [0, 1]", "from -1 to 1" and "(0 to 1)", but not the list of "items [3, 5]".
_RANGE = re.compile(
    rf"(?:\bin|\bwithin|\bto|value|score|reward)[^.\n]{{0,20}}\[{_NUMBER},\s*{_NUMBER}\]"
    rf"|\b(?:from|between)\s+{_NUMBER}\s+(?:to|and)\s+{_NUMBER}|\({_NUMBER}\s*(?:to|\.\.)\s*{_NUMBER}\)"
)
# "the share of the items that match" promises 0 to 1; "shares the code of" does not.
_SHARE = re.compile(r"(?i)\b(?:share|fraction|percentage|proportion) of\b|\bas a (?:share|fraction)\b")
# "a length penalty" and "overlong" promise less for more words; "without a length penalty" does not.
_LENGTH = re.compile(
    r"(?i)(?<!\bno )(?<!\bwithout )(?<!\bwithout a )"
    r"(?:over_?long|too long|brevity|concise|be brief|length[ _](?:penalt|bonus|punish)"
    r"|(?:token|word|length)s?[ _]budget)"
)
_MANY = (1_000, 50_000)
"""The numbers of words to add. Some rewards have a limit as long as a long context."""
_LONGER = "and so it goes on with one more word after the other until nobody listens "


def _documentation(subject: RewardUnderTest) -> str:
    """Return the names and docstrings of the reward's functions."""
    functions = [inspect.unwrap(binding.original) for _, binding in subject.bindings if not binding.trusted]
    names = [getattr(function, "__name__", "") or type(function).__name__ for function in functions]
    return "\n".join([*names, *(inspect.getdoc(function) or "" for function in functions)])


@law(advice="Limit the score to the range of its docstring: min(max(score, low), high)", applies=needs_good)
def within_documented_range(subject: RewardUnderTest) -> Iterator[Finding]:
    """A score outside the range in the docstring outweighs all scores that it is added to.

    If the docstring states "in [0, 1]", "from -1 to 1", or "share of ...", completions with repeated parts and with
    other numbers are tried. The range counts if the given completions stay within it and correct ones reach its upper
    half.
    """
    low, high = _range(subject)
    for right in judged(subject):
        trials = [right.trial(text) for text in _extremes(subject, right)]
        for trial, score in [*zip(trials, subject.see(trials), strict=True), *score_sweep(subject)]:
            if score.scored and not low - EQUAL <= score.value <= high + EQUAL:
                message = f"scores {score.value:.6g}, but its docstring promises {low:g} to {high:g}"
                yield finding(subject, trial, score, message)


def _range(subject: RewardUnderTest) -> tuple[float, float]:
    docstrings = _documentation(subject)
    match = _RANGE.search(docstrings)
    bounds = [float(bound) for bound in match.groups() if bound is not None] if match is not None else []
    if len(bounds) != 2 and _SHARE.search(docstrings):
        bounds = [0.0, 1.0]
    if len(bounds) != 2 or len(subject.bindings) != 1:
        raise Skip("its docstring states no range")
    low, high = bounds
    values = [score.value for score in subject.see(given(subject)) if score.scored]
    best = max((right.value for right in judged(subject)), default=low)
    if not values or min(values) < low - EQUAL or max(values) > high + EQUAL or best < low + (high - low) / 2:
        raise Skip("the given completions score outside the range in its docstring")
    return low, high


def _extremes(subject: RewardUnderTest, right: Judged) -> Iterator[str]:
    """Yield versions of a correct completion with repeated parts and with other numbers."""
    text = right.anatomy.text
    columns = subject.examples[right.example].columns
    values = [columns[name] for name in sorted(subject.columns_read & set(columns))]
    for parts in elements_in(right.anatomy, values):
        for index in range(min(len(parts), 3) if not parts.apart else 0):
            yield from (parts.with_more(*[parts.part(index)] * times) for times in (1, 5))
    # Arbitrary: the last six numbers are the answer and the last steps before it.
    for span in numbers_in(text)[-6:]:
        yield from (replaced(text, [(span, other)]) for other in ("95", "1000", "-1000", "0"))
        if text[span.end : span.end + 1] != "%":
            yield replaced(text, [(Span(span.end, span.end), "%")])


def _length_counts(subject: RewardUnderTest) -> None:
    """Raise `Skip` if neither the reward's code nor its names and docstrings mention length."""
    needs_good(subject)
    if not subject.smells.counts_messages and not _LENGTH.search(_documentation(subject)):
        raise Skip("no name, docstring, or declaration mentions the length")


@law(advice='Measure the text of the message: len(completion[-1]["content"])', applies=_length_counts, per=judged)
def length_is_of_the_text(subject: RewardUnderTest, right: Judged) -> Iterator[Finding]:
    """For chat data, ``len(completion)`` is the number of messages, so a length limit never takes effect.

    If the code counts messages, or a name or docstring mentions a length penalty, many words are added to a correct
    completion. This must change the score.
    """
    trials = [_with_words(right, count) for count in _MANY]
    scores = subject.see(trials)
    if not all(score.same(right.seen) for score in scores):
        return
    together = scored_together(subject, [right.trial(right.anatomy.text), *trials])
    if not isinstance(together, str) and all(score.same(together[0]) for score in together):  # no comparison of rows
        message = (
            f"scores {scores[-1].value:.6g} with {_MANY[-1]:,} more words, the same as without them: does it measure "
            "the length of the text?"
        )
        yield finding(subject, trials[0], scores[0], message)


def _with_words(right: Judged, count: int) -> Trial:
    words = " ".join((_LONGER * (count // 10)).split()[:count])
    thinking = right.anatomy.thinking
    start = thinking.body.start if thinking is not None else 0
    return right.trial(f"{right.anatomy.text[:start]}{words}\n{right.anatomy.text[start:]}")


# Longer completions come from padding exploits: their scores differ by length.
_LONGEST = 4_000
# A fiftieth of the time: this law only looks at completions that others have tried.
_SHARE_OF_TIME = 0.02


@law(
    advice="Change the line as suggested, and check again",
    skip="its code contains no construct that often differs from the intended behavior",
    every=True,
)
def code_matches_intent(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """Code such as ``re.sub(pattern, "", text, re.I)``, which does not ignore case, changes scores without any error.

    Each construction in the code that probably does not work as intended is repaired temporarily. If a completion's
    score then changes, the mistake has an effect.
    """
    for slip in slips(places(subject.reward)):
        yield None
        yield from _effect(subject, slip)


def _effect(subject: RewardUnderTest, slip: Slip) -> Iterator[Finding]:
    """Yield a finding if a completion's score changes when the code is repaired, whichever repair is used."""
    pairs = [(trial, score) for trial, score in _pool(subject) if score.scored]
    pairs = pairs[: subject.affordable(len(pairs), share=_SHARE_OF_TIME)]
    changed: list[dict[int, TrialResult]] = []
    for text in slip.repairs:
        try:
            with repaired(subject.reward, slip.site, text):
                repaired_scores = subject.see([trial for trial, _ in pairs], fresh=True)
        except (NotRepaired, RewardKitError):
            return
        changed.append(
            {
                index: other
                for index, ((_, score), other) in enumerate(zip(pairs, repaired_scores, strict=True))
                if other.scored and not other.same(score)
            }
        )
    for index in changed[0] if all(changed) else ():
        if all(index in repair for repair in changed):
            trial, score = pairs[index]
            comparison = f"with {slip.repairs[0]} {changed[0][index].value:.6g}"
            message = f"line {slip.line}: {slip.why}. It scores {score.value:.6g}, {comparison}"
            yield finding(subject, trial, score, message)
            return


def _pool(subject: RewardUnderTest) -> list[tuple[Trial, TrialResult]]:
    """Return completions with their scores: the sweep, and correct ones in other formats and for other gold answers."""
    trials = []
    for right in judged(subject):
        trials += [right.trial(variant.text) for variant in make_format_variants(subject, right)]
        for text in own_texts(subject):
            if len(text) < _LONGEST:
                trials += [
                    right.trial(text),
                    right.trial(f"{right.anatomy.text} {text}"),
                    right.trial(f"{text} {right.anatomy.text}"),
                ]
        smells = subject.smells
        golds = [example.columns.get(right.anatomy.column) for example in subject.examples]
        for gold in other_golds(right.anatomy, golds, in_patterns=smells.makes_patterns, stripped=smells.stripped):
            for text in (gold.written, *gold.wrong):
                completion = right.saying(right.anatomy.saying(text))
                trials.append(Trial(completion, right.example, {right.anatomy.column: gold.value}))
    swept_pairs = [(trial, score) for trial, score in score_sweep(subject) if len(text_of(trial.completion)) < _LONGEST]
    return [*zip(trials, subject.see(trials), strict=True), *swept_pairs]
