"""The pytest plugin: ``pytest --rewardkit rewards.py`` checks every public reward in a file against the laws.

The plugin also provides the mark ``rewardkit`` and the fixture `check_reward`, which fails a test with the whole
report. pytest loads this file in every run, so all other modules are imported only when needed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rewardkit.check.reports.report import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rewardkit", "rewardkit: laws for reward functions")
    group.addoption(
        "--rewardkit",
        action="append",
        default=[],
        metavar="REWARDS",
        help="check the public rewards of a file or module, one test per reward and law (file.py:reward selects one "
        "reward). Without other paths, only these tests run",
    )
    group.addoption(
        "--rewardkit-data",
        metavar="FILE",
        help="their completions: a .jsonl, .json, .csv, or .parquet file with prompt, columns, completion, "
        "and label (true: correct)",
    )
    group.addoption(
        "--rewardkit-examples",
        metavar="FILE",
        help="their examples: a file with one example per row, and lists of correct and incorrect completions as "
        "`good` and `bad`",
    )
    group.addoption("--rewardkit-budget", type=float, metavar="SECONDS", help="time per reward (default: 40)")
    group.addoption(
        "--rewardkit-network", action="store_true", default=None, help="allow them to connect to other machines"
    )
    group.addoption("--rewardkit-seed", type=int, metavar="NUMBER", help="random seed (default: 0)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "rewardkit(**options): checks a reward. The options (budget=, seed=, laws=, ...) are passed to the "
        "check_reward fixture of this test",
    )
    if config.getoption("rewardkit"):
        from rewardkit.check.collection import RewardCollection

        config.pluginmanager.register(RewardCollection(config), "rewardkit-collection")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Notify each reward of the laws that will run because they were not deselected."""
    if "rewardkit.check.parametrization" in sys.modules:
        from rewardkit.check.parametrization import LawCheck

        for item in session.items:
            check = getattr(item, "law", None) or getattr(getattr(item, "callspec", None), "params", {}).get("law")
            if isinstance(check, LawCheck):
                check.want()


@pytest.fixture
def check_reward(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """Return a `rewardkit.testing.check_reward` that fails the test with its report if a law is broken.

    ::

        def test_closeness(check_reward):
            check_reward(closeness, examples=[{"answer": "42"}], good=["<answer>42</answer>"])

    To set options for all calls in a test, mark the test: ``@pytest.mark.rewardkit(budget=10, seed=3)``.
    """
    from rewardkit.check.check import check_reward as check

    defaults: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("rewardkit"))):
        defaults.update(mark.kwargs)

    def checked(reward: Any, **options: Any) -> Report:
        __tracebackhide__ = True
        report = check(reward, **{**defaults, **options})
        if report.findings:
            pytest.fail(str(report), pytrace=False)
        if not report.complete:
            needed = f" The check needs about budget={report.needs}." if report.needs else ""
            results = [result for part in (report, *report.components) for result in part.results]
            late = list(dict.fromkeys(result.law for result in results if result.outcome == "unfinished"))
            # Four names, so that the warning stays on a line or two.
            names = ", ".join(late[:4]) + (f" and {len(late) - 4} more" if len(late) > 4 else "")
            warnings.warn(f"{report.reward}: some laws were not finished ({names}).{needed}", stacklevel=2)
        return report

    return checked
