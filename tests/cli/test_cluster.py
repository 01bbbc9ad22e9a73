"""The options of ``rewardkit score --engine ray`` that do not go together are refused before anything is read."""

from __future__ import annotations

import pytest

from rewardkit.cli.main import main


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--address", "auto"], "--engine ray"),
        (["--pools", "mathematics=2"], "--engine ray"),
        (["--out", "s3://bucket/scored"], "--engine ray"),
        (["--engine", "ray"], "add --out"),
        (["--engine", "ray", "--out", "scored.parquet"], "Drop the file extension"),
        (["--engine", "ray", "--out", "s3://bucket/scored.jsonl"], "Drop the file extension"),
        (["--engine", "ray", "--out", "scored", "--processes", "2"], "--processes"),
        (["--engine", "ray", "--out", "scored", "--keep", "best"], "second command"),
        (["--engine", "ray", "--out", "scored", "--pairs"], "second command"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "data.jsonl", "--reward", "reward.py:reward", *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("pools", ["mathematics", "=2", "mathematics=0", "mathematics=many"])
def test_sizes_of_pools_are_read(pools: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["score", "data.jsonl", "--reward", "r.py:r", "--engine", "ray", "--out", "scored", "--pools", pools])
    assert "--pools" in capsys.readouterr().err
