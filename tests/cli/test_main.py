"""The command line as a whole: what belongs to no single verb."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rewardkit.cli import main as module
from rewardkit.cli.main import main

_PRINTS = """
import sys
from rewardkit.cli import main as module

class Verb:
    verb = "x"
    def parse_args(self, arguments):
        return self
    def run(self, options):
        {body}
        return 0

module.parser = Verb
sys.exit(module.main([]))
"""


@pytest.mark.parametrize("body", ["print('x' * 10)", "print('x\\n' * 100_000)"], ids=["little", "much"])
def test_a_reader_who_has_enough_is_no_error(body: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PRINTS.format(body=body)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == ""
    assert child.returncode == 141


def test_another_broken_pipe_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Verb:
        verb = "x"

        def parse_args(self, arguments: object) -> Verb:
            return self

        def run(self, options: object) -> int:
            raise BrokenPipeError("a worker")

    monkeypatch.setattr(module, "parser", Verb)
    with pytest.raises(BrokenPipeError, match="a worker"):
        main([])
