"""A full disk is told from other faults, however the library that met it says it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

pytest.importorskip("trl")
from rewardkit_adapters.runner import training as disk

TORCH = RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 401280 vs 401168")


def test_a_full_disk_is_recognized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert disk.is_out_of_space(OSError(errno.ENOSPC, "No space left on device"), tmp_path)
    assert disk.is_out_of_space(RuntimeError("I/O error: No space left on device (os error 28)"), tmp_path)
    assert disk.is_out_of_space(TORCH, tmp_path / "nowhere")  # nobody knows how full it is: torch is believed
    monkeypatch.setattr(disk, "_LITTLE", 2**80)
    assert disk.is_out_of_space(TORCH, tmp_path)


def test_other_faults_are_not_taken_for_it(tmp_path: Path) -> None:
    assert not disk.is_out_of_space(OSError(errno.EACCES, "Permission denied"), tmp_path)
    assert not disk.is_out_of_space(RuntimeError("mat1 and mat2 shapes cannot be multiplied"), tmp_path)
