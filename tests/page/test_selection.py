"""The steps and the line that a user picked, as a filter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.page.addresses import Address
from rewardkit.page.selection import (
    Selection,
    columns,
    component,
    format_steps,
    in_steps,
    keep_selection,
    measured,
    parse_steps,
    rows_in,
)
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import excerpts
from tests.page.recorded import changing


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.open("run", changing(tmp_path_factory.mktemp("runs") / "run"))


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_steps_are_read_as_they_were_written(low: int, more: int) -> None:
    assert parse_steps(format_steps((low, low + more))) == (low, low + more)


@pytest.mark.parametrize("text", ["", "5", "9-5", "a-b", "-5-7", "1-2-3", "\u0661-\u0662", "1-" + "9" * 30, "1.0-2"])
def test_other_texts_are_no_steps(text: str) -> None:
    assert parse_steps(text) is None
    assert Selection.of(Address("run", "explain", {"steps": text})) is None


def test_steps_are_compared_with_as_many_before() -> None:
    address = Address("run", "explain", {"steps": "31-40", "by": "answer"})
    assert Selection.of(address) == Selection((31, 40), (21, 30), "answer")
    assert Selection.of(address.with_state(before="1-5")) == Selection((31, 40), (1, 5), "answer")


def test_a_jump_is_explained_by_its_completions(watched: Watched) -> None:
    rows, found = Selection((31, 40), (21, 30), "answer").changes(watched.scores)
    assert set(watched.scores.step[rows].tolist()) == set(range(31, 41))
    assert found.jump == pytest.approx(0.4)
    assert found.total == pytest.approx(0.4)
    assert found.paired == 1.0
    _, total = Selection((31, 40), (21, 30)).changes(watched.scores)
    assert total.jump == pytest.approx(0.4)
    _, first = Selection((1, 10), (-9, 0)).changes(watched.scores)
    assert np.isnan(first.jump)
    _, gone = Selection((41, 45), (36, 40), "form").changes(watched.scores)
    assert np.isnan(gone.now)


def test_every_column_can_be_selected(watched: Watched) -> None:
    assert list(columns(watched.scores)) == ["total", "form", "answer", "terms/form", "terms/answer", "length"]
    scores = watched.scores
    for by, values in (("form", scores.components["form"]), ("terms/form", scores.terms["form"]), ("x", scores.total)):
        assert measured(scores, by) is values
    assert Selection.latest(scores).steps == (55, 60)


def test_a_selection_goes_from_tab_to_tab() -> None:
    here = Address("run", "explain", {"steps": "31-40", "by": "answer", "order": "step"})
    assert keep_selection(here, Address("run", "logs", {"q": "x"})).state == {
        "q": "x",
        "steps": "31-40",
        "by": "answer",
    }
    assert keep_selection(here, Address("run", "graphs")).state == {}
    without = Address("run", "logs")
    assert keep_selection(without, here.to("completions", steps="1-2")).state == {}


def test_texts_of_any_prompts_are_read(watched: Watched) -> None:
    scores = watched.scores
    rows = rows_in(scores, (7, 9)).tolist()
    found = excerpts(watched.run, [(scores.key(row), scores.prompt_ids[scores.prompt[row]]) for row in rows], 6)
    assert len(found) == 36
    assert set(found.values()) == {"Step 1"}
    assert excerpts(watched.run, []) == {}


def test_prompts_without_a_completion_in_the_steps_are_left_out(watched: Watched) -> None:
    everything = np.arange(len(watched.scores.prompt_ids))
    assert in_steps(everything, watched.scores, Address("run", "completions")).tolist() == everything.tolist()
    some = Address("run", "completions", {"steps": "5-6"})
    assert in_steps(everything, watched.scores, some).tolist() == everything.tolist()
    assert in_steps(everything, watched.scores, some.with_state(steps="61-70")).tolist() == []


def test_a_column_names_its_component(watched: Watched) -> None:
    names = {by: component(by, watched.scores) for by in ("answer", "terms/answer", "total", "length", "", "x")}
    assert names == {"answer": "answer", "terms/answer": "answer", "total": "", "length": "", "": "", "x": ""}
