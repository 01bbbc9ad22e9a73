"""``rewardkit train --evaluate``: checkpoints side by side, and what several tries are worth."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

pytest.importorskip("trl")
import io

from rich.console import Console

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner.evaluate import evaluate, pass_rates
from tests.adapters.runner.projects import config, trained


@pytest.mark.slow
def test_checkpoints_stand_side_by_side(tmp_path: Path) -> None:
    run = config(tmp_path)
    trained(run)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    printed = io.StringIO()
    console = Console(file=printed, width=200)
    found = tmp_path / "found.json"
    assert evaluate(run, checkpoint=["start", "last"], out=found, console=console) == 0
    written = json.loads(found.read_text())
    assert written["start"]["total"] == pytest.approx(summary["before"]["total"])
    assert written["checkpoint-4"]["total"] == pytest.approx(summary["after"]["total"])
    assert "change" in printed.getvalue()

    model = str(tmp_path / "out" / "model")
    many = evaluate(run, checkpoint=["2", "4", model], generations=3, prompts=2, out=found, console=console)
    assert many == 0
    written = json.loads(found.read_text())
    assert [len(row["model"]["completions"]) for row in written["rows"]] == [3, 3]
    assert written["model"] == written["checkpoint-4"]  # the same weights, and the same draws
    assert "pass@2" in printed.getvalue()

    with pytest.raises(ConfigError, match="checkpoint-2, checkpoint-4"):
        evaluate(run, checkpoint="3", console=console)


def test_it_is_said_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no complete checkpoint"):
        evaluate(config(tmp_path))
    with pytest.raises(ConfigError, match=r"--out .*: there is no folder"):
        evaluate(config(tmp_path), out=tmp_path / "nowhere" / "found.json")
    with pytest.raises(ConfigError, match="--split"):
        evaluate(config(tmp_path, eval=None))
    acts = config(tmp_path, eval=None, model="org/model", environment="reward.py:Shop")
    with pytest.raises(ConfigError, match="a run with an environment cannot be evaluated"):
        evaluate(acts, split="test")


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=5))
def test_pass_at_k_is_the_share_of_choices_that_hold_a_success(prompts: list[list[bool]]) -> None:
    totals = [float(success) for tries in prompts for success in tries]
    rates = pass_rates(totals, 4, 1.0)
    for many in (1, 2, 4):
        shares = []
        for tries in prompts:
            choices = list(itertools.combinations(tries, many))
            shares.append(sum(map(any, choices)) / len(choices))
        assert rates[f"pass@{many}"] == pytest.approx(sum(shares) / len(shares))
    assert rates["pass@1"] <= rates["pass@2"] + 1e-12
    assert rates["best of 4"] == pytest.approx(rates["pass@4"])


def test_tries_that_could_not_be_scored_stand_in_no_rate() -> None:
    rates = pass_rates([1.0, math.nan, 0.0, 0.0], 2, 1.0)
    assert rates == {"pass@1": 0.5, "pass@2": 0.0, "best of 2": 0.5}
    assert math.isnan(pass_rates([math.nan, math.nan], 2, 1.0)["pass@1"])


def test_without_a_highest_total_only_the_best_is_said() -> None:
    assert pass_rates([3.0, 5.0], 2, math.inf) == {"best of 2": 5.0}
