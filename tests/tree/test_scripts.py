"""Scripts and notebooks: rewards are loaded from them without running what trains."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit.tree.loading import load, survey

Write = Callable[[str], Path]

OPTIONS = """
EXAMPLES = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
GOOD = ["<answer>42</answer>", "<answer>7</answer>"]
BAD = ["<answer>41</answer>", "<answer>8</answer>"]
"""
TRAINING = """
from pathlib import Path
Path(__file__).with_name("trained").touch()
from no_such_trainer import GRPOConfig, GRPOTrainer

dataset = load_dataset("openai/gsm8k")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
trainer = GRPOTrainer(reward_funcs=[format_reward], train_dataset=dataset)
trainer.train()
"""
REWARD = """
import re

def compiled(tag):
    return re.compile(f"<{tag}>(.*?)</{tag}>")

PATTERN = compiled("answer")

def format_reward(completions, **kwargs):
    return [float(bool(PATTERN.search(completion))) for completion in completions]
"""


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Write]:
    """Write a script with the given text, and forget its module after the test."""
    path, modules, paths = tmp_path / "train_with_rewards.py", set(sys.modules), [*sys.path]

    def write(text: str) -> Path:
        path.write_text(text)
        return path

    yield write
    assert not (tmp_path / "trained").exists()
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        if "train_with" in name:
            del sys.modules[name]


def scores(target: str) -> Any:
    (loaded,) = load(target)
    return rk.score(loaded.reward, ["<answer>42</answer>", "42"]).total.tolist()


@pytest.mark.parametrize(
    "training",
    [
        TRAINING,
        f"def main():\n{TRAINING.replace(chr(10), chr(10) + '    ')}\nmain()\n",
        f"def main():\n{TRAINING.replace(chr(10), chr(10) + '    ')}\nif __name__ == '__main__':\n    main()\n",
        f"async def main():\n{TRAINING.replace(chr(10), chr(10) + '    ')}\nimport asyncio\nasyncio.run(main())\n",
        "from no_such_trainer import GRPOTrainer\n",
    ],
    ids=["at the top level", "in a function", "with a guard", "asynchronous", "only an import"],
)
def test_a_reward_is_loaded_without_the_training(script: Write, training: str) -> None:
    path = script(REWARD + training)
    assert scores(f"{path}:format_reward") == [1.0, 0.0]
    assert [loaded.name for loaded in load(str(path))] == ["format_reward"]


def test_a_module_without_training_is_imported_as_a_whole(script: Write) -> None:
    path = script(REWARD + "\nprint('imported')\ntokenizer = dict.fromkeys('ab')\n")
    (loaded,) = load(f"{path}:format_reward")
    module = sys.modules["train_with_rewards"]
    assert loaded.reward is module.format_reward
    assert hasattr(module, "tokenizer")
    assert not loaded.skipped
    assert b"train_with_rewards" in pickle.dumps(loaded.reward)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("def f(completions, **kwargs):\n    return [len(tokenizer(c)) for c in completions]\n",
         r"it needs `tokenizer` from line 7, which is not run, because it calls `AutoTokenizer.from_pretrained`"),
        ("def size(text):\n    return len(tokenizer(text))\n\n"
         "def f(completions, **kwargs):\n    return [size(c) for c in completions]\n",
         "it needs `tokenizer` from line 7"),
        ("SIZES = [len(row) for row in dataset]\n\ndef f(completions, **kwargs):\n    return SIZES\n",
         "it needs `SIZES` from line 11, which is not run, because it depends on line 6: it calls `load_dataset`"),
        ("if __name__ == '__main__':\n    SCALE = 2\n\ndef f(completions, **kwargs):\n    return [SCALE]\n",
         "it needs `SCALE` from line 11, which is not run, because it is under `if __name__"),
    ],
    ids=["a tokenizer", "through a helper", "computed from a dataset", "under the guard"],
)  # fmt: skip
def test_a_reward_that_needs_a_skipped_statement_says_so(script: Write, definition: str, message: str) -> None:
    path = script(f"{TRAINING}\n{definition}{REWARD}")
    with pytest.raises(rk.RewardDefinitionError, match=message):
        load(f"{path}:f")
    excluded = {loaded.name: loaded.left_out for loaded in survey(str(path))}
    assert re.search(message, f"f cannot be loaded: {excluded['f']}")


def test_names_have_their_scopes_and_their_last_values(script: Write) -> None:
    """A parameter called `tokenizer` is not the global one, and a table is filled as the script fills it."""
    path = script(
        f"""
