"""What a trainer needs to use a reward: the files, the settings, and whether the installed version is a tested one."""

from __future__ import annotations

import ast
import string
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.cli.export import ADAPTERS
from rewardkit.errors import RewardDefinitionError, RewardTypeError
from rewardkit.online import exports
from rewardkit.online.exports import Export, Target, columns_of, export_to


@rk.reward
def three(completion: str, unit: str, target: float, note: str = "") -> float:
    return 1.0


@rk.reward
def answered(completion: str, task: str, answer: str) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("reward", "gold", "columns"),
    [
        (rk.number("solution"), "solution", ("solution",)),
        (rk.gate(rk.tags("think"), rk.exact("label")), "label", ("label",)),
        (three + rk.number("value"), "value", ("unit", "target", "value")),
        (three, "unit", ("unit", "target")),
        (answered, "answer", ("task", "answer")),
        (rk.length.between(1, 3), "answer", ()),
        (rk.route({"a": rk.exact("x"), "b": rk.exact("y")}, by="task"), "x", ("task", "x", "y")),
        ([rk.exact("x"), three], "x", ("x", "unit", "target")),
        (rk.number("answer").with_columns(answer="final"), "final", ("final",)),
    ],
)
def test_the_gold_column_is_the_one_that_a_reward_compares_with(
    reward: Any, gold: str, columns: tuple[str, ...]
) -> None:
    assert columns_of(reward) == (gold, columns)


def test_what_is_no_reward_has_no_columns() -> None:
    with pytest.raises(RewardTypeError):
        columns_of(5)


@given(
    st.sampled_from(["reward", "right", "_own"]),
    st.sampled_from(["rewards", "my.rewards"]),
    st.sampled_from(["", "/a folder", "/it's", 'C:\\new"\\table', "/ordner/ä"]),
)
def test_the_imports_name_the_reward(name: str, module: str, folder: str) -> None:
    written = ast.parse(Target(module, name, folder).imports)
    *before, imported = written.body
    assert ast.unparse(imported) == f"from {module} import {name}{'' if name == 'reward' else ' as reward'}"
    if folder:
        (insert,) = [node for node in ast.walk(written) if isinstance(node, ast.Call)]
        assert ast.literal_eval(insert.args[1]) == folder
    else:
        assert before == []


def test_a_target_loads_its_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "exported_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rewards.py").write_text("import rewardkit as rk\nright = rk.exact('answer')\n")
    target = Target("exported_package.rewards", "right", str(tmp_path))
    assert target.file == str(package / "rewards.py")
    assert repr(target.load()) == repr(rk.exact("answer"))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert Target("exported_package.rewards", "right").file == ""
    assert Target("exported_package.rewards", "right").load() is target.load()


@pytest.mark.parametrize(
    ("installed", "said"),
    [
        ("0.9.1", ""),
        ("0.8.0", ""),
        (None, "verl is not installed here, so its version is not checked. Tested with 0.8.0, 0.9.1."),
        (
            "1.0",
            "verl 1.0 is installed, but the adapter was tested with 0.8.0, 0.9.1: compare a few scores by "
            "hand before you train.",
        ),
    ],
)
def test_an_untested_version_is_said(installed: str | None, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(distribution: str) -> str:
        if installed is None:
            raise metadata.PackageNotFoundError(distribution)
        return installed

    monkeypatch.setattr(metadata, "version", version)
    assert exports.Tested("verl", ["0.8.0", "0.9.1"]).verdict() == said
    assert exports.Tested("", ["624b824a"]).verdict() == "Tested with 624b824a."


@pytest.mark.parametrize(
    ("trainer", "target", "said"),
    [
        ("veral", Target("m", "reward"), r"there is no trainer 'veral'\. Trainers: axolotl, .* Did you mean 'verl'\?"),
        ("verl", Target("m", "a.b"), r"the reward must be a variable of its module, got 'a\.b'"),
        ("verl", Target("m", "class"), "the reward must be a variable of its module, got 'class'"),
        ("verl", Target("my-rewards", "reward"), r"a module called 'my-rewards'\. Rename the file, .* my_rewards\.py"),
        ("verl", Target("a.lambda", "reward"), r"a module called 'a\.lambda'"),
    ],
)
def test_what_cannot_be_exported_is_refused(trainer: str, target: Target, said: str) -> None:
    with pytest.raises(RewardDefinitionError, match=said):
        export_to(trainer, target, ADAPTERS)


@pytest.mark.parametrize("trainer", ADAPTERS)
def test_every_trainer_gets_files_that_can_be_read(trainer: str, tmp_path: Path) -> None:
    (tmp_path / "exported.py").write_text("import rewardkit as rk\nright = rk.exact('solution')\n")
    export = export_to(trainer, Target("exported", "right", str(tmp_path), "solution", ("solution",)), ADAPTERS)
    assert isinstance(export, Export)
    for name, text in export.files.items():
        if name.endswith(".py"):
            ast.parse(text)
            assert "from exported import right as reward" in text
    fields = {field for _, field, _, _ in string.Formatter().parse(export.config) if field is not None}
    assert fields <= {"file", "folder"}
    assert export.config.format(file="rewards.py", folder=".").strip()
    assert all(note.endswith(".") for note in export.notes)
    assert isinstance(export.tested.verdict(), str)
    text = "\n".join(export.files.values())
    if 'gold="' in text:
        assert 'gold="solution"' in text
