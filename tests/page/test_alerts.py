"""Alerts of a recorded run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rewardkit.errors import NotARun
from rewardkit.page.alerts import alerts_of, read_evidence
from tests.page.recorded import conversations, ordinary
from tests.record.batches import batch, written


def test_alerts_of_a_run_have_texts(tmp_path: Path) -> None:
    alerts = alerts_of(ordinary(tmp_path / "run", steps=40))
    assert [alert.strength for alert in alerts] == sorted((alert.strength for alert in alerts), reverse=True)
    evidence = read_evidence(str(tmp_path / "run"))
    assert callable(evidence.completions)
    assert len(evidence.completions(np.array(alerts[0].rows))) == len(alerts[0].rows) > 0
    assert evidence.bounds["form"] == (0.0, 1.0)
    assert replace(evidence, monitored=frozenset({"form"})).monitored == {"form"}
    with pytest.raises(NotARun):
        alerts_of(tmp_path / "nowhere")


def test_the_evidence_has_the_calls_of_conversations(tmp_path: Path) -> None:
    found = read_evidence(conversations(tmp_path / "talking", 2))
    assert found.calls is not None
    assert found.repeated_calls is not None
    assert found.unfinished is not None
    columns = (found.calls, found.repeated_calls, found.unfinished)
    assert [values.tolist() for values in columns] == [[1, 1, 2, 1] * 2, [0, 0, 1, 0] * 2, [0, 0, 1, 0] * 2]
    assert read_evidence(ordinary(tmp_path / "plain", 2)).calls is None


@pytest.mark.parametrize(("ids", "limit"), [([range(9)] * 4, 9.0), (None, None)], ids=["tokens", "characters"])
def test_a_token_limit_does_not_apply_to_characters(tmp_path: Path, ids: object, limit: float | None) -> None:
    written(tmp_path, batch(1, completion_ids=ids, metrics={"limit/tokens": 9.0}))
    assert read_evidence(tmp_path).maximum_length == limit
