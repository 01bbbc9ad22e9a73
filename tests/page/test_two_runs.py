"""Two runs over the same prompts, compared with queries by DuckDB."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.analyze.paired import paired
from rewardkit.page.trials import FLIP, NEW
from rewardkit.page.two_runs import TOTAL, TwoRuns, Window, kinds_of, notices_of, verdict_of
from rewardkit.page.watcher import Watched
from rewardkit.record.recorder import Recorder
from tests.page.recorded import GENERATIONS, ordinary, record


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.open("first", ordinary(tmp_path_factory.mktemp("runs") / "first"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """A run with one prompt more, evaluations, and other columns for the prompts of its last row group."""
    path = tmp_path_factory.mktemp("runs") / "other"
    with Recorder(path, patience=math.inf) as recorder:
        levels = [level for level in ("hard", "easy", "other", "other") for _ in range(GENERATIONS)]
        for step in (1, 2, 3):
            recorder.record(record(step, prompts=4, columns={"level": levels}))
        for step in (1, 3):
            recorder.record(record(step, columns={"level": levels[: 3 * GENERATIONS]}, training=False))
    return Watched.open("other", path)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("last", "training and epoch > 2"),
        ("first", "training and epoch <= 1"),
        ("all", "training"),
        ("3-5", "training and step between 3 and 5"),
        ("4", "training and step = 4"),
    ],
)
def test_means_are_those_of_a_query(first: Watched, text: str, where: str) -> None:
    two = TwoRuns.of((first, Window.parse(text)), (first, Window.parse("all")))
    query = f'select prompt_id, avg(total), avg("components/answer") from scores where {where} group by 1'
    found = {prompt: means for prompt, *means in first.run.sql(query).fetchall()}
    for place, name in enumerate((TOTAL, "answer")):
        wanted = [found[first.prompts.ids[code]][place] for code in two.pairing.left[two.seen]]
        np.testing.assert_allclose(two.means(name)[0], np.array(wanted, dtype=float))


def test_evaluations_are_windows_of_their_own(first: Watched, other: Watched) -> None:
    assert "eval" not in kinds_of(first.scores)
    assert kinds_of(other.scores)["eval-first"] == "First evaluation"
    for text, step in (("eval", 3), ("eval-first", 1)):
        rows = np.flatnonzero(Window.parse(text).rows(other.scores))
        assert set(other.scores.step[rows].tolist()) == {step}
        assert not other.scores.training[rows].any()
    two = TwoRuns.of((other, Window.parse("eval-first")), (other, Window.parse("eval")))
    assert (two.paired("answer").won, two.absent) == (3, 1)


def test_prompts_are_paired_and_the_rest_is_said(first: Watched, other: Watched) -> None:
    two = TwoRuns.of((first, Window()), (other, Window()))
    assert two.names == [TOTAL, "form", "answer"]
    assert (len(two.seen), two.pairing.by_text, two.pairing.only_left, two.pairing.only_right) == (3, 1, 0, 1)
    said = " ".join(notices_of(two, TOTAL, ("first", "other")))
    assert "Different versions of the reward" in said
    assert "1 prompt is paired by the text" in said
    assert "Not compared: 1 prompt only in other." in said
    assert notices_of(two, "form", ("first", "other"))[0].startswith("1 prompt is paired")
    assert "Means are over the completions with a score: 8.3% in first and 6.2% in other" in said
    assert "other is better on 0 of 3 prompts, worse on 3" in verdict_of(two.paired("answer"), "other")


def test_totals_of_different_rewards_point_to_the_trial(
    first: Watched, other: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = "first", "other"
    before = notices_of(TwoRuns.of((first, Window()), (other, Window())), TOTAL, names)[0]
    assert "rewardkit view --reward" in before
    for run in (first, other):
        monkeypatch.setattr(run, "scores", run.scores.with_tried(dict.fromkeys((NEW, FLIP), run.scores.total)))
    after = notices_of(TwoRuns.of((first, Window()), (other, Window())), TOTAL, names)[0]
    assert "New total" in after
    assert "rewardkit view --reward" not in after


def test_a_verdict_says_what_chance_explains() -> None:
    left, steps = np.zeros(20), np.linspace(-1.0, 1.0, 20)
    assert verdict_of(paired(left, steps), "new").endswith("this may be chance.")
    assert verdict_of(paired(left, steps + 2.0), "new").endswith("this is unlikely to be chance.")
    few_but_large = np.array([0.01] * 8 + [-0.01] * 8 + [1.0] * 4)
    assert "but the wins may be (sign test 0.503)" in verdict_of(paired(left, few_but_large), "new")
    many_but_small = np.array([0.01] * 19 + [-3.0])
    assert "but the wins and losses are unlikely to be (sign test < 0.001)" in verdict_of(
        paired(left, many_but_small), "new"
    )
    assert verdict_of(paired(left[:4], steps[:4]), "new").endswith("so few prompts, this may be chance.")
    assert verdict_of(paired(left[:0], steps[:0]), "new") == "No prompt has a score on both sides."


def test_differences_within_the_tolerance_are_equal(first: Watched) -> None:
    two = TwoRuns.of((first, Window.parse("1-2")), (first, Window.parse("3-4")))
    span = 0.6 - 0.1
    assert two.paired("answer", 0.0).won == 3
    assert two.paired("answer", 0.2 / span).equal == 3


@given(st.text(max_size=12))
def test_any_text_is_a_window(text: str) -> None:
    window = Window.parse(text)
    assert Window.parse(str(window)) == window
