"""check_reward from end to end: its arguments and its report."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.declarations import NAMES, Declarations, with_declarations
from rewardkit.check.laws import Law
from rewardkit.tree.loading import CONSTANTS
from tests.check.rewards import (
    BAD,
    GOOD,
    QUICK,
    awaited,
    broken_laws,
    check,
    form,
    naive,
    number,
    shortest,
    shown,
    subject,
    tagged_number,
    timeless,
    tree,
)

# Arguments


@pytest.mark.parametrize(
    "reward",
    [number, tree, tagged_number, awaited, 0.5 * number + 0.5 * tree, [tagged_number, number]],
    ids=shown,
)
def test_sound_rewards_of_every_kind(reward: Any) -> None:
    report = check(reward)
    assert report.ok, report
    assert [result.law for result in report.results] == list(QUICK)
    assert {result.outcome for result in report.results} == {"held"}


def test_rewards_that_compare() -> None:
    report = check(shortest, laws=["total", "finite", "informative", "neighbors_do_not_leak"])
    assert {result.outcome for result in report.results} == {"held"}, report


def test_closures() -> None:
    allowed = {"42", "7"}

    def inner(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(any(f"<answer>{one}</answer>" in text for one in allowed)) for text in completions]

    assert broken_laws(check(inner, laws=["gold_above_perturbed_gold", "total"])) == {"gold_above_perturbed_gold"}


def test_a_function_that_pays_the_gold_answer_anywhere() -> None:
    report = check(naive, laws=[*QUICK, "exploits"])
    assert report.ok is False
    assert broken_laws(report) == {"gold_above_perturbed_gold", "exploits"}
    assert report.reward == "from_trl(naive)"
    assert {"hedge", "shotgun", "leak"} <= {one.family for one in report["exploits"].findings}
    for one in report.findings:
        assert one.score == 1.0
        assert rk.score(rk.from_trl(naive), [one.completion], answer=[one.columns["answer"]]).total.tolist() == [1.0]
        assert one.matters
    with pytest.raises(AssertionError, match="1428"):
        report.raise_if_broken()


def brief(completions: list[str], **kwargs: Any) -> list[float]:
    """Pays three to ten words."""
    return [float(3 <= len(text.split()) <= 10) for text in completions]


def apologies(completions: list[str], **kwargs: Any) -> list[float]:
    """A penalty."""
    return [-float("sorry" in text) for text in completions]


@pytest.mark.parametrize(
    ("reward", "good", "bad", "unjudged"),
    [
        (tagged_number, GOOD, (), ""),
        (tagged_number, (), BAD, "pass good="),
        (form, GOOD, BAD, "pass bad completions that this reward should score lower"),
        (form, GOOD, ["42", "7"], ""),
        (brief, ["in three words"], (), "pass bad=[...] with ordinary mistakes, or a column"),
        (brief, ["in three words"], ["two words"], ""),
        (apologies, GOOD, ["sorry"], ""),
        (apologies, GOOD, (), "pass bad="),
    ],
    ids=lambda value: shown(value) if callable(value) else None,
)
def test_only_a_reward_that_rejects_something_is_called_sound(reward: Any, good: Any, bad: Any, unjudged: str) -> None:
    report = check(reward, good=good, bad=bad)
    assert report.unjudged.startswith(unjudged)
    assert bool(report.unjudged) == bool(unjudged)


def test_laws_that_try_no_incorrect_completions_are_said_to_be_missing() -> None:
    assert check(number, bad=(), laws=["picklable"]).unjudged.startswith("run the laws")


@pytest.mark.slow
def test_a_sound_tree_breaks_no_law() -> None:
    report = check(tree, laws=None, budget=120.0)
    assert not report.findings, report
    assert {"exploits", "search", "gate_dominance"} <= {one.law for one in report.results if one.outcome == "held"}


def test_a_list_is_checked_as_the_sum() -> None:
    report = check([form, naive], laws=["gold_gets_the_maximum", "gold_above_perturbed_gold", "total"])
    assert broken_laws(report) == {"gold_above_perturbed_gold"}
    assert report.findings[0].score == 2.0


def test_laws_are_chosen_by_name_or_as_objects() -> None:
    def silent(subject: Any) -> Any:
        """Nothing is ever wrong."""
        return iter(())

    report = check(number, laws=["total", Law("silent", silent)])
    assert [(result.law, result.outcome) for result in report.results] == [("total", "held"), ("silent", "held")]


def test_without_exploits() -> None:
    report = check(number, laws=None, without=["exploits", "search"], budget=0.0)
    assert "exploits" not in {result.law for result in report.results}
    assert len(report.results) > 20


# Errors


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"examples": [{"prompt": "a", "anser": "42"}]}, rk.errors.BindingError, "'answer'.*Did you mean 'anser'"),
        (
            {"reward": naive, "examples": [{"prompt": "a", "anser": "42"}]},
            rk.errors.BindingError,
            "'naive' needs the column 'answer'.*Columns: anser. Did you mean 'anser'",
        ),
        ({"examples": []}, rk.errors.BindingError, "at least one row"),
        ({"examples": [{"answer": ["no number"]}]}, rk.errors.CoercionError, "answer"),
        ({"laws": ["totl"]}, rk.RewardDefinitionError, "Did you mean 'total'"),
        ({"invariant_to": ["color"]}, rk.RewardDefinitionError, "color"),
        ({"distractors": ["42"]}, rk.RewardDefinitionError, "'42'"),
        ({"distractors": ["7.0"]}, rk.RewardDefinitionError, "'7.0'"),
        ({"reward": []}, rk.RewardDefinitionError, "empty list"),
        ({"reward": 3}, rk.RewardDefinitionError, "reward"),
        ({"good": "<answer>42</answer>"}, rk.errors.BindingError, "good="),
    ],
    ids=lambda value: shown(value)[:40],
)
def test_mistakes_of_the_caller_reach_the_caller(
    changed: dict[str, Any], error: type[Exception], says: str, isolate: bool
) -> None:
    with pytest.raises(error, match=says):
        check(**{"reward": number, **changed}, isolate=isolate)


def test_a_missing_column_is_named_before_anything_is_scored() -> None:
    for reward in (number, naive, [naive, tagged_number]):
        with pytest.raises(rk.errors.BindingError, match="Did you mean 'anser'"):
            subject(reward, examples=[{"prompt": "a", "anser": "42"}], distractors=["97"])


# Reports


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.check.exploits.search._SECONDS", math.inf)  # time is not reproducible
    laws = [*QUICK, "deterministic", "permutation", "batch_equals_singles", "search"]
    one, two = (check(naive, laws=laws, seed=5, budget=600.0) for _ in range(2))
    assert timeless(one) == timeless(two)
    assert one.seed == 5
    assert one.findings


def test_a_report_round_trips_through_json(tmp_path: Path) -> None:
    report = check(naive, seed=2)
    report.to_json(tmp_path / "report.json")
    read = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (read["ok"], read["seed"], read["reward"]) == (False, 2, "from_trl(naive)")
    assert read["fingerprint"] == rk.from_trl(naive).fingerprint
    assert [law["law"] for law in read["laws"]] == list(QUICK)


# Regressions


def test_regressions_are_written_and_tried_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept" / "regressions.jsonl"
    first = check(naive, laws=["gold_above_perturbed_gold"], regressions=kept)
    completions = {one.completion for one in first.findings}
    assert len(kept.read_text(encoding="utf-8").splitlines()) == len(completions) > 0
    again = check(naive, laws=["regressions"], regressions=kept)
    assert {one.completion for one in again["regressions"].findings} == completions
    mended = check(tagged_number, laws=["regressions"], regressions=kept)
    assert mended["regressions"].outcome == "held"


def test_sound_rewards_write_no_file(tmp_path: Path) -> None:
    check(number, regressions=tmp_path / "regressions.jsonl")
    assert not (tmp_path / "regressions.jsonl").exists()


# Declarations


def test_what_a_reward_may_be_invariant_to_is_known() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="'whitespace', 'unicode', 'case'"):
        Declarations(invariant_to=["spaces"])


@pytest.mark.parametrize("name", ["distractors", "rankings", "invariant_to"])
def test_a_text_is_no_list_of_texts(name: str) -> None:
    options: dict[str, Any] = {name: "case"}
    with pytest.raises(rk.RewardDefinitionError, match=f"{name}= must be a list, got 'case'"):
        Declarations(**options)


def test_each_declaration_is_a_constant_of_a_module() -> None:
    assert set(map(str.lower, CONSTANTS)) == {"examples", "good", "bad", "laws", "without", *NAMES}
    options = with_declarations({"good": ["42"], "laws": ["total"], "margin": 0.5, "rankings": [["", "42"]]})
    declared = Declarations(margin=0.5, rankings=[["", "42"]])
    assert options == {"good": ["42"], "laws": ["total"], "declarations": declared}
    assert with_declarations({"good": ["42"]}) == {"good": ["42"]}


def test_declarations_reach_the_laws() -> None:
    one = subject(
        number, margin=0.5, invariant_to=["case"], distractors=["97"], rankings=[["", GOOD[0]], (1, ["", GOOD[1]])]
    )
    assert one.declarations.margin == 0.5
    assert one.declarations.invariant_to == ("case",)
    assert one.declarations.distractors == ("97",)
    assert one.declarations.rankings == ((0, ("", GOOD[0])), (1, ("", GOOD[1])))
