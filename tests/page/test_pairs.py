"""The two completions that are compared by default."""

from __future__ import annotations

import numpy as np
import pytest

from rewardkit.page.pairs import PromptCompletions
from rewardkit.page.scores import key_text
from rewardkit.page.watcher import Watched
from tests.page.recorded import ordinary


@pytest.fixture(scope="module")
def choice(tmp_path_factory: pytest.TempPathFactory) -> PromptCompletions:
    watched = Watched.open("run", ordinary(tmp_path_factory.mktemp("runs") / "run"))
    return PromptCompletions(watched.scores, watched.scores.rows_of(watched.scores.prompt_ids[0]))


def test_default_pair(choice: PromptCompletions) -> None:
    scores = choice.scores
    newest = choice.rows[scores.visit[choice.rows] == 3]
    assert scores.total[choice.right()] == np.nanmax(scores.total[newest])
    assert scores.visit[choice.left()] == 1
    assert choice.left() != choice.right()


def test_a_name_selects_a_completion(choice: PromptCompletions) -> None:
    row = int(choice.rows[5])
    assert choice.right(key_text(choice.scores.key(row))) == row
    assert choice.right("9.9.9.9") == choice.right("nonsense") == choice.right()


def test_neighbors_stay_in_their_epoch(choice: PromptCompletions) -> None:
    first = choice.rows[choice.scores.visit[choice.rows] == 1].tolist()
    assert [choice.place(row) for row in first] == [(number + 1, len(first)) for number in range(len(first))]
    assert choice.neighbor(first[0], 1) == first[1]
    assert choice.neighbor(first[-1], 1) == first[0]
    assert choice.neighbor(first[0], -1) == first[-1]


def test_every_epoch_has_an_index(choice: PromptCompletions) -> None:
    assert choice.visits == [1, 2, 3]
    assert [choice.visit_of(choice.best(visit)) for visit in choice.visits] == [0, 1, 2]
    assert choice.scores.total[choice.worst(2)] <= choice.scores.total[choice.best(2)]


def test_selected_steps_choose_the_pair(choice: PromptCompletions) -> None:
    scores, rows = choice.scores, choice.rows
    selected = PromptCompletions(scores, rows, (6, 7))
    right, left = selected.right(), selected.left()
    assert scores.step[right] in (6, 7)
    assert scores.total[right] == np.nanmax(scores.total[selected._newest(selected.selected)])
    assert scores.step[left] < 6
    assert scores.visit[left] == scores.visit[rows[scores.step[rows] < 6]].max()
    assert selected.right(key_text(scores.key(int(rows[0])))) == rows[0]


def test_the_first_steps_are_compared_with_their_worst(choice: PromptCompletions) -> None:
    first = PromptCompletions(choice.scores, choice.rows, (1, 1))
    totals = choice.scores.total[first.selected]
    assert choice.scores.total[[first.left(), first.right()]].tolist() == [np.nanmin(totals), np.nanmax(totals)]


def test_steps_without_the_prompt_change_nothing(choice: PromptCompletions) -> None:
    elsewhere = PromptCompletions(choice.scores, choice.rows, (900, 950))
    assert (elsewhere.left(), elsewhere.right()) == (choice.left(), choice.right())
