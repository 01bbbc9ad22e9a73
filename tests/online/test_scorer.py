"""Rows scored as they arrive have the scores of `rk.score`: in any order, in any batches, next to any other rows."""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import BindingError, CoercionError, RewardBug, RewardDefinitionError, RewardTypeError
from rewardkit.online.rows import Row, RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.tree.evaluation.scorer import Scorer
from tests import trees
from tests.trees import Rows

OFFERS = TrainerInputs("any", step=True, groups=True, ids=True)


class NoText:
    def __repr__(self) -> str:
        raise ValueError("no repr")


BAD = {
    "a number": Row(5, columns={"answer": 1}),
    "bytes": Row(b"abc", columns={"answer": 1}),
    "an object": Row(NoText(), columns={"answer": 1}),
    "no column": Row("abc"),
    "a cell that does not fit": Row("abc", columns={"answer": "x"}),
    "a cell without a repr": Row("abc", columns={"answer": NoText()}),
    "a reserved name": Row("abc", columns={"answer": 3, "completion": "x"}),
    "a prompt that is no text": Row("abc", prompt=5, columns={"answer": 3}),
    "a judge that is down": Row("down", columns={"answer": 3}),
}
ODD = {
    "nothing": Row(None, columns={"answer": 4}),
    "messages": Row([{"role": "assistant", "content": "abc"}], columns={"answer": 3}),
    "no content": Row([{"role": "assistant"}], columns={"answer": 3}),
    "a surrogate": Row("\ud800", columns={"answer": 1}),
    "another column": Row("abc", columns={"answer": 3, "unit": ["m"]}),
    "token ids": Row("abc", completion_ids=[1, 2], columns={"answer": 3}),
    "a prompt": Row("abc", prompt=[{"role": "user", "content": "?"}], columns={"answer": 3}),
    "no answer": Row("abc", columns={"answer": None}),
    "a bug": Row("bug", columns={"answer": 3}),
}


@rk.reward
def close(completion: str, answer: float, prompt: str = "") -> float:
    """Fail and raise on some texts."""
    if "down" in completion:
        raise rk.RewardFailure("the judge is down")
    if "bug" in completion:
        raise ValueError("a bug")
    return 1.0 / (1.0 + abs(len(completion) - answer))


def online(reward: Any = close, offers: TrainerInputs = OFFERS, **options: Any) -> RowScorer:
    return RowScorer(reward, offers, **{"limits": rk.Limits(max_failure_rate=1.0, max_error_rate=1.0), **options})


def as_rows(rows: Rows) -> list[Row]:
    return [
        Row(text, f"prompt {group}", {"task": trees.task_of(group)})
        for text, group in zip(rows.completions, rows.groups, strict=True)
    ]


def batches(draw: Any, count: int) -> list[list[int]]:
    """Draw an order of rows, in batches."""
    order = draw(st.permutations(range(count)))
    found: list[list[int]] = []
    while order:
        size = draw(st.integers(1, len(order)))
        found.append(list(order[:size]))
        order = order[size:]
    return found


def same(one: float | None, other: float) -> bool:
    return math.isnan(other) if one is None else one == other


@given(trees.trees(), trees.rows(single=True), trees.progresses, st.data())
def test_rows_in_any_order_and_batches_have_the_scores_of_the_whole(
    reward: rk.Reward, rows: Rows, progress: rk.Progress | None, data: st.DataObject
) -> None:
    table = Scorer(reward).score(rows.batch(progress), strict=False)
    own, given_rows = online(reward), as_rows(rows)
    for places in batches(data.draw, len(rows)):
        scores = own.score([given_rows[place] for place in places], progress=progress)
        for place, score in zip(places, scores, strict=True):
            assert same(score.total, table.total[place])
            assert list(score.numbers()) == [*table.terms, *(f"components/{name}" for name in table.components)]
            for name, values in table.terms.items():
                assert same(score.terms[name], values[place])
            for name, column in table.components.items():
                assert score.outcomes[name] == str(table.outcomes[name][place])
                assert same(score.components[name], column.scored[place])
            assert score.scored == (not math.isnan(table.total[place]))
            assert bool(score.why) == (not score.scored)


