"""Survivors: wrong programs that weak tests accept and good tests reject."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.mutants.operators import OF_SOLUTIONS
from rewardkit.check.programs.suites import Suite, suite_in
from rewardkit.check.programs.survivors import Survival, survival
from rewardkit.rewards.sandbox.isolation import chosen
from rewardkit.testing import check_reward

GRADE = """```python
def grade(points):
    if points >= 9:
        return "A"
    if points >= 8:
        return "B"
    return "C"
```"""
WEAK = ["assert grade(10) == 'A'", "assert grade(8) == 'B'", "assert grade(1) == 'C'"]
GOOD = [*WEAK, "assert grade(9) == 'A'", "assert grade(7) == 'C'"]


@pytest.fixture(autouse=True, scope="module")
def sandbox() -> None:
    try:
        chosen(packages=False, unsafe=False)
    except rk.RewardFailure as error:
        pytest.skip(str(error))


def tried(text: str, tests: Any, **options: Any) -> tuple[Suite, Survival | None]:
    reward = rk.code_tests("tests", credit="binary")

    def pays(completion: str) -> bool:
        return float(rk.score(reward, [completion], tests=[tests]).total[0]) == 1.0

    suite = suite_in(text, {"tests": tests})
    assert suite is not None
    return suite, survival(suite, pays, **options)


@pytest.mark.slow
def test_weak_tests_accept_wrong_programs_and_a_missing_test_is_proposed() -> None:
    suite, found = tried(GRADE, WEAK)
    assert found is not None
    assert found.survivors
    strict, again = tried(GRADE, [*WEAK, *(one.missing_test(suite) for one in found.survivors)])
    assert again is not None
    assert again.survivors == ()
    assert again.wrong == found.wrong
    for one in found.survivors:
        assert one.mutant.operator in OF_SOLUTIONS
        assert one.expected != one.found
        assert one.missing_test(strict).startswith("assert grade(")


@pytest.mark.slow
def test_good_tests_accept_none() -> None:
    _, found = tried(GRADE, GOOD)
    assert found is not None
    assert found.wrong > 5
    assert found.survivors == ()


def test_programs_that_read_and_print() -> None:
    text = "```python\nn = int(input())\nprint('even' if n % 2 == 0 else 'odd')\n```"
    suite, found = tried(text, [{"input": "2", "output": "even"}, {"input": "8", "output": "even"}])
    assert found is not None
    assert any("'output': 'odd" in one.missing_test(suite) for one in found.survivors)


def test_what_equals_the_right_program_is_not_wrong() -> None:
    text = "```python\ndef names(words):\n    return {word for word in words} | set()\n```"
    _, found = tried(
        text, ["assert names(['a', 'b']) == {'a', 'b'}", "assert names(['c', 'a', 'd']) == {'c', 'a', 'd'}"]
    )
    assert found is None or found.survivors == ()


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("```python\nimport random\ndef f(n):\n    return random.random() + n\n```", ["assert f(1) != 3"]),
        ("```python\nint main() {}\n```", [{"input": "1", "output": "1"}]),
        ("```python\ndef f(x):\n    return object()\n```", ["assert f(1) != 3", "assert f(3) == 3"]),
    ],
)
def test_nothing_is_said_where_nothing_is_known(text: str, tests: Any) -> None:
    suite = suite_in(text, {"tests": tests})
    assert suite is None or survival(suite, lambda completion: True) is None


def test_it_stops_when_the_time_is_over() -> None:
    _, found = tried(GRADE, WEAK, over=lambda: True)
    assert found is None


@pytest.mark.slow
def test_the_check_tells_of_weak_tests_and_blames_no_reward_for_them() -> None:
    report = check_reward(
        rk.code_tests("tests", credit="binary"),
        examples=[{"prompt": "Which grade?", "tests": WEAK}],
        good=[GRADE],
        bad=[GRADE.replace(">= 9", "< 9")],
        laws=["tests_reject_wrong_programs"],
        budget=60,
    )
    assert not report.findings
    (finding,) = report.asides
    assert finding.of_data
    assert "add the test assert grade(" in finding.why.lower()
    assert "About the data" in str(report)
    assert finding.score == 1.0


def test_the_law_does_not_apply_without_programs() -> None:
    options: Any = {"examples": [{"answer": "42"}], "good": ["42"], "bad": ["41"]}
    report = check_reward(rk.number("answer"), laws=["tests_reject_wrong_programs"], **options)
    assert report["tests_reject_wrong_programs"].outcome == "skipped"
