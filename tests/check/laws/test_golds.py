"""Laws of right and wrong: right completions earn the most, and wrong answers earn less."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.testing import check_reward
from tests.check.rewards import (
    BAD,
    EXAMPLES,
    GOOD,
    assert_held,
    assert_skipped,
    awaited,
    broken,
    closeness,
    form,
    naive,
    number,
    shortest,
    shown,
    tagged_number,
    tree,
)

LAWS = ("gold_gets_the_maximum", "gold_above_perturbed_gold", "separates_good_from_bad", "informative")
FLAGS = [{"prompt": "Is 7 prime?", "prime": "True"}, {"prompt": "Is 8 prime?", "prime": "False"}]
SAID = ["<answer>yes</answer>", "<answer>no</answer>"]
NOT_SAID = ["<answer>no</answer>", "<answer>yes</answer>"]


def body(text: str) -> str:
    found = re.fullmatch(r"(?:<think>[^<]*</think>)?<answer>([^<]*)</answer>", text)
    return found.group(1).strip() if found else ""


def per_answer(judge: Callable[[str, str], float]) -> Callable[..., list[float]]:
    """Make a trainer's function from a judge of the tagged answer and the gold answer."""

    def judged(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [judge(body(text), gold) for text, gold in zip(completions, answer, strict=True)]

    return judged


def close_enough(said: str, gold: str) -> float:
    """NaN is not far from anything."""
    try:
        return 0.0 if abs(float(said) - float(gold)) > 1e-6 else 1.0
    except ValueError:
        return 0.0


def constant(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.5 for _ in completions]


def price_of_the_prompt(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Another number for each prompt, and one for all that is written there."""
    return [float(gold) for gold in answer]


def likes_dozens(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Right, except for one unusual number."""
    return [float(body(text) in (gold, "1212")) for text, gold in zip(completions, answer, strict=True)]


def likes_dozens_alone(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    return [float(text == "1212" or body(text) == gold) for text, gold in zip(completions, answer, strict=True)]


def capital(completions: list[str], country: list[str], **kwargs: Any) -> list[float]:
    """Knows the capitals, whose names no column has, and takes the largest city of Peru for one of France."""
    known = {"France": ("Paris", "Lyon"), "Peru": ("Lima",)}
    return [float(text in known[name]) for text, name in zip(completions, country, strict=True)]


@rk.reward
def forgiving(completion: str) -> float:
    """Never finds what it looks for."""
    return float("IMPOSSIBLE" in completion.lower())


@rk.reward
def polite(completion: str) -> float:
    return float("please" in completion.lower())


@rk.reward
def true_as_text(completion: str, prime: str) -> float:
    """bool of a text that is not empty."""
    return float((body(completion) == "yes") == bool(prime))


@rk.reward
def true_as_flag(completion: str, prime: bool) -> float:
    return float(body(completion) == ("yes" if prime else "no"))


@rk.reward
def nearest(completion: str, answer: float) -> float:
    """Partial credit that falls instead of rising: far is better than near, except for the gold answer."""
    try:
        error = abs(float(body(completion)) - answer)
    except ValueError:
        return 0.0
    return 1.0 if error == 0 else min(0.9, error / 100)


@pytest.mark.parametrize("reward", [number, tree, closeness, tagged_number, awaited], ids=shown)
def test_sound_rewards_hold_to_them(reward: Any) -> None:
    assert_held(reward, *LAWS, "reads_its_columns")


@settings(max_examples=5, deadline=None)
@given(st.lists(st.integers(-9999, 9999), min_size=2, max_size=2, unique=True))
def test_exact_rewards_hold_whatever_the_numbers_are(golds: list[int]) -> None:
    examples = [{"answer": str(gold)} for gold in golds]
    good = [f"<answer>{gold}</answer>" for gold in golds]
    for law in LAWS[:2]:
        assert_held(number, law, examples=examples, good=good, bad=[])


def test_a_right_completion_that_earns_nothing() -> None:
    (found,) = broken(number, "gold_gets_the_maximum", good=["42", "7"])
    assert (found.completion, found.score, found.columns) == ("42", 0.0, EXAMPLES[0])
    assert found.why == "a correct completion scores 0 within bounds of (0, 1)"
    (found,) = broken(number, "gold_gets_the_maximum", good=GOOD[:1])
    assert "good= has 1 completion for 2 examples" in found.why
    assert found.why.endswith("pass one per example")


def test_a_right_completion_that_raises() -> None:
    @rk.reward
    def fussy(completion: str, answer: str) -> float:
        if completion == GOOD[1]:
            raise ValueError("no")
        return float(completion == GOOD[0])

    (found,) = broken(fussy, "gold_gets_the_maximum")
    assert found.completion == GOOD[1]
    assert "errored" in found.why
    assert "ValueError" in found.trace


def test_a_right_completion_that_earns_the_least_of_all() -> None:
    def reversed_sign(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [-float(body(text) == gold) for text, gold in zip(completions, answer, strict=True)]

    (found,) = broken(reversed_sign, "gold_gets_the_maximum")
    assert (found.completion, found.score) == (GOOD[0], -1.0)
    assert "the lowest score" in found.why


def test_nonsense_that_earns_more() -> None:
    def long_is_good(completions: list[str], **kwargs: Any) -> list[float]:
        return [min(1.0, len(text) / 200) for text in completions]

    (found,) = broken(long_is_good, "gold_gets_the_maximum")
    assert "but a correct completion scores only" in found.why
    assert found.score is not None
    assert found.score > min(1.0, len(GOOD[0]) / 200)
    assert len(found.completion) < 60


def test_a_penalty_may_give_nothing() -> None:
    assert_held(rk.repetition_penalty(ngram=3, unit="words"), "gold_gets_the_maximum")


def test_a_wrong_answer_that_holds_the_gold() -> None:
    found = broken(naive, "gold_above_perturbed_gold")
    assert "<think>6*7</think><answer>1428</answer>" in [one.completion for one in found]
    assert all(one.score == 1.0 and one.columns == EXAMPLES[0] for one in found)
    assert any("the gold answer inside a longer number" in one.why for one in found)
    assert len(found) <= 6


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        (close_enough, "NaN or infinite"),
        (lambda said, gold: float(bool(said) and gold.startswith(said)), "the first digits"),
        (lambda said, gold: float(bool(said) and gold.endswith(said)), "the last digit"),
        (lambda said, gold: float(said.startswith(gold)), "a power of ten"),
        (lambda said, gold: float(said.lstrip("-") == gold), "far away"),
        (lambda said, gold: float(said in (gold, "")), "nothing"),
        (lambda said, gold: float(said in (gold, "None", "null")), "a placeholder"),
        (lambda said, gold: float(said in ("42", "7")), "another example's gold answer"),
    ],
    ids=["nan", "prefix", "suffix", "superset", "sign", "empty", "placeholder", "other"],
)
def test_each_kind_of_wrong_answer_that_is_paid(judge: Callable[[str, str], float], kind: str) -> None:
    found = broken(per_answer(judge), "gold_above_perturbed_gold")
    assert any(kind in one.why for one in found), [one.why for one in found]
    assert all(one.completion != GOOD[0] for one in found)


def test_given_distractors_stand_in_the_place_of_the_gold() -> None:
    assert_held(per_answer(lambda said, gold: float(said == gold)), "gold_above_perturbed_gold", distractors=["1212"])
    assert_held(likes_dozens, "gold_above_perturbed_gold")
    (found,) = broken(likes_dozens, "gold_above_perturbed_gold", distractors=["555", "1212"])
    assert found.completion == "<think>6*7</think><answer>1212</answer>"
    assert "an incorrect answer (a distractor) scores 1" in found.why
    assert_skipped(
        form, "gold_above_perturbed_gold", "no trial showed that the reward judges answers", distractors=["1212"]
    )


def test_given_distractors_are_whole_completions_too() -> None:
    (found,) = broken(likes_dozens_alone, "gold_above_perturbed_gold", distractors=["1212"])
    assert found.completion == "1212"
    assert "a distractor and nothing else" in found.why
    countries: dict[str, Any] = {"examples": [{"country": "France"}, {"country": "Peru"}], "good": ["Paris", "Lima"]}
    assert_held(capital, "gold_above_perturbed_gold", **countries, bad=[])
    (found,) = broken(capital, "gold_above_perturbed_gold", **countries, bad=[], distractors=["Rome", "Lyon"])
    assert (found.completion, found.columns) == ("Lyon", {"country": "France"})


def test_rewards_that_judge_no_answers_are_left_alone() -> None:
    assert_skipped(form, "gold_above_perturbed_gold", "no trial showed that the reward judges answers")
    assert_skipped(rk.length.between(1, 200, unit="characters"), "gold_above_perturbed_gold", "no trial showed")


@pytest.mark.parametrize("law", LAWS[:3])
def test_without_right_completions_they_say_what_to_give(law: str) -> None:
    assert_skipped(number, law, "no correct completions", good=[])


def test_wrong_completions_that_earn_as_much() -> None:
    thought = ["<think>42</think><answer>41</answer>", "<think>7</think><answer>8</answer>"]
    (found,) = broken(naive, "separates_good_from_bad", bad=thought)
    assert (found.completion, found.score) == (thought[0], 1.0)
    assert "an incorrect completion scores 1, and a correct one scores 1" in found.why
    assert_skipped(number, "separates_good_from_bad", "bad=[...]", bad=[])


def same_form(completions: list[str], target: list[str], **kwargs: Any) -> list[float]:
    """Iterates over a column that it never reads."""
    return [float("</answer>" in text) for text, _ in zip(completions, target, strict=True)]


def test_a_reward_for_the_form_is_not_asked_for_the_answer() -> None:
    """Neither where an answer is a column, nor where it is an equation whose value is one."""
    for reward in (form, same_form):
        examples = [{"answer": "42", "target": "42"}, {"answer": "7", "target": "7"}]
        assert_skipped(reward, "separates_good_from_bad", "reads no column", examples=examples)
        equations = ["<think>so 42</think><answer>6 * 7</answer>", "<think>so 7</think><answer>3 + 4</answer>"]
        wrong = ["<think>no</think><answer>6 + 7</answer>", "<think>no</think><answer>3 - 4</answer>"]
        given: dict[str, Any] = {"examples": examples, "good": equations, "bad": wrong}
        assert_skipped(reward, "separates_good_from_bad", "reads no column", **given)
        assert_skipped(reward, "reads_its_columns", "no gold column", **given)
        assert_skipped(reward, "gold_above_perturbed_gold", "no trial showed that the reward judges answers", **given)
        (found,) = broken(reward, "separates_good_from_bad", margin=0.1, **given)
        assert found.completion == wrong[0]
    formless: dict[str, Any] = {"examples": examples, "bad": ["41</answer>", "8</answer>"]}
    (found,) = broken(same_form, "separates_good_from_bad", **formless)
    assert (found.completion, found.score) == ("41</answer>", 1.0)
    refusals: dict[str, Any] = {"examples": [{}], "good": ["Forty-two."], "bad": ["I'm sorry, but no."]}
    (found,) = broken(polite, "separates_good_from_bad", **refusals)
    assert found.completion == refusals["bad"][0]


def test_the_margin_is_asked_for() -> None:
    assert_held(closeness, "separates_good_from_bad", margin=0.02)
    (found,) = broken(closeness, "separates_good_from_bad", margin=0.3)
    assert "margin=0.3" in found.why


def test_a_reward_that_tells_nothing_apart() -> None:
    (found,) = broken(constant, "informative")
    assert found.score == 0.5
    assert re.search(r"all \d+ completions tried score 0.5$", found.why)
    assert_held(shortest, "informative")
    (found,) = broken(constant, "informative", good=[], bad=[])
    assert "No correct completion was given" in found.why


def test_a_reward_that_tells_prompts_apart_and_no_completions() -> None:
    (found,) = broken(price_of_the_prompt, "informative")
    assert (found.completion, found.score, found.columns) == (GOOD[0], 42.0, EXAMPLES[0])
    assert re.search(r"all \d+ completions tried for this example score 42", found.why)
    assert_held(price_of_the_prompt, "informative", bad=[])  # nothing was given that should earn less


def test_a_component_that_never_moves() -> None:
    (found,) = broken(0.5 * number + 0.5 * forgiving, "informative")
    assert found.component == "forgiving"
    assert_held(0.5 * number + 0.5 * polite, "informative")


def test_a_flag_that_is_read_as_text() -> None:
    given: dict[str, Any] = {"examples": FLAGS, "good": SAID, "bad": NOT_SAID}
    (found,) = broken(true_as_text, "reads_its_columns", **given)
    assert "'prime'" in found.why
    assert "'True', 'False'" in found.why
    assert_held(true_as_flag, "reads_its_columns", **given)


def test_columns_that_are_not_read_are_not_asked_about() -> None:
    assert_skipped(form, "reads_its_columns", "no gold column")
    assert_skipped(number, "reads_its_columns", "two different values", examples=EXAMPLES[:1], good=GOOD[:1])


def test_partial_credit_that_leads_away() -> None:
    (found,) = broken(nearest, "improves_along_rankings")
    assert "closer to the gold answer than" in found.why
    assert_held(closeness, "improves_along_rankings")


def test_declared_chains() -> None:
    chain = ["", "<answer></answer>", GOOD[0]]
    assert_held(number, "improves_along_rankings", rankings=[chain])
    assert_held(number, "improves_along_rankings", rankings=[(1, ["", GOOD[1]])])
    (found,) = broken(number, "improves_along_rankings", rankings=[chain, [GOOD[0], "<answer>41</answer>"]])
    assert (found.completion, found.score) == ("<answer>41</answer>", 0.0)
    assert "declared better" in found.why
    (found,) = broken(number, "improves_along_rankings", rankings=[(1, [GOOD[1], GOOD[0]])])
    assert found.columns == EXAMPLES[1]
    assert_skipped(number, "improves_along_rankings", "rankings=[...]")


def test_an_answer_that_is_asked_for_and_never_read_is_no_matter_of_form() -> None:
    def closeness_without_gold(completion: str, answer: str) -> float:
        return float(body(completion).lstrip("-").isdigit())

    def only_form(completion: str) -> float:
        return float(body(completion).lstrip("-").isdigit())

    laws = ["separates_good_from_bad"]
    report = check_reward(closeness_without_gold, examples=EXAMPLES, good=GOOD, bad=BAD, laws=laws)
    [found] = report.findings
    assert "requests 'answer' but never reads it" in found.why
    assert check_reward(only_form, examples=EXAMPLES, good=GOOD, bad=BAD, laws=laws).ok


def test_a_gold_answer_that_is_zipped_and_never_read_is_forgiven_in_functions_of_form_alone() -> None:
    def correct(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [float(body(text).isdigit()) for text, gold in zip(completions, answer, strict=True)]

    def format_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [float(body(text).isdigit()) for text, gold in zip(completions, answer, strict=True)]

    laws = ["separates_good_from_bad"]
    [found] = check_reward(correct, examples=EXAMPLES, good=GOOD, bad=BAD, laws=laws).findings
    assert "requests 'answer' but never reads it" in found.why
    assert check_reward(format_reward, examples=EXAMPLES, good=GOOD, bad=BAD, laws=laws).ok


def test_a_misspelled_tag_must_not_earn_more() -> None:
    def penalty_for_the_tag(completion: str) -> float:
        count = sum(mark in completion for mark in ("<think>", "</think>", "<answer>"))
        return 0.25 * count - 0.25 * ("</answer>" in completion)

    def tags_in_any_case(completion: str) -> float:
        return 0.5 * ("<answer>" in completion.lower()) + 0.25 * ("</answer>" in completion.lower())

    def brief(completion: str) -> float:
        return -len(completion) / 100

    laws = ["gold_gets_the_maximum"]
    [found] = check_reward(penalty_for_the_tag, examples=EXAMPLES, good=GOOD, laws=laws).findings
    assert "with a misspelled tag" in found.why
    for other in (tags_in_any_case, brief):
        assert "misspelled" not in str(check_reward(other, examples=EXAMPLES, good=GOOD, laws=laws))


def test_a_task_that_has_no_effect() -> None:
    """Any Latin square is correct for every puzzle."""

    def latin(completions: list[str], puzzle: list[list[list[int]]], **kwargs: Any) -> list[float]:
        grids = [text.split("/") for text in completions]
        return [float(len(set(grid)) == len(rows) == len(grid)) for grid, rows in zip(grids, puzzle, strict=True)]

    rows = [{"puzzle": [[1, 0], [0, 0]]}, {"puzzle": [[0, 1], [0, 0]]}]
    (finding,) = broken(latin, "reads_its_columns", examples=rows, good=["12/21", "21/12"], bad=["12/12", "21/21"])
    assert "the column 'puzzle' has no effect" in finding.why


def test_a_percent_sign_behind_the_number() -> None:
    def scales(completions: list[str], percent: list[float], **kwargs: Any) -> list[float]:
        values = [float(found[1]) if (found := re.search(r"Answer: ([\d.]+)%$", text)) else -1 for text in completions]
        pairs = zip(values, percent, strict=True)
        return [float(any(abs(value - gold * scale) < 1e-9 for scale in (0.01, 1, 100))) for value, gold in pairs]

    rows = [{"prompt": "How much?", "percent": 12.5}, {"prompt": "And now?", "percent": 3.6}]
    good, bad = ["Answer: 12.5%", "Answer: 3.6%"], ["Answer: 11%", "Answer: 4.5%"]
    findings = broken(scales, "gold_above_perturbed_gold", examples=rows, good=good, bad=bad)
    assert any("power of ten" in finding.why and finding.completion == "Answer: 1250%" for finding in findings)


CALL = re.compile(r"<tool_call>(.*?)</tool_call>")


def calls_in_order(completions: list[str], calls: list[list[str]], **kwargs: Any) -> list[float]:
    """A completion without calls is always wrong, and no expected call is always made."""
    made_calls = [CALL.findall(text) for text in completions]
    return [float(bool(made) and made[: len(row)] == row) for made, row in zip(made_calls, calls, strict=True)]


def same_calls(completions: list[str], calls: list[list[str]], **kwargs: Any) -> list[float]:
    return [float(CALL.findall(text) == row) for text, row in zip(completions, calls, strict=True)]


@pytest.mark.parametrize("has_idle_row", [False, True])
def test_calls_when_none_is_expected(has_idle_row: bool) -> None:
    rows = [{"calls": [f"play({title})"]} for title in ("Blue", "Morning")] + [{"calls": []}] * has_idle_row
    good = [f"<tool_call>{row['calls'][0]}</tool_call>" if row["calls"] else "No, thanks." for row in rows]
    law = "gold_above_perturbed_gold"
    report = check_reward(calls_in_order, examples=rows, good=good, laws=[law])
    (fault,) = report.findings if has_idle_row else report.leads
    assert "with an empty list of calls in the column, calls score 1" in fault.why
    assert fault.columns == {"calls": []}
    report = check_reward(same_calls, examples=rows, good=good, laws=[law])
    assert (report.findings, report.leads) == ([], [])


def test_a_quantity_among_several_correct_answers_keeps_its_decimal_point() -> None:
    @rk.reward
    def normalized(completion: str, targets: list[str]) -> float:
        """Remove all punctuation, as for SQuAD."""
        return float(any(re.sub(r"\W", "", target) == re.sub(r"\W", "", completion) for target in targets))

    rows = [{"targets": ["3.5 million", "three and a half million"]}, {"targets": ["Quito"]}]
    (fault,) = broken(
        normalized, "gold_above_perturbed_gold", examples=rows, good=["3.5 million", "Quito"], bad=["No.", "No."]
    )
    assert fault.completion == "35 million"
