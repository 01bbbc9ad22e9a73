"""Laws of elements: elements that do not count or stand in for others, too many calls, and the order of keys."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reward_under_test.reward_under_test import OutOfTime
from rewardkit.testing import check_reward
from tests.check.rewards import assert_held, assert_skipped, broken, form, number

COLORS: dict[str, Any] = {
    "examples": [
        {"prompt": "Which colors has the flag?", "colors": ["black", "gold", "red"]},
        {"prompt": "And the other one?", "colors": ["green", "white", "orange"]},
    ],
    "good": ["Colors: black, gold, red", "Colors: green, white, orange"],
    "bad": ["Colors: pink, brown, gray", "Colors: pink, brown, gray"],
}
BULLETS: dict[str, Any] = {
    "examples": [{"prompt": "Three reasons, please.", "n_bullets": 3}, {"prompt": "Two.", "n_bullets": 2}],
    "good": ["- It is cheap.\n- It is quick.\n- It is good.", "- It is cheap.\n- It is quick."],
    "bad": ["It is good.", "It is cheap."],
}


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


CALLS: dict[str, Any] = {
    "examples": [
        {"prompt": "Weather in Rome?", "wanted": {"name": "weather", "arguments": {"city": "Rome"}}},
        {"prompt": "Mail Ann.", "wanted": {"name": "mail", "arguments": {"to": "Ann"}}},
    ],
    "good": [call("weather", city="Rome"), call("mail", to="Ann")],
    "bad": [call("weather", city="Oslo"), call("mail", to="Bob")],
}
ORDERS: dict[str, Any] = {
    "examples": [{"order": '{"item": "lamp", "count": 3}'}, {"order": '{"item": "desk", "count": 8}'}],
    "good": ['{"item": "lamp", "count": 3}', '{"item": "desk", "count": 8}'],
    "bad": ['{"item": "desk", "count": 1}', '{"item": "lamp", "count": 2}'],
}


def said(text: str) -> list[str]:
    return [item.strip() for item in text.removeprefix("Colors:").split(",")]


def counted(completions: list[str], colors: list[list[str]], **kwargs: Any) -> list[float]:
    """A right color that is repeated counts again."""
    pairs = zip(map(said, completions), colors, strict=True)
    return [min(1.0, sum(item in wanted for item in items) / len(wanted)) for items, wanted in pairs]


def compared(completions: list[str], colors: list[list[str]], **kwargs: Any) -> list[float]:
    pairs = zip(map(said, completions), colors, strict=True)
    return [len(set(items) & set(wanted)) / len(set(items) | set(wanted)) for items, wanted in pairs]


def split(completions: list[str], n_bullets: list[int], **kwargs: Any) -> list[float]:
    """The text before the first bullet counts as one."""
    return [float(len(text.split("- ")) >= count) for text, count in zip(completions, n_bullets, strict=True)]


def found(completions: list[str], n_bullets: list[int], **kwargs: Any) -> list[float]:
    pairs = zip(completions, n_bullets, strict=True)
    return [float(len(re.findall(r"^- ", text, re.MULTILINE)) == count) for text, count in pairs]


def calls_in(text: str) -> list[Any]:
    try:
        return [json.loads(body) for body in re.findall(r"<tool_call>(.*?)</tool_call>", text, re.DOTALL)]
    except (ValueError, RecursionError):
        return []


def any_call(completions: list[str], wanted: list[Any], **kwargs: Any) -> list[float]:
    """The right call among others is enough."""
    return [float(one in calls_in(text)) for text, one in zip(completions, wanted, strict=True)]


def only_call(completions: list[str], wanted: list[Any], **kwargs: Any) -> list[float]:
    return [float(calls_in(text) == [one]) for text, one in zip(completions, wanted, strict=True)]


def parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def values(completions: list[str], order: list[str], **kwargs: Any) -> list[float]:
    """The values in their order, whatever their keys."""
    pairs = zip(map(parsed, completions), map(json.loads, order), strict=True)
    return [float(list(one.values()) == list(gold.values())) for one, gold in pairs]


def objects(completions: list[str], order: list[str], **kwargs: Any) -> list[float]:
    return [float(parsed(text) == json.loads(gold)) for text, gold in zip(completions, order, strict=True)]


def test_a_part_that_is_repeated_instead_of_another() -> None:
    (one,) = broken(counted, "every_element_counts", **COLORS)
    assert (one.completion, one.score) == ("Colors: gold, gold, red", 1.0)
    assert "'black' is missing, 'gold' is repeated" in one.why
    assert_held(compared, "every_element_counts", **COLORS)


def test_a_part_that_is_right_twice() -> None:
    def ranked(completions: list[str], order: list[list[str]], **kwargs: Any) -> list[float]:
        found = [text.removeprefix("Order: ").split(" > ") for text in completions]
        return [float(one == wanted) for one, wanted in zip(found, order, strict=True)]

    law = "every_element_counts"
    rows = [{"order": ["up", "down", "up"]}, {"order": ["up", "up"]}]
    good, bad = ["Order: up > down > up", "Order: up > up"], ["Order: down > down > down", "Order: down > down"]
    assert_held(ranked, law, examples=rows, good=good, bad=bad)
    assert_skipped(ranked, law, "several elements", examples=rows[1:], good=good[1:], bad=bad[1:])


FORMS: dict[str, Any] = {
    "examples": [
        {"prompt": "Who comes when?", "plan": {"ann": "09:30", "bob": "10:45"}},
        {"prompt": "And on Monday?", "plan": {"cyd": "11:15", "dan": "12:20"}},
    ],
    "good": ["ann: 09:30\nbob: 10:45", "cyd: 11:15\ndan: 12:20"],
    "bad": ["ann: 01:02\nbob: 01:02", "cyd: 01:02\ndan: 01:02"],
}


def first_line(completions: list[str], plan: list[dict[str, str]], **kwargs: Any) -> list[float]:
    """Only the first line is compared."""
    firsts = [next(iter(wanted.items())) for wanted in plan]
    pairs = zip(completions, firsts, strict=True)
    return [float(text.startswith(f"{name}: {time}")) for text, (name, time) in pairs]


def all_lines(completions: list[str], plan: list[dict[str, str]], **kwargs: Any) -> list[float]:
    wanted = [[f"{name}: {time}" for name, time in one.items()] for one in plan]
    return [float(text.splitlines() == lines) for text, lines in zip(completions, wanted, strict=True)]


def test_an_element_that_does_not_count() -> None:
    findings = broken(first_line, "every_element_counts", **FORMS)
    assert any(finding.completion == "ann: 09:30\nbob: 65:91" for finding in findings)
    assert {finding.correct for finding in findings} == {FORMS["good"][0]}
    assert_held(all_lines, "every_element_counts", **FORMS)


def test_a_change_that_another_row_notices_is_a_lead() -> None:
    def long_plans(completions: list[str], plan: list[dict[str, str]], **kwargs: Any) -> list[float]:
        """The second line of a plan with Ann is not compared."""
        pairs = zip(completions, plan, all_lines(completions, plan), strict=True)
        return [first_line([text], [wanted])[0] if "ann" in wanted else score for text, wanted, score in pairs]

    report = check_reward(long_plans, laws=["every_element_counts"], **FORMS)
    assert not report.findings
    assert {lead.columns["plan"]["bob"] for lead in report.leads} == {"10:45"}


def test_what_the_prompt_calls_optional_is_a_lead() -> None:
    rows = [{**row, "prompt": f"{row['prompt']} The second line is optional."} for row in FORMS["examples"]]
    report = check_reward(first_line, laws=["every_element_counts"], **{**FORMS, "examples": rows})
    assert not report.findings
    assert report.leads


def test_what_was_found_before_the_time_was_over_is_kept() -> None:
    scored = 0

    def slow(completions: list[str], plan: list[dict[str, str]], **kwargs: Any) -> list[float]:
        nonlocal scored
        scored += 1
        if scored > 60:
            raise OutOfTime
        return first_line(completions, plan)

    report = check_reward(slow, laws=["every_element_counts"], isolate=False, **FORMS)
    assert scored > 60
    assert report["every_element_counts"].outcome == "broken"


def test_one_element_alone() -> None:
    def precise(completions: list[str], plan: list[dict[str, str]], **kwargs: Any) -> list[float]:
        lines = [[line for line in text.splitlines() if line] for text in completions]
        wanted = [{f"{name}: {time}" for name, time in one.items()} for one in plan]
        return [float(bool(some) and set(some) <= gold) for some, gold in zip(lines, wanted, strict=True)]

    findings = broken(precise, "every_element_counts", **FORMS)
    assert any(finding.completion == "ann: 09:30" and "alone" in finding.why for finding in findings)
    rows = [{**row, "prompt": "Name any of the visitors."} for row in FORMS["examples"]]
    assert not check_reward(precise, laws=["every_element_counts"], **{**FORMS, "examples": rows}).findings


def test_values_that_are_exchanged() -> None:
    def values(completions: list[str], order: list[str], **kwargs: Any) -> list[float]:
        pairs = zip(map(parsed, completions), map(json.loads, order), strict=True)
        return [float(sorted(map(str, one.values())) == sorted(map(str, gold.values()))) for one, gold in pairs]

    rows = [{"order": '{"from": "Rome", "to": "Oslo"}'}, {"order": '{"from": "Bern", "to": "Kyiv"}'}]
    good = [row["order"] for row in rows]
    bad = [text.replace("to", "via").replace("o", "u") for text in good]
    findings = broken(values, "every_element_counts", examples=rows, good=good, bad=bad)
    assert any(finding.completion == '{"from": "Oslo", "to": "Rome"}' for finding in findings)
    assert_held(objects, "every_element_counts", examples=rows, good=good, bad=bad)


def test_an_order_that_the_prompt_asks_for() -> None:
    rows = [{**row, "prompt": "List the colors in alphabetical order."} for row in COLORS["examples"]]
    (one,) = broken(compared, "every_element_counts", **{**COLORS, "examples": rows})
    assert one.completion == "Colors: gold, black, red"


def test_more_items_than_the_prompt_allows() -> None:
    def named(completions: list[str], colors: list[list[str]], **kwargs: Any) -> list[float]:
        return [len(set(said(text)) & set(one)) / len(one) for text, one in zip(completions, colors, strict=True)]

    rows = [{**row, "prompt": "Name only the colors of the flag."} for row in COLORS["examples"]]
    (one,) = broken(named, "every_element_counts", **{**COLORS, "examples": rows})
    assert one.completion.startswith(COLORS["good"][0] + ", ")
    assert_held(named, "every_element_counts", **COLORS)


def test_parts_that_are_only_counted() -> None:
    def enough(completions: list[str], colors: list[list[str]], **kwargs: Any) -> list[float]:
        return [float(len(said(text)) >= len(wanted)) for text, wanted in zip(completions, colors, strict=True)]

    rows = {**COLORS, "bad": ["Colors: pink", "Colors: pink"]}
    assert_skipped(enough, "every_element_counts", "several elements of one kind that affect the score", **rows)


def test_a_part_that_is_missing() -> None:
    findings = broken(split, "every_element_counts", **BULLETS)
    (one,) = (finding for finding in findings if "with 2 bullets instead of 3" in finding.why)
    assert one.completion == "- It is cheap.\n- It is quick."
    assert_held(found, "every_element_counts", **BULLETS)


def test_columns_that_are_limits_ask_for_no_number() -> None:
    def at_most(completions: list[str], max_bullets: list[int], **kwargs: Any) -> list[float]:
        counts = [text.count("- ") for text in completions]
        return [float(0 < count <= most) for count, most in zip(counts, max_bullets, strict=True)]

    rows = [{"prompt": row["prompt"], "max_bullets": row["n_bullets"]} for row in BULLETS["examples"]]
    report = check_reward(at_most, laws=["every_element_counts"], **{**BULLETS, "examples": rows})
    assert not any("instead of 3" in finding.why for finding in (*report.findings, *report.leads))


def test_a_call_that_nobody_asked_for() -> None:
    findings = broken(any_call, "every_element_counts", **CALLS)
    (one,) = (finding for finding in findings if "delete_account" in finding.completion)
    assert one.completion.startswith(CALLS["good"][0])
    assert_held(only_call, "every_element_counts", **CALLS)


def test_rewards_that_pay_wrong_calls_are_left_to_other_laws() -> None:
    report = check_reward(any_call, laws=["every_element_counts"], **{**CALLS, "bad": CALLS["good"]})
    assert not any("delete_account" in str(finding.completion) for finding in (*report.findings, *report.leads))


def test_an_object_with_its_keys_in_another_order() -> None:
    (one,) = broken(values, "order_of_keys_does_not_count", **ORDERS)
    assert one.completion == '{"count": 3, "item": "lamp"}'
    assert_held(objects, "order_of_keys_does_not_count", **ORDERS)
    assert_held(rk.json_match("order"), "order_of_keys_does_not_count", **ORDERS)


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":"), (" , ", " : ")])
def test_rewards_that_compare_texts_are_exact_by_contract(separators: tuple[str, str]) -> None:
    texts = [json.dumps(json.loads(text), separators=separators) for text in ORDERS["good"]]
    rows = {"examples": [{"order": text} for text in texts], "good": texts, "bad": ORDERS["bad"]}
    assert_held(rk.exact("order"), "order_of_keys_does_not_count", **rows)
    broken(values, "order_of_keys_does_not_count", **rows)


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        ("every_element_counts", "several elements of one kind that affect the score"),
        ("order_of_keys_does_not_count", "no correct completion has an object with several keys"),
    ],
)
def test_where_they_do_not_apply(law: str, reason: str) -> None:
    assert_skipped(number, law, reason)
    assert_skipped(form, law, "no correct completions", good=[])


def test_an_element_that_a_column_lists() -> None:
    """Only neighbors are compared, so a listed event that overlaps another one may stand at the end."""

    def apart(completions: list[str], events: list[list[list[int]]], **kwargs: Any) -> list[float]:
        scores = []
        for text, listed in zip(completions, events, strict=True):
            lines = [re.findall(r"\d+", line) for line in text.splitlines()]
            spans = [tuple(map(int, line)) for line in lines if len(line) == 2]
            known = bool(spans) and all([*span] in [[*event] for event in listed] for span in spans)
            overlap = any(a[0] < b[1] and b[0] < a[1] for a, b in pairwise(spans))
            scores.append(float(known and len(spans) > 1 and not overlap))
        return scores

    rows = [{"prompt": "Which?", "events": [[900, 1100], [1030, 1230], [1230, 1330]]}]
    given: dict[str, Any] = {"examples": rows, "good": ["- 1030 to 1230\n- 1230 to 1330"], "bad": ["- 900 to 1100"]}
    findings = broken(apart, "every_element_counts", **given)
    assert any("- 900 to 1100' added at the end" in finding.why for finding in findings)


def test_letters_of_several_options() -> None:
    def within(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        said = ["".join(sorted(re.findall(r"[A-E]", text.partition(":")[2]))) for text in completions]
        return [float(bool(one) and one in gold) for one, gold in zip(said, answer, strict=True)]

    rows = [{"prompt": "Select all that apply.", "answer": "ACD"}, {"prompt": "Select all that apply.", "answer": "BC"}]
    given: dict[str, Any] = {"examples": rows, "good": ["Options: A, C, D", "Options: B, C"]}
    findings = broken(within, "every_element_counts", bad=["Options: A, B", "Options: D"], **given)
    assert any(not finding.lead and "instead of 'A'" in finding.why for finding in findings)


def test_one_of_all_points() -> None:
    def precise(completions: list[str], boxes: list[list[list[int]]], **kwargs: Any) -> list[float]:
        scores = []
        for text, targets in zip(completions, boxes, strict=True):
            points = json.loads(text) if re.fullmatch(r"[\[\]\d, ]+", text) and text.count("[") > 1 else []
            points = [point for point in points if len(point) == 2]
            hits = [any(x1 <= x <= x2 and y1 <= y <= y2 for x1, y1, x2, y2 in targets) for x, y in points]
            scores.append(sum(hits) / len(hits) if hits else 0.0)
        return scores

    rows = [{"prompt": "Point at every apple.", "boxes": [[20, 30, 60, 70], [120, 40, 160, 80], [300, 200, 340, 240]]}]
    given: dict[str, Any] = {"examples": rows, "good": ["[[40, 50], [140, 60], [320, 220]]"], "bad": ["[[90, 50]]"]}
    findings = broken(precise, "every_element_counts", **given)
    assert any(finding.completion == "[[40, 50]]" and not finding.lead for finding in findings)
    rows = [{**row, "prompt": "Point at some of the apples."} for row in rows]
    report = check_reward(precise, laws=["every_element_counts"], **{**given, "examples": rows})
    assert not any(finding.completion == "[[40, 50]]" for finding in report.findings)


def query_in(text: str) -> str:
    return " ".join(text.lower().replace(";", "").split())


def test_a_clause_of_a_query() -> None:
    def unordered(completions: list[str], query: list[str], **kwargs: Any) -> list[float]:
        queries = [query_in(text).partition(" order by")[0] for text in completions]
        return [
            float(one == query_in(gold).partition(" order by")[0]) for one, gold in zip(queries, query, strict=True)
        ]

    def ordered(completions: list[str], query: list[str], **kwargs: Any) -> list[float]:
        return [float(query_in(one) == query_in(gold)) for one, gold in zip(completions, query, strict=True)]

    golds = ["SELECT name FROM staff WHERE pay > 5 ORDER BY pay DESC", "SELECT id FROM staff WHERE pay < 9 ORDER BY id"]
    rows = [{"prompt": "Highest pay first.", "query": golds[0]}, {"prompt": "Smallest id first.", "query": golds[1]}]
    given: dict[str, Any] = {"examples": rows, "good": golds, "bad": ["SELECT name FROM staff", "SELECT id FROM staff"]}
    findings = broken(unordered, "every_element_counts", **given)
    assert any("without 'ORDER BY pay DESC'" in finding.why for finding in findings)
    assert_held(ordered, "every_element_counts", **given)


def test_placeholders_in_each_others_place() -> None:
    def masked(completions: list[str], text: list[str], **kwargs: Any) -> list[float]:
        pairs = zip(completions, text, strict=True)
        return [
            float(
                re.sub(r"{\w+}", "_", one) == re.sub(r"{\w+}", "_", gold) and {*re.findall(r"{\w+}", one)} == {*names}
            )
            for one, gold in pairs
            for names in [re.findall(r"{\w+}", gold)]
        ]

    golds = ["{old} heißt jetzt {new}.", "{name} hat {count} Dateien."]
    given: dict[str, Any] = {"examples": [{"text": text} for text in golds], "good": golds, "bad": ["Ja.", "Nein."]}
    findings = broken(masked, "every_element_counts", **given)
    assert any(finding.completion == "{new} heißt jetzt {old}." for finding in findings)


def test_statements_that_contradict_each_other() -> None:
    def named(completions: list[str], roles: list[dict[str, str]], **kwargs: Any) -> list[float]:
        lines = [set(text.splitlines()) for text in completions]
        golds = [{f"{name}: {role}" for name, role in one.items()} for one in roles]
        return [float(gold <= said) for said, gold in zip(lines, golds, strict=True)]

    roles = [{"Ann": "knight", "Bob": "knave"}, {"Cai": "knave", "Dov": "knight"}]
    rows = [{"prompt": "Who is what?", "roles": row} for row in roles]
    good = ["Ann: knight\nBob: knave", "Cai: knave\nDov: knight"]
    findings = broken(named, "every_element_counts", examples=rows, good=good, bad=["Ann: knave", "Dov: knave"])
    assert any("'Ann: knave' next to 'Ann: knight'" in finding.why for finding in findings)


def test_labels_that_the_prompt_lists() -> None:
    def recalled(completions: list[str], labels: list[list[str]], **kwargs: Any) -> list[float]:
        answers = [{part.strip() for part in text.partition(":")[2].split(",")} for text in completions]
        known = {"billing", "shipping", "returns", "privacy"}
        pairs = zip(answers, labels, strict=True)
        return [len(said & set(gold)) / len(gold) if said <= known else 0.0 for said, gold in pairs]

    prompt = "Possible: billing, shipping, returns, privacy. Give the topics that apply and no others."
    rows = [{"prompt": prompt, "labels": ["billing", "privacy"]}, {"prompt": prompt, "labels": ["shipping", "returns"]}]
    good = ["Topics: billing, privacy", "Topics: shipping, returns"]
    findings = broken(
        recalled, "every_element_counts", examples=rows, good=good, bad=["Topics: returns", "Topics: privacy"]
    )
    assert any("with four more elements" in finding.why for finding in findings)


def test_items_in_brackets_of_their_own() -> None:
    def gain(completions: list[str], grades: list[dict[str, int]], **kwargs: Any) -> list[float]:
        orders = [re.findall(r"\[(\d)\]", text) for text in completions]
        return [
            float(len(order) == len(row) and sum(row.get(one, 0) / (at + 1) for at, one in enumerate(order)) >= best)
            for order, row in zip(orders, grades, strict=True)
            for best in [sum(grade / (at + 1) for at, grade in enumerate(sorted(row.values(), reverse=True)))]
        ]

    rows = [
        {"prompt": "Rank.", "grades": {"1": 1, "2": 3, "3": 2}},
        {"prompt": "Rank.", "grades": {"1": 2, "2": 1, "3": 3}},
    ]
    good, bad = ["[2] > [3] > [1]", "[3] > [1] > [2]"], ["[1] > [3] > [2]", "[2] > [1] > [3]"]
    findings = broken(gain, "every_element_counts", examples=rows, good=good, bad=bad)
    assert any("is missing, '[" in finding.why for finding in findings)


def test_a_cell_that_counts_in_other_rows_only() -> None:
    def action(completions: list[str], kind: list[str], value: list[str], **kwargs: Any) -> list[float]:
        scores = []
        for text, wanted, gold in zip(completions, kind, value, strict=True):
            match = re.fullmatch(r'(TYPE|SELECT) "(\w+)"', text)
            is_right = match is not None and match[1] == wanted
            scores.append(float(is_right and (match is None or wanted == "SELECT" or match[2] == gold)))
        return scores

    rows = [{"kind": "TYPE", "value": "Oslo"}, {"kind": "SELECT", "value": "Business"}]
    given: dict[str, Any] = {
        "examples": rows,
        "good": ['TYPE "Oslo"', 'SELECT "Business"'],
        "bad": ['TYPE "Rome"', "CLICK"],
    }
    findings = broken(action, "every_element_counts", **given)
    assert any("instead of 'Business'" in finding.why for finding in findings)


def test_calls_on_lines_of_their_own() -> None:
    def in_order(completions: list[str], calls: list[list[str]], **kwargs: Any) -> list[float]:
        lines = [text.splitlines() for text in completions]
        return [float(made[: len(row)] == row) for made, row in zip(lines, calls, strict=True)]

    made = [[f'{{"name": "{name}", "arguments": {{"id": {at}}}}}' for name in ("read", "send")] for at in (3, 5)]
    rows = [{"prompt": "Only the calls that are needed.", "calls": calls} for calls in made]
    good, bad = ["\n".join(calls) for calls in made], [calls[0] for calls in made]
    findings = broken(in_order, "every_element_counts", examples=rows, good=good, bad=bad)
    assert any("delete_account" in str(finding.completion) for finding in findings)
    rows = [{**row, "prompt": "Which calls?"} for row in rows]
    report = check_reward(in_order, examples=rows, good=good, bad=bad, laws=["every_element_counts"])
    assert not any("delete_account" in str(finding.completion) for finding in report.findings)


def test_cells_of_a_table_and_calls_made_twice() -> None:
    def cells(text: str) -> list[str]:
        rows = [line.strip("|").split("|") for line in text.splitlines()[2:]]
        return [cell.strip() for row in rows for cell in row]

    def sorted_cells(completions: list[str], table: list[list[list[str]]], **kwargs: Any) -> list[float]:
        golds = [sorted(cell for row in rows for cell in row) for rows in table]
        return [float(sorted(cells(text)) == gold) for text, gold in zip(completions, golds, strict=True)]

    rows = [{"table": [["Kari", "12", "3"], ["Jon", "8", "7"]]}, {"table": [["red", "5", "23"], ["blue", "6", "22"]]}]
    good = [
        "\n".join(["| A | B | C |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in one["table"])])
        for one in rows
    ]
    bad = [text.replace("12", "15").replace("23", "20") for text in good]
    findings = broken(sorted_cells, "every_element_counts", examples=rows, good=good, bad=bad)
    assert any("'12' and '3' in each other's place" in finding.why for finding in findings)

    def as_sets(completions: list[str], colors: list[list[str]], **kwargs: Any) -> list[float]:
        return [float({*said(text)} == {*wanted}) for text, wanted in zip(completions, colors, strict=True)]

    colored: list[dict[str, Any]] = [{**row, "prompt": "Name each color exactly once."} for row in COLORS["examples"]]
    findings = broken(as_sets, "every_element_counts", **{**COLORS, "examples": colored})
    assert any("with 'black' twice" in finding.why for finding in findings)
    assert_held(as_sets, "every_element_counts", **COLORS)
