"""calibrate and estimate_signal, from data to what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reports.measured import calibrate, estimate_signal
from rewardkit.errors import DataError

number = rk.number("answer")
form = rk.tags("answer")
wrong: Any = 3


@rk.reward(expensive=True)
def judge(completion: str) -> float:
    return len(completion) % 5 / 4


def record(prompt: str, completion: str, label: object = None) -> dict[str, Any]:
    return {"prompt": prompt, "completion": completion, "answer": "42", "label": label, "model": completion}


DATA = [
    record("a", "<answer>42</answer>", "yes"),
    record("b", "<answer>42</answer>", "yes"),
    record("a", "<answer>41</answer>", "no"),
    record("b", "42", "yes"),
    record("a", "dunno", "no"),
    record("c", "dunno", "no"),
    record("c", "who knows", "no"),
]


def test_calibrate_reads_scores_and_judges(tmp_path: Path) -> None:
    path = tmp_path / "labeled.jsonl"
    path.write_text("\n".join(map(json.dumps, DATA)), encoding="utf-8")
    reward = 0.2 * form + rk.gate(form, 0.8 * number)
    found = calibrate(reward, path, threshold=0.9)
    assert (found.rows, found.groups, found.good, found.bad) == (7, 3, 3, 4)
    assert found.total.within.right == 2
    assert found.total.given is not None
    assert found.total.given.false_negatives == 1
    assert [case.row for case in found.total.too_low] == [3]
    assert found["number"].unscored == 4  # behind the gate
    assert found["tags"].saturation is not None
    assert found["tags"].saturation.at_upper_bound == pytest.approx(3 / 7)
    assert calibrate(reward, DATA, threshold=0.9) == found


def test_rows_refer_to_the_data_when_groups_are_sorted() -> None:
    found = calibrate(rk.rank_in_group(number) + 0.0 * form, DATA)
    assert {case.row for case in found.total.too_low} <= {0, 1, 3}
    assert found.total.too_low[0].completion == DATA[found.total.too_low[0].row]["completion"]


def test_errors_of_a_reward_are_reported_and_do_not_stop_it() -> None:
    @rk.reward
    def fragile(completion: str) -> float:
        return 1.0 / (completion.count("4"))

    found = calibrate(fragile, DATA)
    assert "'fragile' errored on 3 of 7 completions" in found.warnings[0]


def test_non_rewards_are_errors() -> None:
    with pytest.raises(rk.RewardDefinitionError):
        calibrate(wrong, DATA)
    with pytest.raises(rk.RewardDefinitionError):
        estimate_signal(wrong, DATA)


def test_signal_with_gates_and_costs() -> None:
    reward = 0.2 * form + rk.gate(form, number + 0.1 * judge)
    found = estimate_signal(reward, DATA, steps=10, completions_per_step=70, price_per_call=0.5)
    (gate,) = found.gates
    assert (gate.pass_rate, gate.starved, gate.saturated) == pytest.approx((3 / 7, 1 / 3, 0.0))
    (calls,) = found.calls
    assert (calls.component, calls.per_completion, calls.in_run, calls.cost) == pytest.approx(
        ("judge", 3 / 7, 300.0, 150.0)
    )
    assert found.silent == pytest.approx(1 / 3)
    shown = str(found)
    assert "7 completions, 3 prompts with 2 to 3 samples each" in shown
    assert "judge" in shown
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("reward", "starved"),
    [
        (rk.gate(form, number, soft=True), {"tags_gate": 1 / 3}),
        (rk.gate(form, number, otherwise=-1.0), {"tags_gate": 1 / 3}),
        (rk.gate([form, number], judge), {"tags_gate": 1 / 3, "number_gate": 0.0}),
        (rk.gate(0.5 * form + 0.5 * number, judge, threshold=0.5).named("both"), {"both": 1 / 3}),
        (number + rk.gate(rk.maximum(form, number), judge), {"maximum_gate": 1 / 3}),
        (rk.route({"42": rk.gate(form, number)}, by="answer"), {"tags_gate": 1 / 3}),
        # Neither scored twice nor given by the columns, so unknown.
        (rk.gate(0.5 * judge + 0.5 * number, form, threshold=0.5).named("costly"), {"costly": 0.0}),
    ],
)
def test_gates_are_read_off_their_conditions(reward: rk.Reward, starved: dict[str, float | None]) -> None:
    found = estimate_signal(reward, DATA)
    assert {gate.name: gate.starved for gate in found.gates} == {
        name: pytest.approx(share) for name, share in starved.items()
    }
    assert all(gate.pass_rate is not None for gate in found.gates)


def test_a_gate_in_a_fallback_is_not_guessed() -> None:
    @rk.reward
    def down(completion: str) -> float:
        raise rk.RewardFailure("the service does not answer")

    half = rk.route({"42": rk.fallback(number, rk.gate(form, judge))}, by="answer")
    assert estimate_signal(half, DATA).gates[0].starved is None
    assert estimate_signal(rk.fallback(down, rk.gate(form, judge)), DATA).gates[0].starved == pytest.approx(1 / 3)


def test_schedules_start_at_the_first_step() -> None:
    reward = form * rk.schedules.linear(1.0, 0.0) + number * rk.schedules.linear(0.0, 1.0)
    assert estimate_signal(reward, DATA).advantage_shares == {"tags": pytest.approx(1.0), "number": 0.0}
    end = estimate_signal(reward, DATA, progress=rk.Progress(100, 100))
    assert end.advantage_shares["number"] == pytest.approx(1.0)


def test_missing_arguments_are_errors() -> None:
    with pytest.raises(DataError, match="'prompt'"):
        estimate_signal(number, [{"completion": "42", "answer": 42}])
    with pytest.raises(rk.RewardDefinitionError, match="completions_per_step"):
        estimate_signal(number, DATA, steps=10)
    with pytest.raises(rk.errors.BindingError, match="only one completion"):
        estimate_signal(number, DATA[:2])


def test_plain_functions_and_lists_are_measured_like_rewards() -> None:
    def long(completion: str, least: int) -> float:
        return float(len(completion) >= least)

    rows = [
        {"prompt": "p", "completion": text, "least": "2", "label": len(text) > 1} for text in ("a", "bb", "c", "dd")
    ]
    decorated, found = rk.reward(long), calibrate(rk.reward(long), rows)
    for plain in (long, [long]):
        assert calibrate(plain, rows).total.within == found.total.within
        assert len(calibrate(plain, rows).components) == len(found.components) == 1
        estimated = estimate_signal(plain, rows, num_generations=2)
        assert str(estimated) == str(estimate_signal(decorated, rows, num_generations=2))
