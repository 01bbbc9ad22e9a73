"""Binding: arguments by name and type, as copies that no function can corrupt."""

from __future__ import annotations

import collections
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pandas
import pytest
from pydantic import BaseModel, BeforeValidator

import rewardkit as rk
from rewardkit.tree.binding import Binding, detached, distinct
from rewardkit.tree.leaf import Leaf
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.results import ReturnPolicy


def test_arguments_are_bound_by_name_and_columns_coerced_to_their_annotation() -> None:
    seen: list[tuple[Any, ...]] = []

    @rk.reward
    def closeness(completion: str, answer: float, tags: list[int], *, prompt: str, example: dict[str, Any]) -> float:
        seen.append((completion, answer, tags, prompt, example))
        return 1.0

    rk.score(closeness, ["text"], prompts=["6*7?"], answer=["42"], tags=["[1, 2]"])
    assert seen == [("text", 42.0, [1, 2], "6*7?", {"answer": "42", "tags": "[1, 2]"})]


def test_messages_completion_ids_and_progress_have_their_own_names() -> None:
    seen: list[Any] = []

    @rk.reward
    def watch(messages: list[Any], completion_ids: list[int], progress: rk.Progress) -> float:
        seen.extend([messages, completion_ids, progress.fraction])
        return 0.0

    rk.score(watch, ["hi"], completion_ids=[[1, 2]], progress=rk.Progress(1, 4))
    assert seen == [[{"role": "assistant", "content": "hi"}], [1, 2], 0.25]


def test_progress_in_evaluation_is_the_end() -> None:
    @rk.reward
    def fraction(progress: rk.Progress) -> float:
        return progress.fraction if not progress.training else 0.0

    assert rk.score(fraction, ["a"]).total.tolist() == [1.0]


def test_a_cell_without_a_value_is_shown_as_it_is() -> None:
    @rk.reward
    def close(completion: str, answer: float) -> float:
        return 1.0

    table = rk.score(close, list("abcd"), answer=[float("nan"), 1, None, pandas.NaT])
    assert [note.split()[-2] for note in table.notes["close"] if note] == ["nan", "None", "NaT"]


def test_an_unreadable_cell_is_one_error_without_frames_of_rewardkit() -> None:
    def even(value: object) -> object:
        raise ValueError("it is odd")

    @rk.reward
    def close(completion: str, answer: Annotated[int, BeforeValidator(even)]) -> float:
        return 1.0

    @rk.reward
    def exact(completion: str, answer: int) -> float:
        return 1.0

    for reward, cause in ((exact, None), (close, None), (exact * 0.5, None)):
        with pytest.raises(rk.errors.CoercionError, match="column 'answer', row 0") as refused:
            rk.score(reward, ["a"], answer=["many"])
        assert refused.value.__cause__ is cause
        assert refused.value.__suppress_context__
        assert len(traceback.extract_tb(refused.value.__traceback__)) == 2  # this line, and that of rk.score
    with pytest.raises(rk.errors.BindingError) as missing:
        rk.score(exact, ["a"])
    assert len(traceback.extract_tb(missing.value.__traceback__)) == 2


def test_a_default_replaces_a_missing_column() -> None:
    @rk.reward
    def close(completion: str, limit: int = 5, *, prompt: str = "none", scale: float = 0.5) -> float:
        return scale if (limit, prompt) == (5, "none") else 0.0

    assert rk.score(close, ["a"]).total.tolist() == [0.5]
    assert rk.score(close, ["a"], scale=["1.0"]).total.tolist() == [1.0]
    assert rk.score(close, ["a"], limit=["6"]).total.tolist() == [0.0]


def test_positional_only_arguments_work_with_and_without_their_column() -> None:
    def close(completion: str, /, limit: int = 5, scale: float = 1.0) -> float:
        return limit * scale / 10

    reward = rk.reward(close)
    assert rk.score(reward, ["a"]).total.tolist() == [0.5]
    assert rk.score(reward, ["a"], limit=["7"]).total.tolist() == [0.7]
    assert rk.score(reward, ["a"], scale=["0.4"]).total.tolist() == [0.2]


def test_a_cell_that_does_not_fit_names_component_column_row_value_and_type() -> None:
    @rk.reward
    def close(completion: str, answer: float) -> float:
        return 1.0

    with pytest.raises(rk.errors.CoercionError) as caught:
        rk.score(close, ["a", "b"], answer=["1", "z" * 10_000])
    message = str(caught.value)
    assert all(part in message for part in ("'close'", "'answer'", "row 1", "float", "(10,000 characters)"))
    assert len(message) < 1_000


def test_none_in_a_column_that_is_not_optional_abstains() -> None:
    @rk.reward
    def close(completion: str, answer: float) -> float:
        return answer

    @rk.reward
    def lenient(completion: str, answer: float | None) -> float:
        return 0.25 if answer is None else answer

    table = rk.score(close + lenient, ["a", "b"], answer=["1", None])
    assert table.outcomes["close"].tolist() == ["scored", "abstained"]
    assert "None" in table.notes["close"][1]
    assert table.total.tolist() == [2.0, 0.25]


def test_group_scope_coerces_each_row_and_keeps_prompt_and_progress_single() -> None:
    seen: list[Any] = []

    @rk.reward(scope="group")
    def spread(completion: list[str], answer: Sequence[float], prompt: str, progress: rk.Progress) -> list[float]:
        seen.append((completion, answer, prompt, progress.step))
        return [0.5] * len(completion)

    rk.score(spread, list("abc"), prompts=["p", "p", "q"], answer=["1", "1", "2"], progress=rk.Progress(3, 4))
    assert seen == [(["a", "b"], [1.0, 1.0], "p", 3), (["c"], [2.0], "q", 3)]


