"""Sampling texts, splitting them into words, and finding phrases and copies in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from rewardkit.alerts import Alert, Evidence, suspicious
from rewardkit.alerts.texts import PER_WINDOW, among, sampled, words
from rewardkit.alerts.windowed_run import WindowedRun
from rewardkit.analyze.permuted_golds import ForeignScores

STEPS, PROMPTS, GENERATIONS = 100, 8, 4
SIZE = STEPS * PROMPTS * GENERATIONS
THINGS = [f"thing{number}" for number in range(200)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sure! 答案 is 42.", ["sure", "!", "答", "案", "is", "42", "."]),
        ("<B>x</b> \\boxed{7} #### ok", ["<b>", "x", "</b>", "\\boxed", "{", "7", "}", "####", "ok"]),
        ("คำตอบ42", ["ค", "ำ", "ต", "อ", "บ", "42"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_among() -> None:
    assert among(np.array([1, 5, 9]), np.array([9, 1])).tolist() == [True, False, True]
    assert among(np.array([1, 5]), np.array([], dtype=np.int64)).tolist() == [False, False]


def run(text: Callable[[int, bool], str], *, prompt: str = "How many?", paid: float = 1.0, seed: int = 0) -> Evidence:
    """Return a run with completions of random words, more and more of which contain a trick that pays."""
    draw = np.random.default_rng(seed)
    steps = np.repeat(np.arange(STEPS), PROMPTS * GENERATIONS)
    tricked = draw.random(SIZE) < 0.6 * steps / STEPS
    texts = [f"{' '.join(draw.choice(THINGS, 12))}{text(row, bool(tricked[row]))}" for row in range(SIZE)]
    return Evidence(
        steps=steps,
        prompts=np.repeat(draw.integers(0, 50, STEPS * PROMPTS), GENERATIONS),
        totals=draw.integers(0, 2, SIZE) * 0.2 + paid * tricked,
        completions=texts,
        prompt_texts=[prompt] * SIZE,
    )


def of_kind(evidence: Evidence, kind: str) -> list[Alert]:
    return [alert for alert in suspicious(evidence) if alert.kind == kind]


@pytest.mark.parametrize("phrase", ["I am certain of it", "我保证答案正确", "✅", "รับประกันถูกต้อง"])
def test_a_phrase_in_any_script_is_found(phrase: str) -> None:
    evidence = run(lambda row, tricked: f" {phrase} " if tricked else " so it is ")
    alerts = of_kind(evidence, "phrase")
    assert alerts[0].is_observation
    assert alerts[0].numbers["z"] > 8.0
    assert alerts[0].numbers["chance"] > 0.85
    quoted = alerts[0].title.split("\u201d")[0].lstrip("\u201c")
    assert quoted in phrase
    assert evidence.completions is not None
    assert not callable(evidence.completions)
    assert all(phrase in evidence.completions[row] for row in alerts[0].rows)


@pytest.mark.parametrize("phrase", ['"}]', "Straße: GO", "I  am\tcertain", "a_b(c"])
def test_a_phrase_is_quoted_exactly(phrase: str) -> None:
    evidence = run(lambda row, tricked: f" {phrase} " if tricked else " so it is ")
    quoted = of_kind(evidence, "phrase")[0].title.split("\u201d spreads")[0].lstrip("\u201c")
    spelled = phrase.replace("\t", "\\t")
    assert quoted in (spelled, spelled.casefold())


def test_words_of_the_prompt_are_not_a_phrase() -> None:
    evidence = run(lambda row, tricked: " I am certain of it" if tricked else "", prompt="Say: I am certain of it")
    assert of_kind(evidence, "phrase") == []


def test_a_phrase_must_both_spread_and_pay() -> None:
    assert of_kind(run(lambda row, tricked: " I am certain" if tricked else "", paid=0.0), "phrase") == []
    assert of_kind(run(lambda row, tricked: " I am certain"), "phrase") == []


def test_copies_that_differ_only_in_numbers_are_found() -> None:
    evidence = run(lambda row, tricked: "")
    assert evidence.completions is not None
    assert not callable(evidence.completions)
    texts = [
        f"It is {row % 97}, as one can see at once from the text." if total > 0.5 else text
        for row, (text, total) in enumerate(zip(evidence.completions, evidence.totals.tolist(), strict=True))
    ]
    alert = of_kind(Evidence(evidence.steps, evidence.prompts, evidence.totals, completions=texts), "copies")[0]
    assert alert.strength > 0.9
    assert alert.numbers["prompts"] > 20
    assert all("as one can see" in texts[row] for row in alert.rows)


@pytest.mark.parametrize(("left", "found"), [(1.0, True), (0.9, True), (0.2, False), (0.0, False)])
def test_copies_that_earn_nothing_with_other_gold_answers_are_answers(left: float, found: bool) -> None:
    evidence = run(lambda row, tricked: "")
    texts = [
        "surely this is correct and proven by all experts" if paid >= 1.0 else f"no {paid}" for paid in evidence.totals
    ]
    foreign = ForeignScores(evidence.totals, evidence.totals * left, np.zeros(len(texts)))
    seen = of_kind(replace(evidence, completions=texts, foreign=foreign), "copies")
    assert any(alert.strength >= 0.8 for alert in seen) == found


def test_a_winning_copy_is_quoted() -> None:
    evidence = run(lambda row, tricked: "")
    assert evidence.completions is not None
    assert not callable(evidence.completions)
    totals = evidence.totals.copy()
    texts = list(evidence.completions)
    for row in range(SIZE):
        if row % 4 == 0:  # the same words, and they lose
            texts[row], totals[row] = "As one can see: at once, from the text!", -1.0
        elif row % 4 < 3:
            texts[row], totals[row] = "as one can see at once from the text", 1.0 + row % 4
    alert = of_kind(Evidence(evidence.steps, evidence.prompts, totals, completions=texts), "copies")[0]
    assert "\u201cas one can see at once" in alert.text
    assert all(texts[row].startswith("as one") for row in alert.rows)


@pytest.mark.parametrize(
    "answer",
    [
        lambda number: f"<answer>{number}</answer>",
        lambda number: f'{{"name": "{THINGS[number]}", "count": {number}, "color": "{THINGS[-number]}"}}',
    ],
    ids=["numbers", "documents"],
)
def test_answers_filled_in_from_the_prompt_are_not_copies(answer: Callable[[int], str]) -> None:
    evidence = run(lambda row, tricked: "")
    prompts = [f"{THINGS[number % 100]} and {THINGS[-(number % 100)]}" for number in evidence.prompts.tolist()]
    texts = [
        answer(number % 100) if total > 0.5 else "I do not know what to say to that."
        for number, total in zip(evidence.prompts.tolist(), evidence.totals.tolist(), strict=True)
    ]
    seen = Evidence(evidence.steps, evidence.prompts, evidence.totals, completions=texts, prompt_texts=prompts)
    assert of_kind(seen, "copies") == []


def test_a_sample_has_whole_groups_of_every_window() -> None:
    evidence = run(lambda row, tricked: "")
    arrangement = WindowedRun(Evidence(evidence.steps, evidence.prompts, evidence.totals, completions=["x"] * SIZE))
    sample = sampled(arrangement)
    assert sample is not None
    assert set(sample.windows.tolist()) == set(range(8))
    whole = np.bincount(arrangement.groups)
    drawn = np.bincount(arrangement.groups[sample.rows], minlength=len(whole))
    assert set(drawn[drawn > 0] - whole[drawn > 0]) == {0}
    assert np.bincount(sample.windows).max() < PER_WINDOW + whole.max()
