"""Results: what counts as a score, what is an error, and which exceptions pass."""

from __future__ import annotations

import asyncio
import functools
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as FutureTimeout
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.errors import MissingExtraError, RunStopped
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.results import InvalidReturn, Raised, ReturnPolicy, as_number, check_results, unpacked


class Tensor:
    """A zero-dimensional tensor of any framework."""

    ndim = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def item(self) -> float:
        return self.value


class Endless:
    ndim = 0

    def item(self) -> Endless:
        return self


class Level(IntEnum):
    HIGH = 1


@pytest.mark.parametrize(
    "value",
    [
        1,
        1.0,
        True,
        np.float32(1),
        np.int8(1),
        np.bool_(True),
        np.array(1.0),
        Decimal(1),
        Fraction(1),
        Tensor(1),
        Level.HIGH,
    ],
)
def test_numbers_of_every_kind_are_scores(value: Any) -> None:
    assert as_number(value) == 1.0
    assert rk.score(rk.reward(name="r")(lambda completion: value), ["a"]).total.tolist() == [1.0]


score: Any = rk.Score  # for arguments that a type checker refuses too
NONSENSE = [
    "0.5", b"1", [0.5], (0.5,), {0.5}, {"score": 0.5}, np.array([0.5]), 1j, object(), ValueError, Endless(), len,
    math.nan, math.inf, -math.inf, 10**400, Decimal("NaN"), Decimal("sNaN"), 2.0, -0.1, 1.0 + 1e-6, None,
    score("0.5"), score(None), score(0.5, parts={"a": "b"}), score(0.5, parts=[1]),
]  # fmt: skip


@pytest.mark.parametrize("value", NONSENSE)
def test_nonsense_raises_in_score_and_is_never_a_score_in_training(value: Any) -> None:
    reward = rk.reward(name="r")(lambda completion: value if completion == "bad" else 0.5)
    with pytest.raises(rk.errors.RewardBug, match="reward 'r'"):
        rk.score(reward, ["bad"])
    table = Scorer(reward).score(rk.Batch(["fine", "bad"]), strict=False)
    assert table.outcomes["r"].tolist() == ["scored", "errored"]
    assert np.isnan(table["r"][1])
    assert table["r"][0] == 0.5
    assert table.total.tolist() == [0.5, 0.0]
    assert [(fault.component, fault.row, fault.outcome) for fault in table.faults] == [("r", 1, "errored")]


def test_bounds_allow_for_rounding_and_clip_nothing() -> None:
    value = 1.0 + 1e-12
    assert rk.score(rk.reward(name="r")(lambda completion: value), ["a"]).total.tolist() == [value]


def test_a_score_out_of_bounds_says_how_to_declare_it() -> None:
    with pytest.raises(rk.errors.RewardBug, match=r"bounds=\(0\.0, 2\.5\)"):
        rk.score(rk.reward(name="r")(lambda completion: 2.5), ["a"])


@pytest.mark.parametrize("bounds", [(-math.inf, math.inf), (-1e308, 1e308)])
def test_wide_bounds_still_refuse_what_is_not_finite_in_float32(bounds: tuple[float, float]) -> None:
    values = {"low": -3e38, "high": 3e38, "nan": math.nan, "inf": math.inf, "huge": 1e39, "lowest": -1e308}
    reward = rk.reward(name="r", bounds=bounds, on_error=0.0)(lambda completion: values[completion])
    table = rk.score(reward, list(values))
    assert table.outcomes["r"].tolist() == ["scored", "scored", *["errored"] * 4]
    assert (
        "returned 1e+39, which is too large for float32, the number type of trainers. Scale down the score"
        in table.notes["r"][4]
    )
    alone = rk.score(reward, ["huge"])
    assert alone.outcomes["r"].tolist() == ["errored"]


