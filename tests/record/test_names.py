"""Names of columns: none is lost, and none is confused with another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.batch.column import Column
from rewardkit.batch.score import SCORED
from rewardkit.batch.table import ScoreTable
from rewardkit.record.names import component_and_part, distinct, part_column
from rewardkit.record.records import ComponentDescription, Record, Version
from tests.record.batches import rows, written

names = st.text("aAbBé/É%~2Ff", max_size=5)
kinds = st.sampled_from(["components", "terms"])
columns = st.builds("{}/{}".format, kinds, names) | st.builds(part_column, names, names)


@given(names, names)
def test_a_part_is_read_as_it_was_written(component: str, part: str) -> None:
    assert component_and_part(part_column(component, part)) == (component, part)


@given(st.lists(columns))
def test_columns_differ_in_more_than_case(found: list[str]) -> None:
    spelled = distinct(found).values()
    assert len({name.casefold() for name in spelled}) == len(set(found))


@given(st.lists(columns), st.lists(columns))
def test_a_renamed_column_keeps_its_name_among_others(some: list[str], others: list[str]) -> None:
    among = distinct(some)
    assert (
        distinct([*among.values(), *others, *some]).items()
        >= {among[column]: name for column, name in distinct([*some, *others]).items() if column in among}.items()
    )


def test_ordinary_names_do_not_change() -> None:
    usual = ["step", "components/Judge", "outcomes/Judge", "terms/a/b", "parts/exact/Exact", "notes/x~y"]
    assert distinct(usual) == {name: name for name in usual}


def scored(step: int, **values: float) -> Record:
    components = {
        name: Column(np.array([value]), np.full(1, SCORED, dtype=np.int8), parts={"x": np.array([value])})
        for name, value in values.items()
    }
    terms = {name: np.array([value]) for name, value in values.items()}
    version = Version("-".join(values), "", tuple(map(ComponentDescription, values)), tuple(values))
    return Record(ScoreTable(["a"], components, terms, np.ones(1)), version, step=step, prompts=["?"])


@pytest.mark.parametrize("every", [0, 2, 3, 100])
def test_a_component_renamed_only_in_case_is_another_component(tmp_path: Path, every: int) -> None:
    records = [scored(0, judge=1), scored(1, judge=2), scored(2, Judge=3), scored(3, Judge=4), scored(4, Judge=5)]
    run = written(tmp_path, *records, compact_every=every)
    name, other = sorted(run.components)
    assert (name, other[:6], run.terms) == ("Judge", "judge~", run.components)
    for kind in ("components", "terms"):
        assert rows(run.scores(), f"{kind}/{name}") == [None, None, 3, 4, 5]
        assert rows(run.scores(), f"{kind}/{other}") == [1, 2, None, None, None]
    assert rows(run.completions(), f"parts/{other}/x") == [1, 2, None, None, None]


@pytest.mark.parametrize("every", [0, 2])
def test_two_components_of_a_reward_can_differ_only_in_case(tmp_path: Path, every: int) -> None:
    run = written(tmp_path, *(scored(step, judge=1, Judge=step) for step in range(3)), compact_every=every)
    name, other = sorted(run.components)
    assert rows(run.scores(), f"components/{name}", f"components/{other}") == [(0, 1), (1, 1), (2, 1)]
