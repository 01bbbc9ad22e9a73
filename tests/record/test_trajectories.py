"""The numbers of conversations in a record, and what is known of them besides their messages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column
from rewardkit.batch.environments import Watch, journals, recording_class
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import SCORED
from rewardkit.batch.text_calls import read_text_calls
from rewardkit.batch.trajectory import Trajectory
from rewardkit.batch.transcripts import CallRecord
from rewardkit.errors import RewardKitError
from rewardkit.record.records import Record
from rewardkit.record.tables import tables_of
from rewardkit.record.trajectories import MAX_NAMES, RolloutCell, Trajectories, is_malformed, is_plain, tool_name
from tests.record.batches import batch, rows, written
from tests.record.conversations import OPENED, PENDING, asks, result, says

MIXED: list[Any] = [OPENED, PENDING, [says("18")], [asks(("look", {}), ("open", {})), result("look", "a"), says("b")]]
NUMBERS = ("turns", "calls", "repeated_calls", "tool_errors", "stop", "broken", "tools")


def read(completions: list[Any], **known: Any) -> Trajectories:
    found = Trajectories.of(Batch(completions, rollouts=RolloutInfo(**known)))
    assert found is not None
    return found


def record_of(completions: list[Any], trajectories: Trajectories | None) -> Record:
    texts = [f"text {row}" for row in range(len(completions))]
    return batch(1, texts=texts, completions=completions, trajectories=trajectories)


def test_plain_texts_are_not_read() -> None:
    assert Trajectories.of(Batch(["42", "41"])) is None
    assert Trajectories.of(Batch([])) is None


@given(
    st.lists(
        st.text(max_size=5)
        | st.sampled_from(
            ['<tool_call>{"name": "f"', '{"name": 1}', "<think>tool</think>42", "[TOOL_CALLS] f", "a tool"]
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_messages_with_text_alone_are_read_fast_and_the_same(texts: list[str], cut: bool) -> None:
    known: dict[str, Any] = {"cut": [cut] * len(texts), "is_error": bool}
    fast = read([[says(text)] for text in texts], **known)
    slow = read([[{**says(text), "name": "policy"}] for text in texts], **known)
    assert fast.columns().keys() == slow.columns().keys()
    for name, column in fast.columns().items():
        assert list(column) == list(slow.columns()[name]), name
    assert fast.malformed.tolist() == slow.malformed.tolist()
    assert fast.malformed.tolist() == [is_malformed(Trajectory.of(text)) for text in texts]
    assert fast.plain is slow.plain is True
    assert (fast.tools, fast.rollouts()) == (slow.tools, slow.rollouts())


def test_scores_have_the_numbers_of_each_conversation(tmp_path: Path) -> None:
    run = written(tmp_path, record_of(MIXED, read(MIXED)), batch(2))
    assert rows(run.scores(), *NUMBERS)[:4] == [
        (2, 1, 0, 0, "answered", False, "open"),
        (2, 2, 1, 1, "pending", False, "open"),
        (1, 0, 0, 0, "answered", False, ""),
        (2, 2, 0, 0, "answered", False, "look open"),
    ]
    assert rows(run.scores(), *NUMBERS)[4:] == [(None,) * 7] * 4
    assert rows(run.completions(), "rollout") == [None] * 8


def test_a_record_needs_one_trajectory_for_each_completion() -> None:
    with pytest.raises(RewardKitError, match="2 completions has 4 trajectories"):
        batch(1, n=2, trajectories=read(MIXED))


class Drawers:
    """Drawers, one of which is out of order."""

    def open(self, color: str) -> str:
        """Open a drawer."""
        if color == "blue":
            raise ConnectionError("env down")
        return f"in {color}"


def test_what_environments_recorded_is_kept(tmp_path: Path) -> None:
    environments = [recording_class(Drawers, Watch())() for _ in range(2)]
    environments[0].open(color="red")
    with pytest.raises(ConnectionError):
        environments[1].open(color="blue")
    completions = [[asks(("open", {"color": color}))] for color in ("red", "blue")]
    found = read(completions, **journals(environments))
    assert (found.broken[0], found.errors.tolist()) == ("", [0, 0])
    run = written(tmp_path, record_of(completions, found))
    assert rows(run.scores(), "broken") == [False, True]
    first, second = map(RolloutCell.read, rows(run.completions(), "rollout"))
    assert first == RolloutCell((CallRecord("open", {"color": "red"}, "in red"),))
    assert second.broken == "the tool 'open': ConnectionError: env down"
    assert second.records is not None
    assert second.records[0].error == "env down"


def test_errors_that_a_function_of_the_user_recognized_are_kept() -> None:
    said = [asks(("open", {}), ("look", {})), result("open", "fine"), result("look", "E42"), says("done")]
    found = read([said, OPENED], is_error=lambda text: text.startswith("E") and f"code {text}")
    assert found.errors.tolist() == [1, 0]
    assert [RolloutCell.read(cell).errors for cell in found.rollouts()] == [{1: "code E42"}, {}]


@given(st.text() | st.just('{"records": [[1]], "errors": 3}') | st.just('{"records": 3}') | st.just("[]"))
def test_a_damaged_cell_says_nothing(text: str) -> None:
    assert RolloutCell.read(text) == RolloutCell()


def test_the_shares_of_turns_are_a_table(tmp_path: Path) -> None:
    one = record_of([OPENED, OPENED], read([OPENED, OPENED]))
    values, codes = np.array([0.5, 0.25]), np.full(2, SCORED, dtype=np.int8)
    table = one.table
    components = {**table.components, "progress": Column(values, codes, turns={1: (0.0, 0.25), 0: (0.5, 0.0)})}
    table = type(table)(table.completions, components, table.terms, table.total)
    run = written(tmp_path, *(batch(step, n=2) for step in (1, 2)), Record(table, one.version, step=3))
    assert rows(run.turns().order("row, turn"), "step", "row", "turn", "component", "share") == [
        (3, 0, 0, "progress", 0.5),
        (3, 0, 1, "progress", 0.0),
        (3, 1, 0, "progress", 0.0),
        (3, 1, 1, "progress", 0.25),
    ]
    query = 'select sum(share) = any_value("components/progress") from turns join scores using (part, row) group by row'
    assert run.sql(query).fetchall() == [(True,), (True,)]


def test_shares_of_steps_that_are_trained_again_are_superseded(tmp_path: Path) -> None:
    def one(step: int, share: float) -> Record:
        record = batch(step, n=2)
        record.table.components["form"].turns[0] = (share,)
        return record

    written(tmp_path, *(one(step, 0.1) for step in (1, 2, 3)), compact_every=2)
    run = written(tmp_path, one(3, 0.7), attempt=2)
    assert rows(run.turns(), "step", "share") == [(1, 0.1), (2, 0.1), (3, 0.7)]
    assert len(rows(run.turns(superseded=True), "step")) == 4


def test_a_batch_without_shares_has_no_table_of_turns() -> None:
    assert "turns" not in tables_of(batch(), attempt=1, rank=0, part=0, known_prompts=set())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<tool_call>\n{"name": "open", "arguments": {', True),
        ("<think>so</think>\n<tool_call>{}", True),
        ('{"name": "open"', True),
        ('[{ "name": "open"', True),
        ("[TOOL_CALLS] [", True),
        ("<function=open>", True),
        ("<|python_tag|>open()", True),
        ('<tool_call>\n{"name": "open"}\n</tool_call>', True),
        ('{"name": "open", "arguments": {}}', True),
        ("It is 18.", False),
        ("I would write <tool_call>", False),
        ('{"answer": 18}', False),
        ("[18]", False),
        ("", False),
    ],
)
def test_a_call_that_could_not_be_read(text: str, expected: bool) -> None:
    trajectory = Trajectory.of([says(text)])
    run = replace(trajectory, runs_calls=True)  # a trainer that runs calls has not read this one
    assert is_malformed(run) is expected
    assert is_malformed(trajectory) is (expected and not read_text_calls(text).readable)
    assert not is_malformed(Trajectory.of([asks(("open", {}), text=text)]))
    for known, runs in ((trajectory, False), (run, True)):
        fast = Trajectories.of(Batch([[says(text)]], rollouts=RolloutInfo(runs_calls=runs)))
        assert fast is not None
        assert bool(fast.malformed[0]) is is_malformed(known)


def test_one_message_with_text_is_plain() -> None:
    assert is_plain(Trajectory.of([says("18")]))
    assert not any(is_plain(Trajectory.of(one)) for one in (OPENED, PENDING, [says("a"), says("b")]))
    assert read([[says("18")]]).plain
    assert not read([[says("18")], OPENED]).plain
    assert not read([[says("18")]], environments=[Drawers()]).plain


@given(st.text(st.characters(exclude_categories=())))
def test_names_of_tools_suit_logs(name: str) -> None:
    shown = tool_name(name)
    assert 0 < len(shown) <= MAX_NAMES
    assert shown.isprintable()
    assert not any(character.isspace() for character in shown)


def test_a_policy_cannot_invent_tools_without_end() -> None:
    found = read([[asks(*((f"tool{number}", {}) for number in range(1_000)))]])
    assert (len(found.tools[0]), found.calls.tolist()) == (MAX_NAMES, [1_000])


def test_parts_are_the_same_rows() -> None:
    found = read(MIXED, records=[None, (CallRecord("open", {}),), None, ()], is_error=bool, broken={1: "why"})
    parts = [found.part(0, 1), found.part(1, 4)]
    for name in NUMBERS:
        assert [value for part in parts for value in part.columns()[name]] == list(found.columns()[name])
    assert [cell for part in parts for cell in part.rollouts()] == found.rollouts()
    assert json.loads(found.rollouts()[1] or "")["broken"] == "why"