def test_none_is_an_abstention_only_where_the_annotation_allows_it() -> None:
    @rk.reward
    def forgetful(completion: str) -> float:  # type: ignore[return]
        if completion == "a":
            return 1.0

    @rk.reward
    def modest(completion: str) -> float | None:
        return None

    @rk.reward
    def scored(completion: str) -> rk.Score | None:
        return None

    with pytest.raises(rk.errors.RewardBug, match="missing return"):
        rk.score(forgetful, ["b"])
    for reward in (modest, scored):
        table = rk.score(reward, ["b"])
        assert table.outcomes[reward.name].tolist() == ["abstained"]
        assert np.isnan(table.total).all()


def test_notes_and_parts_are_kept_by_row() -> None:
    @rk.reward
    def close(completion: str) -> rk.Score | float:
        return rk.Score(0.5, note="off by 2", parts={"distance": 2}) if completion == "a" else 1.0

    table = rk.score(close, ["a", "b", "a"])
    assert table.notes["close"] == ["off by 2", "", "off by 2"]
    np.testing.assert_array_equal(table.parts["close"]["distance"], [2.0, math.nan, 2.0])


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


ERRORS: list[BaseException] = [
    ValueError("x"), KeyError("x"), AssertionError(), SystemExit(1), RecursionError(), MemoryError(), StopIteration(),
    StopAsyncIteration(), asyncio.CancelledError(), BaseException("bare"), Unspeakable(), ValueError("z" * 100_000),
    OSError(2, "no such file"), UnicodeDecodeError("utf-8", b"a", 0, 1, "why"),
]  # fmt: skip


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_a_function_raises_stays_in_its_row(error: BaseException, is_async: bool) -> None:
    def sync(completion: str) -> float:
        if completion == "bad":
            raise error
        return 0.5

    async def waits(completion: str) -> float:
        if isinstance(error, StopIteration):  # a coroutine cannot raise it
            return math.nan if completion == "bad" else 0.5
        return sync(completion)

    reward = rk.reward(name="r")(waits if is_async else sync)
    with pytest.raises(rk.errors.RewardBug, match="'r'") as caught:
        rk.score(reward, ["good", "bad", "worse"])
    assert len(str(caught.value)) < 1_000
    assert "row 1, completion 'bad'" in str(caught.value)
    table = Scorer(reward).score(rk.Batch(["good", "bad", "worse"]), strict=False)
    assert table.outcomes["r"].tolist() == ["scored", "errored", "scored"]
    assert table.total.tolist() == [0.5, 0.0, 0.5]
    assert len(table.faults) == 1


def test_an_error_keeps_its_traceback_and_the_arguments_needed_to_reproduce_it() -> None:
    @rk.reward
    def buggy(completion: str, answer: list[int]) -> float:
        return 1.0 / answer[7]

    with pytest.raises(rk.errors.RewardBug) as caught:
        rk.score(buggy, ["text"], answer=["[1, 2]"])
    assert isinstance(caught.value.__cause__, IndexError)
    assert "answer = [1, 2]" in str(caught.value)
    table = Scorer(buggy).score(rk.Batch(["text"], columns={"answer": ["[1, 2]"]}), strict=False)
    assert "answer[7]" in table.faults[0].traceback


def test_the_policies_for_errors() -> None:
    def bug(completion: str) -> float:
        raise ValueError

    batch = rk.Batch(["a"])
    lowest = rk.reward(name="r", bounds=(-2.0, 1.0))(bug)
    assert Scorer(lowest).score(batch, strict=False).total.tolist() == [-2.0]
    number = rk.reward(name="r", on_error=0.25)(bug)
    assert Scorer(number).score(batch, strict=True).total.tolist() == [0.25]
    assert np.isnan(Scorer(number).score(batch)["r"]).all()
    raising: list[dict[str, Any]] = [{"on_error": "raise"}, {"bounds": (-math.inf, 1.0)}]
    for options in raising:
        with pytest.raises(rk.errors.RewardBug):
            Scorer(rk.reward(name="r", **options)(bug)).score(batch, strict=False)


