"""Finding prompts by their completions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rewardkit.page.filters import Filter
from rewardkit.page.search import columns_of, plain, prompts_with, split
from rewardkit.page.watcher import Watched
from tests.page.recorded import conversations, ordinary


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.open("run", ordinary(tmp_path_factory.mktemp("runs") / "run", 2))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("answer>0.35", [False, False, True]),
        ("total>0 step=1", [True, True, True]),
        ("answer>0.29 answer<0.35", [False, True, True]),
        ("completion:'THAT 11 is'", [False, False, False]),
        ('completion:"THAT 11 is"', [False, False, True]),
        ('completion!="that 11 is"', [True, True, False]),
        ('completion:"that 0 is" answer>0.35', [False, False, False]),
    ],
)
def test_scores_and_words_of_completions_find_their_prompts(watched: Watched, asked: str, found: list[bool]) -> None:
    passed, complaints = prompts_with(watched, Filter.parse(asked))
    assert (passed.tolist(), complaints) == (found, [])


@pytest.fixture(scope="module")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.open("run", conversations(tmp_path_factory.mktemp("runs") / "run", 2))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("calls>1", True),
        ("calls>2", False),
        ("calls>1 stop=answered", False),
        ("tool:look turns>=2", True),
        ("tool:look calls>1", False),
        ("tool:shut", False),
        ("errors>0 stop=pending repeated>0 broken=0", True),
        ("turns<1", False),
    ],
)
def test_turns_and_calls_find_their_prompts(talking: Watched, asked: str, found: bool) -> None:
    passed, complaints = prompts_with(talking, Filter.parse(asked))
    assert (passed.tolist(), complaints) == ([found], [])


def test_a_run_of_texts_has_no_calls_to_search_for(watched: Watched) -> None:
    assert not {"calls", "stop", "tool"} & columns_of(watched.scores).keys()
    assert "no column 'calls'" in prompts_with(watched, Filter.parse("calls>1"))[1][0]


def test_a_value_that_is_not_a_number_is_reported(watched: Watched) -> None:
    assert "answer is a number" in prompts_with(watched, Filter.parse("answer>much"))[1][0]


def parts_of(watched: Watched, text: str, **examples: list[str]) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Return the names of the conditions on prompts and on completions, and the notes."""
    parts = split(Filter.parse(text), watched.prompts.numbers, examples, watched.scores)
    return *([one.name for one in half.conditions] for half in (parts.prompts, parts.completions)), parts.notes  # type: ignore[return-value]


def test_conditions_are_on_prompts_or_on_completions(watched: Watched) -> None:
    text = "prime length<5 answer>0.5 completion:x level=hard step=1 nothing:x"
    prompts, completions, notes = parts_of(watched, text, level=["hard"] * 3)
    assert prompts == ["length", "column.level", "nothing"]
    assert completions == ["component.answer", "completion", "completion.step"]
    assert notes == ()


def test_of_a_component_and_a_column_numbers_compare_the_component(watched: Watched) -> None:
    examples = {"answer": ["42"] * 3}
    assert parts_of(watched, "answer<0.5", **examples)[:2] == ([], ["component.answer"])
    assert parts_of(watched, "answer=42", **examples)[:2] == (["column.answer"], [])
    assert parts_of(watched, "answer:4", **examples)[:2] == (["column.answer"], [])
    for text, said in (("answer<0.5", "column.answer<0.5"), ("answer=42", "component.answer=42")):
        [note] = parts_of(watched, text, **examples)[2]
        assert said in note


def test_a_prefix_says_what_is_meant(watched: Watched) -> None:
    examples = {"answer": ["42"] * 3, "length": ["1"] * 3}
    assert parts_of(watched, "column.answer>41 column.length=1", **examples) == (
        ["column.answer", "column.length"],
        [],
        (),
    )
    assert parts_of(watched, "component.answer=1 completion.length>3", **examples) == (
        [],
        ["component.answer", "completion.length"],
        (),
    )
    assert parts_of(watched, "prompt.length>3", **examples) == (["length"], [], ())
    assert len(parts_of(watched, "length>3", **examples)[2]) == 1


def test_a_component_does_not_hide_a_number_of_its_name(watched: Watched) -> None:
    renamed = replace(watched.scores, components={"length": np.zeros(len(watched.scores))})
    columns = columns_of(renamed)
    for text, found in (("length<5", True), ("component.length<5", True), ("completion.length<5", False)):
        rows, complaints = plain(Filter.parse(text), columns).rows([""] * len(renamed), columns)
        assert (len(rows) > 0, complaints) == (found, [])
