"""rewardkit without its optional dependencies: each public name and verb works, or names the extra to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "numpy.libs", "pydantic", "pydantic_core", "cloudpickle", "annotated_types", "typing_inspection")
MODULES = ("typing_extensions.py",)

SCRIPT = """
import contextlib, io, json, sys
import rewardkit as rk, rewardkit.testing
from rewardkit.cli.main import main
exact = rk.exact("answer")
def error_of(call):
    try:
        call()
    except BaseException as error:
        return [type(error).__name__, str(error)]
def printed(arguments):
    with contextlib.redirect_stderr(io.StringIO()) as stream, contextlib.redirect_stdout(stream):
        main(arguments)
    return ["", stream.getvalue()]
def run(case):
    return printed(case[1:].split()) if case[0] == "$" else error_of(lambda: eval(case))
names = {name: error_of(lambda: getattr(rk, name)) for name in rk.__all__}
print(json.dumps([names, {case: run(case) for case in json.loads(sys.argv[1])}]))
"""

EXTRAS = {
    'rk.extract.json("total")': "rk.extract.json needs",
    'rk.number("answer", extract=rk.extract.json("total"))': "rk.extract.json needs",
    'rk.exact("answer", gold=rk.extract.json(0))': "rk.extract.json needs",
    'rk.set_match("answer")': "rk.set_match without separator= needs",
    'rk.sequence_match("answer")': "rk.sequence_match without separator= needs",
    'rk.milestones(column="answer")': "rk.milestones with column= needs",
    'rk.json_valid()': "rk.json_valid needs",
    'rk.json_match("answer")': "rk.json_match needs",
    'rk.json_schema({})': "rk.json_schema needs",
    'rk.tool_calls("answer")': "rk.tool_calls needs",
    'rk.regex("a")': "rk.regex needs",
    'rk.similarity("answer")': "rk.similarity needs",
    'rk.rouge_l("answer")': "rk.rouge_l needs",
    'rk.bleu("answer")': "rk.bleu needs",
    'rk.chrf("answer")': "rk.chrf needs",
    'rk.language("fr")': "rk.language needs",
    'rk.instructions()': "rk.instructions: ",
    'rk.math_equal("answer")': "rk.math_equal needs",
    'rk.judge("Good?", model="m")': "rk.judge needs",
    'rk.reward_model("org/name")': "rk.reward_model needs",
    'rk.remote("http://127.0.0.1:9")': "rk.remote needs",
    'rk.cached(exact, "scores.sqlite")': "rk.cached needs",
    'rk.Cache("verdicts.sqlite")': "rk.Cache needs",
    'rk.Budget(calls=1)': "rk.Budget needs",
    'rk.Budget(calls=1, store="spent.sqlite")': "rk.Budget needs",
    'rk.open_run("run")': "recording and reading runs needs",
    'rk.to_trl(exact, record="run")': "recording and reading runs needs",
    'exact.plot_schedules()': "plot_schedules needs",
    'rk.from_reasoning_gym("chain_sum")': "a reasoning-gym task needs",
    'rewardkit.testing.strategies': "rewardkit.testing.strategies needs",
}  # fmt: skip
TRAINERS = {
    "rk.to_nemo_gym(exact)": "rk.to_nemo_gym creates a NeMo Gym class",
    'rk.to_openenv(exact, text="text")': "rk.to_openenv creates an OpenEnv rubric",
    "rk.to_verl(exact, manager=True)": "rk.to_verl(reward, manager=True) creates a verl class",
}
WORKS = (
    'rk.set_match("answer", separator=";")',
    'rk.sequence_match("answer", separator=";")',
    'rk.milestones("a", "b")',
    'rk.score(exact, ["a"], answer=["a"])',
    'rk.to_trl(exact)[0](prompts=["p"], completions=["a"], answer=["a"])',
    "rk.to_verl(exact)",
    "rk.to_openrlhf(exact)",
    "rk.to_slime(exact)",
    'rk.to_axolotl(exact, prefix="my_")',
    "rk.to_verifiers(exact)",
)
VERBS = {
    "$train run.yaml": "rewardkit train: training needs",
    "$demo": "rewardkit demo: training needs",
    "$generate run.yaml": "rewardkit generate: training needs",
    "$serve reward.py:reward": "rewardkit serve: the reward server needs",
    "$view rows": "rewardkit view: the web page for recorded runs needs",
    "$radar rows": "rewardkit radar: recording and reading runs needs",
    "$score rows.jsonl --reward reward.py:reward --out scored.parquet": "rewardkit score: writing .parquet files needs",
    "$score rows.parquet --reward reward.py:reward": "rewardkit score: reading .parquet files needs",
    "$score s3://a/rows.jsonl --reward reward.py:reward": "rewardkit score: reading s3://a/rows.jsonl needs",
    "$score rows.jsonl --reward reward.py:reward --engine ray --out rows": "rewardkit score: scoring with Ray needs",
    "$check json_reward.py:reward": "rewardkit check: json_reward.py cannot be imported: MissingExtraError: ",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The errors of all names and cases in a Python that sees only the required packages."""
    folder = tmp_path_factory.mktemp("base")
    site, work = folder / "site", folder / "work"
    site.mkdir()
    work.mkdir()
    installed = Path(np.__file__).parents[1]
    for name in (*PACKAGES, *MODULES):
        if (installed / name).exists():
            (site / name).symlink_to(installed / name)
    (work / "reward.py").write_text('import rewardkit as rk\nreward = rk.exact("answer")\n')
    (work / "json_reward.py").write_text("import rewardkit as rk\n\nfind = rk.extract.json()\n")
    (work / "rows.jsonl").write_text('{"completion": "a", "answer": "a"}\n')
    (work / "rows.parquet").touch()
    (work / "rows").mkdir()
    paths = os.pathsep.join(map(str, (site, ROOT, ROOT / "adapters")))
    run = subprocess.run(
        [sys.executable, "-S", "-c", SCRIPT, json.dumps([*EXTRAS, *TRAINERS, *WORKS, *VERBS])],
        cwd=work, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_every_public_name_can_be_reached(results: Any) -> None:
    assert {name: error for name, error in results[0].items() if error} == {}


@pytest.mark.parametrize("case", EXTRAS)
def test_a_missing_extra_is_named_with_the_reward(results: Any, case: str) -> None:
    kind, message = results[1][case]
    assert kind == "MissingExtraError"
    assert message.startswith(EXTRAS[case])
    assert "pip install" in message


@pytest.mark.parametrize("case", TRAINERS)
def test_a_missing_trainer_is_named_with_a_way_out(results: Any, case: str) -> None:
    kind, message = results[1][case]
    assert kind == "MissingExtraError"
    assert message.startswith(TRAINERS[case])
    assert "cannot be imported (No module named" in message


@pytest.mark.parametrize("case", WORKS)
def test_it_works_without_extras(results: Any, case: str) -> None:
    assert results[1][case] is None


@pytest.mark.parametrize("case", VERBS)
def test_a_verb_names_the_missing_extra(results: Any, case: str) -> None:
    _, message = results[1][case]
    assert message.startswith(VERBS[case])
    assert "pip install" in message


def test_a_reward_file_is_named_with_the_users_line(results: Any) -> None:
    assert "json_reward.py, line 3)" in results[1]["$check json_reward.py:reward"][1]
