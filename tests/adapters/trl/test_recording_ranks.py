"""Two processes record into one folder: each its own rows, and the main one the metrics of both."""

from __future__ import annotations

import numpy as np
import pytest

from rewardkit.record.run import open_run
from tests.adapters.trl.launched import Launched, on_two_ranks
from tests.adapters.trl.recorded import CASES
from tests.adapters.trl.test_recording import metrics, rows


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    """The results of two processes that ran all cases."""
    return on_two_ranks("recorded.py", tmp_path_factory.mktemp("recorded"), CASES)


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_each_of_two_ranks_records_its_own_rows(launched: Launched, case: str) -> None:
    ranks = launched.ranks(case)
    run = open_run(launched.out / case / "record")
    recorded = rows(run, training=None)
    assert set(recorded.attempt) == {1}
    for rank, seen in enumerate(ranks):
        own = recorded[recorded["rank"] == rank]
        texts = run.sql(f"select completion from completions where rank = {rank} order by part, row").fetchall()
        assert [text for (text,) in texts] == seen["completions"]
        if case == "cut":
            assert own.advantage.isna().all()
        else:
            np.testing.assert_allclose(own.advantage, seen["advantages"], atol=2e-5)
        said = run.sql(f"select component, row, message from logs where kind = 'print' and rank = {rank}").fetchall()
        assert said
        for component, row, message in said:
            assert component in ("chatty", "judging")
            assert row is None or 0 <= row < seen["batch"]
            assert row is None or message in {f"seen {text}" for text in seen["completions"]}
    per_step = metrics(run)
    names = {name for (name,) in run.sql("select distinct name from metrics where rank = 1").fetchall()}
    assert all(name.startswith(("seconds/", "diversity/", "recorder/")) for name in names)
    for entry in ranks[0]["history"]:
        said_then = per_step[entry["step"] - 1]
        batch = recorded[recorded.step == entry["step"] - 1]
        assert batch.total.mean() == pytest.approx(entry["reward"], abs=1e-6)
        assert said_then["components/early"] == pytest.approx(entry["components/early"], abs=1e-6)
        assert said_then["trainer/loss"] == pytest.approx(entry["loss"], abs=1e-6)
