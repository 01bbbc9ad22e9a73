"""BoundReward: a reward with its examples and laws.

``bound(reward, {"examples": [{"answer": "42"}], "good": ["<answer>42</answer>"]}).report()`` checks the reward. Tests,
the pytest plugin, and the command line all use `bound`, so they check rewards in the same way.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rewardkit.check.check import check_reward
from rewardkit.check.declarations import NAMES
from rewardkit.check.findings import LawResult
from rewardkit.check.laws import Law
from rewardkit.check.reports.report import Report, laws_without_findings
from rewardkit.check.run.execution import OnProgress
from rewardkit.check.run.selection import LawLike, selected
from rewardkit.errors import RewardDefinitionError, near_miss
from rewardkit.tree.binding import name_of as function_name
from rewardkit.tree.reward import Reward

_OWN = ("reward", "laws", "without", "fail_fast", "on_progress", "reviewer")
"""The arguments of `check_reward` that a bound reward sets."""
_LONGEST_NAME = 60
"""The maximum length of a reward's name, in characters. Arbitrary: it keeps a report's heading on one line."""


@dataclass(eq=False)
class BoundReward:
    """A reward with its examples and laws, ready to be checked.

    Attributes:
        name: the name in reports and tests.
        reward: a reward, a trainer's function, or a list of them.
        options: arguments for `check_reward`.
        laws: the laws to check, including those for exploits, in the order in which they run.
        wanted: the names of the laws whose results will be needed. All of them run at the first call to `result`,
            because most laws share completions, which are then scored only once.
    """

    name: str
    reward: Any
    options: Mapping[str, Any]
    laws: tuple[Law, ...]
    wanted: set[str] = field(default_factory=set)
    _results: dict[str, LawResult] = field(default_factory=dict)

    def report(
        self,
        only: Collection[str] | None = None,
        on_progress: OnProgress | None = None,
        reviewer: str | None = None,
    ) -> Report:
        """Check all laws, or only those in `only`, and return the report. `reviewer` is the name of a model."""
        chosen = [law for law in self.laws if only is None or law.name in only]
        report = check_reward(self.reward, laws=chosen, on_progress=on_progress, reviewer=reviewer, **self.options)
        return report.shown_as(self.name)

    def result(self, law: str) -> LawResult:
        """Return the result of one law, checking it first if needed."""
        if law not in self._results:
            results = self.report({law, *(name for name in self.wanted if name not in self._results)}).merged
            again = laws_without_findings(results)
            for result in results:
                if result.law in again:
                    reason = f"the process crashed, which breaks {result.findings[0].law}"
                    result = LawResult(result.law, "unfinished", result.tries, reason=reason, seconds=result.seconds)
                self._results[result.law] = result
        return self._results[law]

    def of(self, reward: Any) -> BoundReward:
        """Bind another reward to the same examples and laws."""
        return BoundReward(name_of(reward), reward, self.options, self.laws)


def bind_reward(
    reward: Any,
    options: Mapping[str, Any],
    *,
    name: str = "",
    laws: Iterable[LawLike] | None = None,
    without: Iterable[LawLike] = (),
) -> BoundReward:
    """Bind a reward to its examples, laws, and other `check_reward` options.

    Args:
        reward: a reward, a trainer's function, or a list of them.
        options: keyword arguments for `check_reward`.
        name: the reward's name. The default is its repr.
        laws: laws, as in `check_reward`. The default is all laws.
        without: laws to exclude.

    Raises:
        RewardDefinitionError: an option or law does not exist.
    """
    allowed = [option for option in inspect.signature(check_reward).parameters if option not in _OWN]
    for option in options:
        if option not in allowed:
            if option in NAMES:
                raise RewardDefinitionError(f"{option}= is a declaration: pass declarations=Declarations({option}=...)")
            raise RewardDefinitionError(
                f"check_reward has no option {option!r}.{near_miss(option, allowed)} Options: {', '.join(allowed)}"
            )
    chosen = selected(laws, without=without, regressions=options.get("regressions"))
    return BoundReward(name or name_of(reward), reward, options, chosen)


def name_of(reward: Any) -> str:
    """Return a reward's default name: a function's name, the names of a list's items, or otherwise the repr."""
    if not isinstance(reward, Reward) and callable(reward):
        return function_name(reward)
    text = f"[{', '.join(map(name_of, reward))}]" if isinstance(reward, (list, tuple)) else repr(reward)
    half = (_LONGEST_NAME - 3) // 2
    return text if len(text) <= _LONGEST_NAME else f"{text[:half]}...{text[-half:]}"
