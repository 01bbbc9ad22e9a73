"""Laws of users: plain functions and decorated ones, alone and with all others, in Python, pytest and the command."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit.testing import Skip, Trial, Variant, check_reward, finding, law, laws
from tests.check.rewards import outcome

pytest_plugins = ("pytester",)
EXAMPLES = [{"answer": "42"}, {"answer": "7"}]
DATA: dict[str, Any] = {"examples": EXAMPLES, "good": ["It is 42.", "It is 7."], "bad": ["41", "8"]}


@rk.reward
def polite(completion: str, answer: str) -> float:
    return 0.8 * (answer in completion) + 0.2 * ("Thank" in completion)


def thanks_are_free(reward: Any, right: Trial) -> Iterable[Variant]:
    """If thanks raise the score, the policy thanks in every answer."""
    yield Variant(right.with_text(right.text + " Thank you!"), "{score}, not {base}", must="no more")


@law(advice="Return 0.0", every=True)
def words_score_nothing(reward: Any) -> Any:
    """If words alone score, the policy never calculates."""
    for number in range(len(reward.examples)):
        trial = Trial("Thanks? Thank you.", number)
        (result,) = reward.see([trial])
        yield finding(reward, trial, result, f"{result.value:g}") if result.value > 0.0 else None


@pytest.mark.parametrize("mine", [thanks_are_free, law(thanks_are_free), law(advice="")(thanks_are_free)])
def test_a_function_with_the_right_completion_is_a_law(mine: Any) -> None:
    report = check_reward(polite, laws=[mine, "finite"], **DATA)
    assert [(result.law, result.outcome) for result in report.results] == [
        ("thanks_are_free", "broken"),
        ("finite", "held"),
    ]
    (fault,) = report.findings
    assert (fault.why, fault.completion, fault.columns["answer"]) == ("1, not 0.8", "It is 42. Thank you!", "42")
    assert fault.matters == "If thanks raise the score, the policy thanks in every answer."


def test_a_law_gets_chat_messages_in_their_format() -> None:
    chat = [[{"role": "assistant", "content": text}] for text in DATA["good"]]
    (fault,) = check_reward(polite, laws=[thanks_are_free], examples=EXAMPLES, good=chat).findings
    assert fault.completion == [{"role": "assistant", "content": "It is 42. Thank you!"}]


def test_a_law_of_the_whole_reward_yields_findings() -> None:
    faults = check_reward(polite, laws=[words_score_nothing], **DATA).findings
    assert [(fault.why, fault.columns["answer"], fault.advice) for fault in faults] == [
        ("0.2", "42", "Return 0.0"),
        ("0.2", "7", "Return 0.0"),
    ]
    assert check_reward(rk.number("answer"), laws=[words_score_nothing], **DATA).ok


def test_a_law_is_skipped_with_its_reason() -> None:
    def skips(reward: Any) -> Any:
        raise Skip("not here")
        yield

    assert (outcome(polite, law(skips)).outcome, outcome(polite, law(skips)).reason) == ("skipped", "not here")
    assert check_reward(polite, laws=[thanks_are_free], examples=EXAMPLES).results[0].outcome == "skipped"


def test_a_law_runs_with_all_others() -> None:
    chosen: list[Any] = [*laws.ALL, thanks_are_free]
    report = check_reward(polite, laws=chosen, without=[each.name for each in laws.ALL[3:]], **DATA)
    assert [result.law for result in report.results] == [*(each.name for each in laws.ALL[:3]), "thanks_are_free"]
    assert {"exploits", "search", "total"} <= {each.name for each in laws.ALL}


def returns_nothing(reward: Any, right: Any) -> Any:
    return None


def yields_text(reward: Any, right: Any) -> Any:
    yield "wrong"


def compares_with_nothing(reward: Any) -> Any:
    yield Variant(Trial("1"), "wrong")


def takes_three(reward: Any, right: Any, other: Any) -> Any:
    yield None


def total(reward: Any) -> Any:
    yield None


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        ([returns_nothing], "'returns_nothing' returned None. Yield variants"),
        ([yields_text], "'yields_text' yields 'wrong'. Yield a Variant"),
        ([compares_with_nothing], "Pass base=, or add a second argument"),
        ([takes_three], r"has 3 arguments\. Write `def takes_three\(reward, right\):`"),
        (["total", total], "two laws are named 'total'. Rename"),
        ([polite], r"a law must be a name, .*got polite.* Write `def my_law\(reward, right\)"),
        ([3], "a law must be a name, .*got 3"),
        (thanks_are_free, "must be a list of laws"),
    ],
)
@pytest.mark.parametrize("isolate", [True, False])
def test_what_is_no_law_is_refused_with_a_fix(chosen: Any, says: str, isolate: bool) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=says) as caught:
        check_reward(polite, laws=chosen, isolate=isolate, **DATA)
    assert len(str(caught.value)) < 250


MODULE = '''
import rewardkit as rk
from rewardkit.testing import Variant, laws

EXAMPLES, GOOD, BAD = [{"answer": "42"}], ["It is 42."], ["It is 41."]


def thanks_are_free(reward, right):
    """If thanks raise the score, the policy thanks in every answer."""
    yield Variant(right.with_text(right.text + " Thank you!"), "{score}, not {base}", must="no more")


LAWS = ["finite", thanks_are_free]


@rk.reward
def polite(completion: str, answer: str) -> float:
    return 0.8 * (answer in completion) + 0.2 * ("Thank" in completion)
'''


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        ([], 1, ["thanks_are_free", "finite"]),
        (["--laws", "thanks_are_free"], 1, ["thanks_are_free"]),
        (["--without", "thanks_are_free"], 0, ["finite"]),
        (["--laws", "bounded"], 0, ["bounded"]),
    ],
)
def test_the_command_runs_the_laws_of_a_module(
    options: list[str], code: int, shown: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thankful.py").write_text(MODULE, encoding="utf-8")
    assert main(["check", f"{tmp_path / 'thankful.py'}:polite", *options]) == code
    printed = capsys.readouterr().out
    assert all(name in printed for name in shown)
    assert ("thanks_are_free" in printed) == ("thanks_are_free" in shown)


def test_pytest_runs_them(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(thankful=MODULE)
    pytester.makepyfile(
        test_mine=textwrap.dedent("""
            from rewardkit.testing import parametrize_with_laws
            from thankful import BAD, EXAMPLES, GOOD, polite, thanks_are_free

            @parametrize_with_laws([polite], examples=EXAMPLES, good=GOOD, bad=BAD, laws=["finite", thanks_are_free])
            def test_reward(reward, law):
                law(reward)
        """)
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1, failed=1)
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "--rewardkit", "thankful.py").assert_outcomes(
        passed=1, failed=1
    )
