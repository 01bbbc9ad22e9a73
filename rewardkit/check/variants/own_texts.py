"""Own texts: texts that a reward's code mentions or that match its patterns, to test whether it reacts to them."""

from __future__ import annotations

from rewardkit.check.reading.aims import matching
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import score_sweep
from rewardkit.check.reward_under_test.trials import Trial


def own_texts(subject: RewardUnderTest) -> list[str]:
    """Return texts that the reward's code mentions (single and repeated), texts for its patterns, and a long text."""
    mentioned = [word for text in (*subject.mined.words, *subject.mined.texts) for word in (text, f"{text} " * 5)]
    matched = [*matching(subject.mined.patterns), *matching(subject.mined.texts)]
    combined = (" ".join(subject.mined.texts), " ".join(matched))  # for a reward that requires several of them
    return [*mentioned, *matched, *combined, "word " * 20_000]


def reacts(subject: RewardUnderTest) -> bool:
    """Return whether the texts that the reward's own code mentions change the score."""

    def differ() -> bool:
        trials = [Trial(subject.formed(text)) for text in own_texts(subject)]
        values = {round(score.value, 9) for score in subject.see(trials) if score.scored}
        values |= {
            round(score.value, 9) for trial, score in score_sweep(subject) if score.scored and trial.example == 0
        }
        return len(values) > 1

    is_reactive: bool = subject.remembered("reacts", differ)
    return is_reactive
