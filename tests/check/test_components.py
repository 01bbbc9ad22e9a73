"""Components: the faults that a list hides are found and named, each once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.findings import Law
from rewardkit.check.laws.base import OVER, Unfinished
from rewardkit.check.reports import Section, page_of
from rewardkit.check.run.isolation import can_isolate
from rewardkit.testing import Report, Trial, Variant, law, parametrize_with_laws
from tests.check.rewards import BAD, EXAMPLES, GOOD, broken_laws, check, form, naive, number, tagged_number

LAWS = ("total", "gold_gets_the_maximum", "gold_above_perturbed_gold")


def strict(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Outweighs the others."""
    return [10.0 * score for score in tagged_number(completions, answer)]


def raises_on_a_word(completions: list[str], **kwargs: Any) -> list[float]:
    return [1 / (text != "word") for text in completions]


def repetition(completions: list[str], **kwargs: Any) -> list[float]:
    """The share of repeated words: bad if it is high."""
    words = [text.split() for text in completions]
    return [1 - len(set(one)) / len(one) if one else 0.0 for one in words]


def by_itself(report: Report, name: str) -> Report:
    (found,) = [one for one in report.components if one.title == name]
    return found


def test_a_fault_that_the_sum_hides_is_found_and_named() -> None:
    report = check([strict, naive], laws=LAWS)
    assert broken_laws(report) == set()
    assert [one.title for one in report.components] == ["strict", "naive"]
    assert by_itself(report, "strict").ok
    assert broken_laws(by_itself(report, "naive")) == {"gold_above_perturbed_gold"}
    assert report.ok is False
    for one in report.findings:
        assert (one.component, one.of, one.score) == ("naive", "naive", 1.0)
        assert one.reproduce.startswith(
            "import rewardkit as rk; from tests.check.rewards import naive as reward; rk.score("
        )
    text = str(report)
    assert re.search(r"strict +sound: 3 held", text)
    assert re.search(r"naive +BROKEN: \d findings? in 1 law, 2 held", text)
    assert "concerns    naive" in text
    assert re.search(r"BROKEN: \d findings? in naive, 3 held", text.splitlines()[-1])


def test_a_component_reproduces() -> None:
    tree = rk.from_trl(strict) + rk.from_trl(naive)
    report = check(tree, laws=LAWS)
    (first, *_) = report.findings
    assert eval(first.reproduce.rpartition("; ")[2], {"rk": rk, "reward": naive}).total.tolist() == [first.score]
    unknown = replace(first, imports="")
    assert eval(unknown.reproduce, {"rk": rk, "reward": tree}).tolist() == [first.score]


def test_an_error_of_one_component_is_shown_once() -> None:
    report = check([strict, raises_on_a_word], laws=LAWS)
    (found,) = report.findings
    assert (found.law, found.component, found.of) == ("total", "raises_on_a_word", "")
    own = by_itself(report, "raises_on_a_word")
    assert own["total"].outcome == "broken"
    assert own["total"].reason
    assert str(report).count("reproduce ") == 1
    page = page_of([Section(report)])
    assert page.count('class="finding"') == 1
    assert "raises_on_a_word alone" in page


def leads_on_lines(subject: Any, right: Trial) -> Iterator[Variant]:
    """Leads only."""
    yield Variant(right.with_text(f"{right.text}\n"), "a line break keeps {base}", lead=True)


def test_a_lead_on_the_sum_is_not_repeated_for_its_components() -> None:
    report = check([strict, naive], laws=[law(leads_on_lines)])
    assert not report.findings, report
    assert len(report.leads) == len({(one.component, repr(one.columns)) for one in report.leads}) == 2
    assert {one.of for one in report.leads} == {""}
    assert all(one.correct_score == one.score == 11.0 for one in report.leads)