@given(trees.trees(groups=True), trees.rows(), trees.progresses)
def test_groups_have_the_scores_of_the_whole(reward: rk.Reward, rows: Rows, progress: rk.Progress | None) -> None:
    table = Scorer(reward).score(rows.batch(progress), strict=False)
    own, given_rows = online(reward), as_rows(rows)
    for group in set(rows.groups):
        places = [place for place, other in enumerate(rows.groups) if other == group]
        found = own.score([given_rows[place] for place in places], num_generations=len(places), progress=progress)
        assert all(same(score.total, table.total[place]) for place, score in zip(places, found, strict=True))


@given(st.lists(st.sampled_from([*BAD, *ODD, "good", "long"]), min_size=1, max_size=12))
def test_a_bad_row_never_changes_another(kinds: Sequence[str]) -> None:
    good = {"good": Row("abcd", columns={"answer": 4}), "long": Row("abcdefgh", columns={"answer": "4"})}
    known = {**BAD, **ODD, **good}
    own = online()
    alone = {kind: own.score([row])[0] for kind, row in known.items()}
    for kind, found in zip(kinds, own.score([known[kind] for kind in kinds]), strict=True):
        assert (found.total, found.outcomes) == (alone[kind].total, alone[kind].outcomes)
        assert (found.total is None) == (kind in BAD or kind == "no answer")
        if kind in BAD:
            assert found.why.startswith("close: ")
        if kind == "bug":
            assert found.outcomes == {"close": "errored"}


def test_all_kinds_of_rows_are_recorded(tmp_path: Any) -> None:
    own = online(record=tmp_path / "run")
    rows = [*BAD.values(), *ODD.values()]
    own.score(rows)
    for row in rows:
        own.score([row])
    own.flush()
    scores = rk.open_run(tmp_path / "run").scores().df()
    assert len(scores) == 2 * len(rows)
    assert scores.total.isna().sum() == 2 * (len(BAD) + 1)


def test_threads_share_a_scorer() -> None:
    own = online(limits=rk.Limits(max_failure_rate=1.0, max_error_rate=1.0))
    rows = [Row("abcd"[: place % 5], columns={"answer": place % 7}) for place in range(600)]
    expected = rk.score(close, [row.completion for row in rows], answer=[row.columns["answer"] for row in rows]).total
    with ThreadPoolExecutor(8) as threads:
        parts = [range(start, 600, 40) for start in range(40)]
        found = threads.map(lambda part: own.score([rows[place] for place in part]), parts)
        for part, scores in zip(parts, found, strict=True):
            assert [score.total for score in scores] == expected[list(part)].tolist()


def test_a_batch_has_no_rows() -> None:
    assert online().score([]) == []


def test_errors_are_scored_with_the_lowest_bound_and_strict_ones_raise() -> None:
    own = online()
    [score] = own.score([Row("bug", columns={"answer": 3})])
    assert (score.total, score.outcomes, score.failed) == (0.0, {"close": "errored"}, False)
    assert "a bug" in score.reasons[0]
    with pytest.raises(RewardBug, match="a bug"):
        own.score([Row("bug", columns={"answer": 3})], strict=True)
    with pytest.raises(BindingError, match="answer"):
        own.score([Row("abc")], strict=True)
    with pytest.raises(CoercionError, match="'x' is not a float"):
        own.score([Row("abc", columns={"answer": "x"})], strict=True)


def test_a_row_without_a_total_says_why() -> None:
    own = online()
    failed, abstained = own.score([Row("down", columns={"answer": 1}), Row("abc", columns={"answer": None})])
    assert (failed.failed, abstained.failed) == (True, False)
    with pytest.raises(rk.RewardFailure, match=r"^this completion has no score: close: the judge is down$"):
        failed.value()
    with pytest.raises(rk.RewardFailure, match="every component abstained, so no reward applies to this row"):
        abstained.value()


def test_a_run_that_stopped_stays_stopped() -> None:
    own = online(limits=rk.Limits(max_failure_rate=0.05, max_error_rate=1.0))
    failing = [Row("down", columns={"answer": 1})] * 1_279
    own.score(failing)
    own.score([Row("abc", columns={"answer": 1})] * 0)
    with pytest.raises(rk.RewardFailure, match="'close' failed on 1,280 of 1,280 completions") as first:
        own.score([Row("down", columns={"answer": 1})])
    with pytest.raises(rk.RewardFailure) as second:
        own.score([Row("abc", columns={"answer": 1})])
    with pytest.raises(rk.RewardFailure) as third:
        own.refuse(Row("abc"), "too late")
    assert first.value is second.value is third.value


