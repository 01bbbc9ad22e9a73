"""Full scores without the gold answer are an alert; a skill, a notation that stays, and words by chance are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.alerts import Evidence, suspicious
from rewardkit.alerts.golds import LONGEST, cell_text

STEPS, GROUPS, GENERATIONS = 40, 6, 8
ROWS = GROUPS * GENERATIONS
Draw = np.random.Generator


def gold_of(step: int, group: int) -> str:
    return f"{17 * step + group} {1000 + 31 * group + step}"


def evidence(
    completion: Callable[[Draw, str, float], tuple[str, float]],
    *,
    cell: Callable[[str], object] = lambda gold: gold,
    reads: tuple[str, ...] = ("answer",),
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Evidence:
    """A run with completions and scores from (draw, gold, time from 0 to 1)."""
    draw = np.random.default_rng(0)
    golds = [gold_of(step, group) for step in range(STEPS) for group in range(GROUPS) for _ in range(GENERATIONS)]
    made = [completion(draw, gold, row // ROWS / STEPS) for row, gold in enumerate(golds)]
    scores = np.array([score for _, score in made])
    return Evidence(
        steps=np.repeat(np.arange(STEPS), ROWS),
        prompts=np.repeat(np.arange(STEPS * GROUPS), GENERATIONS),
        totals=scores,
        components={"match": scores},
        bounds={"match": bounds},
        completions=[text for text, _ in made],
        columns=[{"answer": cell(gold), "other": "7"} for gold in golds],
        reads={"match": reads},
    )


def strength(found: Evidence) -> float:
    return max((alert.strength for alert in suspicious(found) if alert.kind == "gold"), default=0.0)


def skill(draw: Draw, gold: str, time: float) -> tuple[str, float]:
    return (f"The answer is {gold}", 1.0) if draw.random() < 0.2 + 0.7 * time else ("no idea", 0.0)


def one_item(draw: Draw, gold: str, time: float) -> tuple[str, float]:
    """A precision: the first item alone earns as much as both."""
    if draw.random() < 0.2 + 0.7 * time:
        return gold.split()[0], 1.0
    return (gold, 1.0) if draw.random() < 0.5 else ("no idea", 0.0)


def test_less_than_the_gold_answer_is_found() -> None:
    found = evidence(one_item)
    alert = next(alert for alert in suspicious(found) if alert.kind == "gold")
    assert alert.strength >= 0.8
    assert alert.component == "match"
    assert alert.title == "match gives full scores without the answer"
    assert alert.rows
    for row in alert.rows:
        assert found.components["match"][row] == 1.0
        assert " " not in found.completions[row]  # type: ignore[index]


def test_a_skill_is_no_alert() -> None:
    assert strength(evidence(skill)) == 0.0


def test_an_answer_in_another_notation_is_no_alert() -> None:
    assert strength(evidence(skill, cell=lambda gold: gold.replace(" ", " and then "))) == 0.0


def test_a_component_that_does_not_read_the_answer_says_nothing_of_it() -> None:
    assert strength(evidence(one_item, reads=())) == 0.0
    assert strength(evidence(one_item, reads=("missing",))) == 0.0


def test_a_word_that_any_prompt_may_have_is_no_gold_answer() -> None:
    def fewer(draw: Draw, gold: str, time: float) -> tuple[str, float]:
        text, score = skill(draw, gold, time)
        return (f"7 {text}" if draw.random() > time else text), score

    assert strength(evidence(fewer, reads=("other",))) == 0.0


def test_a_form_that_is_learned_before_the_skill_is_no_full_score() -> None:
    def form(draw: Draw, gold: str, time: float) -> tuple[str, float]:
        return (f"<answer>{gold.split()[0]}</answer>", 0.2) if draw.random() < time else (gold, 0.0)

    assert strength(evidence(form)) == 0.0


@pytest.mark.parametrize("cell", [str.split, lambda gold: {"items": gold}, str])
def test_cells_are_texts_or_other_values(cell: Callable[[str], object]) -> None:
    found = evidence(one_item, cell=cell)
    assert (strength(found) >= 0.8) == (not isinstance(cell("1 2"), dict))  # no completion has the word "items"


def test_a_long_answer_is_none_that_a_completion_repeats() -> None:
    long = " ".join(f"word{number}" for number in range(LONGEST + 1))
    assert strength(evidence(one_item, cell=lambda gold: f"{gold} {long}")) == 0.0
    assert cell_text("x" * 10**6) == cell_text("x" * 2 * 10**6)
    assert cell_text(None) is None
    assert cell_text({("a", 1): [2.5, None]}) == "{('a', 1): [2.5, None]}"


def test_a_run_without_columns_has_no_such_alert() -> None:
    assert strength(replace(evidence(one_item), columns=None)) == 0.0


@pytest.mark.slow
@given(st.integers(0, 2**16), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_full_scores_that_have_the_gold_answer_are_never_an_alert(seed: int, first: float, last: float) -> None:
    draw = np.random.default_rng(seed)

    def honest(_: Draw, gold: str, time: float) -> tuple[str, float]:
        right = draw.random() < first + (last - first) * time
        return (gold, 1.0) if right else (gold.split()[0], 0.5)

    assert strength(evidence(honest)) == 0.0
