"""Laws of judges: measure a judge model's biases by asking the model.

These laws ask a judge a few dozen questions. They do not apply to other rewards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Unfinished, finding, law
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given
from rewardkit.check.reward_under_test.trials import Trial, TrialResult, text_of, with_text
from rewardkit.errors import RewardKitError
from rewardkit.rewards.judges.group_judge import GroupJudge, identifiers
from rewardkit.rewards.judges.sample_judge import SampleJudge
from rewardkit.text.thinking import visible_text
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.leaf import rebound
from rewardkit.tree.reward import Reward

# Arbitrary: a mean over several orders is steadier, but each order is one more call to the judge.
_ORDERS = 4
_AT_ONCE = 6
"""The maximum number of completions in one ranking. Arbitrary, but judges can rank this many at once."""

# Arbitrary limit: every completion takes two calls to a judge.
_MOST_SAMPLES = 16
# Arbitrary limit: below it, the noise of a few orders would be blamed on the position.
_POSITION_SHARE = 0.15
# Arbitrary limit: half a point on the default scale of 0 to 10.
_LENGTH_SHARE = 0.05
_PADDING = (
    "\n\nTo say it once more in other words: what stands above is what is meant, and it is meant as it stands above. "
    "Nothing is added here to what was said, and nothing that was said is taken back. In short, it is as it was said."
)


@law(advice="Ask the judge in both orders, and average the scores", every=True)
def position_bias(subject: RewardUnderTest) -> Iterator[Finding]:
    """If a ranking judge favors a position, completions are rewarded for their place in the list.

    The same completions are ranked in several orders. On average, being listed first rather than last may change a
    completion's score by at most 0.15.
    """
    judges = _judges(subject, GroupJudge)
    trials = _of_one_example(subject)
    if len(trials) < 2:
        raise Skip("no example has two different completions")
    for judge, function in judges:
        positions, scores = [], []
        for shuffle in range(_ORDERS):
            order = list(identifiers(map(_shown, trials), shuffle).values())
            positions.append([order.index(_shown(trial)) / (len(order) - 1) for trial in trials])
            scores.append(_judge_scores(rebound(judge, function=replace(function, shuffle=shuffle)), subject, trials))
        shifts = np.array(positions) - np.mean(positions, axis=0)
        deviations = np.array(scores) - np.mean(scores, axis=0)
        # If no completion changes its position, there is nothing to measure; the minimum avoids a division by 0.
        earned = -float((shifts * deviations).sum() / max((shifts * shifts).sum(), 1e-9))
        if abs(earned) > _POSITION_SHARE:
            end = "first" if earned > 0 else "last"
            message = f"being listed {end} scores {abs(earned):.2g} more in a ranking of {len(trials)}"
            yield finding(subject, trials[0], None, message, component=judge.name)


@law(advice="Instruct the judge that length does not count, or limit the length", every=True)
def verbosity_bias(subject: RewardUnderTest) -> Iterator[Finding]:
    """If empty words raise the score, the policy learns to write many of them.

    Completions are judged unchanged and with three empty sentences added, which may raise the score by at most 0.05 on
    average. In a ranking of both versions, the padded completion may win at most as often as it loses.
    """
    trials = given(subject)[: min(_MOST_SAMPLES, subject.affordable(_MOST_SAMPLES))]
    padded = [replace(trial, completion=_longer(trial.completion)) for trial in trials]
    for judge, function in _judges(subject, SampleJudge, GroupJudge):
        if isinstance(function, GroupJudge):
            pairs = [_judge_scores(judge, subject, pair) for pair in zip(trials, padded, strict=True)]
            gains = np.array([longer - plain for plain, longer in pairs]) / 2
        else:
            gains = _judge_scores(judge, subject, padded) - _judge_scores(judge, subject, trials)
        if gains.mean() > _LENGTH_SHARE:
            worst = int(gains.argmax())
            message = f"three empty sentences score {gains.mean():.2g} more on average, over {len(trials)} completions"
            score: TrialResult | None = None if isinstance(function, GroupJudge) else subject.see([padded[worst]])[0]
            yield finding(subject, padded[worst], score, message, component=judge.name)


def _judges(subject: RewardUnderTest, *kinds: type) -> list[tuple[Reward, Any]]:
    """Return the judges of the given kinds, each with the function that asks the model."""
    judges = [(leaf, binding.function) for leaf, binding in subject.bindings if isinstance(binding.function, kinds)]
    if not judges:
        ranks = kinds == (GroupJudge,)
        raise Skip("the reward has no judge that ranks" if ranks else "the reward has no judge")
    return judges


def _of_one_example(subject: RewardUnderTest) -> list[Trial]:
    """Return at most `_AT_ONCE` distinct completions of the example that has the most."""
    by_example: dict[int, dict[str, Trial]] = {}
    for trial in given(subject):
        by_example.setdefault(trial.example, {}).setdefault(_shown(trial), trial)
    return max(([*trials.values()] for trials in by_example.values()), key=len, default=[])[:_AT_ONCE]


def _judge_scores(judge: Reward, subject: RewardUnderTest, trials: Sequence[Trial]) -> Floats:
    """Return the judge's score for each trial."""
    try:
        total = Scorer(judge).score(subject.batch(trials), strict=False).total
    except RewardKitError as error:
        raise Unfinished(f"the judge could not be asked: {error}") from None
    if np.isnan(total).any():
        raise Unfinished("the judge did not answer every question")
    return total


def _shown(trial: Trial) -> str:
    return visible_text(text_of(trial.completion))


def _longer(completion: Any) -> Any:
    return with_text(completion, text_of(completion) + _PADDING)
