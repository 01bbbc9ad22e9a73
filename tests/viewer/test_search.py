"""Finding prompts by their completions."""

from __future__ import annotations

import pytest

from rewardkit.viewer.filters import Filter
from rewardkit.viewer.search import columns_of, prompts_with, split
from rewardkit.viewer.watcher import Watched
from tests.viewer.recorded import conversations, ordinary


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


def test_columns_of_prompts_take_precedence(watched: Watched) -> None:
    asked = Filter.parse("prime length<5 answer>0.5 completion:x level=hard")
    own, theirs = split(asked, watched.prompts.numbers, columns_of(watched.scores))
    assert (own.words, [one.name for one in own.conditions]) == (("prime",), ["length", "level"])
    assert [one.name for one in theirs.conditions] == ["answer", "completion"]
