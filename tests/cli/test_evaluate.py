"""``rewardkit train --evaluate`` from the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rewardkit.cli.main import main, parser


@pytest.mark.parametrize("arguments", [("run.yaml", "--prompts", "0"), ("run.yaml", "--generations", "many")])
def test_impossible_options_are_refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", *arguments, "--evaluate"])
    assert ended.value.code == 2
    assert "usage: rewardkit train" in capsys.readouterr().err


def test_a_missing_file_is_reported_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("yaml")
    assert main(["train", str(tmp_path / "none.yaml"), "--evaluate"]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_the_checkpoint_option_can_be_repeated() -> None:
    named = parser().parse_args(["train", "run.yaml", "--evaluate", "start", "50", "--evaluate", "last"])
    assert named.evaluate == ["start", "50", "last"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("--evaluate",), "no configuration"), (("run.yaml", "--split", "test", "--prompts", "3"), "--split, --prompts")],
)
def test_options_that_do_not_go_together_are_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("yaml")
    assert main(["train", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_help_does_not_import_torch_or_trl() -> None:
    code = (
        "import sys; from rewardkit.cli.main import parser; parser().format_help(); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'trl', 'yaml', 'rewardkit_adapters.trl')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
