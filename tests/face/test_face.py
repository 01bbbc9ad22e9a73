"""The public face: lazy, light, and complete."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk

PACKAGE = Path(rk.__file__).parent


def run(code: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `code` in a fresh interpreter, with `path` in front of everything else."""
    head = f"import sys; sys.path.insert(0, {str(path)!r})\n" if path else ""
    return subprocess.run([sys.executable, "-c", head + code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", rk.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(rk, name) is getattr(rk, name)


def test_names_are_offered_for_completion() -> None:
    assert {"reward", "to_trl", "schedules"} <= set(dir(rk))


MISTYPED = {
    "exact_match": "exact",
    "contains_all": "contains",
    "geometric_mean": "mean",
    "instruction": "instructions",
    "finished": "agents.finished",
    "BindingError": "errors.BindingError",
    "token_budget": "length.budget",
    "kimi_length": "length",
}


def test_an_unknown_name_gets_its_near_miss() -> None:
    with pytest.raises(AttributeError, match="weighted_sum"):
        rk.weigthed_sum  # type: ignore[attr-defined]  # noqa: B018
    for name, meant in MISTYPED.items():
        with pytest.raises(AttributeError, match=re.escape(f"rewardkit has no {name!r}. Did you mean {meant!r}")):
            getattr(rk, name)


def test_no_public_name_is_a_top_level_module() -> None:
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert modules & set(rk.__all__) == {"errors", "schedules"}, "modules on purpose: rk.schedules.linear, rk.errors"


def test_the_import_loads_nothing_heavy() -> None:
    code = "import rewardkit, sys; print(*sorted(sys.modules))"
    loaded = set(run(code).stdout.split())
    assert not loaded & {"numpy", "pydantic", "torch", "trl", "jiter", "jsonschema_rs", "pandas"}


REWARD = "import rewardkit as rk\nr = rk.number('gold')\nEXAMPLES = [{'gold': 1}]\nGOOD = ['1']\n"


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        ([], 1),
        pytest.param(["check", "{folder}/f.py:r", "--laws", "total", "--no-exploits"], 120, marks=pytest.mark.slow),
        (["score", "{folder}/rows.jsonl", "--reward", "{folder}/f.py:r", "--out", "{folder}/out.jsonl"], 71),
    ],
    ids=lambda value: value[0] if value and isinstance(value, list) else None,
)
def test_a_command_loads_few_modules(arguments: list[str], limit: int, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(REWARD)
    (tmp_path / "rows.jsonl").write_text('{"completion": "1", "gold": 1}\n{"completion": "2", "gold": 1}\n')
    own = [argument.format(folder=tmp_path) for argument in arguments]
    code = "import sys, rewardkit\n"
    code += f"from rewardkit.cli.main import main\nassert main({own!r}) == 0\n" if own else ""
    code += "print(*[name for name in sys.modules if name.startswith('rewardkit')])"
    result = run(code)
    loaded = result.stdout.splitlines()[-1].split()
    assert len(loaded) <= limit, "\n".join(loaded)


def test_scoring_needs_numpy_and_pydantic_alone() -> None:
    code = """
import sys
absent = ["jiter", "jsonschema_rs", "re2", "rapidfuzz", "sacrebleu", "math_verify", "sympy"]
absent += ["torch", "trl", "transformers", "pandas", "datasets", "hypothesis"]
for name in absent:
    sys.modules[name] = None
import rewardkit as rk
table = rk.score(rk.gate(rk.tags("answer"), rk.number("gold")), ["<answer>1</answer>"], gold=[1])
functions = rk.to_trl(rk.number("gold"))
print(table.total.tolist(), functions[0](completions=["1"], gold=[1]))
"""
    result = run(code)
    assert result.stdout == "[1.0] [1.0]\n", result.stderr


def test_a_missing_extra_is_named_with_its_install_command() -> None:
    code = """
import sys
sys.modules["jsonschema_rs"] = None
import rewardkit as rk
try:
    rk.json_schema({"type": "object"})
except rk.errors.MissingExtraError as error:
    print(isinstance(error, ImportError), error)
"""
    result = run(code)
    assert result.stdout.startswith("True "), result.stderr
    assert "pip install " in result.stdout
    assert "[json]'" in result.stdout


def test_files_of_the_other_rewardkit_are_reported(tmp_path: Path) -> None:
    mixed = tmp_path / "rewardkit"
    shutil.copytree(PACKAGE, mixed, ignore=shutil.ignore_patterns("__pycache__"))
    assert "harbor" not in run("import rewardkit", tmp_path).stderr
    (mixed / "criteria").mkdir()
    assert "pip uninstall harbor-rewardkit" in run("import rewardkit", tmp_path).stderr


@pytest.mark.parametrize("factory", [rk.exact, rk.tags, rk.gate, rk.product])
def test_a_factory_that_was_not_called_says_so(factory: Any) -> None:
    for use in (lambda: rk.to_trl([factory]), lambda: rk.score(factory, ["a"]), lambda: rk.monitor(factory)):
        with pytest.raises(TypeError, match=rf"Call it.*{factory.__name__}\(\.\.\.\)"):
            use()


def test_every_error_of_ours_is_defined_in_one_place_and_public() -> None:
    adapters = PACKAGE.parent / "adapters"
    defined: dict[str, str] = {}
    known = {"RewardKitError", "RewardKitWarning"}
    trees = {path: ast.parse(path.read_text("utf-8")) for room in (PACKAGE, adapters) for path in room.rglob("*.py")}
    while True:
        found = {
            node.name: path.name
            for path, tree in trees.items()
            for node in tree.body
            if isinstance(node, ast.ClassDef) and known & {getattr(base, "id", "") for base in node.bases}
        }
        if found == defined:
            break
        defined = found
        known |= set(found)
    public = {name: home for name, home in defined.items() if not name.startswith("_")}
    assert set(public.values()) == {"errors.py"}, public
    assert {*public, "RewardKitError", "RewardKitWarning"} == set(rk.errors.__all__)
    assert len({*public, "RewardKitError"} & set(rk.__all__)) == 4
