"""What has changed when a run goes on: said, or refused where nothing good can come of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
import rewardkit as rk
from rewardkit.errors import ConfigError, RewardKitError
from rewardkit.scoring.sources import saved
from rewardkit_adapters.runner import changes, folder
from rewardkit_adapters.runner.config_file import printed
from rewardkit_adapters.runner.plan import Plan
from tests.adapters.runner.projects import config


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """The folder of a project whose run has begun with 4 rows held out."""
    plan = Plan.of(config(tmp_path), None)
    plan.output.mkdir()
    (plan.output / folder.WRITTEN).write_text(printed(plan.config.anchored()), encoding="utf-8")
    changes.keep(plan)
    return tmp_path


def said(project: Path, **changed: Any) -> list[str]:
    return changes.since(Plan.of(config(project, **changed), None))


def test_readers_of_a_run_that_is_starting_say_so(begun: Path) -> None:
    run = begun / "out"
    readers: list[Callable[[], object]] = [
        lambda: rk.open_run(run),
        lambda: rk.get_config(run),
        lambda: rk.update_config(run, weights={"named": 0.1}),
        lambda: saved(run),
    ]
    for reader in readers:
        with pytest.raises(RewardKitError, match=r"out has not scored its first batch yet\. Try again later"):
            reader()
    (run / folder.SUMMARY).write_text("{}")  # a run without a record
    with pytest.raises(RewardKitError, match="is not a recorded run"):
        rk.open_run(run)


def test_the_same_settings_are_nothing_to_speak_of(begun: Path) -> None:
    assert said(begun) == []
    assert said(begun, preflight=True) == []


def test_a_changed_setting_is_said(begun: Path) -> None:
    assert said(begun, grpo={"max_steps": 9}) == ["changed: grpo.max_steps 4 -> 9"]
    first, second = said(begun, grpo={"num_generations": 8})
    assert first == "changed: grpo.num_generations 4 -> 8"
    assert "order of the prompts changes" in second


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": {"name": "tiny", "size": "medium"}}, r"trained with model\.size unset \(now 'medium'\)"),
        ({"lora": {"r": 4}}, r"the checkpoint was trained with lora\.r unset \(now 4\), .* fit no other value"),
        ({"model": "somebody/else"}, r"trained with model\.name 'tiny' \(now 'somebody/else'\)"),
        ({"seed": 8}, r"changed: seed 7 -> 8; the prompts are not the same as before\. eval\.hold_out would hold out"),
    ],
)
def test_what_cannot_go_on_is_refused(begun: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        said(begun, **changed)


def test_other_rows_in_the_same_file_are_noticed(begun: Path) -> None:
    plan = Plan.of(config(begun, eval=None), None)
    changes.keep(plan)
    other = Plan(plan.config, plan.reward, plan.training.select(range(1, 24)), None, None)
    assert "the prompts differ from the prompts in the first steps" in changes.since(other)[-1]


def test_what_cannot_be_compared_does_not_stop_anything(begun: Path) -> None:
    (begun / "out" / folder.WRITTEN).write_text("a: [")
    (begun / "out" / folder.PROMPTS).unlink()
    assert said(begun, seed=8) == []
