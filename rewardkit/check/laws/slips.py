"""Laws of slips: the code does what it says."""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import finding, law
from rewardkit.check.reading.places import places
from rewardkit.check.reading.slips import NotRepaired, Slip, repaired, slips
from rewardkit.check.reward_under_test.judgment import judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.sweep import swept
from rewardkit.check.reward_under_test.trials import Seen, Trial, text_of
from rewardkit.check.variants.dresses import dresses
from rewardkit.check.variants.other_golds import other_golds
from rewardkit.check.variants.own_texts import own_texts
from rewardkit.errors import RewardKitError

_LONGEST = 4_000
_SHARE = 0.02


@law(
    advice="Change the line as proposed, and check again",
    skip="its code has no construction that is known to do something else than it says",
    every=True,
)
def does_what_it_says(subject: Subject) -> Iterator[Finding | None]:
    """``re.sub(pattern, "", text, re.I)`` does not ignore the case, and no error says so.

    Each construction in the code that does something else than it says is repaired for a moment. If a completion gets
    another score then, the slip has an effect.
    """
    for slip in slips(places(subject.reward)):
        yield None
        yield from _effect(subject, slip)


def _effect(subject: Subject, slip: Slip) -> Iterator[Finding]:
    """Yield a finding if a completion gets another score from the repaired code, whichever way it is repaired."""
    pairs = [(trial, seen) for trial, seen in _pool(subject) if seen.scored]
    pairs = pairs[: subject.affordable(len(pairs), share=_SHARE)]
    changed: list[dict[int, Seen]] = []
    for text in slip.repairs:
        try:
            with repaired(subject.reward, slip.site, text):
                others = subject.see([trial for trial, _ in pairs], fresh=True)
        except (NotRepaired, RewardKitError):
            return
        changed.append(
            {
                place: other
                for place, ((_, seen), other) in enumerate(zip(pairs, others, strict=True))
                if other.scored and not other.same(seen)
            }
        )
    for place in changed[0] if all(changed) else ():
        if all(place in one for one in changed):
            trial, seen = pairs[place]
            meant = f"with {slip.repairs[0]} {changed[0][place].value:.6g}"
            why = f"line {slip.line}: {slip.why}. It earns {seen.value:.6g}, {meant}"
            yield finding(subject, trial, seen, why)
            return


def _pool(subject: Subject) -> list[tuple[Trial, Seen]]:
    """Return completions with their scores: the sweep, right ones in other clothes and for other gold answers."""
    trials = []
    for right in judged(subject):
        trials += [right.trial(dress.text) for dress in dresses(subject, right)]
        for text in own_texts(subject):
            if len(text) < _LONGEST:
                trials += [
                    right.trial(text),
                    right.trial(f"{right.anatomy.text} {text}"),
                    right.trial(f"{text} {right.anatomy.text}"),
                ]
        smells = subject.smells
        known = [example.columns.get(right.anatomy.column) for example in subject.examples]
        for gold in other_golds(right.anatomy, known, in_patterns=smells.makes_patterns, stripped=smells.stripped):
            for text in (gold.written, *gold.wrong):
                said = right.saying(right.anatomy.saying(text))
                trials.append(Trial(said, right.example, {right.anatomy.column: gold.value}))
    swept_pairs = [(trial, seen) for trial, seen in swept(subject) if len(text_of(trial.completion)) < _LONGEST]
    return [*zip(trials, subject.see(trials), strict=True), *swept_pairs]
