"""The code that is copied, and importing it beside what the training has imported already."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.tree.loading import load
from rewardkit_adapters.live.sources import Code, Modules, collect_sources, write_sources


@pytest.fixture(autouse=True)
def _imports_of_its_own() -> Iterator[None]:
    modules, path = dict(sys.modules), list(sys.path)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.modules.update(modules)
    sys.path[:] = path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


REWARD = """
import math
import rewardkit as rk
from u_graders import level

@rk.reward
def reward(completion: str) -> float:
    return level()
"""


def level(value: float) -> str:
    return f"def level():\n    return {value}\n"


def total(reward: Any) -> float:
    return float(rk.score(reward, ["x"]).total[0])


def test_what_a_reward_imports_of_its_own_folder_comes_along(tmp_path: Path) -> None:
    write(
        tmp_path, u_reward=REWARD, u_graders="from u_more import *\n" + level(0.5), u_more="x = 1\n", u_other="y = 2\n"
    )
    code = collect_sources(f"{tmp_path}/u_reward.py:reward")
    assert (code.module, code.name) == ("u_reward", "reward")
    assert set(code.files) == {"u_reward.py", "u_graders.py", "u_more.py"}


def test_of_a_package_come_the_parts_that_are_imported(tmp_path: Path) -> None:
    write(
        tmp_path,
        u_pack__rewards="from .graders import level\nfrom . import more\nreward = 1\n",
        u_pack__graders=level(0.5),
        u_pack__more="import u_pack.deep.far\n",
        u_pack__unused="",
        u_pack__deep__far="",
    )
    for folder in ("u_pack", "u_pack/deep"):
        (tmp_path / folder / "__init__.py").write_text("")
    code = collect_sources(f"{tmp_path}/u_pack/rewards.py:reward")
    assert code.module == "u_pack.rewards"
    assert set(code.files) == {
        f"u_pack/{name}.py" for name in ("__init__", "rewards", "graders", "more", "deep/__init__", "deep/far")
    }


def test_an_installed_module_is_imported_as_it_is() -> None:
    assert collect_sources("rewardkit.rewards.format:tags").files == {}


@pytest.mark.parametrize(
    ("text", "said"), [("def broken(:\n", "line 1"), ("x = '\\ud8'\n", "SyntaxError"), ("\0", "ValueError|SyntaxError")]
)
def test_code_that_cannot_be_parsed_is_not_sent(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, u_reward=text)
    with pytest.raises(rk.RewardDefinitionError, match=said):
        collect_sources(f"{tmp_path}/u_reward.py:reward")


def test_a_version_keeps_its_code_whatever_becomes_of_the_files(tmp_path: Path) -> None:
    modules, own = Modules(), tmp_path / "own"
    write(own, u_reward=REWARD, u_graders=level(0.1))
    (first,) = load(f"{own}/u_reward.py:reward")
    print_of_first = first.reward.fingerprint
    versions = []
    for number, value in enumerate((0.2, 0.3), 1):
        write(own, u_graders=level(value))
        code = collect_sources(f"{own}/u_reward.py:reward")
        write_sources(code.files, tmp_path / f"{number}")
        write(own, u_graders=level(0.9), u_reward="raise ValueError\n")  # edited further meanwhile
        versions.append(modules.imported(code, tmp_path / f"{number}"))
        modules.activate(versions[-1], modules)
        write(own, u_reward=REWARD)
    assert [total(one.reward) for one in versions] == [0.2, 0.3]
    assert total(first.reward) == 0.1
    assert first.reward.fingerprint == print_of_first
    assert sys.modules["u_graders"].level() == 0.3
    modules.activate(versions[0], modules)
    assert sys.modules["u_graders"].level() == 0.2
    assert str(tmp_path / "1") in sys.path
    assert str(tmp_path / "2") not in sys.path
    modules.activate(None, modules)
    assert sys.modules["u_graders"].level() == 0.1
    assert not {str(tmp_path / "1"), str(tmp_path / "2")} & set(sys.path)


def test_a_file_in_the_working_directory_does_not_replace_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", str(tmp_path))])
    write(tmp_path, u_reward=REWARD, u_graders=level(0.2))
    code = collect_sources("u_reward.py:reward")
    write_sources(code.files, tmp_path / "copy")
    write(tmp_path, u_graders=level(0.9))
    assert total(Modules().imported(code, tmp_path / "copy").reward) == 0.2


def test_where_importing_fails_everything_stays(tmp_path: Path) -> None:
    modules = Modules()
    write(tmp_path / "own", u_reward=REWARD, u_graders=level(0.1))
    load(f"{tmp_path / 'own'}/u_reward.py:reward")
    known, path = sys.modules["u_graders"], list(sys.path)
    code = Code("u_reward", "reward", {"u_reward.py": "import u_graders\n1 / 0\n", "u_graders.py": level(0.5)})
    write_sources(code.files, tmp_path / "new")
    with pytest.raises(rk.RewardDefinitionError, match="ZeroDivisionError"):
        modules.imported(code, tmp_path / "new")
    assert sys.modules["u_graders"] is known
    assert sys.path == path


def test_worker_processes_find_the_code_of_the_version_in_force(tmp_path: Path) -> None:
    text = "import rewardkit as rk\n@rk.reward(timeout=20.0)\ndef reward(completion: str) -> float:\n    return {}\n"
    modules = Modules()
    write(tmp_path / "own", u_reward=text.format(0.1))
    (first,) = load(f"{tmp_path / 'own'}/u_reward.py:reward")
    assert total(first.reward) == 0.1
    code = Code("u_reward", "reward", {"u_reward.py": text.format(0.7)})
    write_sources(code.files, tmp_path / "new")
    second = modules.imported(code, tmp_path / "new")
    modules.activate(second, modules)
    assert total(second.reward) == 0.7
    modules.activate(None, modules)
    assert total(first.reward) == 0.1


def test_what_is_not_copied_of_a_package_stays_the_very_modules_of_the_training(tmp_path: Path) -> None:
    """Objects of their classes are pickled into checkpoints, and functions import them when they are called."""
    modules, own = Modules(), tmp_path / "own"
    write(
        own,
        u_pack__rewards=REWARD.replace("u_graders", ".graders"),
        u_pack__graders=level(0.1),
        u_pack__setting="x = 1",
    )
    write(own, u_pack__later="from u_pack import setting\nx = setting.x\n")
    (own / "u_pack/__init__.py").write_text("")
    load(f"{own}/u_pack/rewards.py:reward")
    import u_pack.setting  # type: ignore[import-not-found]

    kept = sys.modules["u_pack.setting"]
    code = collect_sources(f"{own}/u_pack/rewards.py:reward")
    assert "u_pack/setting.py" not in code.files
    write_sources(code.files, tmp_path / "new")
    modules.activate(modules.imported(code, tmp_path / "new"), modules)
    assert sys.modules["u_pack"].__file__ == str(tmp_path / "new/u_pack/__init__.py")
    assert sys.modules["u_pack.setting"] is kept is sys.modules["u_pack"].setting
    import u_pack.later  # type: ignore[import-not-found]

    assert u_pack.later.x == 1


def test_each_list_of_rewards_has_its_own_version(tmp_path: Path) -> None:
    modules = Modules()

    class Owner:
        """A list of rewards."""

    first, second = Owner(), Owner()
    versions = []
    for number, name in enumerate(("u_first", "u_second")):
        write(tmp_path / name, **{name: level(float(number))})
        code = Code(
            name,
            "level",
            {f"{name}.py": f"import rewardkit as rk\n@rk.reward\ndef level(completion: str) -> float: return {number}"},
        )
        write_sources(code.files, tmp_path / f"copy{number}")
        versions.append(modules.imported(code, tmp_path / f"copy{number}"))
    modules.activate(versions[0], first)
    modules.activate(versions[1], second)
    modules.activate(None, second)  # which was refused another one, say
    assert sys.modules["u_first"] is versions[0].modules["u_first"]
    assert "u_second" not in sys.modules
    modules.keep([second])  # the training of the first one is over
    assert "u_first" not in sys.modules


def test_a_file_called_like_an_installed_module_is_refused(tmp_path: Path) -> None:
    write(tmp_path, random="reward = 1\n", u_reward="import random\nreward = 1\n", numpy="reward = 1\n")
    for name in ("random", "numpy", "u_reward"):
        with pytest.raises(rk.RewardDefinitionError, match=r"name as the installed module.*Rename the file"):
            collect_sources(f"{tmp_path}/{name}.py:reward")
    known = sys.modules["numpy"]
    with pytest.raises(rk.RewardDefinitionError, match="installed module 'numpy'"):
        Modules().imported(Code("numpy", "reward", {"numpy.py": "reward = 1"}), tmp_path)
    assert sys.modules["numpy"] is known


def test_copies_hold_what_was_sent_whatever_lay_there_before(tmp_path: Path) -> None:
    """Of an update whose request somebody has deleted, say, compiled in the same second."""
    code = Code("u_reward", "reward", {"u_reward.py": "reward = 1\n"})
    write_sources(code.files, tmp_path)
    py_compile.compile(str(tmp_path / "u_reward.py"))
    write_sources({"u_reward.py": "reward = 2\n"}, tmp_path)
    assert Modules().imported(code, tmp_path).reward == 2
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


def test_too_much_code_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit_adapters.live.sources.MOST_CHARACTERS", 1_000)
    write(tmp_path, u_reward="from u_data import words\nreward = 1\n", u_data=f"words = {'x' * 1_000!r}\n")
    with pytest.raises(rk.RewardDefinitionError, match="more than 1,000 characters"):
        collect_sources(f"{tmp_path}/u_reward.py:reward")


def test_a_byte_order_mark_is_no_code(tmp_path: Path) -> None:
    (tmp_path / "u_reward.py").write_bytes(b"\xef\xbb\xbfreward = 1\n")
    assert collect_sources(f"{tmp_path}/u_reward.py:reward").files == {"u_reward.py": "reward = 1\n"}


def test_a_file_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="outside the update's folder"):
        write_sources({"../escaped.py": "x = 1"}, tmp_path / "updates")


def test_the_module_needs_neither_torch_nor_a_trainer() -> None:
    code = "import rewardkit as rk, sys; rk.update_config; print({'torch', 'trl', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.strip() == "set()"
