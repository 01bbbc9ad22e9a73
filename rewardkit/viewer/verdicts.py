"""The words of a comparison of two runs: ``verdict_of(paired, "second")`` is one or two sentences."""

from __future__ import annotations

from rewardkit.analysis.paired import Paired
from rewardkit.analysis.presentation import percent
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.two_runs import TOTAL, TRIED, TwoRuns

SIDES = "the left side", "the right side"
"""What the sides are called if both are the same run."""
_UNLIKELY = 0.05
_NOT_SAME = (
    "Different versions of the reward scored the two sides, so their totals do not measure the same. Choose a "
    "component below to compare what both have, or "
)
_TRY = "try one reward on both: rewardkit view --reward."
_TRIED = "New total, which the same reward gave to both."


def verdict_of(found: Paired, name: str) -> str:
    """Say on how many prompts the run `name`, the right side, is better, and whether that may be chance."""
    if not found.count:
        return "No prompt has a score on both sides."
    subject = name.capitalize() if name in SIDES else name
    said = (
        f"{subject} is better on {found.won:,} of {prompts(found.count)}, worse on {found.lost:,}, equal on "
        f"{found.equal:,}. The mean difference is {found.mean:+.3f}"
    )
    if found.interval is None:
        return f"{said}. These are too few prompts to tell it from chance."
    low, high = found.interval
    uneven, test = found.chance < _UNLIKELY, chance_text(found.chance)
    judged = {
        (True, True): "chance hardly explains it",
        (True, False): f"chance hardly explains the mean, but it may explain the wins (sign test {test})",
        (False, True): f"the mean may be chance, but chance hardly explains the wins and losses (sign test {test})",
        (False, False): "this may be chance",
    }[found.clear, uneven]
    return f"{said} (95 %: {low:+.3f} to {high:+.3f}): {judged}."


def chance_text(chance: float) -> str:
    """Format the p-value of a sign test."""
    return "< 0.001" if chance < 0.001 else f"{chance:.3f}"


def notices_of(two: TwoRuns, name: str, sides: tuple[str, str]) -> list[str]:
    """Return what limits a comparison, in sentences."""
    pairing = two.pairing
    said = [_NOT_SAME + (_TRIED if TRIED in two.names else _TRY)] if name == TOTAL and not two.same_reward else []
    if pairing.by_text:
        verb = "is" if pairing.by_text == 1 else "are"
        said.append(f"{prompts(pairing.by_text)} {verb} paired by the text, because the columns differ.")
    left = [
        f"{prompts(count)} only in {one_line(side, 60)}"
        for count, side in zip((pairing.only_left, pairing.only_right), sides, strict=True)
        if count
    ]
    if two.absent:
        left.append(f"{prompts(two.absent)} without completions in one of the two windows")
    unscored = two.paired(name).unscored
    if unscored:
        left.append(f"{prompts(unscored)} without a score on one side")
    if left:
        twice = f" (of {pairing.ambiguous:,} of them, the text occurs several times)" if pairing.ambiguous else ""
        said.append(f"Not compared: {', '.join(left)}{twice}.")
    shares = [side.unscored(name) for side in (two.left, two.right)]
    if max(shares) > 0.0:
        said.append(
            f"Means are over the completions with a score: {percent(shares[0])} in {one_line(sides[0], 60)} and "
            f"{percent(shares[1])} in {one_line(sides[1], 60)} have none, for example behind a closed gate."
        )
    for side, where in zip((two.left, two.right), sides, strict=True):
        if only := two.only(side):
            said.append(f"Components only in {one_line(where, 60)}: {one_line(', '.join(only), 200)}.")
    return said


def prompts(count: int) -> str:
    """Return ``"1 prompt"``, ``"1,024 prompts"``."""
    return f"{count:,} prompt{'' if count == 1 else 's'}"