def test_batch_scope_gets_everything_as_lists() -> None:
    seen: list[Any] = []

    @rk.reward(scope="batch")
    def spread(completion: list[str], prompt: list[str], answer: list[Any]) -> list[float]:
        seen.append((completion, prompt, answer))
        return [0.5] * len(completion)

    rk.score(spread, ["a", "b"], prompts=["p", "q"], answer=[1, "x"])
    assert seen == [(["a", "b"], ["p", "q"], [1, "x"])]


class Model(BaseModel):
    items: list[int]


@dataclass
class Record:
    items: list[int] = field(default_factory=list)


MUTABLE: list[Callable[[], Any]] = [
    lambda: [1, [2]],
    lambda: {"a": {"b": [1]}},
    lambda: {1, 2},
    lambda: bytearray(b"ab"),
    lambda: collections.OrderedDict(a=[1]),
    lambda: collections.defaultdict(list, a=[1]),
    lambda: collections.deque([1]),
    lambda: ([1], {"a": 1}),
    lambda: Model(items=[1]),
    lambda: Record([1]),
]


def ruin(value: Any) -> None:
    """What a hostile or careless function does to an argument."""
    if isinstance(value, (dict, set, list, bytearray, collections.deque)):
        for inner in list(value.values() if isinstance(value, dict) else value):
            ruin(inner)
        value.clear()
    elif isinstance(value, tuple):
        for inner in value:
            ruin(inner)
    elif isinstance(value, (Model, Record)):
        value.items.clear()


@pytest.mark.parametrize("make", MUTABLE)
def test_a_function_that_changes_its_arguments_affects_no_other(make: Callable[[], Any]) -> None:
    @rk.reward(deterministic=False)
    def hostile(answer: Any, example: dict[str, Any]) -> float:
        ruin(answer)
        ruin(example)
        return 0.0

    @rk.reward
    def witness(answer: Any) -> float:
        return 1.0 if answer == make() else 0.0

    cells = [make(), make()]
    table = rk.score(hostile + witness, ["a", "b"], answer=cells)
    assert table["witness"].tolist() == [1.0, 1.0]
    assert cells == [make(), make()]


def test_messages_and_token_ids_are_copies_too() -> None:
    @rk.reward
    def hostile(messages: list[Any], completion_ids: list[int]) -> float:
        messages[0]["content"] = "hacked"
        messages.clear()
        completion_ids.clear()
        return 0.0

    completion = [{"role": "assistant", "content": "hi"}]
    ids = [1, 2]
    rk.score(hostile, [completion], completion_ids=[ids])
    assert completion == [{"role": "assistant", "content": "hi"}]
    assert ids == [1, 2]


def test_a_group_function_may_sort_its_lists() -> None:
    @rk.reward(scope="group")
    def hostile(completion: list[str]) -> list[float]:
        completion.sort(reverse=True)
        completion.append("more")
        return [0.5, 0.5]

    @rk.reward
    def first(completion: str) -> float:
        return 1.0 if completion == "a" else 0.0

    assert rk.score(hostile + first, ["a", "b"])["first"].tolist() == [1.0, 0.0]


def test_arrays_are_read_only() -> None:
    array = np.zeros(2)
    assert not detached(array).flags.writeable
    assert array.flags.writeable


def test_tool_calls_nested_a_thousand_levels_deep_do_not_stop_the_batch() -> None:
    arguments: dict[str, Any] = {}
    for _ in range(5_000):
        arguments = {"a": arguments}

    @rk.reward
    def polite(messages: list[Any]) -> float:
        return 0.5

    deep = [{"role": "assistant", "content": None, "tool_calls": [arguments]}]
    assert rk.score(polite, [deep, "fine"]).total.tolist() == [0.5, 0.5]


def test_duplicates_depend_only_on_the_arguments_of_the_function() -> None:
    batch = rk.Batch(["a", "a", "b"], columns={"answer": [1, 2, 1]})
    rows = np.arange(3)
    text, answer = Parameter("completion", "completion"), Parameter("answer", "answer")
    example, progress = Parameter("example", "example"), Parameter("progress", "progress")
    assert distinct([text], batch, rows)[0].tolist() == [0, 2]
    assert distinct([answer], batch, rows)[0].tolist() == [0, 1]
    assert distinct([text, answer], batch, rows)[1] is None
    assert distinct([example], batch, rows)[0].tolist() == [0, 1]
    assert distinct([progress], batch, rows)[0].tolist() == [0]


def test_a_view_of_the_prompt_sees_text_or_messages_and_never_the_original() -> None:
    def asked(prompt: Any = "none") -> float:
        if isinstance(prompt, list):
            prompt.clear()
            return 1.0
        return 0.5 if prompt == "6*7?" else 0.0

    reward = Leaf(Binding(asked, (Parameter("prompt", "prompt", view=same, default="none"),)), ReturnPolicy("asked"))
    chat = [{"role": "user", "content": "6*7?"}]
    assert rk.score(reward, ["a", "b", "c"], prompts=[chat, "6*7?", chat]).total.tolist() == [1.0, 0.5, 1.0]
    assert chat == [{"role": "user", "content": "6*7?"}]
    assert rk.score(reward, ["a"]).total.tolist() == [0.0]


def same(prompt: Any) -> Any:
    return prompt