def test_a_stopped_run_is_no_failure_of_a_row() -> None:
    @rk.reward
    def locked(completion: str) -> float:
        raise rk.RunStopped("a wrong key")

    with pytest.raises(rk.RunStopped, match="a wrong key"):
        online(locked).score([Row("a"), Row("b")])


def test_rows_that_are_refused_count_and_are_recorded(tmp_path: Any) -> None:
    own = online(record=tmp_path / "run", limits=rk.Limits(max_failure_rate=0.05, max_error_rate=1.0))
    assert own.refuse(Row("a", columns={"answer": 1}), "the text is broken").why == "the text is broken"
    own.flush()
    assert len(rk.open_run(tmp_path / "run").scores().df()) == 1
    for _ in range(1_278):
        own.refuse(Row("a"), "the text is broken")
    with pytest.raises(rk.RewardFailure, match="failed on 1,280 of 1,280"):
        own.refuse(Row("a"), "the text is broken")


@rk.reward(bounds=(0.0, 3e38))
def first(completion: str, answer: float) -> float:
    return answer


@rk.reward(bounds=(-math.inf, math.inf), on_failure="raise")
def second(completion: str, gold: list[int]) -> float:
    if completion == "down":
        raise rk.RewardFailure("the endpoint is down")
    return 3e38


@rk.reward
async def third(completion: str, gold: list[int]) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("reward", "row", "name"),
    [
        (rk.route({"a": first, "b": second}, by="kind"), {"kind": "b", "answer": 1, "gold": "x"}, "second"),
        (rk.route({"a": first, "b": second}, by="kind"), {"kind": "a", "answer": "x", "gold": [1]}, "first"),
        (rk.route({"a": first, "b": third}, by="kind"), {"kind": "b", "answer": 1, "gold": "x"}, "third"),
        (first + 0.5 * second, {"answer": 1, "gold": "x"}, "second"),
        (first + rk.maximum(third, second), {"answer": 1, "gold": "x"}, "third"),
        (rk.gate(when=first, then=second), {"answer": 1, "gold": "x"}, "second"),
        (rk.gate(when=second, then=first), {"answer": 1, "gold": "x"}, "second"),
        (first + rk.per_turn(second, reduce="mean"), {"answer": 1, "gold": "x"}, "second_per_turn"),
        (first + rk.fallback(third, first.named("other")), {"answer": 1, "gold": "x"}, "third"),
        (first + second, {"answer": 1}, "second"),  # no such column
        (first + second, {"answer": 1, "gold": [1], "completion": "down"}, "second"),
        (first + 2.0 * second, {"answer": 1, "gold": [1]}, "second"),  # 6e38
        (first + rk.product(second, second.named("again")), {"answer": 1, "gold": [1]}, "product"),
        (rk.route({"a": first, "b": second}, by="kind"), {"kind": "c", "answer": 1, "gold": [1]}, ""),
    ],
)
def test_the_component_that_failed_is_named(
    reward: rk.Reward, row: dict[str, Any], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = row.pop("completion", "ab")
    (score,) = online(reward).score([Row(text, columns=row)])
    failed = [component for component, outcome in score.outcomes.items() if outcome == "failed"]
    assert failed == ([name] if name else list(score.outcomes))
    assert score.why.startswith(f"{name}: " if name else "route by")
    assert (f"reward {name!r} failed" if name else "a row failed") in caplog.text


def test_the_run_ends_with_the_name_of_what_failed() -> None:
    own = online(
        rk.route({"a": first, "b": second}, by="kind"), limits=rk.Limits(max_failure_rate=0.05, max_error_rate=1.0)
    )
    rows = [Row("ab", columns={"kind": kind, "answer": 1, "gold": "x"}) for kind in "ab" * 640]
    with pytest.raises(rk.RewardFailure, match="reward 'second' failed on 640 of 1,280 completions"):
        own.score(rows)
    own = online(first + second, limits=rk.Limits(max_failure_rate=0.05, max_error_rate=1.0))
    for _ in range(1_279):
        own.refuse(Row("a"), "the text is broken")
    with pytest.raises(rk.RewardFailure, match="rewards 'first', 'second' failed on 1,280 of 1,280"):
        own.refuse(Row("a"), "the text is broken")


def test_each_kind_of_fault_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    own = online()
    for _ in range(5):
        own.score([Row("down", columns={"answer": 1})])
        own.score([Row("bug", columns={"answer": 1})])
    said = [record.getMessage() for record in caplog.records if record.name == "rewardkit"]
    assert len(said) == 2
    assert "Traceback" in next(text for text in said if "errored" in text)


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps], ids=["pickle", "cloudpickle"])
def test_it_is_pickled_without_what_it_has_seen(dumps: Any, tmp_path: Any) -> None:
    own = online(
        special_tokens=["<end>"], record=tmp_path / "run", limits=rk.Limits(max_failure_rate=0.05, max_error_rate=1.0)
    )
    own.score([Row("down", columns={"answer": 1})] * 100)
    other = pickle.loads(dumps(own))
    assert other.score([Row("abc<end>", columns={"answer": 3})])[0].total == 1.0
    assert (other.offers, other.special_tokens) == (own.offers, own.special_tokens)
    other.score([Row("down", columns={"answer": 1})] * 1_200)  # the other one's 100 do not count


