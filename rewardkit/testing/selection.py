"""Selection: which laws a reward is held to, by law or by name: ``selected(laws=["total", "exploits"])``.

The search for exploits is three laws behind the others: what was found before, the catalog, and the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.testing import laws as known
from rewardkit.testing.exploits import CATALOG
from rewardkit.testing.exploits.attempts import try_hacks
from rewardkit.testing.exploits.regressions import load, replay
from rewardkit.testing.exploits.search import search as search_exploits
from rewardkit.testing.findings import Finding
from rewardkit.testing.laws import Law
from rewardkit.testing.subject import Subject

EXPLOITS = ("regressions", "exploits", "search")
"""The laws that try to be paid without doing the task."""


def every_law(regressions: str | Path | None = None) -> dict[str, Law]:
    """All laws by name, in the order in which they run.

    Args:
        regressions: the file in which exploits are kept.
    """
    cases = load(regressions) if regressions is not None else []

    def replayed(subject: Subject) -> Iterator[Finding]:
        """What was exploited once is exploited again, unless it was mended."""
        return replay(subject, cases)

    def exploits(subject: Subject) -> Iterator[Finding]:
        """A policy finds in days what a catalog finds in seconds, and is paid for it from then on."""
        return try_hacks(subject, CATALOG)

    def search(subject: Subject) -> Iterator[Finding]:
        """What a search finds in seconds a policy finds in an hour."""
        return search_exploits(subject, CATALOG)

    kept = [Law("regressions", replayed)] if regressions is not None else []
    return {law.name: law for law in (*known.ALL, *kept, Law("exploits", exploits), Law("search", search))}


def selected(
    laws: Iterable[Law | str] | None = None,
    *,
    without: Iterable[Law | str] = (),
    exploits: bool = True,
    regressions: str | Path | None = None,
) -> tuple[Law, ...]:
    """The laws that are asked for, in the order in which they run.

    Args:
        laws: laws or their names; all of them by default.
        without: laws that are left out.
        exploits: False leaves the search for exploits out of all laws.
        regressions: the file in which exploits are kept.

    Raises:
        RewardDefinitionError: there is no law of that name; names the near misses.
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
        raise RewardDefinitionError('the law "regressions" needs the file in which exploits are kept: regressions=...')
    if one not in everything:
        raise RewardDefinitionError(
            f"there is no law {shorten(one)}.{near_miss(one, everything)} Laws: {', '.join(everything)}"
        )
    return everything[one]


def _listed(laws: Iterable[Law | str], what: str) -> list[Law | str]:
    if isinstance(laws, (str, Law)):
        raise RewardDefinitionError(f"{what} is a list of laws or their names, got {shorten(laws)}: put it in brackets")
    return list(laws)
