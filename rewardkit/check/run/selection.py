"""Selection: choose laws by object or by name, as in ``selected(laws=["total", "exploits"])``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from rewardkit.check.findings import COMPARE, Finding, Law, Turn
from rewardkit.check.laws import every_law, find
from rewardkit.check.laws.base import law as law_of
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.errors import RewardDefinitionError, near_miss, shorten

LawLike = Law | str | Callable[..., Any]
"""A law, its name, or a function that yields variants."""


def _exploits(subject: RewardUnderTest) -> Iterator[Finding]:
    """During days of training, a policy also finds the exploits in the catalog, and then trains on them."""
    from rewardkit.check.exploits import CATALOG
    from rewardkit.check.exploits.attempts import try_hacks

    return try_hacks(subject, CATALOG)


def _search(subject: RewardUnderTest) -> Iterator[Finding]:
    """If a search finds an exploit in seconds, a policy finds it within an hour."""
    from rewardkit.check.exploits import CATALOG
    from rewardkit.check.exploits.search import search

    return search(subject, CATALOG)


def _replay(file: str | Path) -> Callable[[RewardUnderTest], Iterator[Finding]]:
    """Return the check for a law that tries the exploits in a file again."""
    from rewardkit.check.exploits.regressions import replay
    from rewardkit.scoring.regressions import load

    cases = load(file)

    def regressions(subject: RewardUnderTest) -> Iterator[Finding]:
        """An exploit that was found once will be found again unless the reward is fixed."""
        return replay(subject, cases)

    return regressions


OF_EXPLOITS = ("regressions", "exploits", "search")
"""The names of the laws that try to get a high score without doing the task."""


def laws_of_exploits(regressions: str | Path | None = None) -> dict[str, Law]:
    """Return, by name, the laws that try to get a high score without doing the task.

    Args:
        regressions: the file of known exploits, if there is one.
    """
    laws = [
        Law("exploits", _exploits, fast=True, turn=Turn.SOON, names_line=True),
        Law("search", _search, COMPARE, turn=Turn.LAST, names_line=True),
    ]
    if regressions is not None:
        laws.insert(0, Law("regressions", _replay(regressions), COMPARE, turn=Turn.SOON, names_line=True))
    return {law.name: law for law in laws}


def fast_laws() -> tuple[str, ...]:
    """Return the names of the laws in the quick check, which find most ordinary bugs and measure nothing."""
    return tuple(law.name for law in selected() if law.fast)


def selected(
    laws: Iterable[LawLike] | None = None,
    *,
    without: Iterable[LawLike] = (),
    regressions: str | Path | None = None,
) -> tuple[Law, ...]:
    """Return the chosen laws in the given order, or all laws in the order in which they run.

    Args:
        laws: laws, functions that yield variants, or names. The default is all laws.
        without: laws to exclude.
        regressions: the file of known exploits.

    Raises:
        RewardDefinitionError: a law does not exist, or two laws have the same name.
    """
    tricks = laws_of_exploits(regressions)
    if laws is not None:
        chosen = [_law(law, tricks) for law in _listed(laws, "laws")]
    else:
        chosen = sorted([*tricks.values(), *every_law()], key=lambda law: law.turn)
    by_name: dict[str, Law] = {}
    for law in chosen:
        if by_name.setdefault(law.name, law).check is not law.check and law.name not in OF_EXPLOITS:
            raise RewardDefinitionError(f"two laws are named {law.name!r}. Rename the function of one law")
    names = {*OF_EXPLOITS, *by_name}
    left_out = {law if law in names else _law(law, tricks).name for law in _listed(without, "without")}
    return tuple(law for law in by_name.values() if law.name not in left_out)


def _law(law: LawLike, tricks: dict[str, Law]) -> Law:
    """Return a law, found by name if `law` is a name. `tricks` are the laws for exploits."""
    if isinstance(law, Law):
        return law
    if inspect.isroutine(law):
        return law_of(law)
    if not isinstance(law, str):
        raise RewardDefinitionError(
            "a law must be a name, a law from rewardkit.testing.laws, or a function that yields variants, got "
            f"{shorten(law)}. Write `def my_law(reward, right): yield Variant(...)`"
        )
    chosen = tricks.get(law) or find(law)
    if chosen is not None:
        return chosen
    if law == "regressions":
        raise RewardDefinitionError(
            'the law "regressions" needs a file of known exploits. Pass regressions="exploits.jsonl"'
        )
    names = [
        candidate.name for candidate in sorted((*tricks.values(), *every_law()), key=lambda candidate: candidate.turn)
    ]
    raise RewardDefinitionError(f"unknown law {shorten(law)}.{near_miss(law, names)} Laws: {', '.join(names)}")


def _listed(laws: Iterable[LawLike], option: str) -> list[LawLike]:
    if isinstance(laws, (str, Law)) or callable(laws):
        raise RewardDefinitionError(
            f"{option}= must be a list of laws or names, got {shorten(laws)}. Put it in brackets"
        )
    return list(laws)