@pytest.mark.parametrize(
    ("reward", "names"),
    [
        (number, []),
        (tagged_number, []),
        ([tagged_number], []),
        (0.5 * number + 0.5 * form, ["answer_number", "tags"]),
        (rk.gate(form, number), []),
        ([form, 0.3 * number + rk.from_trl(naive), 0.0 * rk.from_trl(strict)], ["tags", "answer_number", "naive"]),
    ],
    ids=["reward", "function", "list of one", "sum", "gate", "nested"],
)
def test_the_components_are_the_addends_that_count(reward: Any, names: list[str]) -> None:
    report = check(reward, laws=["finite"])
    assert [one.title for one in report.components] == [name.replace("answer_number", number.name) for name in names]


def test_a_penalty_is_checked_as_a_penalty() -> None:
    report = check(rk.from_trl(strict) - 0.1 * rk.from_trl(repetition), laws=["gold_gets_the_maximum"])
    assert not report.findings, report
    assert by_itself(report, "repetition").reward == "-0.1*from_trl(repetition)"


@pytest.mark.slow
@pytest.mark.skipif(not can_isolate(), reason="this system cannot fork")
def test_a_component_that_hangs_ends_neither_the_sum_nor_the_others() -> None:
    def hangs(completions: list[str], **kwargs: Any) -> list[float]:
        while "word" in completions:
            pass
        return [0.0 for _ in completions]

    report = check([strict, hangs, naive], laws=LAWS, seconds_per_completion=0.3, budget=12.0)
    assert report["gold_gets_the_maximum"].outcome == "held"
    assert report["total"].findings[0].law == "time_linear"
    assert broken_laws(by_itself(report, "naive")) == {"gold_above_perturbed_gold"}
    assert by_itself(report, "strict").ok


def test_time_that_the_components_left_goes_to_laws_that_were_not_finished() -> None:
    runs: list[str] = []

    def needs_more(subject: Any) -> Any:
        """Runs out of time the first time."""
        runs.append(subject.part)
        if runs.count(subject.part) == 1 and subject.part != "naive":
            raise Unfinished(OVER)
        yield from ()

    told: list[tuple[str, int, int]] = []
    laws = [Law("needs_more", needs_more), "gold_above_perturbed_gold"]
    report = check([strict, naive], laws=laws, isolate=False, on_progress=lambda *said: told.append(said))
    assert runs == ["", "strict", "naive", "", "strict"]
    assert report.complete
    assert [result.law for result in report.results] == ["needs_more", "gold_above_perturbed_gold"]
    assert broken_laws(by_itself(report, "naive")) == {"gold_above_perturbed_gold"}
    assert [place for _, place, _ in told] == [0, 1, 2, 3, 4, 5, 5, 5]
    assert {count for _, _, count in told} == {6}


def test_only_the_sum_on_request_and_the_first_fault_ends_a_hasty_check() -> None:
    assert check([strict, naive], laws=LAWS, components=False).ok
    report = check([naive, strict, form], laws=["gold_above_perturbed_gold"], fail_fast=True)
    assert [one.title for one in report.components] == ["naive"]


def test_the_callback_counts_the_laws_of_all() -> None:
    told: list[tuple[str, int, int]] = []
    check([strict, naive], laws=LAWS, on_progress=lambda *said: told.append(said))
    assert told == [(law, place, 9) for place, law in enumerate(LAWS * 3)]


def test_reports_have_the_components() -> None:
    plain = check([strict, naive], laws=LAWS).to_dict()
    assert [one["title"] for one in plain["components"]] == ["strict", "naive"]
    assert plain["ok"] is False
    assert [law["outcome"] for law in plain["laws"]] == ["held"] * 3


@parametrize_with_laws([[strict, tagged_number]], examples=EXAMPLES, good=GOOD, bad=BAD, laws=LAWS)
def test_a_list_in_a_test(reward: Any, law: Any) -> None:
    law(reward)


@pytest.mark.slow
def test_a_test_of_a_list_fails_on_a_fault_of_a_component() -> None:
    mark = parametrize_with_laws([[strict, naive]], examples=EXAMPLES, good=GOOD, bad=BAD, laws=LAWS)
    failed = []
    for parameters in mark.args[1]:
        reward, law = parameters.values
        try:
            law(reward)
        except pytest.fail.Exception as error:
            failed.append(str(error))
    (said,) = failed
    assert "breaks gold_above_perturbed_gold" in said
    assert "naive" in said
