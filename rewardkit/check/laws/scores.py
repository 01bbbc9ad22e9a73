"""Laws of single scores: every completion gets a score, which is a finite number within the bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewardkit.batch.score import Outcome
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import finding, law, shortest
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import beyond_reach, given, score_sweep
from rewardkit.check.reward_under_test.trials import Trial, TrialResult, result_in_row
from rewardkit.errors import RewardKitError

# The most findings. Arbitrary: the same fault often shows in many ways.
_MOST = 4


def _kind(score: TrialResult) -> str:
    """Return the kind of a fault. Exceptions from different lines are different kinds."""
    if score.outcome is Outcome.FAILED:
        return "failed"
    if not score.reason.startswith("returned"):
        locations = re.findall(r'File "([^"]*)", line (\d+)', score.trace)
        return f"raised {score.reason.split(':')[0]} at {locations[-1] if locations else ''}"
    if re.match(r"returned -?(?:nan|inf)", score.reason):
        return "not finite"
    if "outside its bounds" in score.reason:
        return "out of bounds"
    return "None" if score.reason.startswith("returned None") else "nonsense"


def _score_findings(subject: RewardUnderTest, *kinds: str) -> Iterator[Finding]:
    """Yield one finding per kind of fault, then findings for completions that the given data's model does not write."""

    def concerns(result: TrialResult) -> bool:
        return result.outcome in (Outcome.ERRORED, Outcome.FAILED) and _kind(result).startswith(kinds)

    def found(trial: Trial, fault_score: TrialResult, unreachable: str = "") -> Finding:
        why = f"{fault_score.component} {fault_score.reason}"
        return finding(subject, trial, fault_score, why, component=fault_score.component, unreachable=unreachable)

    trials_by_fault: dict[tuple[str, str], list[Trial]] = {}
    for trial, score in score_sweep(subject):
        if concerns(score):
            trials_by_fault.setdefault((score.component, _kind(score)), []).append(trial)
    for fault, trials in list(trials_by_fault.items())[:_MOST]:
        first = min(trials, key=lambda trial: len(repr(trial.completion)))

        def shows(trial_score: TrialResult, shown_fault: tuple[str, str] = fault) -> bool:
            return concerns(trial_score) and (trial_score.component, _kind(trial_score)) == shown_fault

        yield found(*shortest(subject, first, shows))
    for trial, score, described in beyond_reach(subject):
        if concerns(score):
            yield found(trial, score, described)


@law(advice="Handle this case in the reward, and return the lowest score for it", fast=True, every=True)
def total(subject: RewardUnderTest) -> Iterator[Finding]:
    """During training, a policy may write any text. If the reward raises an exception, the run stops, or the policy
    learns to cause exceptions.

    Every completion must get a score: an empty completion, half a tag, any Unicode, and messages of every shape in the
    data.
    """
    yield from _score_findings(subject, "raised", "failed", "nonsense")
    if subject.scope != "sample":
        yield from _groups_of_equals(subject)


def _groups_of_equals(subject: RewardUnderTest) -> Iterator[Finding]:
    """Yield a finding if the reward raises an exception for a group of identical completions, or for a group of one."""
    for trial in given(subject) or [Trial(subject.formed("word"))]:
        # Arbitrary sizes: groups as small as trainers make them.
        for size in (1, 2, 4):
            try:
                table = subject.table([trial] * size)
            except RewardKitError as error:
                score, reason = None, str(error).splitlines()[0]
            else:
                score = result_in_row(table, 0)
                reason = f"{score.component} {score.reason}"
            if score is None or score.outcome in (Outcome.ERRORED, Outcome.FAILED):
                yield finding(subject, trial, score, f"in a group of {size} equal completions: {reason}")
                return


@law(advice="Guard the division or logarithm, so that every score is a finite number", fast=True, every=True)
def finite(subject: RewardUnderTest) -> Iterator[Finding]:
    """One NaN or infinite score makes all advantages in its group NaN, which then makes the model's weights NaN."""
    yield from _score_findings(subject, "not finite")


@law(advice="Limit the score: min(score, limit), or .clip(low, high) on the reward", fast=True, every=True)
def bounded(subject: RewardUnderTest) -> Iterator[Finding]:
    """A score outside its bounds outweighs all scores that it is added to. Without a limit, spam scores highest."""
    yield from _score_findings(subject, "out of bounds")
    if not subject.plain and max(map(abs, subject.bounds)) < float("inf"):
        return
    # Arbitrary limit: the first words in the code are those that it looks for.
    pieces = [*(f"{word} " for word in subject.mined.words[:24]), "word ", "1 ", "a\n"]
    pieces += [f"<{tag}>a</{tag}>" for tag in subject.mined.tags]
    highest = max((score.value for score in subject.see(given(subject)) if score.scored), default=0.0)
    for piece in pieces:
        # Steps of ten times or more: a score that stops growing is bounded.
        once, several, many = subject.see([Trial(subject.formed(piece * count)) for count in (1, 20, 200)])
        if not _keeps_growing(once, several, many):
            continue
        (most,) = subject.see([Trial(subject.formed(piece * 2_000))])  # a limit would be reached by now
        if _keeps_growing(several, many, most) and most.value > max(1.0, highest):
            yield finding(
                subject,
                Trial(subject.formed(piece * 20)),
                several,
                f"repetition scores without limit: {piece!r} once scores {once.value:.4g}, 20 times "
                f"{several.value:.4g}, "
                f"200 times {many.value:.4g}, 2,000 times {most.value:.4g}",
            )
            return


def _keeps_growing(once: TrialResult, several: TrialResult, many: TrialResult) -> bool:
    """Return whether each repetition still adds about as much as the first repetitions."""
    if not (once.scored and several.scored and many.scored and once.value < several.value < many.value):
        return False
    # 180 more repetitions after 19 add 9.5 times as much if each counts the same; by log they add about 0.8 times.
    return (many.value - several.value) / max(several.value - once.value, 1e-9) > 5.0


@law(
    advice="Return the lowest score for a bad completion. Return None only for rows that the reward does not apply to",
    every=True,
)
def abstains_by_declaration(subject: RewardUnderTest) -> Iterator[Finding]:
    """A completion for which the reward abstains gets no penalty, so the policy learns to write such completions.

    None means that the reward does not apply to a sample. Declare this possibility with ``-> float | None``.
    """
    yield from _score_findings(subject, "None")
    if not subject.plain:
        return
    for number in range(len(subject.examples)):
        pairs = [
            (trial, score) for trial, score in score_sweep(subject) if trial.example == number and trial.columns is None
        ]
        none = [pair for pair in pairs if pair[1].outcome is Outcome.ABSTAINED]
        if none and any(score.scored for _, score in pairs):
            first = min((trial for trial, _ in none), key=lambda trial: len(repr(trial.completion)))
            trial, score = shortest(subject, first, lambda score: score.outcome is Outcome.ABSTAINED)
            message = (
                "returned None or NaN for this completion, but numbers for other completions of the same example, so "
                "such a completion cannot lose"
            )
            yield finding(subject, trial, score, message)
            return
