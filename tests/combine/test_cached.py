"""A cached reward scores as the reward does, once; what may change next time is not kept."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk

pytest.importorskip("apsw")

SCORED, ABSTAINED, FAILED = rk.Outcome.SCORED, rk.Outcome.ABSTAINED, rk.Outcome.FAILED
calls: list[Any] = []


@pytest.fixture(autouse=True)
def no_calls() -> None:
    calls.clear()


@rk.reward
def slow(completion: str, answer: int) -> rk.Score | None:
    calls.append(completion)
    if completion == "abstain":
        return None
    if completion == "down":
        raise rk.RewardFailure("the service is down")
    value = float(completion == str(answer))
    return rk.Score(value, f"said {completion}", parts={"long": len(completion) / 10})


def file(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "scores.sqlite"


def test_a_second_batch_calls_nothing(tmp_path: Path) -> None:
    reward = rk.cached(slow, file(tmp_path))
    texts, answers = ["42", "7", "42", "abstain"], [42, 42, 7, 42]
    first = rk.score(reward, texts, answer=answers)
    assert calls == texts
    again = rk.score(reward, texts, answer=answers)
    other = rk.score(pickle.loads(pickle.dumps(reward)), [*texts, "8"], answer=[*answers, 8])
    assert calls == [*texts, "8"]
    plain = rk.score(slow, texts, answer=answers)
    for table in (first, again):
        assert str(table) == str(plain)
        assert table.outcomes["slow"].tolist() == [SCORED, SCORED, SCORED, ABSTAINED]
        assert table.notes == plain.notes
        assert str(table.parts) == str(plain.parts)
    assert other.total[-1] == 1.0


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    reward = rk.cached(slow, file(tmp_path))
    for _ in range(3):
        assert rk.score(reward, ["down"], answer=[1]).outcomes["slow"].tolist() == [FAILED]
    assert calls == ["down"] * 3


def test_what_has_a_bug_is_tried_again(tmp_path: Path) -> None:
    @rk.reward(on_error=0.0)
    def buggy(completion: str) -> float:
        calls.append(completion)
        return 1 / len(completion)

    reward = rk.cached(buggy, file(tmp_path))
    for _ in range(2):
        assert rk.score(reward, ["", "a"]).total.tolist() == [0.0, 1.0]
    assert calls == ["", "a", ""]


def test_a_failure_with_a_number_is_no_score(tmp_path: Path) -> None:
    @rk.reward(on_failure=0.25)
    def down(completion: str) -> float:
        calls.append(completion)
        raise rk.RewardFailure("down")

    for _ in range(2):
        assert rk.score(rk.cached(down, file(tmp_path)), ["a"]).total.tolist() == [0.25]
    assert calls == ["a", "a"]


def test_another_reward_another_version_another_argument(tmp_path: Path) -> None:
    def made(factor: float) -> rk.Reward:
        @rk.reward(name="scaled", bounds=(0.0, 10.0))
        def scaled(completion: str) -> float:
            calls.append(completion)
            return factor * len(completion)

        return scaled

    path = file(tmp_path)
    assert rk.score(rk.cached(made(1.0), path), ["ab"]).total.tolist() == [2.0]
    assert rk.score(rk.cached(made(2.0), path), ["ab"]).total.tolist() == [4.0]
    assert rk.score(rk.cached(made(2.0), path), ["ab"]).total.tolist() == [4.0]
    assert len(calls) == 2
    assert rk.score(rk.cached(made(2.0), path, version="2"), ["ab"]).total.tolist() == [4.0]
    assert len(calls) == 3


def test_it_is_the_same_component_in_a_tree(tmp_path: Path) -> None:
    reward = rk.gate(when=rk.length.between(1, 5, unit="characters"), then=0.5 * rk.cached(slow, file(tmp_path)))
    plain = rk.gate(when=rk.length.between(1, 5, unit="characters"), then=0.5 * slow)
    texts, answers = ["42", "far too long", "7"], [42, 42, 7]
    for _ in range(2):
        one, other = (rk.score(tree, texts, answer=answers) for tree in (reward, plain))
        assert [*one.components] == [*other.components]
        assert one.total.tolist() == other.total.tolist()
    named = rk.cached(slow.named("right"), file(tmp_path))
    assert [*rk.score(named, ["1"], answer=[1]).components] == ["right"]
    assert [*rk.score(rk.cached(slow, file(tmp_path)).named("right"), ["1"], answer=[1]).components] == ["right"]
    twice = rk.cached(rk.number("a"), file(tmp_path)) + rk.cached(rk.number("b"), file(tmp_path))
    assert [*rk.score(twice, ["1"], a=["1"], b=["2"]).components] == ["number", "number_b"]


def test_columns_that_are_called_otherwise(tmp_path: Path) -> None:
    reward = rk.cached(slow, file(tmp_path)).with_columns(answer="solution")
    assert rk.score(reward, ["5"], solution=[5]).total.tolist() == [1.0]
    assert rk.score(reward, ["5"], solution=[5]).total.tolist() == [1.0]
    assert calls == ["5"]


def test_where_scores_are_kept_does_not_change_the_reward(tmp_path: Path) -> None:
    one, other = rk.cached(slow, file(tmp_path)), rk.cached(slow, tmp_path / "b.sqlite")
    assert one.fingerprint == other.fingerprint == slow.fingerprint
    assert one != other
    assert one == rk.cached(slow, file(tmp_path))
    assert repr(one) == f"cached({slow!r}, {str(file(tmp_path))!r})"


@rk.reward
async def asynchronous(completion: str) -> float:
    calls.append(completion)
    return float(len(completion) > 2)


@rk.reward(timeout=10.0)
def in_a_worker(completion: str) -> float:
    return float(len(completion) > 2)


@pytest.mark.parametrize("reward", [asynchronous, in_a_worker, rk.number("answer"), rk.similarity("answer")])
def test_all_kinds_of_rewards(reward: rk.Reward, tmp_path: Path) -> None:
    kept = rk.cached(reward, file(tmp_path))
    texts, answers = ["abc", "12", "13"], ["12", "12", "12"]
    plain = rk.score(reward, texts, answer=answers).total.tolist()
    assert [rk.score(kept, texts, answer=answers).total.tolist() for _ in range(2)] == [plain, plain]


@rk.reward
def example(completion: str, example: dict[str, Any]) -> float:
    calls.append(completion)
    return float(len(repr(example)) % 2)


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2) | st.tuples(inner) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(plain_values, plain_values)
def test_different_values_have_different_keys(one: Any, other: Any) -> None:
    from rewardkit.combine.cached import _plain

    written = [json.dumps(_plain(value), sort_keys=True) for value in (one, other)]
    assert (written[0] == written[1]) == (typed(one) == typed(other))


def typed(value: Any) -> str:
    """A repr that tells 1 from True, and in which the order of keys does not matter."""
    if isinstance(value, dict):
        return f"{{{sorted((key, typed(item)) for key, item in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}{[*map(typed, value)]}"
    return repr(value)


@given(
    st.lists(st.tuples(st.sampled_from(["1", "2", "abstain", "é\ud800"]), st.integers(1, 3)), min_size=1, max_size=8)
)
def test_any_batches_score_as_without_a_cache(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]]
) -> None:
    kept = rk.cached(slow, tmp_path_factory.getbasetemp() / "any.sqlite")
    texts, answers = [text for text, _ in rows], [answer for _, answer in rows]
    one, other = (rk.score(reward, texts, answer=answers) for reward in (kept, slow))
    assert one.outcomes["slow"].tolist() == other.outcomes["slow"].tolist()
    assert one.notes == other.notes
    assert np.array_equal(one.total, other.total, equal_nan=True)


def test_values_without_a_key_are_scored_each_time(tmp_path: Path) -> None:
    reward = rk.cached(example, file(tmp_path))
    with pytest.warns(rk.errors.RewardKitWarning, match="cannot be part of a cache key"):
        rk.score(reward, ["a"], image=[object()])
    rk.score(reward, ["a"], image=[object()])
    assert calls == ["a", "a"]
    rk.score(reward, ["b"] * 2, image=[np.arange(3), np.arange(3.0)])
    rk.score(reward, ["b"] * 2, image=[np.arange(3), np.arange(3.0)])
    assert calls[2:] == ["b", "b"]


# --- Files -----------------------------------------------------------------------------------------------


def test_an_entry_that_is_none_is_scored_again(tmp_path: Path) -> None:
    reward = rk.cached(slow, file(tmp_path))
    rk.score(reward, ["1", "2"], answer=[1, 1])
    entries = [
        "",
        "x",
        "[]",
        "5",
        '[2.0, "", {}]',
        '[NaN, "", {}]',
        '[1, "", {}]',
        "[1.0, 5, {}]",
        '[1.0, "", []]',
        "[" * 9_999,
    ]
    for entry in entries:
        with sqlite3.connect(file(tmp_path)) as other:
            other.execute("UPDATE scores_1 SET text = ?", (entry.encode(),))
        other.close()
        calls.clear()
        assert rk.score(reward, ["1", "2"], answer=[1, 1]).total.tolist() == [1.0, 0.0]
        assert calls == ["1", "2"]


def test_a_damaged_or_foreign_file_is_an_error(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("Buy milk. " * 500)
    with pytest.raises(rk.RunStopped, match=r"notes\.txt cannot be opened"):
        rk.score(rk.cached(slow, notes), ["1"], answer=[1])
    assert notes.read_text().startswith("Buy milk.")
    people = tmp_path / "people.sqlite"
    with sqlite3.connect(people) as other:
        other.execute("CREATE TABLE people (name)")
    other.close()
    with pytest.raises(rk.RunStopped, match="belongs to another program"):
        rk.score(rk.cached(slow, people), ["1"], answer=[1])
    assert calls == []


def test_a_file_that_goes_bad_only_costs_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    reward = rk.cached(slow, file(tmp_path))
    rk.score(reward, ["1"], answer=[1])
    with sqlite3.connect(file(tmp_path)) as other:
        other.execute("DROP TABLE scores_1")
    other.close()
    assert rk.score(reward, ["1"], answer=[1]).total.tolist() == [1.0]
    assert "so the reward 'slow' is called instead" in caplog.text


def test_judges_and_rewards_share_a_file(tmp_path: Path) -> None:
    path = str(file(tmp_path))
    rk.Cache(path).put("a", "verdict")
    rk.score(rk.cached(slow, path), ["1"], answer=[1])
    assert rk.Cache(path).get("a") == "verdict"


def _score_in_a_process(path: str, number: int) -> None:
    texts = [str(each) for each in range(40)]
    assert rk.score(rk.cached(slow, path), texts, answer=[number] * 40).total.sum() == 1.0


@pytest.mark.slow
def test_processes_share_a_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_score_in_a_process, args=(str(file(tmp_path)), number % 2)) for number in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    for number in (0, 1):
        _score_in_a_process(str(file(tmp_path)), number)
    assert calls == []


# --- What cannot be cached -------------------------------------------------------------------------------


@rk.reward(deterministic=False)
def random(completion: str) -> float:
    return 0.5


@rk.reward(scope="group")
def group(completions: list[str]) -> list[float]:
    return [0.0] * len(completions)


@rk.reward
def of_progress(completion: str, progress: rk.Progress) -> float:
    return 0.5


@rk.reward
def logging(completion: str, log_metric: Callable[[str, float], None]) -> float:
    return 0.5


def trl_function(completions: list[str], **kwargs: Any) -> list[float]:
    return [0.0] * len(completions)


@pytest.mark.parametrize(
    ("reward", "why"),
    [
        (random, "deterministic=False"),
        (group, "whole group"),
        (of_progress, "progress"),
        (logging, "logs"),
        (rk.from_trl(trl_function), "whole batch"),
        (slow + rk.number("answer"), "combines other rewards"),
        (0.5 * slow, "combines other rewards"),
        (rk.gate(slow, slow), "combines other rewards"),
        (rk.diversity(), "whole group"),
    ],
)
def test_what_cannot_be_cached(reward: rk.Reward, why: str, tmp_path: Path) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=why):
        rk.cached(reward, file(tmp_path))


def test_options_are_checked(tmp_path: Path) -> None:
    kept = rk.cached(slow, file(tmp_path))
    with pytest.raises(rk.RewardDefinitionError, match="already"):
        rk.cached(kept, file(tmp_path))
    with pytest.raises(rk.RewardDefinitionError, match="path"):
        rk.cached(slow, "")
    with pytest.raises(rk.RewardDefinitionError, match="version"):
        rk.cached(slow, file(tmp_path), version=2)  # type: ignore[arg-type]
    with pytest.raises(rk.errors.RewardTypeError):
        rk.cached(5, file(tmp_path))  # type: ignore[arg-type]
