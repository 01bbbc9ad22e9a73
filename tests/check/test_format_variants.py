"""Dresses: right completions as another model would write them, each tried only where it says something."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reward_under_test.judgment import judged
from rewardkit.check.variants.format_variants import FormatVariant, make_format_variants
from tests.check.rewards import EXAMPLES, assert_held, broken, number, outcome, subject


def worn(reward: Any, **options: Any) -> dict[str, FormatVariant]:
    """The dresses of the first right completion, by name."""
    one = subject(reward, **options)
    right = judged(one)[0]
    found = list(make_format_variants(one, right))
    assert all(dress.text != right.anatomy.text for dress in found)
    return {dress.name: dress for dress in found}


def texts(reward: Any, **options: Any) -> dict[str, str]:
    return {name: dress.text for name, dress in worn(reward, **options).items()}


def cuts(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Looks at the end of the text only."""
    return [float(text[-300:].strip().endswith(f"is {gold}")) for text, gold in zip(completions, answer, strict=True)]


def guarded(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """No completion is as long as that."""
    return [
        float(text[:1_000_000].strip().endswith(f"is {gold}")) for text, gold in zip(completions, answer, strict=True)
    ]


def numeric(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    found = [re.search(r"<answer>\$?(-?[\d,]+)", text) for text in completions]
    golds = [float(re.sub(r"[^\d.-]", "", gold)) for gold in answer]
    return [
        float(one is not None and float(one[1].replace(",", "") or 0) == gold)
        for one, gold in zip(found, golds, strict=True)
    ]


def without_articles(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    said = [re.sub(r"\b(a|an|the)\b ", "", text.split(": ")[-1].lower()) for text in completions]
    return [float(one == gold.lower()) for one, gold in zip(said, answer, strict=True)]


def lengths(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(len(text) > 10) for text in completions]


def said(*golds: str) -> dict[str, Any]:
    return {
        "examples": [{"answer": gold} for gold in golds],
        "good": [f"<answer>{gold}</answer>" for gold in golds],
        "bad": ["<answer>5</answer>"] * len(golds),
    }


def test_line_breaks() -> None:
    said_before = "<think>I have checked it once more and it holds.\n6 times 7</think><answer>42</answer>"
    found = worn(number, good=["<think>6 times 7</think><answer>42</answer>\n", "<think>3+4</think><answer>7</answer>"])
    assert {name: dress.text for name, dress in found.items() if not dress.control.startswith(said_before)} == {
        "with a line break in its thinking": "<think>6\ntimes 7</think><answer>42</answer>\n",
        "with its answer on a separate line": "<think>6 times 7</think><answer>\n42\n</answer>\n",
        "with Windows line ends": "<think>6 times 7</think><answer>42</answer>\r\n",
        "after a prompt that ends with <think>": "6 times 7</think><answer>42</answer>\n",
        "without white space at its end": "<think>6 times 7</think><answer>42</answer>",
    }
    assert found["with its answer on a separate line"].control == "<think>6 times 7</think><answer> 42 </answer>\n"
    assert found["with Windows line ends"].unreachable
    assert found["after a prompt that ends with <think>"].unreachable


def test_a_prompt_that_ends_with_the_opening_tag_makes_its_dress_reachable() -> None:
    rows = [{**row, "prompt": f"{row['prompt']}\n<think>\n"} for row in EXAMPLES]
    assert worn(number, examples=rows)["after a prompt that ends with <think>"].unreachable == ""


def test_lines_that_a_reward_of_form_may_see() -> None:
    three = ["one\ntwo\nthree", "four\nfive\nsix"]
    found = worn(lengths, good=three, bad=["", ""])
    assert found["with blank lines between its lines"].text == "one\n\ntwo\n\nthree"
    assert found["with blank lines between its lines"].partly
    assert "with blank lines between its lines" not in worn(lengths, good=["one\n\ntwo\nthree"] * 2, bad=["", ""])


def test_long_remarks_where_the_code_cuts_texts() -> None:
    plain: dict[str, Any] = {"good": ["It is 42", "It is 7"], "bad": ["It is 41", "It is 8"]}
    found = worn(cuts, **plain)
    behind = found["with a long remark after it"]
    assert behind.text.startswith("It is 42\nI have checked")
    assert len(behind.text) > 300 > len(behind.control)
    assert behind.hint == "the code truncates text to 300 characters"
    assert found["with a long remark before it"].text.endswith("\nIt is 42")
    assert not any("remark" in name for name in texts(guarded, **plain))


def test_units_and_commas() -> None:
    assert texts(numeric, **said("$2,400", "$18"))["without the unit of the gold answer"] == "<answer>2,400</answer>"
    assert texts(numeric, **said("2,400", "18"))["without the comma of the gold answer"] == "<answer>2400</answer>"
    assert texts(numeric, **said("2400", "18"))["with a comma in its number"] == "<answer>2,400</answer>"


@pytest.mark.parametrize("gold", ["1984", "999", "42", "0"])
def test_years_and_small_numbers_have_no_comma(gold: str) -> None:
    assert not any("comma" in name for name in texts(numeric, **said(gold, "7")))


def test_rk_exact_is_exact_by_contract() -> None:
    found = texts(rk.exact("answer", extract=rk.extract.tag("answer")), **said("2400", "18"))
    assert set(found) == {"with its answer on a separate line"}


def test_units_with_exponents() -> None:
    plain = {"good": ["It is 42 m now", "It is 7 m now"], "bad": ["It is 41 m now", "It is 8 m now"]}

    def last(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        found = [re.findall(r"\d+", text) for text in completions]
        return [float(bool(one) and one[-1] == gold) for one, gold in zip(found, answer, strict=True)]

    found = worn(last, **plain)["with a unit that has an exponent"]
    assert (found.text, found.control) == ("It is 42 m/s2.", "It is 42 m/s.")


def test_articles() -> None:
    rows = {"examples": [{"answer": "Danube"}], "good": ["It is: Danube"], "bad": ["It is: Rhine"]}
    found = worn(without_articles, **rows)["with an article"]
    assert (found.text, found.control) == ("It is: The Danube", "It is: the Danube")
    assert "with an article" not in texts(number)


LAW = "right_however_written"


def in_reasoning(prompt: str) -> dict[str, Any]:
    return {
        "examples": [{"prompt": prompt, "answer": "2024-03-05"}, {"prompt": prompt, "answer": "2025-12-08"}],
        "good": ["It is early in March.\nDate: 2024-03-05", "Ten days.\nDate: 2025-12-08"],
        "bad": ["Date: 2024-03-06", "Date: 2025-12-07"],
    }


@rk.reward
def first_date(completion: str, answer: str) -> float:
    match = re.search(r"\d{4}-\d\d-\d\d", completion)
    return float(match is not None and match[0] == answer)


@rk.reward
def last_date(completion: str, answer: str) -> float:
    match = re.search(r"Date: (\d{4}-\d\d-\d\d)\Z", completion)
    return float(match is not None and match[1] == answer)


def test_wrong_answers_in_the_reasoning() -> None:
    asked, forbidden = in_reasoning("Work it out step by step."), in_reasoning("Give no explanation.")
    (fault,) = broken(first_date, LAW, **asked)
    assert "with a wrong answer in its reasoning" in fault.why
    assert_held(last_date, LAW, **asked)
    assert_held(first_date, LAW, **forbidden)


def fenced(number: int) -> Any:
    @rk.reward
    def output(completion: str, answer: str) -> float:
        blocks = re.findall(r"```\w*\n(.*?)\n```", completion, re.DOTALL)
        return float(bool(blocks) and blocks[number] == answer)

    return output


@pytest.mark.parametrize(
    ("prompt", "is_fault"), [("The last code block is run.", True), ("Give one code block.", False)]
)
def test_drafts_before_the_last_block(prompt: str, is_fault: bool) -> None:
    data: dict[str, Any] = {
        "examples": [{"prompt": prompt, "answer": "print(42)"}, {"prompt": prompt, "answer": "print(7)"}],
        "good": ["```\nprint(42)\n```", "```\nprint(7)\n```"],
        "bad": ["```\nprint(41)\n```", "```\nprint(8)\n```"],
    }
    assert_held(fenced(-1), LAW, **data)
    if is_fault:
        assert any("with a draft before its last answer" in fault.why for fault in broken(fenced(0), LAW, **data))
    else:
        assert_held(fenced(0), LAW, **data)


def test_code_in_the_thinking() -> None:
    data: dict[str, Any] = {
        "examples": [{"answer": "print(42)"}, {"answer": "print(7)"}],
        "good": ["<think>6*7</think>\n```\nprint(42)\n```", "<think>3+4</think>\n```\nprint(7)\n```"],
        "bad": ["<think>6*7</think>\n```\nprint(41)\n```", "<think>3+4</think>\n```\nprint(8)\n```"],
    }
    assert any("with code in its thinking" in fault.why for fault in broken(fenced(0), LAW, **data))
    assert_held(fenced(-1), LAW, **data)


def sentences(pattern: str) -> Any:
    @rk.reward
    def count(completion: str, sentences: int) -> float:
        return float(len(re.findall(pattern, completion)) == sentences)

    return count


@pytest.mark.parametrize(
    ("pattern", "prompt", "message"),
    [
        (r"\.", "Write exactly 2 sentences about it.", "with a decimal number"),
        (r"\.", "Write exactly 2 sentences, with whole numbers.", ""),
        (r"(?<!Dr)(?<!U\.S)[.!?](?=\s|\Z)", "Write exactly 2 sentences about it.", ""),
        (r"\.", "Write about it.", ""),
    ],
)
def test_marks_in_counted_sentences(pattern: str, prompt: str, message: str) -> None:
    data: dict[str, Any] = {
        "examples": [{"prompt": prompt, "sentences": 2}],
        "good": ["The hill is high. It has many trees."],
        "bad": ["The hill is high."],
    }
    if message:
        assert any(message in fault.why for fault in broken(sentences(pattern), LAW, **data))
    else:
        assert_held(sentences(pattern), LAW, **data)


def test_marks_in_counted_words_are_leads() -> None:
    data: dict[str, Any] = {
        "examples": [{"prompt": "Write exactly 4 words.", "sentences": 4}],
        "good": ["The hill is high."],
        "bad": ["The hill."],
    }
    assert any("with a decimal number" in lead.why for lead in outcome(sentences(r"\w+"), LAW, **data).leads)
    assert not outcome(sentences(r"\S+"), LAW, **data).leads


@pytest.mark.parametrize(("rule", "is_lead"), [("about it", True), ("without abbreviations", False)])
def test_abbreviations_are_leads(rule: str, is_lead: bool) -> None:
    data: dict[str, Any] = {
        "examples": [{"prompt": f"Write exactly 2 sentences {rule}.", "sentences": 2}],
        "good": ["The hill is high. It has many trees."],
        "bad": ["The hill is high."],
    }
    result = outcome(sentences(r"[.!?](?=\s|\Z)"), LAW, **data)
    assert not result.findings
    assert any("with an abbreviation" in lead.why for lead in result.leads) == is_lead


def test_layouts_of_json() -> None:
    def same(completions: list[str], record: list[str], **kwargs: Any) -> list[float]:
        return [float(text == gold) for text, gold in zip(completions, record, strict=True)]

    good = ['{"a": 1, "b": "x"}', '{"a": 2, "b": "y"}']
    data: dict[str, Any] = {"good": good, "bad": ['{"a": 3, "b": "x"}'] * 2}
    data["examples"] = [{"prompt": "Give the JSON.", "record": gold} for gold in good]
    assert any("with its JSON on several lines" in fault.why for fault in broken(same, LAW, **data))
    data["examples"] = [{"prompt": "Give the JSON on one line.", "record": gold} for gold in good]
    assert "with its JSON on several lines" not in texts(same, **data)


def test_other_commands_for_fractions() -> None:
    def same(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [float(text == f"\\boxed{{{gold}}}") for text, gold in zip(completions, answer, strict=True)]

    golds = [r"\frac{1}{4}", r"\frac{3}{4}"]
    data: dict[str, Any] = {
        "examples": [{"prompt": "How much?", "answer": gold} for gold in golds],
        "good": [f"\\boxed{{{gold}}}" for gold in golds],
        "bad": [r"\boxed{2}"] * 2,
    }
    (fault,) = broken(same, LAW, **data)
    assert fault.completion == r"\boxed{\dfrac{1}{4}}"
    asked = {**data, "examples": [{**row, "prompt": r"Write \frac{a}{b}."} for row in data["examples"]]}
    assert_held(same, LAW, **asked)


@pytest.mark.parametrize(
    ("prompt", "has_comma"),
    [
        ("How many people are there?", True),
        ("In what year did they count?", False),
        ("How many people are there? Use plain digits.", False),
        ("How many people are there, with or without a comma?", True),
        ("How many? Use no thousands separators.", False),
        ("Give it.", False),
    ],
)
def test_commas_in_counts_and_years(prompt: str, has_comma: bool) -> None:
    data = said("1240", "18")
    data["examples"] = [{**row, "prompt": prompt} for row in data["examples"]]
    assert ("with a comma in its number" in texts(numeric, **data)) == has_comma
