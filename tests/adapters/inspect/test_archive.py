"""Archives that are compressed with Zstandard, damaged, or neither."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.errors import DataError, MissingExtraError
from tests.adapters.inspect.written import sample, written

pytest.importorskip("zstandard")

READS_ZSTANDARD = sys.version_info >= (3, 14)


def test_zstandard_and_deflate_hold_the_same(tmp_path: Path) -> None:
    samples = [sample(name, target="3" * 5_000) for name in ("a", "b")]
    packed = written(tmp_path / "packed.eval", samples, zstandard=True)
    assert packed.stat().st_size < 5_000
    assert rk.from_inspect_log(packed) == rk.from_inspect_log(written(tmp_path / "plain.eval", samples))


@pytest.mark.skipif(READS_ZSTANDARD, reason="zipfile reads Zstandard")
def test_without_zstandard_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "run.eval", [sample()], zstandard=True)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[inspect\].*inspect log convert"):
        rk.from_inspect_log(path)


@pytest.mark.parametrize("zstandard", [True, False])
def test_damage_is_reported_with_the_file(tmp_path: Path, zstandard: bool) -> None:
    path = written(tmp_path / "run.eval", [sample()], zstandard=zstandard)
    data = bytearray(path.read_bytes())
    start = data.index(b"samples/a_epoch_1.json") + 40
    data[start : start + 20] = bytes(20)
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"samples/a_epoch_1\.json is damaged"):
        rk.from_inspect_log(path)
