"""Laws of lazy policies: completions that take no work, such as silence, score less than correct completions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from rewardkit.batch.messages import prompt_text
from rewardkit.check.completion.parsed_completion import parsed_json
from rewardkit.check.findings import REFUSED, Finding, Share
from rewardkit.check.laws.base import Skip, finding, law, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, foreign_trials, is_penalty, judged, wrongness
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, score_sweep
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, text_of
from rewardkit.check.reward_under_test.whole import covered
from rewardkit.check.variants.wrong_answers import plain

_CONSTANT = "I do not know."
_SILENCE = "silence"
_FOREIGN = "another example's correct completion"
_ECHOES = ("an echo of the prompt", "the prompt's last line")
"""Strategies whose completions may contain the answer, because the prompt may contain it."""
_HALF = 0.5
"""A lazy policy that gets no more than this share of a correct completion's score may be intended, as with scores of -1
for an incorrect answer, 0 for none, and 1 for a correct one."""
_NO_EDIT = "an edit that changes nothing"
_NOTHING: tuple[object, ...] = ([], {}, (), "", "[]", "{}")
"""The cells of a row that asks for no calls."""
_EDIT = re.compile(r"(?<=SEARCH\n)(.*?\n)(=======\n)(?:.*?)(?=\n>>>>>>> REPLACE)", re.DOTALL)
"""The old lines, the separator, and the new lines of a SEARCH/REPLACE block."""

Lazy = Mapping[int, Mapping[str, Trial]]
"""The lazy completions of each example, by the name of the strategy."""


@law(
    advice="Give the lowest score unless the completion contains the answer",
    skip="no trial showed that the reward judges answers",
    applies=needs_good_alone,
    names_line=True,
)
def lazy_answers_score_low(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """A policy finds a completion that takes no work before it finds a correct one, and keeps it if it is rewarded.

    Silence, an echo of the prompt, its last line, a constant text, and another example's correct completion are scored
    for every example. None may score as high as a correct completion. None may beat the given incorrect completions of
    every example and also get more than half of a correct completion's score.
    """
    rights = judged(subject)
    if not any(right.judges for right in rights):
        return
    if is_penalty(subject):
        raise Skip("the reward is a penalty, which silence rightly avoids")
    yield None
    lazy = {
        number: _strategies(subject, number)
        for number, example in enumerate(subject.examples)
        if example.good and number not in subject.declarations.noop_examples
    }
    shares = _shares(subject, lazy)
    subject.shares = tuple(shares.values())
    for right in sorted(rights, key=lambda right: right.value):
        for name, trial in lazy.get(right.example, {}).items():
            score = subject.see([trial])[0]
            if not _is_wrong(subject, right, name, trial) or covered(subject, right, trial):
                continue
            if right.paid(score):
                message = f"{name} scores {score.value:.6g}, and a correct completion scores {right.value:.6g}"
                yield finding(subject, trial, score, message, correct=right.completion)
            elif name == _SILENCE and _is_worth_it_here(subject, lazy, right):
                message = f"silence scores {score.value:.6g} in this row, more than an incorrect completion"
                yield finding(subject, trial, score, message, correct=right.completion)
    for name, share in shares.items():
        trials = {number: trials[name] for number, trials in lazy.items() if name in trials}
        first = next((right for right in rights if right.example in trials), None)
        if name == _FOREIGN or share.value <= _HALF + EQUAL or first is None or not _beats_bad(subject, trials):
            continue  # another example's completion may rightly get partial credit
        trial = trials[first.example]
        if _is_wrong(subject, first, name, trial) and not covered(subject, first, trial):
            message = (
                f"{name} scores higher than the incorrect completions of every example, and gets {share.value:.0%} of "
                "the score of correct completions"
            )
            yield finding(subject, trial, subject.see([trial])[0], message, correct=first.completion)


def _is_worth_it_here(subject: RewardUnderTest, lazy: Lazy, right: Judged) -> bool:
    """Return whether silence gets half of the score in one row, more than an incorrect completion, but not in all."""
    here, *elsewhere = subject.see(
        [lazy[right.example][_SILENCE], *(trials[_SILENCE] for trials in lazy.values() if _SILENCE in trials)]
    )
    bad = subject.see(Trial(text, right.example) for text in subject.examples[right.example].bad)
    lowest = min((score.value for score in elsewhere if score.scored), default=math.nan)
    half = lowest + _HALF * (right.value - lowest)
    return here.scored and here.value > half + EQUAL and any(here.value > score.value + EQUAL for score in bad)


def _strategies(subject: RewardUnderTest, number: int) -> dict[str, Trial]:
    """Return the lazy completions for an example, without those that equal a correct completion."""
    example = subject.examples[number]
    prompt = prompt_text(example.prompt)
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    texts = {_SILENCE: "", "a constant text": _CONSTANT}
    texts |= {"an echo of the prompt": prompt} if lines else {}
    texts |= {"the prompt's last line": lines[-1]} if len(lines) > 1 else {}
    good = text_of(example.good[0])
    texts |= {"an empty object": "{}"} if isinstance(parsed_json(good.strip()), dict) else {}
    trials = {name: Trial(subject.formed(text), number) for name, text in texts.items()}
    unchanged = _EDIT.sub(lambda edit: f"{edit[1]}{edit[2]}{edit[1].rstrip()}", good)
    if unchanged != good:
        trials[_NO_EDIT] = Trial(subject.formed(unchanged), number)
    for trial in foreign_trials(subject, number, example.good[0])[:1]:
        trials[_FOREIGN] = trial
    right_texts = {plain(text_of(good)) for good in example.good}
    # The edit may differ from a correct one only in its marks.
    return {name: trial for name, trial in trials.items() if name == _NO_EDIT or plain(trial.text) not in right_texts}


def _is_wrong(subject: RewardUnderTest, right: Judged, name: str, trial: Trial) -> bool:
    """Return whether a lazy completion is certainly incorrect."""
    if name == _NO_EDIT:
        return right.judges
    if not right.judges or not (right.anatomy.gold or name == _SILENCE):
        return False  # the text may do for a reward that reads no gold answer
    columns = subject.examples[right.example].columns
    if not right.anatomy.gold and any(columns.get(column) in _NOTHING for column in subject.columns_read):
        return False  # an empty list of calls asks for none
    wrong = wrongness(subject, right)
    if wrong is None or (name == _FOREIGN and subject.declarations.is_correct is None):
        return name not in _ECHOES
    return wrong(trial.text)


def _beats_bad(subject: RewardUnderTest, trials: Mapping[int, Trial]) -> bool:
    """Return whether a strategy scores higher than the given incorrect completions of every example with some."""
    bad = {number: subject.examples[number].bad for number in trials if subject.examples[number].bad}
    return bool(bad) and all(
        score.scored and subject.see([trials[number]])[0].value > score.value + EQUAL
        for number, completions in bad.items()
        for score in subject.see(Trial(completion, number) for completion in completions)
    )


# Shares of a correct completion's score: 0% is the lowest score of all completions tried, and 100% is the mean score of
# the example's correct completions.


def _shares(subject: RewardUnderTest, lazy: Lazy) -> dict[str, Share]:
    """Return the share that each strategy gets of a correct completion's score, and the share of those refused."""
    results = [
        *subject.see(trial for trials in lazy.values() for trial in trials.values()),
        *subject.see(given(subject)),
    ]
    results += [score for _, score in score_sweep(subject)]
    lowest = min((score.value for score in results if score.scored), default=0.0)
    earned: dict[str, list[float]] = {}
    refused: list[float] = []
    for number, trials in lazy.items():
        example = subject.examples[number]
        rights = subject.see(Trial(good, number) for good in example.good)
        values = [score.value for score in rights if score.scored]
        bad = [score.value for score in subject.see(Trial(text, number) for text in example.bad) if score.scored]
        limit = max(bad, default=lowest) + EQUAL
        refused += [float(not score.scored or score.value <= limit) for score in rights]
        span = sum(values) / len(values) - lowest if values else 0.0
        if span <= EQUAL:
            continue
        for name, score in zip(trials, subject.see(trials.values()), strict=True):
            value = score.value if score.scored else lowest
            earned.setdefault(name, []).append(min(1.0, (value - lowest) / span))
    return {name: share_of(name, values) for name, values in {**earned, REFUSED: refused}.items() if values}


def share_of(name: str, values: Sequence[float]) -> Share:
    """Return the mean of `values`, each from 0 to 1, with its 95% interval (Wilson 1927, Probable inference)."""
    count, z = len(values), 1.96
    mean = sum(values) / count
    center = mean + z * z / (2 * count)
    half = z * math.sqrt(mean * (1 - mean) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return Share(name, mean, max(0.0, (center - half) / scale), min(1.0, (center + half) / scale), count)
