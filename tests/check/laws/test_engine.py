"""The engine: what a variant must earn, and what an entry says when it has nothing to try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.findings import Law
from rewardkit.check.laws import every_law, find
from rewardkit.check.laws.base import Skip, Variant, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.run.selection import fast_laws, selected
from tests.check.rewards import outcome

EXAMPLES: list[dict[str, Any]] = [{"answer": "42"}, {"answer": "7"}]
GOOD = ["4", "4"]


@rk.reward
def first_digit(completion: str) -> float:
    """The first digit, in tenths."""
    return int(completion[:1]) / 10 if completion[:1].isdigit() else 0.0


def law_of(*variants: Variant, **entry: Any) -> Law:
    @law(advice="Fix it", applies=needs_good, per=judged, **entry)
    def made(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
        """It matters."""
        yield from (replace(variant, trial=replace(variant.trial, example=right.example)) for variant in variants)

    return made


def broken(*variants: Variant, **entry: Any) -> list[str]:
    result = outcome(first_digit, law_of(*variants, **entry), examples=EXAMPLES, good=GOOD, bad=["1", "1"])
    assert all((one.law, one.matters, one.advice) == ("made", "It matters.", "Fix it") for one in result.findings)
    return [finding.why for finding in result.findings]


@pytest.mark.parametrize(
    ("must", "held"),
    [
        ("less", ["3"]),
        ("no more", ["3", "4"]),
        ("same", ["4"]),
        ("no less", ["4", "5"]),
        ("more", ["5"]),
    ],
)
def test_what_a_variant_must_earn(must: Any, held: list[str]) -> None:
    for text in ("3", "4", "5"):
        said = broken(Variant(Trial(text), "earns {score}, not {base}", must))
        assert said == ([] if text in held else [f"earns 0.{text}, not 0.4"])


def test_a_base_a_slack_and_twins() -> None:
    assert broken(Variant(Trial("5"), "{score} of {base}", "no more", Trial("3"))) == ["0.5 of 0.3"]
    assert broken(Variant(Trial("5"), "", "no more", Trial("3"), slack=0.25)) == []
    assert broken(Variant(Trial("2"), "", "no less", Trial("3"), slack=0.15)) == []
    assert broken(Variant(Trial("5"), "", twins=(Trial("3"),))) == []
    assert broken(Variant(Trial("5"), "{score}", twins=(Trial("4"),))) == ["0.5"]


def test_braces_in_a_completion_are_not_filled_in() -> None:
    assert broken(Variant(Trial("5"), "with {'a': 1} or {} it earns {score}")) == ["with {'a': 1} or {} it earns 0.5"]


def test_the_first_fault_or_every_one() -> None:
    faults = (Variant(Trial("5"), "five"), Variant(Trial("6"), "six"))
    assert broken(*faults) == ["five"]
    assert broken(*faults, every=True) == ["five", "six"] * 2


def test_a_law_with_nothing_to_try_is_skipped() -> None:
    result = outcome(first_digit, law_of(skip="nothing to try"), examples=EXAMPLES, good=GOOD)
    assert (result.outcome, result.reason) == ("skipped", "nothing to try")
    assert outcome(first_digit, law_of(), examples=EXAMPLES, good=GOOD).outcome == "held"

    def does_not_apply(subject: RewardUnderTest) -> None:
        raise Skip("not here")

    @law(advice="", applies=does_not_apply)
    def never(subject: RewardUnderTest) -> Iterator[None]:
        """Never tried."""
        yield None

    assert outcome(first_digit, never).reason == "not here"


def test_each_law_is_found_by_its_name_and_says_what_a_report_needs() -> None:
    for entry in every_law():
        assert find(entry.name) is entry
        assert entry.why
        assert entry.advice
    assert find("shortest") is None
    assert find("nodes") is None


def test_the_order_in_which_laws_run() -> None:
    names = [one.name for one in selected()]
    assert names[0] == "separates_good_from_bad"
    assert names[-1] == "search"
    assert names.index("exploits") < names.index("time_linear") < names.index("total")
    assert len(names) == len(every_law()) + 2
    assert {"total", "exploits"} <= set(fast_laws()) < set(names)
