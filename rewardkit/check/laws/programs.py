"""Laws of programs: a coding task's tests reject programs that are broken in one place."""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.check.exploits.exploit import ExploitContext
from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import OVER, Skip, Unfinished, finding, law
from rewardkit.check.programs.survivors import Survival, survival
from rewardkit.check.reward_under_test.judgment import judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.errors import RewardFailure, shorten

_MOST = 4
"""The maximum number of findings, one per example. Arbitrary: the report should stay readable."""


@law(advice="Add the suggested test to the row", turn=Turn.LATE, every=True)
def tests_reject_wrong_programs(subject: RewardUnderTest) -> Iterator[Finding]:
    """If weak tests accept incorrect programs, the policy is rewarded for them and learns to write them.

    The findings are about the data, so they do not fail the check. The correct program of each example is broken in one
    place at a time. A broken program counts as incorrect if the tests reject it, or if its output differs for an input
    like those in the tests.
    """
    scenes = {right.example: ExploitContext(right, subject) for right in reversed(judged(subject))}
    suites = [(scene, scene.suite) for _, scene in sorted(scenes.items()) if scene.suite is not None]
    if not suites:
        raise Skip("no correct completion has a program with tests in a column")
    finding_count = 0
    for scene, suite in suites:
        if subject.left <= 1.0:
            raise Unfinished(OVER)
        try:
            outcome = survival(suite, scene.pays, seed=subject.seed, over=lambda: subject.left <= 1.0)
        except RewardFailure as failure:
            raise Skip(f"programs cannot run here: {shorten(str(failure), 80)}") from None
        if outcome is not None and outcome.survivors and finding_count < _MOST:
            finding_count += 1
            yield _weak(scene, outcome)


def _weak(scene: ExploitContext, outcome: Survival) -> Finding:
    suite, first = scene.suite, outcome.survivors[0]
    assert suite is not None
    mutant = first.mutant
    trial = scene.judged.trial(suite.running(mutant.source))
    share = "1 of" if len(outcome.survivors) == 1 else f"{len(outcome.survivors)} of"
    message = (
        f"the tests of examples[{scene.judged.example}] accept {share} {outcome.wrong} incorrect programs. One of "
        "them has "
        f"`{shorten(mutant.after, 60)}` for `{shorten(mutant.before, 60)}` in line {mutant.line}. Add the test "
        f"{first.missing_test(suite)}, if that input is valid"
    )
    (score,) = scene.subject.see([trial])
    return finding(scene.subject, trial, score, message, of_data=True)
