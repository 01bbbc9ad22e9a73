"""Selection: choose laws by object or by name: ``selected(laws=["total", "exploits"])``.

What finds most with the fewest calls runs first: wrong answers, the exploits found before and the catalog. Then comes
`time_linear`, since a slow reward spends the time of all other laws. The search is last: it takes all the time it gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rewardkit.check import laws as known
from rewardkit.check.exploits import CATALOG
from rewardkit.check.exploits.attempts import try_hacks
from rewardkit.check.exploits.regressions import replay
from rewardkit.check.exploits.search import search as search_exploits
from rewardkit.check.findings import Finding
from rewardkit.check.laws import Law, golds, growth, nearness, other_rows, parts, programs, siblings, writing
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.scoring.regressions import load

EXPLOITS = ("regressions", "exploits", "search")
"""The laws that try to get paid without doing the task."""


def every_law(regressions: str | Path | None = None) -> dict[str, Law]:
    """Return all laws by name, in the order in which they run.

    Args:
        regressions: the file of known exploits.
    """
    cases = load(regressions) if regressions is not None else []

    def replayed(subject: Subject) -> Iterator[Finding]:
        """An exploit found once will be found again, unless the reward is fixed."""
        return replay(subject, cases)

    def exploits(subject: Subject) -> Iterator[Finding]:
        """A hack that the catalog finds in seconds, a policy finds in days, and is paid for from then on."""
        return try_hacks(subject, CATALOG)

    def search(subject: Subject) -> Iterator[Finding]:
        """An exploit that a search finds in seconds, a policy finds in an hour."""
        return search_exploits(subject, CATALOG)

    kept = [Law("regressions", replayed)] if regressions is not None else []
    first = (
        golds.separates_good_from_bad, golds.gold_above_perturbed_gold, other_rows.right_for_every_gold,
        parts.every_part_counts, parts.almost_right_is_wrong, *siblings.ALL, *writing.ALL,
        nearness.errors_on_both_sides,
    )  # fmt: skip
    next_ones = (growth.time_linear, *golds.ALL)
    last = (growth.memory_bounded, *programs.ALL)
    between = [law for law in known.ALL if law not in last]
    ordered = (*first, *kept, Law("exploits", exploits), *next_ones, *between, *last, Law("search", search))
    return {law.name: law for law in ordered}


def selected(
    laws: Iterable[Law | str] | None = None,
    *,
    without: Iterable[Law | str] = (),
    exploits: bool = True,
    regressions: str | Path | None = None,
) -> tuple[Law, ...]:
    """Return the chosen laws in the order in which they run.

    Args:
        laws: laws or their names; all laws by default.
        without: laws to leave out.
        exploits: False leaves out the laws for exploits, unless `laws` names them.
        regressions: the file of known exploits.

    Raises:
        RewardDefinitionError: there is no law of that name.
    """
    everything = every_law(regressions)
    if laws is not None:
        chosen = [_law(one, everything) for one in _listed(laws, "laws")]
    else:
        chosen = [law for law in everything.values() if exploits or law.name not in EXPLOITS]
    left_out = {_law(one, everything).name for one in _listed(without, "without")}
    return tuple(law for law in chosen if law.name not in left_out)


def _law(one: Law | str, everything: Mapping[str, Law]) -> Law:
    if isinstance(one, Law):
        return one
    if one == "regressions" and one not in everything:
        raise RewardDefinitionError(
            'the law "regressions" needs a file of known exploits. Pass regressions="exploits.jsonl"'
        )
    if one not in everything:
        raise RewardDefinitionError(
            f"unknown law {shorten(one)}.{near_miss(one, everything)} Laws: {', '.join(everything)}"
        )
    return everything[one]


def _listed(laws: Iterable[Law | str], what: str) -> list[Law | str]:
    if isinstance(laws, (str, Law)):
        raise RewardDefinitionError(
            f"{what}= must be a list of laws or names, got {shorten(laws)}. Put it in brackets."
        )
    return list(laws)
