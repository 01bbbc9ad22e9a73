"""The command line as a whole: what belongs to no single verb."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rewardkit.cli import main as module
from rewardkit.cli.main import VERBS, main, parser

_PRINTS = """
import sys
from rewardkit.cli import main as module

class Verb:
    verb = "x"
    def __init__(self, verbs):
        pass
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

        def __init__(self, verbs: object) -> None:
            pass

        def parse_args(self, arguments: object) -> Verb:
            return self

        def run(self, options: object) -> int:
            raise BrokenPipeError("a worker")

    monkeypatch.setattr(module, "parser", Verb)
    with pytest.raises(BrokenPipeError, match="a worker"):
        main([])


def test_a_misspelled_verb_gets_its_near_miss(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["chek", "reward.py:reward"])
    assert ended.value.code == 2
    assert "Did you mean 'check'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["init", "--help"]])
def test_the_options_of_a_verb_are_loaded_when_it_is_used(arguments: list[str]) -> None:
    code = f"import sys; sys.argv[1:] = {arguments!r}\nfrom rewardkit.cli.main import main\n"
    code += "try:\n    main()\nexcept SystemExit:\n    pass\n"
    code += "print(*[name for name in sys.modules if name.startswith('rewardkit.cli.')])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in result.stdout.splitlines()[-1].split()}
    assert loaded == {"main", *arguments[:-1]}


def test_every_verb_says_what_a_person_wants() -> None:
    verbs = next(action.choices for action in parser()._actions if isinstance(action.choices, dict))
    assert list(verbs) == sorted(VERBS)
    for name, verb in verbs.items():
        assert verb.description.startswith(f"{VERBS[name]}.")


@pytest.mark.parametrize(
    "words",
    [
        ["update", "runs/none", "--dry-run", "reward.py:reward"],
        ["update", "--dry-run", "runs/none", "reward.py:reward"],
        ["score", "runs/none", "--limit", "3", "other.jsonl"],
        ["diff", "a.py:a", "--on", "runs/none", "b.py:b"],
        ["check", "none.py:a", "--seed", "3", "none.py:b"],
        ["view", "none", "--no-browser", "other"],
        ["train", "--preflight", "only", "none.yaml"],
    ],
    ids=" ".join,
)
def test_options_may_be_between_the_arguments(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "unrecognized arguments" not in capsys.readouterr().err


def test_an_error_shows_the_usage_of_its_verb(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["update", "runs/x", "a.py:a", "b"], ["update"], ["update", "runs/x", "--sett", "a"]):
        with pytest.raises(SystemExit):
            main(words)
        errors = capsys.readouterr().err
        assert errors.startswith("usage: rewardkit update [-h]")
        assert "rewardkit update: error: " in errors
