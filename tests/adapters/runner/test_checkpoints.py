"""Which checkpoints are complete, and which of them is the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
import torch
from safetensors.torch import save_file

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner import checkpoints
from rewardkit_adapters.runner.checkpoints import Checkpoint


def checkpoint(output: Path, step: int, **state: Any) -> Checkpoint:
    folder = output / "checkpoints" / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    save_file({"weight": torch.arange(8.0)}, folder / "model.safetensors", metadata={"format": "pt"})
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        torch.save({"a": torch.arange(100)}, folder / name)
    described = {"global_step": step, "max_steps": 10, "num_train_epochs": 3, **state}
    (folder / "trainer_state.json").write_text(json.dumps(described))
    return Checkpoint(folder)


def test_a_complete_one_has_no_fault(tmp_path: Path) -> None:
    assert checkpoint(tmp_path, 5).fault() == ""


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json"]
)
@pytest.mark.parametrize("kept", [lambda size: 0, lambda size: 5, lambda size: size // 2, lambda size: size - 1])
def test_a_file_that_is_cut_off_is_named(name: str, kept: Callable[[int], int], tmp_path: Path) -> None:
    torn = checkpoint(tmp_path, 5)
    path = torn.path / name
    data = path.read_bytes()
    path.write_bytes(data[: kept(len(data))])
    assert name in torn.fault()
    assert "truncated" in torn.fault()


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    first, second = checkpoint(tmp_path, 5), checkpoint(tmp_path, 6)
    (first.path / "model.safetensors").unlink()
    assert "weights" in first.fault()
    (second.path / "trainer_state.json").unlink()
    assert "trainer_state.json" in second.fault()


def test_they_stand_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for step in (100, 20, 3):
        checkpoint(tmp_path, step)
    (tmp_path / "checkpoints" / "checkpoint-best").mkdir()
    assert [one.step for one in checkpoints.all_in(tmp_path)] == [3, 20, 100]


def test_a_user_names_one_by_step_name_or_path(tmp_path: Path) -> None:
    own = checkpoint(tmp_path, 20)
    for text in ("20", "checkpoint-20", str(own.path), own.path):
        assert checkpoints.named(tmp_path, text).path == own.path
    with pytest.raises(ConfigError, match="checkpoint-20"):
        checkpoints.named(tmp_path, "21")
    (own.path / "optimizer.pt").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"optimizer\.pt is truncated"):
        checkpoints.named(tmp_path, "20")


def test_what_will_be_made_anew_is_put_aside(tmp_path: Path) -> None:
    for step in (2, 4, 6):
        checkpoint(tmp_path, step)
    torn = checkpoint(tmp_path, 8)
    (torn.path / "trainer_state.json").unlink()
    checkpoints.drop_after(tmp_path, Checkpoint(tmp_path / "checkpoints" / "checkpoint-4"))
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        "checkpoint-2",
        "checkpoint-4",
        "superseded-6",
    ]


def test_steps_or_epochs_mark_the_end(tmp_path: Path) -> None:
    end, middle = checkpoint(tmp_path, 10), checkpoint(tmp_path, 4)
    assert end.is_end(max_steps=10, epochs=3)
    assert not end.is_end(max_steps=11, epochs=3)
    assert end.is_end(max_steps=-1, epochs=3)
    assert not end.is_end(max_steps=-1, epochs=4)
    assert not middle.is_end(max_steps=10, epochs=3)
    assert not middle.is_end(max_steps=-1, epochs=3)
