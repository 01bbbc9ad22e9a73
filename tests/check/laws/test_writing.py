"""The law of writing: right answers on several lines, without a comma or a unit, and contracts that are not blamed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import rewardkit as rk
from tests.check.rewards import (
    assert_held,
    assert_skipped,
    broken,
    form,
    number,
    outcome,
    shortest,
    tagged_number,
    tree,
)

LAW = "right_however_written"
Judge = Callable[[str, str], float]


def per_text(judge: Judge) -> Callable[..., list[float]]:
    """Make a trainer's function from a judge of a text and the gold answer."""

    def judged(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [judge(text, gold) for text, gold in zip(completions, answer, strict=True)]

    return judged


def per_form(pattern: str, flags: int = 0) -> Callable[..., list[float]]:
    """Make a trainer's function that pays for a pattern."""

    def formed(completions: list[str], **kwargs: Any) -> list[float]:
        return [float(re.match(pattern, text, flags) is not None) for text in completions]

    return formed


def body(text: str, flags: int = 0) -> str:
    found = re.search(r"<answer>(.*)</answer>", text, flags)
    return found.group(1) if found else ""


def no_dotall(text: str, gold: str) -> float:
    return float(body(text).strip() == gold)


def with_dotall(text: str, gold: str) -> float:
    return float(body(text, re.DOTALL).strip() == gold)


def exactly(text: str, gold: str) -> float:
    """A strict contract: the answer and nothing else between the tags."""
    return float(body(text, re.DOTALL) == gold)


def lines_read(text: str, gold: str) -> float:
    """Reads a line that ends with the answer, and nothing else."""
    return float(any(line.endswith(f"= {gold}") for line in text.split("\n")))


def numbers_read(text: str, gold: str) -> float:
    try:
        return float(
            float(body(text, re.DOTALL).replace(",", "").strip("$ ")) == float(gold.strip("$ ").replace(",", ""))
        )
    except ValueError:
        return 0.0


ONE_LINE = per_form(r"<think>.*?</think>\s*<answer>.*?</answer>")
MANY_LINES = per_form(r"<think>.*?</think>\s*<answer>.*?</answer>", re.DOTALL)
DIGITS = per_form(r"<think>[\s\S]*?</think><answer>\d+</answer>")
THOUSANDS: list[dict[str, Any]] = [{"answer": "2,400"}, {"answer": "1,250"}]


def written(*answers: str) -> list[str]:
    return [f"<think>so it is</think><answer>{answer}</answer>" for answer in answers]


@pytest.mark.parametrize("reward", [number, form, tree, tagged_number, per_text(with_dotall), per_text(numbers_read)])
def test_sound_rewards_hold_to_it(reward: Any) -> None:
    assert_held(reward, LAW)


def test_an_answer_on_a_line_of_its_own() -> None:
    (found,) = broken(per_text(no_dotall), LAW)
    assert found.completion == "<think>6*7</think><answer>\n42\n</answer>"
    assert (found.score, found.columns["answer"]) == (0.0, "42")
    assert "re.DOTALL" in found.why


def test_a_form_that_fits_on_one_line() -> None:
    good = ["<think>six times seven</think><answer>42</answer>", "<think>three and four</think><answer>7</answer>"]
    found = broken(ONE_LINE, LAW, good=good)
    assert {one.completion for one in found} == {
        "<think>six\ntimes seven</think><answer>42</answer>",
        "<think>six times seven</think><answer>\n42\n</answer>",
    }
    assert_held(MANY_LINES, LAW, good=good)


def test_right_completions_that_earn_nothing_because_they_have_several_lines() -> None:
    good = [
        f"<think>\n{thought}\n</think>\n<answer>\n{gold}\n</answer>" for thought, gold in (("6*7", "42"), ("3+4", "7"))
    ]
    (found,) = broken(ONE_LINE, LAW, good=good)
    assert (found.completion, found.score) == (good[0], 0.0)
    assert "scores 0 on several lines, but 1 on one line" in found.why
    assert_held(MANY_LINES, LAW, good=good)


def test_strict_contracts_are_left_alone() -> None:
    """If a space costs as much as a line break, nothing may stand there."""
    assert_held(per_text(exactly), LAW)
    assert_held(DIGITS, LAW)
    assert_held(
        rk.exact("answer", extract=rk.extract.tag("answer")),
        LAW,
        examples=THOUSANDS,
        good=written("2,400", "1,250"),
        bad=[],
    )


def test_thinking_on_several_lines() -> None:
    (found,) = broken(per_form(r"<think>.*</think>[\s\S]*"), LAW, good=written("42", "7"))
    assert found.completion == "<think>so\nit is</think><answer>42</answer>"
    assert_held(per_form(r"<think>.*</think>[\s\S]*"), LAW, good=["<think>6*7</think>42", "<think>3+4</think>7"])


def test_windows_line_ends() -> None:
    good = ["so\n6*7 = 42\nyes", "so\n3+4 = 7\nyes"]
    bad = ["so\n6*7 = 41\nyes", "so\n3+4 = 8\nyes"]
    result = outcome(per_text(lines_read), LAW, good=good, bad=bad)
    assert result.outcome == "held"  # no model writes them unasked
    assert [aside.completion for aside in result.asides] == ["so\r\n6*7 = 42\r\nyes"]
    assert [aside.unreachable for aside in result.asides] == ["Windows line ends"]


def test_a_prompt_that_ends_with_the_opening_tag() -> None:
    reward = per_text(lambda text, gold: with_dotall(text, gold) * text.startswith("<think>"))
    result = outcome(reward, LAW)
    assert result.outcome == "held"
    assert ["<think>" in aside.unreachable for aside in result.asides] == [True]
    examples = [{"prompt": "6*7?\n<think>", "answer": "42"}, {"prompt": "3+4?\n<think>\n", "answer": "7"}]
    (found,) = broken(reward, LAW, examples=examples)
    assert found.completion == "6*7</think><answer>42</answer>"
    assert "after a prompt that ends with <think>" in found.why


def test_a_gold_answer_with_a_comma() -> None:
    (found,) = broken(per_text(with_dotall), LAW, examples=THOUSANDS, good=written("2,400", "1,250"), bad=[])
    assert found.completion == written("2400")[0]
    assert "without the comma" in found.why
    assert_held(per_text(numbers_read), LAW, examples=THOUSANDS, good=written("2,400", "1,250"), bad=[])


def test_a_number_that_may_have_a_comma() -> None:
    examples = [{"answer": "2400"}, {"answer": "1250"}]
    (found,) = broken(per_text(with_dotall), LAW, examples=examples, good=written("2400", "1250"), bad=[])
    assert found.completion == written("2,400")[0]
    assert_held(per_text(numbers_read), LAW, examples=examples, good=written("2400", "1250"), bad=[])


@pytest.mark.parametrize("unit", ["${}", "{} dollars", "{} km"])
def test_a_gold_answer_with_a_unit(unit: str) -> None:
    golds = [unit.format(number) for number in (18, 25)]
    examples = [{"answer": gold} for gold in golds]
    (found,) = broken(per_text(with_dotall), LAW, examples=examples, good=written(*golds), bad=[])
    assert found.completion == written("18")[0]
    assert "has a unit" in found.why


def test_where_it_does_not_apply() -> None:
    assert_skipped(number, LAW, "no correct completions", good=[])
    assert_skipped(shortest, LAW, "compares completions")
