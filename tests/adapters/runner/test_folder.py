"""The folder of a run belongs to one process at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("trl")
from rewardkit.errors import ConfigError
from rewardkit_adapters.runner import folder
from tests.adapters.runner.projects import config, trained


def test_two_trainings_do_not_share_a_folder(tmp_path: Path) -> None:
    run = config(tmp_path, eval=None)
    with (
        folder.lock_folder(run.output_path()),
        pytest.raises(ConfigError, match=r"another process is training in .*out"),
    ):
        trained(run)
    assert not (tmp_path / "out" / folder.WRITTEN).exists()
    with folder.lock_folder(run.output_path()):  # free again
        pass


def test_a_folder_that_cannot_be_made_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot write to"), folder.lock_folder(tmp_path / "file" / "out"):
        pass
