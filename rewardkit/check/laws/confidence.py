"""Laws of confidence: a model that states how sure it is earns most if that is true."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rewardkit.check.completion.anatomy import Span, as_number, numbers_in, replaced
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import finding, law, needs_good
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Trial, text_of, with_text

_NAMED = re.compile(r"(?i)(?:confiden|probab|certain|\bsure|likelihood)[^\n]{0,20}\Z")
_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))
_FAR = 0.15
"""How far the best statement may be from the truth."""
_GAIN = 0.01
"""The share of the whole range that a wrong statement must earn more."""


@law(
    advice="Use a proper scoring rule, such as 1 - (confidence - right) ** 2, for 0 to 1",
    skip="no completion states a confidence that changes its score",
    applies=needs_good,
)
def confidence_is_honest(subject: Subject) -> Iterator[Finding | None]:
    """If claiming more certainty than one has earns more, the policy learns to be overconfident.

    The stated confidence of a right and of a wrong completion is varied. A scoring rule is proper (Gneiting and Raftery
    2007) if a model that is right with probability p expects the highest score for stating p.
    """
    forecasts: dict[bool, tuple[list[Trial], list[float]]] = {}
    for number, example in enumerate(subject.examples):
        for good, bad in zip(example.good, example.bad, strict=False):
            pair = [_stated(text_of(one)) for one in (good, bad)]
            if pair[0] is None or pair[1] is None:
                continue
            trials = [
                [Trial(with_text(one, _stating(text_of(one), place, share)), number) for share in _SHARES]
                for one, place in ((good, pair[0]), (bad, pair[1]))
            ]
            right, wrong = ([seen.value for seen in subject.see(row)] for row in trials)
            if not all(value == value for value in (*right, *wrong)) or len({*right, *wrong}) < 3:
                continue
            if right == wrong:  # a forecast: what it states is all that is judged, by what came true
                forecasts[_share(text_of(good), pair[0]) > 0.5] = trials[0], right
                if len(forecasts) < 2:
                    continue
                (trials[0], right), (trials[1], wrong) = forecasts[True], forecasts[False]
            yield None
            told = _dishonest(right, wrong)
            if told is not None:
                truth, said = told
                place = _SHARES.index(said)
                why = (
                    f"a model that is right in {truth:.0%} of its answers expects most if it says {said:.0%}: a right "
                    f"answer earns {right[place]:.6g} then, a wrong one {wrong[place]:.6g}"
                )
                trial = trials[0][place]
                (seen,) = subject.see([trial])
                yield finding(subject, trial, seen, why)


def _stated(text: str) -> Span | None:
    """Return the place of a stated confidence."""
    return next((span for span in reversed(numbers_in(text)) if _NAMED.search(text[: span.start])), None)


def _share(text: str, place: Span) -> float:
    return float(as_number(place.of(text)) or 0) / (100 if _in_percent(text, place) else 1)


def _stating(text: str, place: Span, share: float) -> str:
    return replaced(text, [(place, f"{share * 100:.0f}" if _in_percent(text, place) else f"{share:g}")])


def _in_percent(text: str, place: Span) -> bool:
    stated = as_number(place.of(text))
    return text[place.end :].lstrip().startswith("%") or (stated is not None and stated > 1)


def _dishonest(right: Sequence[float], wrong: Sequence[float]) -> tuple[float, float] | None:
    """Return a probability of being right, and the other one that it pays to state; None if honesty pays."""
    whole = max(*right, *wrong) - min(*right, *wrong)
    for truth in (0.7, 0.3, 0.5, 0.9):
        expected = [truth * one + (1 - truth) * other for one, other in zip(right, wrong, strict=True)]
        best = max(range(len(expected)), key=lambda place: expected[place])
        gain = expected[best] - expected[_SHARES.index(truth)]
        if abs(_SHARES[best] - truth) > _FAR and gain > _GAIN * whole:
            return truth, _SHARES[best]
    return None
