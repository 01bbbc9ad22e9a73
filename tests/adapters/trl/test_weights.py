"""The trainer's reward_weights: they mean what they mean in TRL, and everything that is logged and recorded says so."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.batch import Batch
from tests.adapters.trl.by_hand import shares, watched
from tests.adapters.trl.stand_ins import StandInTrainer, close, plain, polite, short

pytest.importorskip("trl")
from transformers import TrainerCallback

from tests.adapters.trl import tiny
from tests.adapters.trl.test_training import generations


def length(completions: list[str], **kwargs: Any) -> list[float]:
    return [len(text) / 7 for text in completions]


def first(completions: list[str], answer: list[str], **kwargs: Any) -> list[float | None]:
    """Does not apply to some rows."""
    return [None if value == "0" else 0.3 * ("a" in text) for text, value in zip(completions, answer, strict=True)]


def trained(out: Path, functions: Any, **options: Any) -> Any:
    trainer = tiny.trainer(out, functions, **options)
    trainer.train()
    return trainer


def numbers(trainer: Any) -> list[dict[str, float]]:
    """What TRL itself logs of each step."""
    told = ("loss", "grad_norm", "reward", "entropy", "num_tokens", "frac_reward_zero_std")
    return [{name: value for name, value in entry.items() if name.startswith(told)} for entry in generations(trainer)]


unpaid_gates = pytest.mark.filterwarnings("ignore:gate .*:rewardkit.errors.RewardKitWarning")


# As TRL does it

WEIGHTS = [0.3, 2.0]


@pytest.mark.parametrize(
    ("told", "options"),
    [
        ("trainer", {}),
        pytest.param("both", {}, marks=pytest.mark.slow),
        pytest.param("trainer", {"scale_rewards": "none"}, marks=pytest.mark.slow),
        pytest.param("both", {"steps_per_generation": 2}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_weighted_list_trains_bit_by_bit_like_the_plain_list(
    tmp_path: Path, told: str, options: dict[str, Any]
) -> None:
    expected = trained(tmp_path / "plain", [length, first], reward_weights=WEIGHTS, **options)
    functions = rk.to_trl([length, first], weights=WEIGHTS if told == "both" else None)
    trainer = trained(tmp_path / "ours", functions, reward_weights=WEIGHTS, **options)
    assert numbers(trainer) == numbers(expected)
    assert functions.reward_weights == WEIGHTS
    for entry in generations(trainer):
        assert entry["weights/length"] == pytest.approx(0.3)
        assert entry["weights/first"] == 2.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "reward",
    [
        rk.weighted_sum([(0.3, length), (2, first)]),
        rk.weighted_sum({length: 0.3, first: 2.0}),
        0.3 * rk.from_trl(length) + 2 * rk.from_trl(first),
    ],
    ids=["pairs", "mapping", "operators"],
)
def test_weights_in_the_tree_train_the_same_but_for_rounding(tmp_path: Path, reward: rk.Reward) -> None:
    expected = numbers(trained(tmp_path / "plain", [length, first], reward_weights=WEIGHTS))
    for one, other in zip(numbers(trained(tmp_path / "ours", rk.to_trl(reward))), expected, strict=True):
        for name in ("loss", "grad_norm", "reward", "reward_std"):
            assert one[name] == pytest.approx(other[name], abs=1e-6), name


@pytest.mark.slow
def test_shares_totals_and_the_record_have_the_weights_of_the_trainer(tmp_path: Path) -> None:
    functions = rk.to_trl([length, first], record=tmp_path / "run")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=WEIGHTS)
    seen = watched(trainer)
    trainer.train()
    functions.flush()
    run = rk.open_run(tmp_path / "run")
    scores = run.scores().df()
    assert repr(functions.reward) == "0.3*from_trl(length) + 2*from_trl(first)"
    assert set(scores.version) == {functions.reward.fingerprint}
    for step, (generation, entry) in enumerate(zip(seen, generations(trainer), strict=True)):
        assert generation.held == pytest.approx(dict(zip(("length", "first"), WEIGHTS, strict=True)))
        parts = {name: generation.held[name] * values for name, values in generation.columns.items()}
        for name, share in shares(parts, 4).items():
            assert entry[f"advantage_share/{name}"] == pytest.approx(share, abs=1e-5)
        total = np.nansum(list(parts.values()), axis=0)
        rows = scores[scores.step == step]
        np.testing.assert_allclose(rows.total, total, atol=1e-6)
        np.testing.assert_allclose(rows["terms/length"], parts["length"], atol=1e-6)
        np.testing.assert_allclose(rows.advantage, generation.advantages, atol=1e-4)
        assert entry["reward"] == pytest.approx(total.mean(), abs=1e-6)
        for name, part in parts.items():
            assert entry[f"contributions/{name}"] == pytest.approx(np.nansum(part) / len(part), abs=1e-6)


@pytest.mark.slow
def test_weights_that_a_callback_changes_are_honored_from_there_on(tmp_path: Path) -> None:
    class Halves(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if state.global_step == 2:
                trainer.reward_weights[1] = 0.5

    functions = rk.to_trl([length, first], record=tmp_path / "run")
    trainer = tiny.trainer(tmp_path, functions, reward_weights=WEIGHTS, callbacks=[Halves()])
    trainer.train()
    functions.flush()
    entries = generations(trainer)
    assert [entry["weights/first"] for entry in entries] == [2.0, 2.0, 0.5]
    run = rk.open_run(tmp_path / "run")
    for step, total in run.sql("select step, avg(total) from scores group by step").fetchall():
        assert entries[step]["reward"] == pytest.approx(total, abs=1e-6)


ITEMS = [
    plain,
    short,
    0.5 * polite,
    rk.gate(when=short, then=close, threshold=0.5),
    rk.product(short, polite),
    polite.clip(0.0, 0.5),
]
some_weights = st.floats(-3.0, 3.0).filter(lambda weight: abs(weight) > 1e-3)


@unpaid_gates
@given(
    picked=st.lists(st.integers(0, len(ITEMS) - 1), min_size=1, max_size=4, unique=True),
    weights=st.lists(some_weights, min_size=4, max_size=4),
    told=st.booleans(),
    texts=st.lists(st.sampled_from(["", "a", "please", "please do", "xxxx"]), min_size=2, max_size=6),
)
def test_the_sum_of_the_trainer_is_the_total_of_the_weighted_reward(
    picked: list[int], weights: list[float], told: bool, texts: list[str]
) -> None:
    items, held = [ITEMS[place] for place in picked], weights[: len(picked)]
    functions = rk.to_trl(items, weights=held if told else None)
    answer = [float(number) for number in range(len(texts))]
    trainer = StandInTrainer(functions, reward_weights=held, num_generations=None)
    sums = trainer.rewards(texts, answer=answer)
    scored = rk.Scorer(functions.reward).score(Batch(texts, columns={"answer": answer}))
    np.testing.assert_allclose(sums, scored.total, rtol=1e-5, atol=1e-5)
    logged = trainer.metrics()
    for name, weight in scored.weights.items():
        assert logged[f"weights/{name}"] == pytest.approx(weight, rel=1e-5)


@pytest.mark.slow
def test_a_function_with_weight_zero_is_called_and_logged_as_in_trl(tmp_path: Path) -> None:
    expected = trained(tmp_path / "plain", [length, first], reward_weights=[0.0, 1.0])
    trainer = trained(tmp_path / "ours", rk.to_trl([length, first]), reward_weights=[0.0, 1.0])
    assert numbers(trainer) == numbers(expected)
    assert trainer.state.log_history[0]["weights/length"] == 0.0


@pytest.mark.slow
def test_gdpo_normalizes_raw_columns_and_then_weights_them(tmp_path: Path) -> None:
    options = {"multi_objective_aggregation": "normalize_then_sum", "reward_weights": WEIGHTS}
    expected = trained(tmp_path / "plain", [length, first], **options)
    trainer = trained(tmp_path / "ours", rk.to_trl([length, first], weights=WEIGHTS), **options)
    assert numbers(trainer) == numbers(expected)


def test_columns_of_components_are_weighted_by_the_trainer_too() -> None:
    functions = rk.to_trl([plain, short], outputs="components")
    trainer = StandInTrainer(functions, reward_weights=[2.0, 3.0])
    assert trainer.rewards(["a"]).tolist() == [2.0 * 1.0 + 3.0 * 0.5]
    assert trainer.metrics()["weights/short"] == 3.0
    given = rk.to_trl([plain, 0.5 * short, rk.monitor(polite)], outputs="components", weights=[2.0, 3.0, 4.0])
    assert given.reward_weights == [2.0, 1.5, 0.0]


def test_other_functions_of_the_trainer_keep_their_weights() -> None:
    def constant(completions: list[str], **kwargs: Any) -> list[float]:
        return [10.0] * len(completions)

    functions = rk.to_trl([plain, short], weights=[2.0, 3.0]).__radd__([constant])
    assert functions.reward_weights == [1.0, 2.0, 3.0]
    trainer = StandInTrainer(functions, reward_weights=[0.5, 2.0, 3.0])
    with pytest.warns(rk.errors.RewardKitWarning, match="also has reward functions"):
        assert trainer.rewards(["a"]).tolist() == [5.0 + 2.0 + 1.5]


@pytest.mark.parametrize("weights", [None, [2.0, 3.0]])
def test_a_copied_list_honors_the_weights(weights: list[float] | None) -> None:
    functions = pickle.loads(pickle.dumps(rk.to_trl([polite, short], weights=weights)))
    trainer = StandInTrainer(functions, reward_weights=[2.0, 3.0])
    assert trainer.rewards(["a"]).tolist() == [-2.0 + 1.5]
    assert trainer.metrics()["weights/polite"] == 2.0


def test_each_trainer_has_its_own_weights() -> None:
    functions = rk.to_trl([plain, short])
    one, other = StandInTrainer(functions, reward_weights=[2.0, 3.0]), StandInTrainer(functions)
    for _ in range(2):
        for trainer, weight in ((one, 3.0), (other, 1.0)):
            trainer.rewards(["a"])
            assert trainer.metrics()["weights/short"] == weight


# What cannot be matched


def advised(error: pytest.ExceptionInfo[Exception]) -> Any:
    """Return what the error says to write."""
    found = re.search(r"rk\.to_trl\(.*\)", str(error.value))
    assert found is not None, error.value
    names = {"rk": rk, "plain": plain, "length": length, "short": short, "polite": polite, "close": close}
    return eval(found[0], names)


@unpaid_gates
@pytest.mark.parametrize(
    ("items", "held", "total"),
    [
        (
            [plain, 0.5 * rk.from_trl(length) + 0.2 * short],
            [0.3, 2.0, 3.0],
            0.3 * 2 + 2.0 * 0.5 * 2 / 7 + 3.0 * 0.2 / 3,
        ),
        ([0.5 * short + polite], [2.0, 4.0], 2.0 * 0.5 / 3 - 4.0),
        ([0.5 * short, plain, short], [2.0, 4.0], 2.0 * 1.5 / 3 + 4.0 * 2),
        ([short * rk.schedules.linear(0.0, 1.0) + polite], [2.0, 4.0], 2.0 * 0.5 / 3 - 4.0),
        (
            [rk.gate(when=rk.contains(all="a"), then=short + polite), plain],
            [2.0, 2.0, 0.5],
            2.0 * (1 / 3 - 1) + 0.5 * 2,
        ),
        ([short.clip(0.0, 0.5) + rk.exact("answer", extract=rk.extract.tag("x"))], [2.0, 3.0], 2.0 / 3),
    ],
    ids=["two columns of one item", "a tree", "one column of two items", "a schedule", "a gate", "an extractor"],
)
def test_weights_that_match_no_item_are_an_error_with_the_expression_to_write(
    items: list[Any], held: list[float], total: float
) -> None:
    trainer = StandInTrainer(rk.to_trl(items), reward_weights=held, step=5)
    with pytest.raises(rk.RewardFailure, match="cannot be matched") as error:
        trainer.rewards(["aa"], answer=["2"])
    functions = advised(error)
    sums = StandInTrainer(functions, step=5).rewards(["aa"], answer=["2"])
    assert sums.tolist() == [pytest.approx(total)]


@unpaid_gates
def test_weights_inside_one_gate_that_differ_are_an_error_that_drops_none() -> None:
    trainer = StandInTrainer(
        rk.to_trl(rk.gate(when=rk.contains(all="a"), then=short + polite)), reward_weights=[2.0, 3.0]
    )
    with pytest.raises(rk.RewardFailure, match="Write them into the reward and remove"):
        trainer.rewards(["aa"])


def test_weights_of_components_that_differ_keep_both_ways_open() -> None:
    functions = rk.to_trl(0.5 * short + polite, outputs="components")
    with pytest.raises(rk.RewardFailure, match=r"pass GRPOConfig\(reward_weights=funcs.reward_weights\)") as error:
        StandInTrainer(functions, reward_weights=[2.0, 4.0]).rewards(["aa"])
    assert advised(error).reward_weights == [2.0, 4.0]


def test_weights_in_both_places_must_agree() -> None:
    functions = rk.to_trl([plain, short], weights=[1.0, 2.0])
    with pytest.raises(rk.RewardFailure, match=r"reward_weights=funcs.reward_weights\)$"):
        StandInTrainer(functions).rewards(["a"])
    with pytest.raises(rk.RewardFailure, match="or drop weights="):
        StandInTrainer(functions, reward_weights=[2.0, 1.0]).rewards(["a"])


@pytest.mark.parametrize(
    ("weights", "error", "said"),
    [
        ([1.0], rk.RewardDefinitionError, "1 weights for 2 rewards"),
        ([1.0, float("nan")], rk.RewardDefinitionError, "a weight"),
        ([1.0, "2"], rk.errors.RewardTypeError, "a weight"),
        ([1.0, rk.schedules.linear(0.0, 1.0)], rk.errors.RewardTypeError, "schedule"),
    ],
)
def test_weights_that_are_no_weights_are_refused(weights: list[Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        rk.to_trl([plain, short], weights=weights)


def test_weights_for_the_columns_of_one_reward_say_what_to_write() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="2 weights for 1 reward") as error:
        rk.to_trl(0.5 * short + polite, weights=[2.0, 4.0])
    assert repr(advised(error).reward) == "short + 4*polite"


@pytest.mark.parametrize("columns", ["terms", "components"])
def test_several_columns_of_one_item_share_its_weight(columns: Any) -> None:
    functions = rk.to_trl([0.5 * short + polite, plain], weights=[2.0, 3.0], outputs=columns)
    trainer = StandInTrainer(functions, reward_weights=functions.reward_weights)
    assert trainer.rewards(["a"]).tolist() == [2.0 * (0.25 - 1.0) + 3.0]
    assert functions.reward_weights == ([2.0, 2.0, 3.0] if columns == "terms" else [1.0, 2.0, 3.0])
