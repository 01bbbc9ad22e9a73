"""The law of stated rules: each reward checks what its docstring, its prompt, or a column states, or has a hole."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.rewards import assert_held, assert_skipped, broken, outcome

LAW = "stated_rules_hold"
Check = Callable[[str, dict[str, Any]], bool]

SEA = "The sea is wide and blue and deep."
HILL = "A hill is green and round and calm."
STREET = [
    "The little shop next door stays shut today",
    "Every green train leaves here after nine",
    "Some brown dogs sleep quietly under trees",
]


def rewarding(check: Check, docstring: str) -> Any:
    """Return a reward function that scores 1.0 if `check` returns True for the text and the row."""

    def reward(completions: list[str], **columns: list[Any]) -> list[float]:
        lists = {name: values for name, values in columns.items() if isinstance(values, list)}
        rows = [{name: values[row] for name, values in lists.items()} for row in range(len(completions))]
        return [float(bool(text.strip()) and check(text, row)) for text, row in zip(completions, rows, strict=True)]

    reward.__doc__ = docstring
    return reward


def task(prompt: str, *goods: str, bad: str = "", **columns: Any) -> dict[str, Any]:
    """Return one row for each correct completion."""
    return {
        "examples": [{"prompt": prompt, **columns} for _ in goods],
        "good": [[good] for good in goods],
        "bad": [[bad] for _ in goods],
    }


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def ends(text: str) -> int:
    return len(re.findall(r"[.!?](?=\s|$)", text))


DESCRIBE = task("Describe it in at most 12 words.", SEA, HILL, max_words=12)
SENTENCES = task("Describe it in exactly two sentences.", f"{SEA} {HILL}", f"{HILL} {SEA}", count=2)
QUIET = task("Describe it. Do not use the word 'water'.", SEA, HILL, forbidden=["water"])
CHOSEN = task(
    f"Copy exactly 2 of the lines, verbatim: {'; '.join(STREET)}", f"{STREET[0]}\n{STREET[1]}", bad="no", lines=STREET
)
DATE = task(
    "Write the date as DD/MM/YYYY on the last line: due on the 25th of December 2023.",
    "25/12/2023",
    bad="24/12/2023",
    date="2023-12-25",
)
SORTED = task("Sort the rivers: alphabetical order.", "Elbe, Oder, Rhine", bad="Po", rivers=["Elbe", "Oder", "Rhine"])
FRACTION = task("What is 6/8 in lowest terms? End with 'Answer: a/b'.", "Answer: 3/4", bad="Answer: 4/3", gold="3/4")
TOPICS = task(
    "Which apply, and no others? Possible: cost, speed, color, weight. Write 'Topics: ' and the names.",
    "Topics: cost, speed",
    bad="Topics: color",
    labels=["cost", "speed"],
)
QUIZ = task("Say who is who, with exactly one line per person.", "Ann: knight\nBob: knave", bad="Ann: knave")
TEXTS = task(
    "Translate it. Keep the placeholders.", "{a} wurde zu {b} gemacht", bad="x", gold="{a} wurde zu {b} gemacht"
)
QUOTED = task(
    "Quote the reason, verbatim from the cited source.",
    '<quote doc="2">it was closed because of the rain</quote>',
    bad="no",
    sources=["The fair opened at nine.", "In May it was closed because of the rain."],
)


def day_or_month_first(text: str, row: dict[str, Any]) -> bool:
    year, month, day = row["date"].split("-")
    return text.strip().splitlines()[-1] in (f"{day}/{month}/{year}", f"{month}/{day}/{year}")


def day_first(text: str, row: dict[str, Any]) -> bool:
    return text.strip().splitlines()[-1] == "/".join(reversed(row["date"].split("-")))


def equal_fractions(text: str, row: dict[str, Any]) -> bool:
    numbers = re.fullmatch(r"Answer: (\d{1,5})/(\d{1,5})", text.strip())
    return numbers is not None and int(numbers[1]) * 4 == int(numbers[2]) * 3 != 0


def topics(text: str) -> set[str]:
    return set(text.removeprefix("Topics: ").split(", "))


def quoted(text: str, sources: list[str]) -> bool:
    match = re.fullmatch(r'<quote doc="(\d)">([^<]+)</quote>', text.strip())
    return match is not None and any(len(match[2]) > 20 and match[2] in source for source in sources)


def quoted_from_its_source(text: str, row: dict[str, Any]) -> bool:
    match = re.search(r'doc="(\d)"', text)
    return match is not None and quoted(text, row["sources"][int(match[1]) - 1 : int(match[1])])


def similar(text: str, lines: list[str]) -> bool:
    return text.splitlines()[:1] == lines[:1]


CASES: dict[str, tuple[str, dict[str, Any], Check, Check, str]] = {
    "words": (
        "A text over the word limit gets 0.",
        DESCRIBE,
        lambda text, row: len(text.split(" ")) <= row["max_words"],
        lambda text, row: len(text.split()) <= row["max_words"],
        "lines of their own",
    ),
    "the limit itself": (
        "A description of limited length.",
        DESCRIBE,
        lambda text, row: len(text.split()) < row["max_words"],
        lambda text, row: len(text.split()) <= row["max_words"],
        "with exactly 12 words",
    ),
    "few words": (
        "Texts have at least six words.",
        task("Describe it in at least six words.", SEA, HILL),
        lambda text, row: text.endswith("deep.") or len(text) > 2,
        lambda text, row: len(text.split()) >= 6,
        "with 1 words",
    ),
    "sentences": (
        "The text has exactly two sentences.",
        SENTENCES,
        lambda text, row: text.count(".") == row["count"],
        lambda text, row: ends(text) == row["count"],
        "with a decimal number",
    ),
    "lines": (
        "The copy has exactly as many lines as there are copies.",
        CHOSEN,
        lambda text, row: text.splitlines()[:2] == row["lines"][:2],
        lambda text, row: text.strip().splitlines() == row["lines"][:2],
        "more lines at the end",
    ),
    "characters": (
        "A text of at most 80 characters.",
        task("Describe it in at most 80 characters.", SEA, HILL),
        lambda text, row: all(len(line) <= 80 for line in text.splitlines()),
        lambda text, row: len(text) <= 80,
        "characters",
    ),
    "lower case": (
        "The text is in lower case.",
        task("Describe it, all in lower case.", SEA.lower(), HILL.lower()),
        lambda text, row: text[0].islower(),
        lambda text, row: text == text.lower(),
        "its last word in another case",
    ),
    "commas": (
        "Instructions such as no commas.",
        task("Describe it without commas.", SEA, HILL),
        lambda text, row: "," not in text[:10],
        lambda text, row: "," not in text,
        "with a comma at its last word",
    ),
    "forbidden words": (
        "A text without the forbidden words.",
        QUIET,
        lambda text, row: not set(re.findall(r"\w+", text)) & set(row["forbidden"]),
        lambda text, row: not set(words(text)) & set(row["forbidden"]),
        "with 'Water'",
    ),
    "the end": (
        "The text ends with 'The end'.",
        task("Describe it. End with 'The end'.", f"{SEA} The end", f"{HILL} The end"),
        lambda text, row: "The end" in text,
        lambda text, row: text.strip().endswith("The end"),
        "with a sentence after 'The end'",
    ),
    "the start": (
        "The text begins with 'Summary:'.",
        task("Describe it. Begin with 'Summary:'.", f"Summary: {SEA}", f"Summary: {HILL}"),
        lambda text, row: "Summary:" in text,
        lambda text, row: text.startswith("Summary:"),
        "with a sentence before 'Summary:'",
    ),
    "nothing else": (
        "One line and nothing else.",
        task("Describe it in one line. Write nothing else.", SEA, HILL),
        lambda text, row: text.splitlines()[0] in (SEA, HILL),
        lambda text, row: text in (SEA, HILL),
        "with a line after it",
    ),
    "order": (
        "The rivers in alphabetical order.",
        SORTED,
        lambda text, row: sorted(text.split(", ")) == row["rivers"],
        lambda text, row: text.split(", ") == row["rivers"],
        "with its items in reverse order",
    ),
    "all labels": ("The topics of a text.", TOPICS, lambda text, row: set(row["labels"]) <= topics(text),
        lambda text, row: set(row["labels"]) == topics(text), "with all labels of the prompt"),
    "both labels": (
        "The role of each person.",
        QUIZ,
        lambda text, row: {"Ann: knight", "Bob: knave"} <= set(text.splitlines()),
        lambda text, row: {"Ann: knight", "Bob: knave"} == set(text.splitlines()),
        "with the opposite lines as well",
    ),
    "placeholders": (
        "A translation.",
        TEXTS,
        lambda text, row: re.sub(r"\{\w+\}", "{}", text) == re.sub(r"\{\w+\}", "{}", row["gold"]),
        lambda text, row: text == row["gold"],
        "with {a} and {b} exchanged",
    ),
    "lowest terms": (
        "The fraction in lowest terms.",
        FRACTION,
        equal_fractions,
        lambda text, row: text.strip() == f"Answer: {row['gold']}",
        "with 3/4 not reduced",
    ),
    "sources": ("A quote with its source.", QUOTED, lambda text, row: quoted(text, row["sources"]),
        quoted_from_its_source, "with source 1 for 2"),
    "verbatim": (
        "A line copied verbatim.",
        CHOSEN,
        lambda text, row: text.split()[:2] == row["lines"][0].split()[:2] and len(text.splitlines()) == 2,
        lambda text, row: text.strip().splitlines() == row["lines"][:2],
        "with another word",
    ),
    "dates": ("A date.", DATE, day_or_month_first, day_first, "with 12/05/2023 for 05/12/2023"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_rule_that_is_stated_but_not_checked(name: str) -> None:
    docstring, rows, faulty, sound, message = CASES[name]
    findings = broken(rewarding(faulty, docstring), LAW, **rows)
    assert any(message in finding.why for finding in findings), [finding.why for finding in findings]
    assert_held(rewarding(sound, docstring), LAW, **rows)


def test_words_after_the_thinking_are_not_reasoning() -> None:
    reasoning = "First I add the tens and then I add the ones."
    rows = task("Reason inside <think></think>, at least 8 words.", f"<think>{reasoning}</think>\nIt is 42.", bad="42")

    def counts_all(text: str, row: dict[str, Any]) -> bool:
        return "</think>" in text and len(text.split()) >= 8

    def counts_reasoning(text: str, row: dict[str, Any]) -> bool:
        return "</think>" in text and len(text.split("</think>")[0].split()) >= 8

    docstring = "The model has to reason inside <think></think> (at least 8 words)."
    (finding,) = broken(rewarding(counts_all, docstring), LAW, **rows)
    assert "with its words after the block instead of inside" in finding.why
    assert_held(rewarding(counts_reasoning, docstring), LAW, **rows)


def test_a_label_outside_a_list_is_not_near_another_label() -> None:
    levels = ["urgent", "soon", "later", "never"]
    rows = task(
        "Levels: urgent, soon, later, never. End with 'Answer: <level>'.", "Answer: urgent", bad="", level="urgent"
    )

    def distance(text: str, level: str, unknown: float) -> float:
        label = text.removeprefix("Answer: ").strip()
        return 1 - abs(levels.index(label) - levels.index(level)) / 3 if label in levels else unknown

    def nearly_urgent(completions: list[str], level: list[str], **kwargs: Any) -> list[float]:
        return [distance(text, gold, 0.9) for text, gold in zip(completions, level, strict=True)]

    def nothing(completions: list[str], level: list[str], **kwargs: Any) -> list[float]:
        return [distance(text, gold, 0.0) for text, gold in zip(completions, level, strict=True)]

    (finding,) = broken(nearly_urgent, LAW, **rows)
    assert "a label outside the prompt's list scores 0.9, but 'never' scores 0" in finding.why
    assert_held(nothing, LAW, **rows)


def test_a_rule_of_the_prompt_alone_is_a_lead_if_the_reward_judges_form() -> None:
    rows = task("Describe the sea in at most 12 words.", SEA, bad="A hill.")

    def names_the_sea(text: str, row: dict[str, Any]) -> bool:
        return "sea" in text

    (lead,) = outcome(rewarding(names_the_sea, "The text follows the instructions."), LAW, **rows).leads
    assert lead.lead
    assert_held(rewarding(names_the_sea, "The text names the sea."), LAW, **rows)


def test_a_docstring_may_set_a_rule_aside() -> None:
    _, rows, faulty, _, _ = CASES["order"]
    assert_skipped(rewarding(faulty, "The alphabetical order is not checked."), LAW, "states no rule", **rows)


def test_numbers_that_are_right_to_the_cent() -> None:
    def near(share: float) -> Check:
        def check(text: str, row: dict[str, Any]) -> bool:
            match = re.fullmatch(r"\$(\d+\.\d\d)", text)
            return match is not None and abs(float(match[1]) - row["total"]) <= share * row["total"] + 1e-9

        return check

    docs = "1.0 if the total is right to the cent, else 0.0."
    given = {
        "examples": [{"prompt": "How much?", "total": 116.72}, {"prompt": "And now?", "total": 37.08}],
        "good": ["$116.72", "$37.08"],
        "bad": ["$101.25", "$35.00"],
    }
    (finding,) = broken(rewarding(near(0.01), docs), LAW, **given)
    assert "with 117.30 for 116.72" in finding.why
    assert_held(rewarding(near(0.0), docs), LAW, **given)
