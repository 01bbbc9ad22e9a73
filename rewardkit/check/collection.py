"""Test collection for ``pytest --rewardkit rewards.py``. Tests have names such as ``rewards.py::closeness::total``."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from rewardkit.check.parametrization import LawCheck
from rewardkit.check.reward_under_test.bound_reward import BoundReward
from rewardkit.check.run.targets import LeftOut, targets_of
from rewardkit.errors import RewardKitError
from rewardkit.tree.loading import path_of, split


class RewardCollection:
    """A pytest plugin that collects the rewards in the files given with ``--rewardkit``."""

    def __init__(self, config: pytest.Config) -> None:
        self._targets: dict[Path, list[str]] = {}
        for target in config.getoption("rewardkit"):
            try:
                path = path_of(split(target)[0])
            except RewardKitError as error:
                raise pytest.UsageError(f"--rewardkit: {error}") from None
            self._targets.setdefault(path, []).append(target)
        paths = [str(path) for path in self._targets]
        if config.args_source is config.ArgsSource.ARGS:
            config.args = [*config.args, *paths]
        else:
            config.args = paths

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Collect the rewards in a file, and also its tests if the file is named like a test file."""
        collectors = yield
        targets = self._targets.get(file_path.resolve())
        if targets is None:
            return collectors
        patterns = parent.config.getini("python_files")
        test_collectors = collectors if any(file_path.match(pattern) for pattern in patterns) else []
        return [*test_collectors, RewardFile.from_parent(parent, path=file_path, targets=targets)]


class RewardFile(pytest.File):
    """A Python file whose rewards are collected as tests."""

    def __init__(self, *, targets: list[str], **more: Any) -> None:
        super().__init__(**more)
        self._targets = targets

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        option = self.config.getoption
        chosen = {name: option(f"rewardkit_{name}") for name in ("budget", "seed", "network")}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        try:
            for target in self._targets:
                targets = targets_of(
                    target, data=option("rewardkit_data"), examples=option("rewardkit_examples"), options=chosen
                )
                for bound in targets.bound:
                    yield RewardNode.from_parent(self, name=bound.name, bound=bound)
                for left_out in targets.left_out:
                    yield LeftOutItem.from_parent(self, name=left_out.name, left_out=left_out)
        except RewardKitError as error:
            raise self.CollectError(str(error)) from None


class RewardNode(pytest.Collector):
    """A reward, which collects one test per law."""

    def __init__(self, *, bound: BoundReward, **more: Any) -> None:
        super().__init__(**more)
        self._bound = bound

    def collect(self) -> Iterator[pytest.Item]:
        for law in self._bound.laws:
            yield LawItem.from_parent(self, name=law.name, law=LawCheck(law.name, self._bound))


class LeftOutItem(pytest.Item):
    """A candidate that is not checked. Its test fails if it is certainly a reward, and is skipped otherwise."""

    def __init__(self, *, left_out: LeftOut, **more: Any) -> None:
        super().__init__(**more)
        self._left_out = left_out
        self.add_marker(pytest.mark.rewardkit)

    def runtest(self) -> None:
        message = f"not checked: {self._left_out.reason}"
        if self._left_out.certain:
            pytest.fail(message, pytrace=False)
        pytest.skip(message)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class LawItem(pytest.Item):
    """A test that checks one law for one reward."""

    def __init__(self, *, law: LawCheck, **more: Any) -> None:
        super().__init__(**more)
        self.law = law
        self.add_marker(pytest.mark.rewardkit)

    def runtest(self) -> None:
        self.law(self.law.bound.reward)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failure text, without a traceback for errors in the examples or the reward's definition."""
        if isinstance(excinfo.value, RewardKitError):
            return f"{type(excinfo.value).__name__}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.law.bound.name}: {self.name}"