TABLE = {{}}
def fill(): TABLE["a"] = 1
fill()
TABLE["b"] = 2
exec("e = 1", TABLE)
del TABLE["__builtins__"]
for letter in "cd":
    TABLE[letter] = 3
RATE = 0.5; OTHER = input()
class Scale:
    factor = RATE
    def __call__(self, completions, tokenizer=None, **kwargs):
        return [self.factor * len(TABLE) for _ in completions]
scale = Scale()
RATE = 4.0
Scale.factor *= RATE
{TRAINING}"""
    )
    assert scores(f"{path}:scale") == [10.0, 10.0]


def test_kinds_of_rewards_and_a_second_target(script: Write) -> None:
    text = f"""
import rewardkit as rk
{REWARD}
from math import isqrt, sqrt

async def slow(completions, **kwargs):
    return [sqrt(0.25) for _ in completions]

@rk.reward(timeout=20.0)
def timed(completion: str) -> float:
    return float(isqrt(bool(PATTERN.search(completion))))

both = 0.5 * timed + 0.5 * rk.from_trl(slow)
{TRAINING}"""
    path = script(text)
    assert scores(f"{path}:slow") == [0.5, 0.5]
    assert scores(f"{path}:timed") == [1.0, 0.0]  # in a worker process, which must not import the script
    assert scores(f"{path}:both") == [0.75, 0.25]
    assert {loaded.name for loaded in survey(str(path))} == {"format_reward", "slow", "timed", "both"}


def test_a_changed_script_is_loaded_again(script: Write) -> None:
    path = script(REWARD + TRAINING)
    assert scores(f"{path}:format_reward") == [1.0, 0.0]
    script(REWARD.replace("float(bool", "2 * float(bool") + TRAINING)
    assert scores(f"{path}:format_reward") == [2.0, 0.0]


def notebook(path: Path, cells: list[str]) -> Path:
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "# Rewards"}, *code], "nbformat": 4}))
    return path


def test_a_notebook(script: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        "!pip install \\\n  trl\n%matplotlib inline\nimport re",
        "%%time\nfiles = !ls\nPAGE = '''\n!not a command\n'''",
        f"{OPTIONS}def correct(completions, answer, **kwargs):\n"
        "    return [float(re.search('>(.*)<', c).group(1) == a) for c, a in zip(completions, answer)]",
        "%%bash\necho $HOME",
        "def form(completions, **kwargs):\n    return [float('<answer>' in c + PAGE) for c in completions]\nform([])",
        TRAINING,
    ]
    path = notebook(tmp_path / "train_with.ipynb", cells)
    assert main(["check", str(path), "--laws", "total,picklable"]) == 1
    report = "".join(capsys.readouterr().out.split())  # lines are wrapped
    assert "9statementswerenotrun:cell6,line6(load_dataset),cell6,line7(AutoTokenizer.from_pretrained)," in report
    assert "cell6,line8(GRPOTrainer),cell6,line9(trainer.train),and5more" in report
    assert 'train_with.ipynb,cell3",line6,in' in report
    (_, loaded) = load(str(path))
    assert loaded.name == "form"
    assert scores(f"{path}:form") == [1.0, 0.0]


def test_a_notebook_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    path = tmp_path / "train_with_errors.ipynb"
    path.write_text("{}")
    with pytest.raises(rk.RewardDefinitionError, match=r"is not a notebook in the format of Jupyter 4"):
        load(str(path))


def test_a_cell_that_is_not_python_is_skipped(script: Write, tmp_path: Path) -> None:
    path = notebook(tmp_path / "train_with_errors.ipynb", [REWARD, "def"])
    (loaded,) = load(str(path))
    assert (
        loaded.skipped
        == "train_with_errors.ipynb: 1 statement was not run: cell 2, line 1 (not Python: invalid syntax)"
    )


def test_the_command_line(script: Write, capsys: pytest.CaptureFixture[str]) -> None:
    crash = "def crash(completions, **kwargs):\n    return [1 / (len(c) - 3) for c in completions]\n"
    path = script(OPTIONS + REWARD + TRAINING + crash)
    assert main(["check", f"{path}:crash", "--laws", "total", "--mutants"]) == 1
    report = capsys.readouterr().out
    assert report.startswith("train_with_rewards.py: 5 statements were not run: line 20 (load_dataset)")
    assert re.search(r"crash: \d+ mutants", report)
    report = "".join(report.split())  # lines are wrapped
    assert 'train_with_rewards.py",line25,in' in report
    assert f"reward=load('{path}:crash')[0].reward" in report
    assert main(["check", f"{path}:crush", "--laws", "total"]) == 2
    assert "has no 'crush'. Did you mean 'crash'?" in capsys.readouterr().err
