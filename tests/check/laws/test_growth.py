"""Laws of growth: time and memory in proportion to the length."""

from __future__ import annotations

import math
import re
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.laws import Law
from rewardkit.check.laws.growth import _SIZES, _too_steep, families_of, took_long
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.testing import Declarations, check_reward
from tests.check.rewards import assert_held, assert_skipped, broken, number, shown, subject, tagged_number, tree

CATASTROPHE = re.compile(r"^<answer>((\w+\s?)+)</answer>$")


def catastrophic(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Nested repetition: the time doubles with every letter."""
    found = [CATASTROPHE.match(text if len(text) < 60 else "") for text in completions]
    return [float(gold in match.group(1)) if match else 0.0 for match, gold in zip(found, answer, strict=True)]


def lazy(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """One lazy group is quadratic on hostile text, and not worth an alarm."""
    found = [re.search(r"<answer>(.*?)</answer>", text) for text in completions]
    return [float(match.group(1) == gold) if match else 0.0 for match, gold in zip(found, answer, strict=True)]


def matrix(completions: list[str], **kwargs: Any) -> list[float]:
    """A table of all pairs of characters, as in a distance of edits."""
    scores = []
    for text in completions:
        size = min(len(text), 8_000)
        table = [bytearray(size) for _ in range(size)]
        scores.append(float(len(table) > 5))
    return scores


def series(exponent: float, last: float) -> list[tuple[int, float]]:
    return [(size, last * (size / 8_000) ** exponent) for size in (2_000, 4_000, 8_000)]


@pytest.mark.parametrize("reward", [number, tagged_number], ids=shown)
def test_linear_rewards_hold(reward: Any) -> None:
    assert_held(reward, "time_linear", "memory_bounded", budget=600.0)


@pytest.mark.slow
@pytest.mark.parametrize("reward", [tree, lazy], ids=shown)
def test_trees_and_single_lazy_groups_hold(reward: Any) -> None:
    assert_held(reward, "time_linear", "memory_bounded", budget=600.0)


@pytest.mark.slow
def test_time_that_explodes() -> None:
    (found,) = broken(catastrophic, "time_linear", budget=600.0)
    assert "grows like n^" in found.why
    assert "50,000 characters would take more than" in found.why
    assert len(found.completion) <= 120
    assert "takes minutes" in found.matters


def test_memory_that_explodes() -> None:
    (found,) = broken(matrix, "memory_bounded")
    assert re.search(r"8,000 take [\d.]+ MB: 50,000 would take [\d,]+ MB", found.why)
    assert len(found.completion) < 9_000


@pytest.mark.slow
def test_slow_whatever_the_length() -> None:
    def judge(completions: list[str], **kwargs: Any) -> list[float]:
        time.sleep(0.06 * len(completions))
        return [0.5 for _ in completions]

    assert_skipped(judge, "time_linear", "at any length", examples=[{}], good=["a"], bad=[])


@given(st.floats(0.5, 2.0), st.floats(0.02, 0.2))
def test_up_to_quadratic_growth_of_little_is_no_alarm(exponent: float, last: float) -> None:
    assert _too_steep(series(min(exponent, 1.4), last)) == ""


@given(st.floats(2.5, 6.0), st.floats(0.15, 5.0))
def test_steep_growth_of_much_is(exponent: float, last: float) -> None:
    said = _too_steep(series(exponent, last))
    assert f"n^{exponent:.1f}" in said
    assert _too_steep(series(exponent, 0.001)) == ""


def test_families_grow_in_proportion() -> None:
    families = dict(families_of(subject(lazy)))
    assert "'<answer>' * n" in families
    assert any("instead of the answer" in name for name in families)
    for name, grown in families.items():
        sizes = [len(grown(size)) for size in (1_000, 4_000)]
        assert math.isclose(sizes[1] - sizes[0], 3_000, rel_tol=0.3 if "counted up" in name else 0.02), name
    assert list(_SIZES) == sorted(_SIZES)


def fields(completions: list[str], **kwargs: Any) -> list[float]:
    """Every letter may begin a word, so the time of a long word is quadratic."""
    comparisons = [re.compile(rf"(\w+)\s*{sign}") for sign in ("==", "!=", ">=", "<=", ">", "<")]
    return [float(any(comparison.search(text) for comparison in comparisons)) for text in completions]


def spaces(completions: list[str], **kwargs: Any) -> list[float]:
    """Spaces at the ends are stripped, those between letters take quadratic time."""
    words = [re.compile(rf"\s+{word}\s+") for word in ("and", "or", "not", "in", "as", "is")]
    return [float(any(word.search(text.strip()) for word in words)) for text in completions]


ITEMS = re.compile(r"<list>(<item>.*<name>.+</name>.*</item>)+</list>")


def items(completions: list[str], **kwargs: Any) -> list[float]:
    """Items can be grouped in any way, so each more doubles the time if the list does not end."""
    return [float(bool(ITEMS.match(text))) for text in completions]


@pytest.mark.slow
def test_a_right_answer_repeated_until_it_is_cut_off() -> None:
    good = "<list>" + "".join(f"<item><name>item {number}</name>: text</item>" for number in range(2)) + "</list>"
    declared = Declarations(seconds_per_completion=2.0)
    report = check_reward(items, examples=[{}], good=[good], bad=["no"], laws=["time_linear"], declarations=declared)
    (found,) = report.findings
    assert found.completion.count("</item>") > 10
    assert "</list>" not in found.completion


EVENT = "<event>\n<name>Lunch</name>\n<start>12:00</start>\n</event>\n"
SCHEDULE = f"<think>\nhm\n</think>\n<schedule>\n{EVENT}{EVENT.replace('Lunch', 'Dinner')}</schedule>"
NESTED = re.compile(r"<schedule>(\s*<event>.*</event>\s*)+</schedule>", re.DOTALL)
NAMED = re.compile(
    r"<think>.*</think>\s*<schedule>(\s*<event>\s*<name>.+</name>\s*<start>.+</start>\s*</event>)+\s*</schedule>",
    re.DOTALL,
)
STEPS = re.compile(r"((Step \d+: .+\n?)+)+Answer: .+")
ONE_BY_ONE = re.compile(r"<schedule>\s*(?:<event>[^<]*(?:<(?!/event>)[^<]*)*</event>\s*)*</schedule>")


def nested(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(NESTED.search(text) is not None) for text in completions]


def named(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(NAMED.match(text) is not None) for text in completions]


def in_steps(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(STEPS.match(text) is not None) for text in completions]


def one_by_one(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(ONE_BY_ONE.search(text) is not None) for text in completions]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reward", "good"),
    [(nested, [SCHEDULE]), (nested, []), (named, [SCHEDULE]), (in_steps, ["Step 1: a b\nStep 2: c\nAnswer: 4"])],
)
def test_a_block_or_line_repeated_until_it_is_cut_off(reward: Any, good: Any) -> None:
    report = check_reward(reward, examples=[{}], good=good, bad=[], laws=["time_linear"])
    (found,) = report.findings
    assert found.law == "time_linear"


@pytest.mark.slow
@pytest.mark.parametrize("good", [[SCHEDULE], []])
def test_blocks_that_are_read_one_by_one_hold(good: Any) -> None:
    assert_held(one_by_one, "time_linear", examples=[{}], good=good, bad=[], budget=60.0)


def test_completions_are_cut_off_at_each_tag() -> None:
    families = dict(families_of(subject(nested, examples=[{}], good=[SCHEDULE], bad=[])))
    assert families["<event> * n, never closed"](500).count("<event>") > 5
    assert "</name>" not in families["<event> without </name> * n"](500)
    assert families["'(' * n, cut off after </think>"](9) == f"<think>\nhm\n</think>{'(' * 9}"
    lines = dict(families_of(subject(in_steps, examples=[{}], good=["Step 1: a\nAnswer: 4"], bad=[])))
    assert lines["the line 'Step 1: a' * n, never ended"](30) == "Step 1: a\n" * 3


@pytest.mark.slow
@pytest.mark.parametrize(("reward", "piece"), [(fields, "'a'"), (spaces, r"'(?: |\\n)'")])
def test_slow_patterns_are_found_and_can_be_pasted(reward: Any, piece: str) -> None:
    report = check_reward(reward, examples=[{}], good=["a == 1 and b < 2"], bad=["no"])
    (found,) = report["time_linear"].findings
    assert re.search(rf"{piece} \* n", found.why)
    assert len(found.completion) > 5_000
    assert re.search(rf"{piece} \* \d+_\d{{3}}", found.reproduce)
    assert "..." not in found.reproduce
    assert report["total"].outcome == "held"  # the other laws had time


@pytest.mark.slow
def test_a_long_completion_of_another_law_is_evidence() -> None:
    def long(subject: Any) -> Any:
        """Try a long completion."""
        subject.see([Trial("a" * 8_000)])
        yield from ()

    report = check_reward(
        fields,
        examples=[{}],
        good=["a == 1"],
        laws=[Law("long", long)],
        declarations=Declarations(seconds_per_completion=60.0),
        budget=200.0,
    )
    assert [one.law for one in report.findings] == ["time_linear"]


def test_what_is_not_finished_is_said_with_the_budget_that_would_do() -> None:
    report = check_reward(
        number, examples=[{"answer": "42"}], good=["42"], bad=["41"], laws=["time_linear"], budget=0.05
    )
    assert report.ok is None
    report.raise_if_broken()
    assert report["time_linear"].outcome == "unfinished"
    assert report.needs >= 10
    assert f"budget={report.needs}" in str(report)
    assert str(report).splitlines()[-1].strip().startswith(("INCOMPLETE", "NOT CHECKED"))


NUMERALS = re.compile(r"\d+%")
PAUSES = re.compile(r"\s+%")


def reads_numbers(completions: list[str], **kwargs: Any) -> list[float]:
    """Quadratic in runs of digits: 4,000 take tenths of a second."""
    return [float(any(NUMERALS.search(text) for _ in range(6))) for text in completions]


def reads_pauses(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(any(PAUSES.search(text) for _ in range(6))) for text in completions]


@pytest.mark.slow
@pytest.mark.parametrize(("reward", "is_lead"), [(reads_numbers, True), (reads_pauses, False)], ids=shown)
def test_digits_are_tokens_by_themselves_so_no_completion_has_so_many(reward: Any, is_lead: bool) -> None:
    report = check_reward(reward, examples=[{}], good=["5%"], bad=["no"], laws=["time_linear"], budget=100.0)
    assert len(report.leads) == is_lead
    assert bool(report.findings) is not is_lead
    assert all("If each digit is a token" in lead.why for lead in report.leads)


def busy(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize("is_slow", [True, False])
def test_one_pause_is_no_growth_and_a_cache_hides_none(is_slow: bool) -> None:
    cache: dict[str, float] = {}

    def cached(completion: str) -> float:
        if is_slow and completion not in cache:
            busy(1.5 * (len(completion) / 12_000) ** 3)
        return cache.setdefault(completion, 1.0)

    checked = subject(cached, examples=[{}], good=[], bad=[])
    text = "word " * 2_400
    checked.value(text)
    checked.slow = Trial(text), 1.5  # for the constant one, the process paused
    assert [finding.law for finding in took_long(checked)] == ["time_linear"] * is_slow
