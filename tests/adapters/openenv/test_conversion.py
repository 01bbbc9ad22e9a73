"""from_openenv: rubrics give the numbers that they give in OpenEnv, and what goes wrong has an outcome."""

from __future__ import annotations

import asyncio
import pickle
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.errors import RewardTypeError
from rewardkit.testing import check_reward
from tests.adapters.openenv.stand_ins import Gate, Rubric, Sequential, WeightedSum

TEXTS = ["four", "2", "no number"]


class Right(Rubric):
    def forward(self, action: Any, observation: Any) -> float:
        return float(action == observation.answer)


class Length(Rubric):
    def __init__(self, most: int = 10) -> None:
        super().__init__()
        self.most = most

    def forward(self, action: Any, observation: Any) -> float:
        return len(action) / self.most


class Expected(Rubric):
    """Is told the answer when the environment is reset, and counts what it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.expected: str | None = None
        self.seen = 0

    def reset(self) -> None:
        self.expected, self.seen = None, 0

    def forward(self, action: Any, observation: Any) -> float:
        self.seen += 1
        return float(action == self.expected) / self.seen


class Asked(Rubric):
    async def forward(self, action: Any, observation: Any) -> float:
        await asyncio.sleep(0.001)
        return len(action) / 100


def scored(rubric: Any, *arguments: Any, **options: Any) -> rk.ScoreTable:
    return rk.score(rk.from_openenv(rubric, *arguments, **options), TEXTS, answer=["four", "four", "no number"])


def test_without_a_step_the_action_is_the_text_and_the_observation_has_the_columns() -> None:
    assert scored(Right()).total.tolist() == [1.0, 0.0, 1.0]

    class Reads(Rubric):
        def forward(self, action: Any, observation: Any) -> float:
            assert (observation.done, observation.reward) == (True, None)
            return float(observation.metadata["answer"] == action)

    assert scored(Reads()).total.tolist() == [1.0, 0.0, 1.0]


def test_a_sum_is_its_rubrics_and_zero_weights_are_watched() -> None:
    table = scored(WeightedSum([Right(), Length(), Length(5)], [0.75, 0.25, 0.0]))
    assert list(table.components) == ["Right", "Length", "Length_2"]
    assert list(table.terms) == ["Right", "Length"]
    assert table.total.tolist() == [0.75 + 0.4 * 0.25, 0.1 * 0.25, 0.75 + 0.9 * 0.25]
    named = scored(WeightedSum([Right(), Length()], [0.75, 0.25]), name="rubric")
    assert list(named.terms) == ["rubric"]


def test_gates_in_a_row_are_gates() -> None:
    calls = []

    class Costly(Rubric):
        def forward(self, action: Any, observation: Any) -> float:
            calls.append(action)
            return 0.5

    rubric = Sequential(Gate(Right()), Gate(Length(), 0.5), WeightedSum([Costly(), Length()], [0.5, 0.5]))
    table = scored(rubric)
    assert table.total.tolist() == [0.0, 0.0, 0.5 * 0.5 + 0.5 * 0.9]
    assert list(table.components) == ["Right", "Length", "Costly", "Length_2"]
    assert calls == ["no number"]


@pytest.mark.parametrize(
    "rubric",
    [
        Sequential(Right(), Length()),  # goes on for anything but 0
        Sequential(Gate(Right(), 0.0), Length()),
        Sequential(Length()),
        Gate(Length(), 0.4 + 1e-12),  # nearer than rewardkit's tolerance
        Gate(WeightedSum([Right(), Length()], [0.5, 0.5]), 0.3),
    ],
    ids=["no gates", "a gate at 0", "one rubric", "a gate", "a gate around a sum"],
)
def test_other_containers_are_called_as_they_are(rubric: Any) -> None:
    wanted = [
        rubric(text, SimpleNamespace(answer=gold))
        for text, gold in zip(TEXTS, ("four", "four", "no number"), strict=True)
    ]
    table = scored(rubric)
    assert table.total.tolist() == wanted
    assert len(table.components) == 1


def test_hooks_of_a_sum_see_it_called() -> None:
    seen = []
    rubric = WeightedSum([Right(), Length()], [0.5, 0.5])
    rubric.register_forward_hook(lambda *arguments: seen.append(arguments[-1]))
    table = scored(rubric)
    assert seen == table.total.tolist()
    assert table.parts["WeightedSum"]["rubric_0"].tolist() == [1.0, 0.0, 1.0]


def test_rubrics_are_reset_and_told_the_answer_for_each_completion() -> None:
    def reset(rubric: Any, answer: str) -> None:
        for node in rubric.rubrics():
            node.expected = answer

    rubric = WeightedSum([Expected(), Expected()], [0.5, 0.5])
    assert scored(rubric, reset=reset).total.tolist() == [1.0, 0.0, 1.0]
    assert scored(rubric, reset=reset).total.tolist() == [1.0, 0.0, 1.0]


def test_the_last_step_of_an_episode_counts() -> None:
    class Sum(Rubric):
        def __init__(self) -> None:
            super().__init__()
            self.sum = 0

        def reset(self) -> None:
            self.sum = 0

        def forward(self, action: Any, observation: Any) -> int:
            self.sum += observation
            return self.sum

    def steps(completion: str) -> list[Any]:
        return [("next", len(word)) for word in completion.split()]

    assert scored(Sum(), steps).total.tolist() == [4.0, 1.0, 8.0]


def test_async_rubrics_run_at_the_same_time_unless_they_remember() -> None:
    running, most = 0, []

    class Busy(Rubric):
        async def forward(self, action: Any, observation: Any) -> float:
            nonlocal running
            running += 1
            most.append(running)
            await asyncio.sleep(0.005)
            running -= 1
            return 1.0

    class BusyWithReset(Busy):
        def reset(self) -> None: ...

    assert scored(Busy()).total.tolist() == [1.0] * 3
    assert max(most) == 3
    most.clear()
    assert scored(BusyWithReset()).total.tolist() == [1.0] * 3
    assert max(most) == 1
    assert scored(WeightedSum([Asked(), Length()], [0.5, 0.5])).total.tolist()[1] == 0.5 * 0.01 + 0.5 * 0.1


def test_an_outer_rubric_may_hand_back_the_coroutine_of_an_inner_one() -> None:
    class Outer(Rubric):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Asked()

        def forward(self, action: Any, observation: Any) -> Any:
            return self.inner(action, observation)

    assert scored(Outer()).total.tolist() == [0.04, 0.01, 0.09]


def test_failures_abstentions_and_bugs_have_outcomes() -> None:
    class RateLimitError(Exception):
        """As the clients of language models raise it."""

    def raising(error: Any) -> Rubric:
        class Raising(Rubric):
            def forward(self, action: Any, observation: Any) -> Any:
                if isinstance(error, Exception):
                    raise error
                return error

        return Raising()

    def outcome(error: Any, **options: Any) -> tuple[str, list[float]]:
        reward = rk.from_openenv(raising(error), **options) + 0 * rk.from_openenv(Length())
        table = rk.Scorer(reward).score(rk.Batch(["4"]), strict=False)
        return str(list(rk.Outcome)[int(table.components["Raising"].codes[0])]), table.total.tolist()

    for outage in (ConnectionError("down"), TimeoutError(), RateLimitError("slow down")):
        assert outcome(outage)[0] == "failed"
    assert outcome(None)[0] == "abstained"
    assert outcome(float("nan"), bounds=(-1, 1)) == ("errored", [-1.0])
    assert outcome(KeyError("text"), bounds=(-1, 1)) == ("errored", [-1.0])
    assert outcome(2.0, bounds=(-1, 1)) == ("errored", [-1.0])
    with pytest.raises(rk.errors.RewardBug, match="KeyError: 'text'"):
        scored(raising(KeyError("text")))


def test_a_missing_attribute_names_the_step() -> None:
    class Message(Rubric):
        def forward(self, action: Any, observation: Any) -> float:
            return float(len(action.message))

    with pytest.raises(rk.errors.RewardBug, match="pass step=, a function that returns the action and the observation"):
        scored(Message())
    with pytest.raises(rk.errors.RewardBug, match=r"step returned 'four' \(str\)"):
        scored(Right(), lambda completion: completion)
    with pytest.raises(rk.errors.RewardBug, match=r"step returned \[\] \(list\)"):
        scored(Right(), lambda completion: [])


def test_what_waits_without_saying_so_is_refused() -> None:
    class Hidden(Rubric):
        def forward(self, action: Any, observation: Any) -> Any:
            return asyncio.sleep(0)

    class Ready(Rubric):
        async def _later(self) -> float:
            return 0.5

        def forward(self, action: Any, observation: Any) -> Any:
            return self._later()

    with pytest.raises(rk.errors.RewardBug, match="Write it as `async def forward`"):
        scored(Hidden())
    assert scored(Ready()).total.tolist() == [0.5] * 3


def test_what_is_not_a_rubric_is_refused() -> None:
    with pytest.raises(RewardTypeError, match=r"Pass an instance: from_openenv\(Right\(\.\.\.\)\)"):
        rk.from_openenv(Right)
    with pytest.raises(RewardTypeError, match=r"expected an OpenEnv rubric, got 0\.5"):
        rk.from_openenv(0.5)
    with pytest.raises(rk.RewardDefinitionError, match="annotate the argument 'answer' differently"):
        rk.from_openenv(Right(), lambda completion, answer: (completion, answer), reset=_numbers)
    with pytest.raises(rk.RewardDefinitionError, match="bounds must be"):
        rk.from_openenv(Right(), bounds=(1, 0))


def _numbers(rubric: Any, answer: float) -> None: ...


class Unhashable(Right):
    __hash__ = None  # type: ignore[assignment]


def test_a_rubric_must_be_hashable() -> None:
    with pytest.raises(RewardTypeError, match="must be hashable"):
        rk.from_openenv(Unhashable())


def test_a_container_whose_forward_is_never_called_is_reported() -> None:
    class Mine(WeightedSum):
        def forward(self, action: Any, observation: Any) -> float:
            return 7.0

    with pytest.warns(
        rk.errors.RewardKitWarning, match=r"Mine \(a WeightedSum\) overrides forward, which OpenEnv never calls"
    ):
        reward = rk.from_openenv(Mine([Right()], [1.0]))
    assert rk.score(reward, ["4"], answer=["4"]).total.tolist() == [1.0]


def test_a_rubric_that_no_one_tells_the_answer_is_reported() -> None:
    class Told(Expected):
        def set_expected(self, expected: str) -> None:
            self.expected = expected

    with pytest.warns(
        rk.errors.RewardKitWarning, match=r"calls Told\.set_expected when it is reset.* rubric\.set_expected\(answer\)"
    ):
        rk.from_openenv(Told())
    assert scored(Told(), reset=lambda rubric, answer: rubric.set_expected(answer)).total.tolist() == [1.0, 0.0, 1.0]


def test_rewards_of_one_rubric_are_equal_and_can_be_pickled() -> None:
    rubric = Length()
    assert rk.from_openenv(rubric) == rk.from_openenv(rubric)
    assert rk.from_openenv(rubric) != rk.from_openenv(Length())
    assert rk.from_openenv(rubric).fingerprint == rk.from_openenv(Length()).fingerprint
    assert rk.from_openenv(rubric).fingerprint != rk.from_openenv(Length(11)).fingerprint
    revived = pickle.loads(pickle.dumps(rk.from_openenv(rubric)))
    assert rk.score(revived, TEXTS, answer=TEXTS).total.tolist() == [0.4, 0.1, 0.9]


def test_a_rubric_can_be_checked() -> None:
    reward = rk.from_openenv(Expected(), reset=_tell, bounds=(0, 1))
    report = check_reward(
        reward,
        examples=[{"answer": "42"}, {"answer": "Paris"}],
        good=["42", "Paris"],
        laws=["reads_what_it_asks_for", "gold_gets_the_maximum", "deterministic", "thread_safe", "picklable"],
        isolate=False,
    )
    assert report.ok, report


def _tell(rubric: Any, answer: str) -> None:
    rubric.expected = answer