def test_examples_are_tried_at_once() -> None:
    own = online()
    own.probe([{"answer": 3}, {"answer": "4", "unit": "m"}, {"answer": 3, "prompt": "?"}])
    with pytest.raises(RewardDefinitionError, match=r"examples= is empty: pass rows from the dataset, such as \[\{"):
        own.probe([])
    with pytest.raises(BindingError, match="needs the column 'answer'"):
        own.probe([{"answer": 3}, {"solution": 3}])
    with pytest.raises(CoercionError, match="'x' is not a float"):
        own.probe([{"answer": "x"}])

    @rk.reward
    def broken(completion: str) -> float:
        raise ZeroDivisionError

    with pytest.raises(RewardBug):
        online(broken).probe([{}])


def test_what_is_no_reward_is_refused() -> None:
    with pytest.raises(RewardTypeError):
        online(0.5)
    with pytest.raises(RewardDefinitionError, match=r"max_failure_rate must be a share from 0\.0 to 1\.0, got 5"):
        online(limits=rk.Limits(max_failure_rate=5, max_error_rate=1.0))
    with pytest.raises(RewardTypeError, match="record= must be the folder of the run"):
        online(record=5)


def test_scores_of_many_threads_are_counted_once() -> None:
    own = online(limits=rk.Limits(max_failure_rate=0.5, max_error_rate=1.0))
    failing, stops = [Row("down", columns={"answer": 1})] * 64, []

    def run(_: int) -> None:
        try:
            own.score(failing)
        except rk.RewardFailure as stop:
            stops.append((stop, threading.current_thread()))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(run, range(19)))
        assert stops == []
        list(threads.map(run, range(8)))
    assert len({id(stop) for stop, _ in stops}) == 1


def test_unscored_rows_have_all_names() -> None:
    own = online(rk.gate(rk.tags("answer"), close))
    scores = own.score([Row("<answer>4</answer>", columns={"answer": 4}), Row(5), Row("a")])
    assert {tuple(score.numbers()) for score in scores} == {("close", "components/tags", "components/close")}
    assert [isinstance(score, RowScore) and score.scored for score in scores] == [True, False, False]


def test_totals_are_python_numbers() -> None:
    [score] = online().score([Row("abc", columns={"answer": np.int64(3)})])
    assert all(type(value) is float for value in (score.total, *score.numbers().values()))


def test_a_bug_without_a_lowest_score_stops_the_run_as_in_trl() -> None:
    def plain(completion: str) -> float:
        return 1.0 / len(completion)

    own = online(plain, limits=rk.Limits(max_failure_rate=1.0, max_error_rate=0.05))
    assert own.score([Row("a")])[0].total == 1.0
    with pytest.raises(RewardBug, match=r"rk\.from_trl\(plain, on_error=0\.0\)"):
        own.score([Row("a"), Row("")])
    with pytest.raises(RewardBug):
        own.score([Row("a")])
    first, second = online(plain, limits=rk.Limits(max_failure_rate=1.0, max_error_rate=1.0)).score([Row("a"), Row("")])
    assert (first.total, second.failed) == (1.0, True)
    assert (
        online(rk.from_trl(plain, on_error=0.0), limits=rk.Limits(max_failure_rate=1.0, max_error_rate=0.05))
        .score([Row("")])[0]
        .total
        == 0.0
    )
