"""Replay: scores do not depend on batches and processes, and errors affect only their row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import BindingError, DataError, RewardDefinitionError, RunStopped
from rewardkit.scoring.columns import Columns
from rewardkit.scoring.engine import score_saved
from rewardkit.scoring.parts import HeldRows, Listed
from rewardkit.scoring.processes import Workers, one_reward
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.scoring.sources import Saved, saved
from rewardkit.tree.evaluation.scorer import Scorer
from tests.scoring import replayed as rewards


def listed(rows: Sequence[dict[str, Any]], apart: tuple[str, ...] = ()) -> Saved:
    """Rows that lie in memory."""
    kinds = {name: {object} for row in rows for name in row}

    return Saved("rows", len(rows), kinds, lambda: [HeldRows(Listed(rows))], apart)  # type: ignore[arg-type]


def scored(name: str, rows: Any, *, sources: dict[str, str] | None = None, batch: int = 512) -> Scores:
    found = rows if isinstance(rows, Saved) else listed(rows)
    columns = Columns.of_saved(one_reward(rewards.TARGET + name), found, sources)
    parts = list(columns.scores(found.chunks(batch), batch))
    assert [row for chunk, _ in parts for row in chunk.rows()] == [
        row for chunk in found.chunks(99) for row in chunk.rows()
    ]
    return Scores.joined([scores for _, scores in parts])


answers = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(answers, st.integers(1, 40))
def test_batches_make_no_difference(pairs: list[tuple[int, int]], most: int) -> None:
    rows = [{"completion": f"<answer>{said}</answer>", "answer": str(gold)} for said, gold in pairs]
    table = rk.score(rewards.both, [row["completion"] for row in rows], answer=[row["answer"] for row in rows])
    found = scored("both", rows, batch=most)
    assert found.total.tolist() == table.total.tolist()
    assert list(found.components) == ["number", "short"]
    assert found.components["number"].tolist() == table["number"].tolist()


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=6), st.integers(1, 40))
def test_groups_stay_whole_whatever_the_batches(groups: list[list[int]], most: int) -> None:
    rows = [
        {"prompt": f"prompt {number}", "completion": "x" * length, "answer": "1", "note": place}
        for number, group in enumerate(groups)
        for place, length in enumerate(group)
    ]
    expected = [float(length == max(group)) for group in groups for length in group]
    assert scored("longest", rows, batch=most).total.tolist() == expected
    assert len(scored("ranked", rows, batch=most).total) == len(rows)


def test_one_prompt_at_two_steps_is_two_groups() -> None:
    rows = [{"step": step, "prompt": "p", "completion": "x" * (step + row)} for step in (1, 5) for row in (0, 1)]
    assert scored("longest", listed(rows, apart=("step",))).total.tolist() == [0.0, 1.0, 0.0, 1.0]
    assert scored("longest", rows).total.tolist() == [0.0, 0.0, 0.0, 1.0]


def test_interleaved_prompts_are_refused_if_the_reward_compares() -> None:
    rows = [{"prompt": prompt, "completion": "x" * length, "answer": "1"} for length in (1, 2) for prompt in "pqr"]
    with pytest.raises(DataError, match=r"Sort the rows by prompt"):
        scored("longest", rows)
    assert len(scored("number", rows).total) == 6
    epochs = [{"prompt": prompt, "completion": "x" * length} for prompt in "pqp" for length in (1, 2)]
    assert scored("longest", epochs).total.tolist() == [0.0, 1.0] * 3


def test_columns_may_have_other_names() -> None:
    rows = [{"text": "<answer>1</answer>", "reference": "1", "answer": "2"}]
    assert scored("number", rows, sources={"completion": "text", "answer": "reference"}).total.tolist() == [1.0]


def test_a_trainers_function_gets_its_columns() -> None:
    rows = [{"prompt": "p", "completion": text, "answer": "1", "model": "m"} for text in ("1", "2")]
    assert scored("plain", rows).total.tolist() == [1.0, 0.0]


def test_a_row_that_cannot_be_scored_does_not_affect_others() -> None:
    rows = [{"completion": "<answer>1</answer>", "answer": "1"} for _ in range(9)]
    rows[2]["answer"], rows[7]["completion"] = "many", None  # type: ignore[assignment]
    found = scored("number", rows)
    assert np.flatnonzero(np.isnan(found.total)).tolist() == [2, 7]
    (why,) = found.errors[2]
    assert "column 'answer': 'many'" in why  # not row 0, which is its place in a batch
    assert found.errors[7] == ("this row has no completion",)
    assert found.components["number"].tolist()[3] == 1.0


def test_a_bug_scores_the_lowest_bound_with_a_reason() -> None:
    found = scored("closeness", [{"completion": text, "answer": "1"} for text in ("1", "one")])
    assert found.total.tolist() == [1.0, 0.0]
    assert found.errors.keys() == {1}
    assert found.errors[1][0].startswith("closeness: raised ValueError: ")


def test_an_unknown_route_is_an_error_of_its_row() -> None:
    tasks = ["math", "text", "poem"]
    found = scored("routed", [{"completion": "1", "answer": "1", "gold": "1", "task": task} for task in tasks])
    assert found.total.tolist()[:2] == [1.0, 1.0]
    (why,) = found.errors[2]
    assert "this row has 'poem'" in why


def test_a_row_where_all_abstain_has_no_total_and_no_error() -> None:
    found = scored("number", [{"completion": "1", "answer": "1"}, {"completion": "1", "answer": None}])
    assert np.isnan(found.total).tolist() == [False, True]
    assert found.errors == {}
    assert found.notes == {"number": {1: "the column 'answer' is None here"}}


def test_errors_that_affect_all_rows_stop_the_replay() -> None:
    @rk.reward
    def quota(completion: str) -> float:
        raise RunStopped("the quota is used up")

    with pytest.raises(RunStopped, match="used up"):
        score(Scorer(quota), Work(["a", "b"], None, None, {}))


@pytest.mark.parametrize(
    ("name", "rows", "sources", "error", "message"),
    [
        ("number", [{"completion": "1", "anser": "1"}], {}, BindingError, r"needs the column 'answer'.*'anser'"),
        (
            "number",
            [{"text": "1", "answer": "1"}],
            {},
            DataError,
            "no column 'completion'.*--completion.*text",
        ),
        ("number", [{"completion": "1"}], {"answer": "gold"}, DataError, "no column 'gold'"),
        ("longest", [{"completion": "1"}], {}, DataError, "no column 'prompt'.*--columns prompt=COLUMN"),
        ("numbr", [{"completion": "1"}], {}, RewardDefinitionError, "Did you mean 'number'"),
    ],
)
def test_unusable_data_is_reported_before_scoring(
    name: str, rows: Any, sources: dict[str, str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Columns.of_saved(one_reward(rewards.TARGET + name), listed(rows), sources)


def test_a_file_with_several_rewards_needs_a_name(tmp_path: Path) -> None:
    path = tmp_path / "two_rewards.py"
    path.write_text("import rewardkit as rk\na = rk.exact('answer')\nb = rk.number('answer')\n")
    with pytest.raises(DataError, match=r"several rewards \(a, b\).*two_rewards.py:a"):
        one_reward(str(path))


def test_a_list_beside_a_reward_is_another_reward(tmp_path: Path) -> None:
    path = tmp_path / "list_and_sum.py"
    path.write_text(
        "import rewardkit as rk\ndef _long(completions, **_):\n    return [float(len(one)) for one in completions]\n"
        "reward_funcs = [_long]\nweighted = rk.weighted_sum({_long: 2.0})\n"
    )
    with pytest.raises(DataError, match=r"several rewards \(reward_funcs, weighted\)"):
        one_reward(str(path))


@pytest.fixture
def many(tmp_path: Path) -> Saved:
    path = tmp_path / "many.jsonl"
    rows = [{"completion": "die" if row == 5 else "x" * (row % 7), "prompt": f"p{row // 4}"} for row in range(8)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return saved(path)


def processes_of(name: str, many: Saved, processes: int | None) -> int | None:
    """The number of processes that score the data."""
    target, workers = rewards.TARGET + name, Workers(processes)
    assert score_saved(target, many, Columns.of_saved(one_reward(target), many), workers=workers, batch=3).rows == 8
    return workers.processes


def test_a_reward_that_waits_uses_one_process(many: Saved) -> None:
    assert processes_of("waiting", many, 2) == 1


def test_more_processes_start_only_for_long_work(many: Saved) -> None:
    assert processes_of("longest", many, None) is None
