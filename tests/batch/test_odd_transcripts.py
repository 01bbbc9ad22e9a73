"""Transcripts of any shape: reading never raises, and what is read can be used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.batch.transcripts import CallRecord, read
from rewardkit.check.variants.wild_texts import SHAPES, TEXTS
from tests.record.conversations import asks, result, says

ERROR = "{'error': 'no such letter'}"


def calls(completion: Any) -> tuple[rk.agents.ToolCall, ...]:
    return rk.Trajectory.of(completion).calls


def texts(completion: Any) -> list[str | None]:
    """The text of the result of each call, None without one."""
    return [None if call.result is None else call.result.text for call in calls(completion)]


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.sampled_from([10**4000, float("nan"), float("inf"), b"x", ..., {1}, np.array([1, 2]), np.float64(1), object])
    | st.text(max_size=5)
    | st.sampled_from(["assistant", "tool", "user", "error", "status", "[1]", '{"name": "f"}', ERROR, *TEXTS.values()]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("role", "content", "tool_calls", "function", "name", "arguments", "id", "tool_call_id", "type"),
                    *("function_call", "args", "input", "reasoning", "is_error", "error", "status", "text", "thinking"),
                ]
            )
            | st.integers(0, 3),
            inner,
            max_size=5,
        )
        | st.tuples(inner, inner)
    ),
    max_leaves=30,
)


def use(trajectory: rk.Trajectory) -> None:
    """Everything a reward may ask for."""
    assert repr(trajectory)
    assert hash(trajectory) == hash(trajectory.upto(len(trajectory.turns)))
    assert trajectory.answer == "" or trajectory.finished
    assert trajectory.errors <= len(trajectory.calls)
    assert sum(map(len, trajectory.rounds)) == len(trajectory.turns)
    assert trajectory == trajectory.upto(len(trajectory.turns))
    for call in trajectory.calls:
        assert str(call)
        assert call.ok in (True, False, None)
        assert call.fault or call.arguments is not None
        assert not call.has(no_argument=1)
    for turn in trajectory.turns:
        assert turn.visible in turn.text or turn.thinking
    assert trajectory.stop in ("answered", "cut", "pending", "silent")


@settings(max_examples=300)
@given(JUNK, st.booleans())
def test_junk_is_read_as_far_as_it_goes(junk: Any, cut: bool) -> None:
    use(rk.Trajectory.of(junk, cut=cut))
    use(rk.Trajectory.of([{"role": "assistant", "tool_calls": junk}, {"role": "tool", "content": junk}], cut=cut))
    use(rk.Trajectory.of([asks(("f", junk)), {"role": "tool", "name": junk, "tool_call_id": junk, "content": junk}]))
    use(read([asks(("f", {})), asks(("f", "{}"))], records=[CallRecord("f", {"a": junk}, "x")] * 3))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_odd_shapes(shape: Any) -> None:
    use(rk.Trajectory.of(shape))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_texts_everywhere(text: str) -> None:
    completion = [
        {
            "role": "assistant",
            "content": text,
            "tool_calls": [{"id": text, "function": {"name": text or "f", "arguments": {text: text}}}],
        },
        {"role": "tool", "name": text or "f", "tool_call_id": text, "content": text},
        says(text),
    ]
    trajectory = rk.Trajectory.of(completion)
    use(trajectory)
    (call,) = trajectory.calls
    assert call.arguments == {text: text}
    assert call.result is not None
    assert call.result.text == text
    use(rk.Trajectory.of([asks(("f", text))]))


def test_arrays_are_lists() -> None:
    """As pandas reads them from Parquet."""
    listed = np.array([{"function": {"name": name, "arguments": {}}} for name in "fg"], dtype=object)
    messages = np.array([{"role": "assistant", "content": "", "tool_calls": listed}], dtype=object)
    assert [call.name for call in calls(messages)] == ["f", "g"]


def test_integers_that_python_cannot_write() -> None:
    huge = 10**5000
    trajectory = rk.Trajectory.of(
        [{"role": "assistant", "tool_calls": [{"id": huge, "name": "f", "args": {"a": huge}}]}]
    )
    use(trajectory)
    assert trajectory.calls[0].fault == "the arguments are not JSON: a number is too large"
    use(rk.Trajectory.of([asks(("f", huge)), result("f", huge)]))  # type: ignore[arg-type]


def test_a_conversation_of_400_calls_and_a_result_of_a_megabyte() -> None:
    many = [asks(*[("f", {"n": number}) for number in range(400)]), *[result("f", str(n)) for n in range(400)]]
    assert texts(many) == [str(number) for number in range(400)]
    long = "{'error': '" + "x" * 1_000_000
    assert texts([asks(("f", {})), result("f", long)]) == [long]
    assert texts([asks(("f", {})), result("f", "{" * 1_000_000)]) == ["{" * 1_000_000]
