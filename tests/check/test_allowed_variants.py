"""Other correct completions: each move with a reward that refuses them, and a sound one."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from typing import Any

import pytest

import rewardkit as rk
from tests.check.rewards import assert_held, broken, outcome

LAW = "right_however_written"


def rows(prompt: str, *cells: dict[str, Any], good: list[str], bad: list[str]) -> dict[str, Any]:
    return {"examples": [{"prompt": prompt, **row} for row in cells], "good": good, "bad": bad}


def tagged(text: str) -> str:
    match = re.search(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return match[1].strip() if match else ""


@rk.reward
def first_alias(completion: str, names: Any) -> float:
    return float(tagged(completion) == names[0])


@rk.reward
def any_alias(completion: str, names: Any) -> float:
    """Any of the `names` is accepted."""
    return float(tagged(completion) in names)


@rk.reward
def first_spelling(completion: str, names: Any) -> float:
    """Any of the `names` is accepted."""
    return float(tagged(completion) == names[0])


NAMES = rows(
    "Which country?",
    {"names": ["United Kingdom", "UK"]},
    {"names": ["France", "French Republic"]},
    good=["<answer>United Kingdom</answer>", "<answer>France</answer>"],
    bad=["<answer>Spain</answer>", "<answer>Chad</answer>"],
)


@rk.reward
def exact_sum(completion: str, entries: Any) -> float:
    """A JSON list of [account, amount], in any order."""
    try:
        lines = json.loads(completion)
        total = sum(amount for _, amount in lines)
        return float(total == sum(entries.values()) and dict(lines) == entries)
    except (ValueError, TypeError):
        return 0.0


@rk.reward
def rounded_sum(completion: str, entries: Any) -> float:
    """A JSON list of [account, amount], in any order."""
    try:
        lines = json.loads(completion)
        return float(abs(sum(amount for _, amount in lines) - sum(entries.values())) < 1e-6 and dict(lines) == entries)
    except (ValueError, TypeError):
        return 0.0


ENTRIES = rows(
    "Book it.",
    {"entries": {"a": 0.1, "b": 0.2, "c": 0.3}},
    good=['[["a", 0.1], ["b", 0.2], ["c", 0.3]]'],
    bad=['[["a", 0.1], ["b", 0.2], ["c", 0.4]]'],
)


@rk.reward
def ordered(completion: str, colors: Any) -> float:
    return float(tagged(completion).split(", ") == colors)


@rk.reward
def unordered(completion: str, colors: Any) -> float:
    return float(sorted(tagged(completion).split(", ")) == sorted(colors))


COLORS = rows(
    "Name the primary colors in any order.",
    {"colors": ["red", "yellow", "blue"]},
    {"colors": ["red", "blue", "yellow"]},
    good=["<answer>red, yellow, blue</answer>", "<answer>red, blue, yellow</answer>"],
    bad=["<answer>red, green, blue</answer>", "<answer>red, blue, black</answer>"],
)


def minutes(clock: str) -> int:
    hour, minute = clock.split(":")
    return 60 * int(hour) + int(minute)


@rk.reward
def slot_as_text(completion: str, free: Any) -> float:
    slot = re.search(r"Slot: (\d+:\d\d)-(\d+:\d\d)", completion)
    return float(
        slot is not None
        and minutes(slot[2]) - minutes(slot[1]) == 60
        and any(low <= slot[1] and slot[2] <= high for low, high in free)
    )


@rk.reward
def slot_before_the_edge(completion: str, free: Any) -> float:
    slot = re.search(r"Slot: (\d+:\d\d)-(\d+:\d\d)", completion)
    if slot is None or minutes(slot[2]) - minutes(slot[1]) != 60:
        return 0.0
    return float(any(minutes(low) <= minutes(slot[1]) and minutes(slot[2]) < minutes(high) for low, high in free))


@rk.reward
def slot_in_minutes(completion: str, free: Any) -> float:
    slot = re.search(r"Slot: (\d+:\d\d)-(\d+:\d\d)", completion)
    if slot is None or minutes(slot[2]) - minutes(slot[1]) != 60:
        return 0.0
    return float(any(minutes(low) <= minutes(slot[1]) and minutes(slot[2]) <= minutes(high) for low, high in free))


SLOTS = rows(
    "Propose any free hour.",
    {"free": [["9:00", "12:00"], ["14:00", "16:30"]]},
    good=["Slot: 14:00-15:00"],
    bad=["Slot: 12:30-13:30"],
)


@rk.reward
def single_citations(completion: str, sources: Any) -> float:
    return float({int(number) for number in re.findall(r"\[(\d+)\]", completion)} == set(sources))


@rk.reward
def all_citations(completion: str, sources: Any) -> float:
    groups = re.findall(r"\[([\d, ]+)\]", completion)
    return float({int(number) for group in groups for number in re.findall(r"\d+", group)} == set(sources))


SOURCES = rows(
    "End with the sources, like [2] or [1][4] or [1, 4].",
    {"sources": [1, 3]},
    {"sources": [2]},
    good=["Leeds.\nSources: [1][3]", "Oslo.\nSources: [2]"],
    bad=["Leeds.\nSources: [3]", "Oslo.\nSources: [3]"],
)


@rk.reward
def bare_letter(completion: str, label: str) -> float:
    return float(tagged(completion) == label)


@rk.reward
def letter(completion: str, label: str) -> float:
    return float(tagged(completion).strip("()") == label)


LETTERS = rows(
    "Give the letter, as A or (A), in <answer>.",
    {"label": "B"},
    {"label": "C"},
    good=["<answer>B</answer>", "<answer>C</answer>"],
    bad=["<answer>C</answer>", "<answer>D</answer>"],
)


@rk.reward
def cased(completion: str, label: str) -> float:
    return float(tagged(completion) == label)


@rk.reward
def caseless(completion: str, label: str) -> float:
    return float(tagged(completion).lower() == label.lower())


LABELS = rows(
    "Positive or negative? Case does not matter.",
    {"label": "positive"},
    {"label": "negative"},
    good=["<answer>positive</answer>", "<answer>negative</answer>"],
    bad=["<answer>negative</answer>", "<answer>positive</answer>"],
)


@rk.reward
def as_text(completion: str, answer: str) -> float:
    return float(tagged(completion) == answer)


@rk.reward
def as_fraction(completion: str, answer: str) -> float:
    try:
        return float(Fraction(tagged(completion)) == Fraction(answer))
    except (ValueError, ZeroDivisionError):
        return 0.0


DECIMALS = rows(
    "Give the price to two decimals.",
    {"answer": "2.5"},
    {"answer": "12.5"},
    good=["<answer>2.5</answer>", "<answer>12.5</answer>"],
    bad=["<answer>2.6</answer>", "<answer>12.6</answer>"],
)
SHARES = rows(
    "Give the share as a fraction or a decimal.",
    {"answer": "3/4"},
    {"answer": "1/2"},
    good=["<answer>3/4</answer>", "<answer>1/2</answer>"],
    bad=["<answer>3/5</answer>", "<answer>1/3</answer>"],
)


@rk.reward
def noon_late(completion: str, answer: str) -> float:
    match = re.search(r"Arrival: (\d+):(\d\d)(?: ([AP])M)?\Z", completion)
    return float(match is not None and f"{int(match[1]) + 12 * (match[3] == 'P'):02}:{match[2]}" == answer)


@rk.reward
def noon(completion: str, answer: str) -> float:
    match = re.search(r"Arrival: (\d+):(\d\d)(?: ([AP])M)?\Z", completion)
    if match is None:
        return 0.0
    hour = int(match[1]) % 12 + 12 * (match[3] == "P") if match[3] else int(match[1])
    return float(f"{hour:02}:{match[2]}" == answer)


ARRIVALS = rows(
    "When does it arrive? End with `Arrival: HH:MM` or `Arrival: H:MM PM`.",
    {"answer": "12:20"},
    {"answer": "17:05"},
    good=["Arrival: 12:20", "Arrival: 17:05"],
    bad=["Arrival: 11:20", "Arrival: 16:05"],
)


@pytest.mark.parametrize(
    ("faulty", "sound", "data", "message"),
    [
        (first_spelling, any_alias, NAMES, "with another accepted answer"),
        (exact_sum, rounded_sum, ENTRIES, "in another order"),
        (ordered, unordered, COLORS, "in another order"),
        (slot_as_text, slot_in_minutes, SLOTS, "with another free slot"),
        (slot_before_the_edge, slot_in_minutes, SLOTS, "with another free slot"),
        (single_citations, all_citations, SOURCES, "also show the form [1, 4]"),
        (bare_letter, letter, LETTERS, "also show the form (A)"),
        (cased, caseless, LABELS, "in another case"),
        (as_text, as_fraction, DECIMALS, "with the decimals that the rules ask for"),
        (as_text, as_fraction, SHARES, "as a fraction or a decimal"),
        (noon_late, noon, ARRIVALS, "with its time on the other clock"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_allowed_is_paid(faulty: Any, sound: Any, data: dict[str, Any], message: str) -> None:
    assert any(message in fault.why and not fault.lead for fault in broken(faulty, LAW, **data))
    assert_held(sound, LAW, **data)


def test_another_item_of_a_list_is_only_a_lead_if_nothing_says_that_each_is_accepted() -> None:
    data = {**NAMES, "examples": [{"answers": row["names"]} for row in NAMES["examples"]]}

    @rk.reward
    def first(completion: str, answers: Any) -> float:
        return float(tagged(completion) == answers[0])

    assert_held(first_alias, LAW, **NAMES)
    (lead,) = outcome(first, LAW, **data).leads
    assert "with another accepted answer" in lead.why


@pytest.mark.parametrize(
    ("reward", "data", "prompt"),
    [
        (ordered, COLORS, "Name the primary colors, sorted by wavelength; lower or upper case, in any order."),
        (ordered, COLORS, "Name the primary colors."),
        (ordered, COLORS, "Name the colors in any order that keeps blue last."),
        (slot_as_text, SLOTS, "Propose the earliest free hour."),
        (bare_letter, LETTERS, "Is it A or B?"),
        (as_text, SHARES, "Give the share as a fraction."),
        (as_text, DECIMALS, "Give the price to at most two decimals."),
        (cased, LABELS, "Positive or negative, in lower case?"),
    ],
)
def test_rules_that_do_not_allow_it(reward: Any, data: dict[str, Any], prompt: str) -> None:
    assert_held(reward, LAW, **{**data, "examples": [{**row, "prompt": prompt} for row in data["examples"]]})


@rk.reward
def plain_table(completion: str, rows: Any) -> float:
    """Know only delimiter rows of hyphens."""
    lines = completion.splitlines()
    is_table = len(lines) > 2 and re.fullmatch(r"\|?-+(\|-+)*\|?", lines[1]) is not None
    return float(is_table and [line.strip("|").split("|") for line in lines[2:]] == rows)


@rk.reward
def any_table(completion: str, rows: Any) -> float:
    lines = completion.splitlines()
    is_table = len(lines) > 2 and re.fullmatch(r"[| :-]+", lines[1]) is not None
    return float(is_table and [line.strip("|").split("|") for line in lines[2:]] == rows)


TABLES = rows(
    "Write a Markdown table.",
    {"rows": [["tea", "3"]]},
    {"rows": [["Oder", "840"]]},
    good=["|item|price|\n|---|---|\n|tea|3|", "|river|km|\n|---|---|\n|Oder|840|"],
    bad=["|item|price|\n|---|---|\n|tea|4|", "Oder, 840"],
)


@rk.reward
def split_fields(completion: str, table: Any) -> float:
    match = re.search(r"```csv\n(.*?)```", completion, re.DOTALL)
    return float(match is not None and [line.split(",") for line in match[1].splitlines()] == table)


@rk.reward
def csv_fields(completion: str, table: Any) -> float:
    match = re.search(r"```csv\n(.*?)```", completion, re.DOTALL)
    return float(match is not None and list(csv.reader(match[1].splitlines())) == table)


CSV = rows(
    "Write CSV in a ```csv block. Fields may be quoted.",
    {"table": [["Jo", "31"]]},
    {"table": [["Ada", "44"]]},
    good=["```csv\nJo,31\n```", "```csv\nAda,44\n```"],
    bad=["```csv\nJo,30\n```", "Ada 44"],
)


@rk.reward
def whole_point(completion: str, box: Any) -> float:
    numbers = re.findall(r"\d+", completion)
    return float(len(numbers) == 2 and all(low <= int(one) <= low + 9 for one, low in zip(numbers, box, strict=True)))


@rk.reward
def any_point(completion: str, box: Any) -> float:
    numbers = re.findall(r"\d+(?:\.\d+)?", completion)
    return float(len(numbers) == 2 and all(low <= float(one) <= low + 9 for one, low in zip(numbers, box, strict=True)))


POINTS = rows(
    "Point to the button, as <point>(x, y)</point>. Decimals such as 10.5 are fine.",
    {"box": [10, 20]},
    {"box": [50, 70]},
    good=["<point>(12, 25)</point>", "<point>(55, 75)</point>"],
    bad=["<point>(90, 90)</point>", "<point>(1, 2)</point>"],
)


@rk.reward
def header_alone(completion: str, scope: str) -> float:
    return float(re.fullmatch(rf"fix\({scope}\): [^\n]{{1,60}}", completion) is not None)


@rk.reward
def header_and_body(completion: str, scope: str) -> float:
    return float(re.fullmatch(rf"fix\({scope}\): [^\n]{{1,60}}(?:\n\n.+)?", completion, re.DOTALL) is not None)


COMMITS = rows(
    "Write a commit message. A body after a blank line is optional.",
    {"scope": "cli"},
    {"scope": "docs"},
    good=["fix(cli): read the flag", "fix(docs): name the flag"],
    bad=["Read the flag.", "Name the flag."],
)


@pytest.mark.parametrize(
    ("faulty", "sound", "given", "name"),
    [
        (plain_table, any_table, TABLES, "with spaces or colons below its table's header"),
        (split_fields, csv_fields, CSV, "with quoted fields"),
        (whole_point, any_point, POINTS, "with decimals"),
        (header_alone, header_and_body, COMMITS, "with a body after it"),
    ],
)
def test_other_layouts(faulty: rk.Reward, sound: rk.Reward, given: dict[str, Any], name: str) -> None:
    (finding,) = (one for one in broken(faulty, LAW, **given) if name in one.why)
    assert "scores 0 instead of 1" in finding.why
    assert_held(sound, LAW, **given)
