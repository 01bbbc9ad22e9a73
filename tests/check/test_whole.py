"""The whole: a component is blamed for what it judges, and not for what the others judge."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rewardkit.check.declarations import with_declarations
from rewardkit.check.reports import Section
from rewardkit.check.reward_under_test.whole import COVERED
from rewardkit.testing import check_reward

pytestmark = pytest.mark.slow

PROMPTS = [[{"role": "user", "content": text}] for text in ("red cars under 20000", "at least 4 stars", "how are you?")]
WANTED = ["color == 'red' AND price < 20000", "stars >= 4", "EMPTY"]
ROWS = [{"prompt": prompt, "wanted": wanted} for prompt, wanted in zip(PROMPTS, WANTED, strict=True)]
BAD = [["color == 'blue'", "I cannot do that."], ["stars >= 4 AND city == 'Rome'"], ["city == 'Rome'", "I am fine."]]
PLAIN = [["color == 'blue'"], ["city == 'Rome'"], ["I am fine."]]
QUICK = (
    "gold_gets_the_maximum",
    "gold_above_perturbed_gold",
    "separates_good_from_bad",
    "informative",
    "right_however_written",
    "exploits",
)


def _text(completion: Any) -> str:
    return str(completion[0]["content"]).strip()


def _fields(text: str) -> set[str]:
    return set(re.findall(r"\b(\w{1,20}) (?:==|>=|<)", text))


def exact(completions: list[Any], wanted: list[str], **kwargs: Any) -> list[float]:
    return [float(_text(one) == gold) for one, gold in zip(completions, wanted, strict=True)]


def syntax(completions: list[Any], wanted: list[str], **kwargs: Any) -> list[float]:
    """Judges quotes and operators; the gold answer counts only where it is EMPTY."""
    scores = []
    for one, gold in zip(completions, wanted, strict=True):
        text = _text(one)
        sound = text.count("'") % 2 == 0 and bool(re.search(r"==|>=|<", text))
        scores.append(float(gold == "EMPTY") if text == "EMPTY" else float(sound))
    return scores


def fields(completions: list[Any], wanted: list[str], **kwargs: Any) -> list[float]:
    """Judges the names of fields only, so a comparison may be reversed, and no field is right for EMPTY."""
    return [float(_fields(_text(one)) == _fields(gold)) for one, gold in zip(completions, wanted, strict=True)]


def brevity(completions: list[Any], **kwargs: Any) -> list[float]:
    return [-min(0.5, max(0, len(_text(one)) - 6_000) / 1_000) for one in completions]


def doubts(completions: list[Any], **kwargs: Any) -> list[float]:
    """Looks for words that no example has."""
    found = [(re.search(r"\[guess\]", _text(one)), re.search(r"\[check\]", _text(one))) for one in completions]
    return [float(all(pair)) for pair in found]


def numbers(completions: list[Any], wanted: list[str], **kwargs: Any) -> list[float]:
    """Judges answers, and pays a completion with the right one among others."""
    return [float(gold in _text(one)) for one, gold in zip(completions, wanted, strict=True)]


def more_numbers(completions: list[Any], wanted: list[str], **kwargs: Any) -> list[float]:
    """The same fault."""
    return [2.0 * (gold in _text(one)) for one, gold in zip(completions, wanted, strict=True)]


def checked(reward: Any, **options: Any) -> Any:
    given: dict[str, Any] = {"examples": ROWS, "good": WANTED, "bad": BAD, "laws": QUICK, "budget": 120.0}
    return check_reward(reward, **{**given, **with_declarations(options)})


def test_components_are_not_blamed_for_what_the_sum_judges() -> None:
    report = checked([exact, syntax, fields, brevity, doubts])
    assert not report.findings, report
    by_name = {one.title: one for one in report.components}
    assert by_name["syntax"]["gold_above_perturbed_gold"].reason == COVERED
    assert by_name["brevity"]["separates_good_from_bad"].outcome == "skipped"
    assert "The sum of the rewards does not" in " ".join(Section(by_name["syntax"]).notes)


@pytest.mark.parametrize("reward", [syntax, fields], ids=lambda one: str(one.__name__))
def test_alone_they_are(reward: Any) -> None:
    assert "separates_good_from_bad" in {one.law for one in checked(reward).findings}
    assert checked(reward, other_rewards=[exact]).ok
    assert checked(reward, other_rewards=[syntax]).ok is False  # the sum pays the same wrong completions


def test_a_component_that_judges_answers_is_blamed_for_wrong_ones_that_it_pays() -> None:
    report = checked([exact, numbers], bad=PLAIN)
    assert {one.of for one in report.findings} == {"numbers"}


def test_a_whole_whose_columns_are_missing_is_no_whole() -> None:
    def needs_more(completions: list[Any], missing: list[str], **kwargs: Any) -> list[float]:
        return [0.0 for _ in missing]

    assert checked(syntax, other_rewards=[needs_more]).ok is False


def test_an_exploit_shows_the_total_and_what_its_component_gave() -> None:
    def tenfold(completions: list[Any], wanted: list[str], **kwargs: Any) -> list[float]:
        return [10.0 * (gold in _text(one)) for one, gold in zip(completions, wanted, strict=True)]

    report = checked([tenfold, syntax, brevity], laws=["exploits"], components=False)
    paid = [one for one in report.findings if one.component == "tenfold"]
    assert paid
    for one in paid:
        assert one.scores[0] == ("total", f"{one.score:.6g}")
        assert one.scores[1] == ("tenfold", "10")
    assert re.search(r"total +1[01]\b.*\n +tenfold +10\n", str(report))


def test_no_advice_about_dots_without_a_pattern_that_has_one() -> None:
    def never(completions: list[Any], **kwargs: Any) -> list[float]:
        return [float(len(_text(one)) > 10**7) for one in completions]

    report = checked(never, laws=["informative", "right_however_written"])
    assert [one.law for one in report.findings] == ["informative"]
    assert "DOTALL" not in str(report)


def test_none_means_not_given() -> None:
    report = checked(exact, laws=["total"], declarations=None, without=None)
    assert not report.findings
    assert checked(exact, laws=["total"], good=None, bad=None).ok


def test_completions_that_are_tied_to_examples_are_said_to_be() -> None:
    tied = checked(exact, laws=["total"], bad=["a", "b", "c"])
    assert "good and bad: one per example." in str(tied)
    assert "bad" not in "".join(checked(exact, laws=["total"]).remarks)


def test_one_cause_is_shown_once_with_its_components() -> None:
    report = checked([exact, numbers, more_numbers], bad=PLAIN)
    assert {one.of for one in report.findings} == {"numbers", "more_numbers"}
    text = str(report)
    assert re.search(r"concerns +numbers, more_numbers", text)
    assert text.count("reproduce ") < len(report.findings) / 2