def test_the_policies_for_failures() -> None:
    def down(completion: str) -> float:
        raise rk.RewardFailure("the judge is down")

    table = rk.score(rk.reward(name="r")(down), ["a"])
    assert table.outcomes["r"].tolist() == ["failed"]
    assert np.isnan(table.total).all()
    assert table.notes["r"] == ["the judge is down"]
    table = rk.score(rk.reward(name="r", on_failure=0.5)(down), ["a"])
    assert table.total.tolist() == [0.5]
    assert table.outcomes["r"].tolist() == ["failed"]
    assert np.isnan(table["r"]).all()
    with pytest.raises(rk.RewardFailure, match="could not be computed: the judge is down"):
        rk.score(rk.reward(name="r", on_failure="raise")(down), ["a"])


@pytest.mark.parametrize("error", [TimeoutError, FutureTimeout, asyncio.TimeoutError])
def test_a_timeout_of_the_function_itself_is_a_failure_on_every_python(error: type[Exception]) -> None:
    def slow(completion: str) -> float:
        raise error("no answer")

    async def slow_async(completion: str) -> float:
        raise error("no answer")

    for function in (slow, slow_async):
        table = rk.score(rk.reward(name="r", timeout=None)(function), ["a"])
        assert table.outcomes["r"].tolist() == ["failed"]
        assert table.notes["r"] == ["no answer"]


@pytest.mark.parametrize("is_async", [False, True])
def test_ctrl_c_passes(is_async: bool) -> None:
    async def waits(completion: str) -> float:
        raise KeyboardInterrupt

    def sync(completion: str) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rk.score(rk.reward(name="r")(waits if is_async else sync), ["a"])
    assert rk.score(rk.reward(name="s")(fine), ["a"]).total.tolist() == [0.5]


async def fine(completion: str) -> float:
    return 0.5


class Handler:
    """A signal handler that is an object, such as a cluster's library installs."""

    def __call__(self, number: int, frame: Any) -> None:
        sys.exit(143)

    def method(self, number: int, frame: Any) -> None:
        sys.exit(143)


def handle(code: int, number: int, frame: Any) -> None:
    sys.exit(code)


HANDLERS: list[Callable[..., None]] = [
    lambda number, frame: sys.exit(143),
    functools.partial(handle, 143),
    Handler(),
    Handler().method,
]


@pytest.fixture
def usual_handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("usual_handler")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need the main thread")
@pytest.mark.parametrize("handler", HANDLERS)
def test_the_system_exit_of_a_signal_handler_passes_and_a_rewards_own_does_not(handler: Callable[..., None]) -> None:
    signal.signal(signal.SIGTERM, handler)

    @rk.reward(on_error=0.0)
    def terminated(completion: str) -> float:
        if completion == "operator":
            os.kill(os.getpid(), signal.SIGTERM)
        sys.exit(1)

    assert rk.score(terminated, ["own"]).outcomes["terminated"].tolist() == ["errored"]
    with pytest.raises(SystemExit) as caught:
        rk.score(terminated, ["operator"])
    assert caught.value.code == 143


def test_an_empty_list_of_results_is_valid() -> None:
    contract = ReturnPolicy("r", (0.0, 1.0), False, "unscorable", None)
    assert len(check_results([], contract, True, lambda first, last: "").values) == 0


@pytest.mark.parametrize("returned", [0.5, None, "ab", {0: 1.0, 1: 2.0}, {0.5}, iter([1.0, 2.0]), [1.0], [1.0] * 3])
def test_a_group_function_must_return_one_score_per_completion(returned: Any) -> None:
    results = unpacked(returned, 2)
    assert all(isinstance(result, Raised) and isinstance(result.error, InvalidReturn) for result in results)
    assert len(results) == 2


@pytest.mark.parametrize("returned", [[0.0, 1.0], (0.0, 1.0), np.array([0.0, 1.0])])
def test_lists_tuples_and_arrays_are_group_scores(returned: Any) -> None:
    assert unpacked(returned, 2) == [0.0, 1.0]
    reward = rk.reward(name="r", scope="batch")(lambda completion: returned)
    assert rk.score(reward, ["a", "b"]).total.tolist() == [0.0, 1.0]


