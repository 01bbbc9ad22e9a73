r"""The labeled answers that `accuracy` asks about: a gold answer, a completion, and whether the completion is right.

None of the public sets is in this repository. Those with a repository are cloned at a fixed commit into a folder
(``--sets``); HardVerify-Math and GSM8K are read from REWARDKIT_DATA; rewardlint's cases come with its package.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from accuracy_disputed import DISPUTED
from math_equal_pairs import PAIRS

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("REWARDKIT_DATA", ROOT.parent / "shared" / "data"))

_NUMBER = re.compile(r"-?(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]+)?")
Kind = Literal["formula", "number", "letter", "words"]
"""What the gold answer is, so that a contestant for numbers alone is not asked about formulas."""


class NotAtHand(Exception):
    """A set cannot be read here; the message says why and how to get it."""


@dataclass(frozen=True)
class Case:
    """One labeled completion.

    Attributes:
        name: its name within the set; `accuracy_disputed` uses it.
        gold: the gold answer as published.
        completion: the text to score.
        right: the label.
    """

    name: str
    gold: str
    completion: str
    right: bool

    @property
    def kind(self) -> Kind:
        bare = self.gold.strip().strip("$")
        if _NUMBER.fullmatch(bare):
            return "number"
        if len(bare) == 1 and bare in "ABCDE":
            return "letter"
        return "words" if bare.replace(" ", "").isalpha() and len(bare) > 2 else "formula"


@dataclass(frozen=True)
class Source:
    """A public repository at a commit."""

    repository: str
    commit: str

    def folder(self, sets: Path) -> Path:
        """Return the folder of the clone in `sets`; clone it if it is not there.

        Raises:
            NotAtHand: it is not there and cannot be cloned.
        """
        folder = sets / self.repository.rpartition("/")[2]
        if folder.is_dir():
            return folder
        url = f"https://github.com/{self.repository}"
        commands = (
            ["git", "init", "--quiet", str(folder)],
            ["git", "-C", str(folder), "fetch", "--quiet", "--depth", "1", url, self.commit],
            ["git", "-C", str(folder), "checkout", "--quiet", "FETCH_HEAD"],
        )
        for command in commands:
            if subprocess.run(command, check=False, capture_output=True, timeout=600).returncode:
                subprocess.run(["rm", "-rf", str(folder)], check=False)
                raise NotAtHand(f"clone {url} into {sets} ({self.commit[:10]} was measured)")
        return folder


MATH_VERIFY = Source("huggingface/Math-Verify", "5d148cfaaf99214c2e4ffb4bc497ab042c592a7a")


def boxed(answer: str) -> str:
    r"""Return a completion that states the answer in the form that most contestants need."""
    return f"The answer is \\boxed{{{answer}}}."


def hardverify(sets: Path) -> list[Case]:
    """Return HardVerify-Math (uw-nsl/TinyV): per gold answer a right one that verifiers refuse, and a wrong one."""
    cases = []
    for row in _lines(DATA / "hardverify_math" / "cases.jsonl"):
        cases.append(Case(f"{row['id']} right", row["ground_truth"], boxed(row["fn_output"]), True))
        cases.append(Case(f"{row['id']} wrong", row["ground_truth"], boxed(row["tn_output"]), False))
    return cases


def gsm8k(sets: Path) -> list[Case]:
    """Return two models' solutions of GSM8K test questions with their final answers boxed, and published labels."""
    cases = []
    for number, row in enumerate(_lines(DATA / "gsm8k" / "model_solutions.jsonl")):
        gold = row["reference"].rpartition("A:")[2].strip()
        solution, mark, answer = row["completion"].rpartition("A:")
        completion = f"{solution}\\boxed{{{answer.strip()}}}" if mark else row["completion"]
        cases.append(Case(str(number), gold, completion, row["is_correct"]))
    return cases


def by_hand(sets: Path) -> list[Case]:
    """Return our own pairs (`math_equal_pairs`)."""
    return [
        Case(f"{topic} {number}", gold, boxed(answer), right)
        for topic, pairs in PAIRS.items()
        for number, (gold, answer, right) in enumerate(pairs)
    ]


def math_verify(sets: Path) -> list[Case]:
    """Return the cases of Math-Verify's own tests that compare under its defaults."""
    folder = MATH_VERIFY.folder(sets) / "tests"
    return [case for path in sorted(folder.glob("test_*.py")) for case in _parametrized(path)]


def _parametrized(path: Path) -> Iterator[Case]:
    """Yield the rows of ``parametrize`` with a gold answer, a prediction and an integer label; the code never runs.

    A row whose further arguments (rounding, leniency) differ from the defaults is about an option, and is left out.
    """
    module = path.stem.removeprefix("test_")
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            if not (isinstance(decorator, ast.Call) and len(decorator.args) == 2):
                continue
            names = [name.strip() for name in _value(decorator.args[0]).split(",")]
            if names[:2] != ["gold", "pred"] or not isinstance(decorator.args[1], ast.List):
                continue
            for number, row in enumerate(decorator.args[1].elts):
                values = _value(row)
                if values is None:
                    continue
                given = dict(zip(names, values, strict=True))
                gold, prediction = given.pop("gold"), given.pop("pred")
                label = given.pop("expected", given.pop("result", None))
                if all(given.get(name, default) == default for name, default in _DEFAULTS.items()):
                    yield Case(f"{module}.{function.name}[{number}]", gold, prediction, bool(label))


_DEFAULTS = {"precision": 6, "strict": True, "allow_set_relation_comp": False}


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:  # computed while the tests run
        return None


_PRINT_CASES = """
import json
from rewardlint.corpus import load
print(json.dumps([[case.id, case.reference, case.completion, case.expect] for case in load()]))
"""


def rewardlint(sets: Path, python: Path) -> list[Case]:
    """Return rewardlint's graded cases, without those that it calls contested itself."""
    command = [str(python), "-c", _PRINT_CASES]
    done = subprocess.run(command, capture_output=True, text=True, check=False) if python.exists() else None
    if done is None or done.returncode:
        raise NotAtHand("install rewardlint: run with --peers")
    return [Case(*values) for values in json.loads(done.stdout)]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise NotAtHand(f"no {path}; set REWARDKIT_DATA")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class LabeledSet:
    """A set of labeled completions.

    Attributes:
        name: its name in the table.
        cases: its cases without the disputed ones.
        disputed: how many were left out.
    """

    name: str
    cases: list[Case]
    disputed: int


def read(name: str, load: Callable[[Path], list[Case]], sets: Path) -> LabeledSet:
    """Read a set and leave out what is disputed.

    Raises:
        NotAtHand: it is not here.
        ValueError: a disputed case is not in the set, so the set is another version.
    """
    cases, disputed = load(sets), DISPUTED.get(name, {})
    if missing := disputed.keys() - {case.name for case in cases}:
        raise ValueError(f"{name}: no case {sorted(missing)}; the set is not the version that was measured")
    kept = [case for case in cases if case.name not in disputed]
    return LabeledSet(name, kept, len(cases) - len(kept))
