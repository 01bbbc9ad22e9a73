"""The pytest plugin: ``pytest --rewardkit rewards.py`` holds every public reward of a file to the laws.

It also has the fixture `check_reward`, which fails a test with the whole report, and the mark ``rewardkit``. pytest
loads this file in every run, whatever is tested: all else is imported when it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rewardkit.testing.reports.report import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rewardkit", "rewardkit: reward functions held to laws")
    group.addoption(
        "--rewardkit",
        action="append",
        default=[],
        metavar="REWARDS",
        help="a file or a module whose public rewards are held to the laws, one test per reward and law "
        "(file.py:reward for one of them); without other paths only these run",
    )
    group.addoption(
        "--rewardkit-data",
        metavar="FILE",
        help="completions for them: .jsonl, .json, .csv or .parquet with prompt, columns, completion and label "
        "(true: right)",
    )
    group.addoption(
        "--rewardkit-examples",
        metavar="FILE",
        help="examples for them: one per row, with lists of right and wrong completions as `good` and `bad`",
    )
    group.addoption("--rewardkit-budget", type=float, metavar="SECONDS", help="for each reward (default: 40)")
    group.addoption("--rewardkit-seed", type=int, metavar="NUMBER", help="of what is drawn (default: 0)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "rewardkit(**options): holds a reward to laws; the options (budget=, seed=, laws=, ...) are those of the "
        "check_reward fixture in this test",
    )
    if config.getoption("rewardkit"):
        from rewardkit.testing.collection import Collecting

        config.pluginmanager.register(Collecting(config), "rewardkit-collecting")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tells each reward which laws will be asked for: those that were not deselected."""
    if "rewardkit.testing.parametrization" in sys.modules:
        from rewardkit.testing.parametrization import LawCheck

        for item in session.items:
            check = getattr(item, "law", None) or getattr(getattr(item, "callspec", None), "params", {}).get("law")
            if isinstance(check, LawCheck):
                check.want()


@pytest.fixture
def check_reward(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`rewardkit.testing.check_reward`, which fails the test with its report where a law is broken.

    ::

        def test_closeness(check_reward):
            check_reward(closeness, examples=[{"answer": "42"}], good=["<answer>42</answer>"])

    Options for all calls in a test go into its mark: ``@pytest.mark.rewardkit(budget=10, seed=3)``.
    """
    from rewardkit.testing import check_reward as check

    defaults: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("rewardkit"))):
        defaults.update(mark.kwargs)

    def checked(reward: Any, **options: Any) -> Report:
        __tracebackhide__ = True
        report = check(reward, **{**defaults, **options})
        if not report.ok:
            pytest.fail(str(report), pytrace=False)
        return report

    return checked