def test_one_bad_score_in_a_group_is_one_bad_row() -> None:
    @rk.reward(scope="group")
    def mixed(completion: list[str]) -> list[float | None]:
        return [0.5, None, math.nan]

    table = Scorer(mixed).score(rk.Batch(list("abc"), prompts=["p"] * 3), strict=False)
    assert table.outcomes["mixed"].tolist() == ["scored", "abstained", "errored"]


def test_a_group_function_that_raises_leaves_other_groups_alone() -> None:
    @rk.reward(scope="group")
    def fragile(completion: list[str], prompt: str) -> list[float]:
        if prompt == "bad":
            raise ValueError("bug")
        return [0.5] * len(completion)

    batch = rk.Batch(list("abc"), prompts=["bad", "bad", "good"])
    table = Scorer(fragile).score(batch, strict=False)
    assert table.outcomes["fragile"].tolist() == ["errored", "errored", "scored"]


def test_a_two_dimensional_array_is_refused() -> None:
    reward = rk.reward(name="r", scope="batch", on_error=0.0)(lambda completion: np.zeros((2, 1)))
    assert rk.score(reward, ["a", "b"]).outcomes["r"].tolist() == ["errored", "errored"]


def test_run_stopped_passes_every_policy() -> None:
    @rk.reward(on_failure=0.5)
    def unpaid(completion: str) -> float:
        raise RunStopped("the quota is exhausted")

    with pytest.raises(rk.RewardFailure, match="reward 'unpaid' stops the run: the quota is exhausted"):
        rk.score(unpaid, ["a"])


@pytest.mark.parametrize("scope", ["sample", "group", "batch"])
def test_a_missing_extra_stops_the_run_whatever_the_policies(scope: Any) -> None:
    def needy(completion: Any) -> Any:
        raise MissingExtraError.of("rk.extract.json", "json")

    reward = rk.reward(scope=scope, on_error=0.0, on_failure=0.0)(needy)
    said = r"reward 'needy' stops the run: rk\.extract\.json needs .*pip install"
    with pytest.raises(RunStopped, match=said) as raised:
        rk.score(reward, ["a", "b"], prompts=["p", "p"])
    assert "on_error" not in str(raised.value)
    batch = rk.Batch(["a", "b"], prompts=["p", "p"])
    table = Scorer(reward).score(batch, strict=False, stops=False)
    assert str(table.stop).startswith("reward 'needy' stops the run: rk.extract.json needs")
    assert np.isnan(table.total).all()


def test_an_error_that_is_its_own_cause_is_a_bug() -> None:
    @rk.reward
    def circular(completion: str) -> float:
        error = ValueError("first")
        error.__cause__ = KeyError("second")
        error.__cause__.__cause__ = error
        raise error

    with pytest.raises(rk.errors.RewardBug, match="raised ValueError: first"):
        rk.score(circular, ["a"])


def test_a_missing_package_in_a_function_is_a_bug_that_no_number_hides() -> None:
    @rk.reward
    def imports(completion: str) -> float:
        import no_such_package  # type: ignore[import-not-found]

        return float(no_such_package.score(completion))

    with pytest.raises(rk.errors.RewardBug, match="No module named 'no_such_package'") as raised:
        rk.score(imports, ["a"])
    assert str(raised.value).endswith("Install the package, or fix the import")


def test_a_stop_may_be_reported_instead_of_raised() -> None:
    asked = []

    @rk.reward(on_failure=0.5, deterministic=False)
    def unpaid(completion: str, wanted: str) -> float:
        asked.append(completion)
        if len(asked) > 1:
            raise RunStopped("the quota is exhausted")
        return 1.0

    batch = rk.Batch(["a", "b", "c"], columns={"wanted": ["x", None, "y"]})
    table = Scorer(unpaid).score(batch, stops=False)
    assert table.stop == "reward 'unpaid' stops the run: the quota is exhausted"
    assert table.outcomes["unpaid"].tolist() == ["failed", "abstained", "failed"]
    assert np.isnan(table["unpaid"]).all()
