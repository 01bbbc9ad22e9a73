"""No input from a policy or a dataset causes a crash, a hang or high memory use, or earns an undeserved reward."""

from __future__ import annotations

import inspect
import math

import pytest

import rewardkit as rk
from tests.hostile.cells import CELLS, MISSING
from tests.hostile.children import lines_of
from tests.hostile.rewards import REWARDS
from tests.hostile.sandboxes import skip_without_sandbox
from tests.hostile.schemas import DOCUMENTS, REFUSED, USABLE
from tests.hostile.texts import TEXTS

pytestmark = pytest.mark.slow

GROWTH = 256 * 1024
"""Kilobytes of memory that one case may add to the process."""


@pytest.mark.parametrize("name", REWARDS)
def test_texts(name: str) -> None:
    case = REWARDS[name]
    skip_without_sandbox(case.make())
    (honest, *lines) = lines_of("texts", name, list(TEXTS))
    right, wrong = honest["scores"]
    assert right > wrong
    low, high = case.make().bounds
    for line in lines:
        first, hostile, last = line["scores"]
        most = case.exceptions.get(line["case"], high if case.most is None else case.most)
        assert low <= hostile <= most + 1e-9, line
        assert first >= last if case.relative else [first, last] == [right, wrong], line
        assert line["grown"] <= GROWTH, line


def test_every_primitive_is_covered() -> None:
    homes = {"": rk, "agents.": rk.agents, "length.": rk.length}
    primitives = {
        f"{prefix}{name}"
        for prefix, home in homes.items()
        for name in home.__all__
        if inspect.isfunction(value := getattr(home, name))
        and value.__module__.startswith("rewardkit.rewards.")
        and ".judges." not in value.__module__
    }
    elsewhere = {"arithmetic", "agents.final_state", "agents.environment_reward", "agents.tool_calls"}
    assert primitives - elsewhere == {name.split(",")[0] for name in REWARDS}


@pytest.mark.parametrize("name", [name for name, case in REWARDS.items() if case.columns])
def test_cells(name: str) -> None:
    reward = REWARDS[name].make()
    skip_without_sandbox(reward)
    low, high = reward.bounds
    for line in lines_of("cells", name, list(CELLS)):
        assert line["grown"] <= GROWTH, line
        if "refused" in line:
            assert "row 0" in line["refused"], line
            assert len(line["refused"]) < 2_000, line
        else:
            (score,) = line["scores"]
            assert math.isnan(score) if line["case"] in MISSING else low <= score <= high, line


def test_schemas_that_are_refused() -> None:
    for line in lines_of("schemas", "refused", list(REFUSED)):
        assert line["refused"].startswith("rk.json_schema: "), line
        assert len(line["refused"]) < 2_000


def test_schemas_that_are_usable() -> None:
    cases = [f"{schema}, {document}" for schema in USABLE for document in DOCUMENTS]
    for line in lines_of("schemas", "usable", cases):
        assert 0.0 <= line["scores"][0] <= 1.0, line
        assert line["grown"] <= GROWTH, line


def test_there_are_enough_cases() -> None:
    assert len(TEXTS) * len(REWARDS) > 2_000
    assert len(REFUSED) + len(USABLE) * len(DOCUMENTS) > 200
