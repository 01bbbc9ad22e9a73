"""Repair: a reward runs with another text at one place of its code, and is as before afterwards."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rewardkit.check.mutants.sites import Site
from rewardkit.check.reading.places import places
from rewardkit.check.reading.slips import NotRepaired, reachable, repaired
from rewardkit.tree.conversion import tree_of

SOURCE = '''
import functools
import re

NUMBER = re.compile(r"\\d+")
print("loaded")


def found(text):
    return NUMBER.findall(text)


def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner


class Judge:
    LIMIT = 3

    def __call__(self, completions, **kwargs):
        return [self.judge(text) for text in completions]

    def judge(self, text):
        return float(len(text) > self.LIMIT + 2)


def made(limit):
    def judge(completions, **kwargs):
        return [float(len(text) > limit + 2) for text in completions]
    return judge


@decorated
def reward(completions, **kwargs):
    """Pay a number."""
    return [float(len(found(text)) == 1) for text in completions]


judge = Judge()
closed = made(3)
'''


@pytest.fixture
def module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> ModuleType:
    """A module of rewards that says when it is loaded."""
    path = tmp_path / "rewards_to_repair.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    assert capsys.readouterr().out == "loaded\n"
    return loaded


def place(function: object, text: str) -> Site:
    """The place in the code of a reward that says this."""
    return next(site for site in places(tree_of(function, "test")) if site.text == text)


@pytest.mark.parametrize(
    ("name", "before", "after", "text"),
    [
        ("reward", "== 1", "== 2", "1 and 2"),
        ("reward", 'r"\\d+"', '"[a-z]+"', "12 apples fell"),
        ("reward", "NUMBER.findall(text)", "NUMBER.findall(text[::-1])[1:]", "1 and 2"),
        ("judge", "2", "20", "twelve eggs"),
        ("closed", "limit + 2", "limit + 20", "twelve eggs"),
    ],
)
def test_inside_the_block_the_place_has_another_text(
    module: ModuleType, name: str, before: str, after: str, text: str
) -> None:
    function = getattr(module, name)
    where = before if before != "== 1" else "len(found(text)) == 1"
    what = after if after != "== 2" else "len(found(text)) == 2"
    first = function([text])
    with repaired(tree_of(function, "test"), place(function, where), what):
        assert function([text]) != first
    assert function([text]) == first


def test_the_module_does_not_run_again(module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with repaired(tree_of(module.reward, "test"), place(module.reward, "len(found(text)) == 1"), "True"):
        pass
    assert capsys.readouterr().out == ""


def test_the_old_code_comes_back_after_an_error(module: ModuleType) -> None:
    code = inspect.unwrap(module.reward).__code__
    with (
        pytest.raises(ZeroDivisionError),
        repaired(tree_of(module.reward, "test"), place(module.reward, "len(found(text)) == 1"), "1 / 0"),
    ):
        module.reward(["1"])
    assert inspect.unwrap(module.reward).__code__ is code


def test_a_text_that_is_no_code_is_refused(module: ModuleType) -> None:
    with (
        pytest.raises(NotRepaired),
        repaired(tree_of(module.reward, "test"), place(module.reward, "len(found(text)) == 1"), "1 +"),
    ):
        pass


def test_a_function_that_has_changed_in_its_file_is_refused(module: ModuleType) -> None:
    def other(completions: list[str], **kwargs: object) -> list[float]:
        return [0.5 for _ in completions]

    site = place(module.reward, "len(found(text)) == 1")
    inspect.unwrap(module.reward).__code__ = other.__code__
    with pytest.raises(NotRepaired), repaired(tree_of(module.reward, "test"), site, "True"):
        pass


def test_functions_that_a_reward_uses_are_reachable(module: ModuleType) -> None:
    names = {function.__name__ for function in reachable(tree_of(module.reward, "test"))}
    assert {"reward", "found"} <= names
    assert {one.__name__ for one in reachable(tree_of(module.judge, "test"))} == {"__call__", "judge"}
    assert {one.__name__ for one in reachable(tree_of(module.closed, "test"))} == {"judge"}
