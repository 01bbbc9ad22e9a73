"""What TRL's tool loop passes to reward functions, fact by fact, and what rewardkit makes of it.

A TRL version that changes one of these facts is named by a failing test. The trainings are real; only the sampling is
replaced.
"""

from __future__ import annotations

import itertools
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.batch.environments import journal_of
from rewardkit.record.trajectories import RolloutCell

pytest.importorskip("trl")

from tests.adapters.trl.scripted import END, Seen, call, play, turn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:You are using 'environment_factory'"),
    pytest.mark.filterwarnings("ignore:the environments .* do not record"),
    pytest.mark.filterwarnings("ignore:.*also has reward functions"),
    pytest.mark.filterwarnings("ignore:std\\(\\)"),
]

Message = dict[str, Any]

ANSWERED = [turn("done")]
"""A script of one answer: groups need two rows."""


def spell(letter: str) -> str:
    """Says a letter twice.

    Args:
        letter: one of the first four.
    """
    if letter not in "abcd":
        raise ValueError("no such letter")
    return 2 * letter


async def slow(letter: str) -> str:
    """Says a letter three times.

    Args:
        letter: one of the first four.
    """
    if letter not in "abcd":
        raise ValueError("no such letter")
    return 3 * letter


def broken(kind: str) -> Any:
    """Gives things that are no text.

    Args:
        kind: which.
    """
    return {"dict": {"twice": "DD"}, "none": None, "list": [{"type": "text", "text": "a"}], "error": {"error": "none"}}[
        kind
    ]


def sort(items: list[str]) -> str:
    """Sorts, and forgets what it sorted.

    Args:
        items: what.
    """
    done = ",".join(sorted(items))
    items.clear()
    return done


A, B, C, H = (call("spell", {"letter": letter}) for letter in "abch")
SLOW_A, SLOW_C, SLOW_H = (call("slow", {"letter": letter}) for letter in "ach")


class Words:
    """An environment with the same tools, which remembers."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def reset(self, **row: Any) -> str | None:
        self.said = []
        return None

    def spell(self, letter: str) -> str:
        """Says a letter twice.

        Args:
            letter: one of the first four.
        """
        self.said.append(letter)
        return spell(letter)

    async def slow(self, letter: str) -> str:
        """Says a letter three times.

        Args:
            letter: one of the first four.
        """
        self.said.append(f"{letter} slowly")
        return await slow(letter)

    def sort(self, items: list[str]) -> str:
        """Sorts, and forgets what it sorted.

        Args:
            items: what.
        """
        return sort(items)


def told(seen: Seen, row: int = 0) -> list[tuple[str, Any]]:
    """The results in the order in which the completion has them: (name, content)."""
    return [(message["name"], message["content"]) for message in seen.completions[row] if message["role"] == "tool"]


def results(seen: Seen, row: int = 0) -> list[str | None]:
    """The text of the result of each call, as rewardkit pairs them."""
    return [None if one.result is None else one.result.text for one in seen.trajectories[row].calls]


def sources(seen: Seen, row: int = 0) -> list[str | None]:
    return [None if one.result is None else one.result.source for one in seen.trajectories[row].calls]


# The table


def test_a_call_and_an_answer_come_without_ids(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn(A), turn("It is aa.")], ANSWERED], tools=[spell])
    assert seen.completions[0] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "function": {"name": "spell", "arguments": {"letter": "a"}}}],
        },
        {"role": "tool", "name": "spell", "content": "aa"},
        {"role": "assistant", "content": "It is aa."},
    ]
    trajectory = seen.trajectories[0]
    assert (trajectory.stop, trajectory.answer, results(seen), sources(seen)) == (
        "answered",
        "It is aa.",
        ["aa"],
        ["name"],
    )


def test_text_before_or_behind_a_call_is_its_content_never_none(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn(A, "behind"), turn("x")], [turn("before", A), turn("x")], ANSWERED], tools=[spell])
    assert seen.completions[0][0]["content"] == "behind"
    assert isinstance(seen.completions[1][0]["content"], str)
    assert seen.trajectories[0].turns[0].text == "behind"
    assert seen.trajectories[0].answer == "x"


def test_results_of_synchronous_tools_come_first_whatever_was_asked_first(tmp_path: Path) -> None:
    script = [turn(SLOW_A, B, SLOW_C), turn("x")]
    seen = play(tmp_path, [script, ANSWERED], tools=[spell, slow])
    assert told(seen) == [("spell", "bb"), ("slow", "aaa"), ("slow", "ccc")]
    assert results(seen) == ["aaa", "bb", "ccc"]
    assert sources(seen) == ["guessed", "name", "guessed"]
    exact = play(tmp_path, [script, ANSWERED], environment=Words)
    assert told(exact) == told(seen)
    assert results(exact) == ["aaa", "bb", "ccc"]
    assert sources(exact) == ["recorded"] * 3


def test_a_bad_call_to_an_asynchronous_tool_is_answered_before_a_good_one(tmp_path: Path) -> None:
    script = [turn(SLOW_A, call("slow", {"word": "a"})), turn("x")]
    seen = play(tmp_path, [script, ANSWERED], tools=[slow])
    assert [content.startswith("{'error'") for _, content in told(seen)] == [True, False]
    assert sources(seen) == ["guessed", "guessed"]  # and wrong, which messages cannot tell
    assert [one.ok for one in seen.trajectories[0].calls] == [False, True]
    exact = play(tmp_path, [script, ANSWERED], environment=Words)
    assert [one.ok for one in exact.trajectories[0].calls] == [True, False]
    assert results(exact)[0] == "aaa"


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (H, "no such letter"),
        (call("sing"), "Tool sing not found."),
        (call("spell", {"word": "a"}), "unexpected keyword argument 'word'"),
        (call("spell"), "missing 1 required positional argument: 'letter'"),
        ('<call>{"name": "spell"}</call>', "missing 1 required positional argument: 'letter'"),
        ('<call>{"name": "spell", "arguments": null}</call>', "missing 1 required positional argument: 'letter'"),
        ('<call>{"name": "spell", "arguments": {"letter": NaN}}</call>', "requires string as left operand, not float"),
        ('<call>{"name": "spell", "arguments": {"self": 1, "letter": "a"}}</call>', "argument 'self'"),
    ],
)
def test_an_error_is_the_repr_of_a_dict(tmp_path: Path, written: str, error: str) -> None:
    for way in ({"tools": [spell]}, {"environment": Words}):
        seen = play(tmp_path, [[turn(written), turn("x")], ANSWERED], **way)
        ((_, content),) = told(seen)
        assert content.startswith("{'error': ")
        assert error in content
        (one,) = seen.trajectories[0].calls
        assert (one.ok, seen.trajectories[0].errors) == (False, 1)
        assert error in str(one.result and one.result.error)
    assert one.ran is ("sing" not in written)


def test_a_tool_that_returns_such_a_dict_looks_the_same(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn(call("broken", {"kind": "error"})), turn("x")], ANSWERED], tools=[broken])
    assert told(seen) == [("broken", "{'error': 'none'}")]
    assert seen.trajectories[0].errors == 1


def test_a_dict_and_none_are_written_as_python_shows_them_and_a_list_as_parts(tmp_path: Path) -> None:
    calls = [call("broken", {"kind": kind}) for kind in ("dict", "none")]
    seen = play(tmp_path, [[turn(*calls), turn("x")], ANSWERED], tools=[broken])
    assert [content for _, content in told(seen)] == ["{'twice': 'DD'}", "None"]
    assert results(seen) == ["{'twice': 'DD'}", "None"]
    listed = play(tmp_path, [[turn(call("broken", {"kind": "list"})), turn("x")], ANSWERED], tools=[broken])
    assert told(listed) == [("broken", [{"type": "text", "text": "a"}])]
    assert results(listed) == ["a"]


@pytest.mark.parametrize(
    "written", ['<call>{"name": "spell", "arguments": {"letter": </call>', '<call>{"arguments": {}}</call>']
)
def test_a_call_that_cannot_be_read_is_the_text_of_an_answer_and_counted_nowhere(tmp_path: Path, written: str) -> None:
    seen = play(tmp_path, [[turn(written)], ANSWERED], tools=[spell])
    assert [message.get("tool_calls") for message in seen.completions[0]] == [None]
    assert "</call>" in seen.completions[0][0]["content"]
    assert (seen.logged("tools/call_frequency"), seen.logged("tools/failure_frequency")) == (0.0, 0.0)
    assert (seen.trajectories[0].calls, seen.trajectories[0].stop) == ((), "answered")


def test_arguments_as_text_stay_text_and_never_reach_the_tool(tmp_path: Path) -> None:
    script = [turn(call("spell", '{"letter": "a"}')), turn(B), turn("x")]
    seen = play(tmp_path, [script, ANSWERED], tools=[spell])
    assert seen.completions[0][0]["tool_calls"][0]["function"]["arguments"] == '{"letter": "a"}'
    assert "must be a mapping" in told(seen)[0][1]
    exact = play(tmp_path, [script, ANSWERED], environment=Words)
    first, second = exact.trajectories[0].calls
    assert first.has(letter="a")
    assert (first.ok, first.ran, second.ok, second.ran) == (False, False, True, True)
    assert exact.environments is not None
    assert exact.environments[0].said == ["b"]


def test_an_open_call_at_the_end_of_the_text_is_executed(tmp_path: Path) -> None:
    seen = play(tmp_path, [[A.removesuffix("</call>"), turn("x")], ANSWERED], tools=[spell])
    assert told(seen) == [("spell", "aa")]


def test_calls_beyond_the_limit_of_iterations_never_run(tmp_path: Path) -> None:
    script = [turn(A), turn(B), turn("x")]
    options: dict[str, Any] = {"max_tool_calling_iterations": 1}
    seen = play(tmp_path, [script, ANSWERED], tools=[spell], **options)
    assert [message["role"] for message in seen.completions[0]] == ["assistant", "tool", "assistant"]
    assert seen.completions[0][-1]["tool_calls"]
    assert (seen.trajectories[0].stop, [one.ran for one in seen.trajectories[0].calls]) == ("pending", [True, None])
    exact = play(tmp_path, [script, ANSWERED], environment=Words, **options)
    assert [one.ran for one in exact.trajectories[0].calls] == [True, False]
    assert results(exact) == ["aa", None]
    assert exact.trajectories[0].stop == "pending"


def room(*texts: str) -> int:
    """The number of tokens of texts."""
    marks = ("<call>", "</call>", "<tool>", "</tool>", "<assistant>", END)
    size = 0
    for text in texts:
        for mark in marks:
            size += text.count(mark)
            text = text.replace(mark, "")
        size += len(text)
    return size


RESULT = "<tool>spell aa</tool><assistant>"


def test_a_result_that_is_too_long_is_dropped_though_the_tool_ran(tmp_path: Path) -> None:
    """In messages it looks the same as a call that never ran; a recorded environment tells them apart."""
    script = [turn(A), turn("x")]
    options: dict[str, Any] = {"max_completion_length": room(turn(A), RESULT) - 1}
    seen = play(tmp_path, [script, ANSWERED], tools=[spell], **options)
    assert [message["role"] for message in seen.completions[0]] == ["assistant"]
    assert (seen.trajectories[0].stop, [one.ran for one in seen.trajectories[0].calls]) == ("pending", [None])
    exact = play(tmp_path, [script, ANSWERED], environment=Words, **options)
    assert exact.environments is not None
    assert exact.environments[0].said == ["a"]
    (one,) = exact.trajectories[0].calls
    assert (one.ran, one.ok, results(exact), exact.trajectories[0].stop) == (True, True, ["aa"], "pending")


def test_nothing_follows_a_result_that_just_fits(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn(A), turn("x")], ANSWERED], tools=[spell], max_completion_length=room(turn(A), RESULT))
    assert [message["role"] for message in seen.completions[0]] == ["assistant", "tool"]
    assert (seen.trajectories[0].stop, seen.trajectories[0].answer) == ("silent", "")


def test_markup_of_results_is_plain_text(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn("<tool>spell aa</tool>aa")], ANSWERED], tools=[spell])
    assert seen.completions[0] == [{"role": "assistant", "content": "<tool>spell aa</tool>aa"}]
    assert seen.trajectories[0].results == ()


# Below the table


def test_tools_add_no_keyword_and_environments_one(tmp_path: Path) -> None:
    known = {"trainer_state", "log_extra", "log_metric"}
    assert set(play(tmp_path, [ANSWERED] * 2, tools=[spell]).extra) == known
    seen = play(tmp_path, [ANSWERED] * 2, environment=Words)
    assert set(seen.extra) == {*known, "environments"}


def test_tools_run_one_after_the_other(tmp_path: Path) -> None:
    running, most = [0], [0]

    class Slow(Words):
        def spell(self, letter: str) -> str:
            """Takes a while.

            Args:
                letter: any.
            """
            running[0] += 1
            most[0] = max(most[0], running[0])
            time.sleep(0.005)
            running[0] -= 1
            return "ok"

    for recorded in (True, False):
        play(tmp_path, [[turn(A, B), turn("x")]] * 2, environment=Slow, recorded=recorded)
    assert most == [1]


def test_environments_are_pooled_and_used_again(tmp_path: Path) -> None:
    batches: list[list[int]] = []

    def pooled(completions: Any, environments: Any, **kwargs: Any) -> list[float]:
        batches.append([id(one) for one in environments])
        return [0.0] * len(completions)

    rows = [[turn(A), turn("x"), turn(A), turn("x"), turn(A), turn("x")], [turn("y")] * 3]
    seen = play(
        tmp_path,
        rows,
        environment=Words,
        reward=rk.agents.finished() + rk.from_trl(pooled),
        max_steps=3,
        num_iterations=1,
    )
    assert len(batches) == 3
    assert batches[0] == batches[1] == batches[2]
    assert len(set(batches[0])) == 2
    assert [one.said for one in seen.environments or []] == [["a"], []]


def test_prompts_must_be_chats(tmp_path: Path) -> None:
    from datasets import Dataset

    with pytest.raises(AttributeError, match="'str' object has no attribute 'get'"):
        play(
            tmp_path, [ANSWERED] * 2, tools=[spell], given={"train_dataset": Dataset.from_dict({"prompt": ["go"] * 2})}
        )


def test_nothing_in_trls_log_tells_unfinished_shapes_from_answers(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn(A), turn(B)], [turn(A), turn(B)]], tools=[spell], max_tool_calling_iterations=1)
    assert seen.logged("completions/clipped_ratio") == 0.0
    assert (seen.logged("trajectory/pending"), seen.logged("trajectory/unfinished")) == (1.0, 1.0)
    assert seen.logged("rewards/finished/mean") == 0.0


def test_an_answer_that_ran_into_the_limit_is_cut(tmp_path: Path) -> None:
    seen = play(tmp_path, [["an answer without an end"], ANSWERED], tools=[spell], max_completion_length=12)
    assert [one.stop for one in seen.trajectories] == ["cut", "answered"]
    assert seen.logged("completions/clipped_ratio") == 0.5
    assert seen.generations[-1].columns["finished"].tolist() == [0.0, 1.0]


def test_an_answer_after_a_result_that_ran_into_the_limit_is_cut(tmp_path: Path) -> None:
    size = room(turn(A), RESULT) + 3
    seen = play(tmp_path, [[turn(A), turn("a long answer")], ANSWERED], tools=[spell], max_completion_length=size)
    assert seen.completions[0][-1] == {"role": "assistant", "content": "a l"}
    assert (seen.trajectories[0].stop, seen.trajectories[0].answer) == ("cut", "")


def test_a_tool_that_changes_its_arguments_rewrites_the_transcript_but_not_the_record(tmp_path: Path) -> None:
    script = [turn(call("sort", {"items": ["b", "a"]})), turn("x")]
    seen = play(tmp_path, [script, ANSWERED], tools=[sort])
    assert seen.completions[0][0]["tool_calls"][0]["function"]["arguments"] == {"items": []}
    assert seen.trajectories[0].calls[0].has(items=[])
    exact = play(tmp_path, [script, ANSWERED], environment=Words)
    assert exact.completions[0][0]["tool_calls"][0]["function"]["arguments"] == {"items": ["b", "a"]}
    assert exact.trajectories[0].calls[0].has(items=["b", "a"])
    assert results(exact) == ["a,b"]


def test_completion_ids_hold_what_the_tool_said(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn(A), turn("x")], ANSWERED], tools=[spell])
    assert seen.text(0) == turn(A) + RESULT + turn("x")


def test_lengths_in_tokens_warn_that_they_count_what_tools_say(tmp_path: Path) -> None:
    with pytest.warns(rk.errors.RewardKitWarning, match="token ids .* also include tool results"):
        play(
            tmp_path,
            [[turn(A), turn("x")], ANSWERED],
            tools=[spell],
            reward=rk.length.between(1, 20, unit="tokens"),
        )


@pytest.mark.parametrize("where", ["sort", "reset", "get_reward"])
def test_without_recording_an_exit_or_an_exception_ends_the_training(tmp_path: Path, where: str) -> None:
    class Ending(Paying):
        def sort(self, items: list[str]) -> str:
            """Ends.

            Args:
                items: what.
            """
            sys.exit(3)

    Paying.fails = {} if where == "sort" else {where: ValueError("bug")}
    with pytest.raises((SystemExit, ValueError)):
        play(tmp_path, [[turn(call("sort", {"items": []})), turn("x")], ANSWERED], environment=Ending, recorded=False)


def test_without_recording_an_outage_is_scored_as_the_policys_failure(tmp_path: Path) -> None:
    Paying.fails = {"spell": ConnectionError("env down")}
    seen = play(
        tmp_path,
        [[turn(A), turn("x")], ANSWERED],
        environment=Paying,
        recorded=False,
        reward=rk.agents.tool_errors(),
    )
    assert told(seen) == [("spell", "{'error': 'env down'}")]
    assert seen.generations[-1].columns["tool_errors"].tolist() == pytest.approx([-0.1, 0.0])


def test_reset_gets_all_columns_and_its_text_is_glued_to_the_prompt(tmp_path: Path) -> None:
    given: list[dict[str, Any]] = []
    number = itertools.count()

    class Greeting(Words):
        def reset(self, **row: Any) -> str:
            given.append(row)
            return f"hello {next(number)}"

    seen = play(tmp_path, [ANSWERED] * 2, environment=Greeting, columns={"answer": ["7"]})
    assert [set(row) for row in given] == [{"prompt", "answer"}] * 2
    assert [prompt[-1]["content"] for prompt in seen.prompts] == ["gohello 0", "gohello 1"]
    assert len({prompt[-1]["content"] for prompt in seen.prompts}) == 2
    assert seen.logged("rewards/finished/mean") == 1.0


def test_every_public_method_is_a_tool(tmp_path: Path) -> None:
    class More(Words):
        def get_reward(self) -> float:
            return 0.0

        def _hidden(self) -> None:
            raise AssertionError

        @property
        def size(self) -> int:
            raise AssertionError

    for recorded in (True, False):
        seen = play(tmp_path, [ANSWERED] * 2, environment=More, recorded=recorded)
        assert sorted(tool.__name__ for tool in seen.trainer.tools) == ["slow", "sort", "spell"]
    told_by = [
        play(tmp_path, [[turn(call(name)), turn("x")], ANSWERED], environment=More).completions[0][1]["content"]
        for name in ("reset", "get_reward", "_hidden", "size")
    ]
    assert [text.split()[-2:] for text in told_by] == [["not", "found.'}"]] * 4


def test_the_schemas_of_recorded_tools_are_those_of_the_class(tmp_path: Path) -> None:
    from transformers.utils import get_json_schema

    recorded, plain = (play(tmp_path, [ANSWERED] * 2, environment=Words, recorded=way) for way in (True, False))
    for one, other in zip(recorded.trainer.tools, plain.trainer.tools, strict=True):
        assert get_json_schema(one) == get_json_schema(other)


class Paying(Words):
    """An environment that scores, and whose parts may be out of order."""

    fails: dict[str, BaseException] = {}  # noqa: RUF012
    pays: float | None = 0.5
    made = False

    def _meet(self, part: str) -> None:
        if part in self.fails:
            raise self.fails[part]

    def __init__(self) -> None:
        super().__init__()
        self.first = not Paying.made
        Paying.made = True

    def reset(self, **row: Any) -> None:
        super().reset()
        if self.first:
            self._meet("reset")

    def spell(self, letter: str) -> str:
        """Says a letter twice.

        Args:
            letter: one of the first four.
        """
        self._meet("spell")
        return super().spell(letter)

    async def slow(self, letter: str) -> str:
        """Says a letter three times.

        Args:
            letter: one of the first four.
        """
        self._meet("slow")
        return await super().slow(letter)

    def get_reward(self) -> float | None:
        if "get_reward" in self.fails and self.said:
            raise self.fails["get_reward"]
        return self.pays


@pytest.fixture(autouse=True)
def _all_works() -> Iterator[None]:
    yield
    Paying.fails, Paying.pays, Paying.made = {}, 0.5, False


def test_get_reward_is_a_column_of_weight_1_named_after_the_class(tmp_path: Path) -> None:
    for recorded in (True, False):
        seen = play(tmp_path, [[turn(A), turn("x")], ANSWERED], environment=Paying, recorded=recorded)
        assert seen.generations[-1].held == {"finished": 1.0, "Paying": 1.0}
        assert seen.generations[-1].columns["Paying"].tolist() == [0.5, 0.5]
        assert seen.logged("reward") == 1.5
        assert seen.trainer.reward_funcs[-1].__name__ == "get_reward"  # appended to our own list


def test_get_reward_may_be_none_and_infinite(tmp_path: Path) -> None:
    Paying.pays = None
    seen = play(tmp_path, [ANSWERED] * 2, environment=Paying)
    assert str(seen.generations[-1].columns["Paying"].tolist()) == "[nan, nan]"
    Paying.pays = float("inf")
    seen = play(tmp_path, [ANSWERED] * 2, environment=Paying)
    assert seen.logged("reward") == float("inf")


def test_failures_are_logged_for_calls_that_raised_or_are_unknown(tmp_path: Path) -> None:
    seen = play(tmp_path, [[turn(A, H, call("sing")), turn("x")], [turn("<call>{")]], tools=[spell])
    assert seen.logged("tools/call_frequency") == 1.5
    assert seen.logged("tools/failure_frequency") == pytest.approx(2 / 3)
    assert seen.logged("trajectory/calls") == 1.5
    assert seen.logged("trajectory/errors") == 1.0


def test_the_parquet_of_completions_unites_all_arguments(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    calls = [call("spell", {"letter": "a"}), call("sort", {"items": []})]
    play(tmp_path, [[turn(*calls), turn("x")], ANSWERED], tools=[spell, sort], log_completions=True)
    (file,) = sorted(tmp_path.rglob("completions_*.parquet"))
    first = pandas.read_parquet(file)["completion"][0][0]
    assert [sorted(one["function"]["arguments"]) for one in first["tool_calls"]] == [["items", "letter"]] * 2


# What a recorded environment does for the training


OUTAGES = [
    ("spell", ConnectionError("env down"), "the tool 'spell': ConnectionError: env down"),
    ("spell", rk.RewardFailure("gone"), "the tool 'spell': RewardFailure: gone"),
    ("slow", TimeoutError("late"), "the tool 'slow': TimeoutError: late"),
    ("reset", ConnectionError("env down"), "reset: ConnectionError: env down"),
    ("get_reward", ConnectionError("judge down"), "get_reward: ConnectionError: judge down"),
]


@pytest.mark.parametrize(("part", "error", "why"), OUTAGES, ids=[part for part, *_ in OUTAGES])
@pytest.mark.parametrize("asks", [True, False])
def test_a_row_whose_environment_broke_has_no_learning_signal(
    tmp_path: Path, part: str, error: BaseException, why: str, asks: bool
) -> None:
    """The training goes on, and the other rows of the group keep theirs."""
    Paying.fails = {part: error}
    scripts = [[turn(A, SLOW_A), turn("x")], [turn("x")], [turn("longer answer")]]
    words = rk.length.between(1, 1, unit="words", extract=rk.extract.whole())
    reward = words + 0.5 * rk.agents.finished() + 0.25 * rk.agents.tool_errors()
    if asks:
        reward = reward + 2.0 * rk.agents.environment_reward()
    seen = play(tmp_path, scripts, environment=Paying, reward=reward)
    last = seen.generations[-1]
    rows = [str(values[0]) for values in last.columns.values()]
    assert rows == ["nan"] * len(rows), last.columns
    assert seen.advantages[0] == 0.0
    assert seen.advantages[1] > 0.0 > seen.advantages[2]
    assert seen.advantages[1] == pytest.approx(-seen.advantages[2], abs=1e-3)
    assert ("Paying" in last.held) is not asks
    assert seen.logged("trajectory/broken") == pytest.approx(1 / 3)
    assert [journal.broken for journal in map(journal_of, seen.environments or []) if journal] == [why, "", ""]
    assert seen.logged("unscorable") == pytest.approx(1 / 3)


@pytest.mark.parametrize("part", ["spell", "reset", "get_reward"])
def test_outages_are_counted_by_the_circuit_breaker(tmp_path: Path, part: str) -> None:
    Paying.fails = {part: ConnectionError("env down")}
    scripts = [[turn(A), turn("x")] * 4, [turn("x")] * 4]
    with pytest.raises(rk.RewardFailure, match=r"failed on \d+ of 4 completions in the last 2 batches"):
        play(
            tmp_path,
            scripts,
            environment=Paying,
            reward=rk.agents.finished(),
            max_steps=4,
            to_trl={"limits": rk.Limits(failure_window=2)},
        )


class Judged(Paying):
    """An environment whose reward is asynchronous."""

    async def get_reward(self) -> float | None:  # type: ignore[override]
        return super().get_reward()


@pytest.mark.parametrize("asks", [True, False])
def test_an_asynchronous_get_reward_that_meets_an_outage(tmp_path: Path, asks: bool) -> None:
    Paying.fails = {"get_reward": ConnectionError("judge down")}
    reward = rk.agents.finished() + rk.agents.environment_reward() if asks else rk.agents.finished()
    for tools in (A, SLOW_A):
        seen = play(tmp_path, [[turn(tools), turn("x")], ANSWERED, ANSWERED], environment=Judged, reward=reward)
        columns = {name: list(map(str, values)) for name, values in seen.generations[-1].columns.items()}
        assert columns == {
            "finished": ["nan", "1.0", "1.0"],
            "environment_reward" if asks else "Judged": ["nan", "0.5", "0.5"],
        }


def test_own_marks_of_errors_hold_in_recorded_environments(tmp_path: Path) -> None:
    reward = rk.agents.tool_errors()
    for marks, expected in ({}, 0.0), ({"is_error": lambda text: text == "aa"}, -0.1):
        seen = play(tmp_path, [[turn(A), turn("x")], ANSWERED], environment=Words, reward=reward, to_trl=marks)
        assert seen.generations[-1].columns["tool_errors"].tolist() == pytest.approx([expected, 0.0])


def test_calls_that_json_cannot_hold_are_trained_on_and_recorded(tmp_path: Path) -> None:
    written = ["NaN", "1e999", "9" * 500, "[" * 80 + "]" * 80, '"\\ud800"', '"a", "letter": "b"']
    calls = [f'<call>{{"name": "spell", "arguments": {{"letter": {text}}}}}</call>' for text in written]
    seen = play(
        tmp_path,
        [[turn(*calls), turn("x")], ANSWERED],
        environment=Words,
        reward=rk.tool_calls("gold") + rk.agents.tool_errors(),
        columns={"gold": ["[]"]},
        max_completion_length=3_000,
        to_trl={"record": tmp_path / "run"},
    )
    assert [one.ran for one in seen.trajectories[0].calls] == [True] * 6
    assert [bool(one.fault) for one in seen.trajectories[0].calls] == [True] * 4 + [False] * 2
    assert seen.environments is not None
    assert len(seen.environments[0].said) == 6
    seen.trainer.reward_funcs.flush()
    cells = [
        RolloutCell.read(cell) for (cell,) in rk.open_run(tmp_path / "run").completions().project("rollout").fetchall()
    ]
    assert sorted(len(cell.records or ()) for cell in cells) == [0, 6]


def test_an_exit_in_a_tool_is_its_error(tmp_path: Path) -> None:
    Paying.fails = {"spell": SystemExit(3), "slow": SystemExit(4)}
    seen = play(tmp_path, [[turn(A, SLOW_A), turn("x")], ANSWERED], environment=Paying, watch={"timeout": 60})
    errors = [f"the environment called sys.exit({code})" for code in (3, 4)]
    assert [one.result and one.result.error for one in seen.trajectories[0].calls] == errors
    assert seen.logged("trajectory/broken") == 0.0


def test_a_tool_that_hangs_is_given_up(tmp_path: Path) -> None:
    freed = threading.Event()

    class Hanging(Words):
        def spell(self, letter: str) -> str:
            """Hangs.

            Args:
                letter: any.
            """
            freed.wait(60)
            return "late"

    try:
        seen = play(
            tmp_path,
            [[turn(A), turn("x")], [turn("x")], [turn("y z")]],
            environment=Hanging,
            watch={"timeout": 0.1},
            reward=rk.length.between(1, 1, unit="words", extract=rk.extract.whole()),
        )
    finally:
        freed.set()
    assert told(seen) == [("spell", "{'error': 'no result within 0.1 s'}")]
    assert [str(value) for value in seen.generations[-1].columns["length_between"]] == ["nan", "1.0", "0.0"]
    assert seen.advantages[0] == 0.0


def test_own_outages(tmp_path: Path) -> None:
    Paying.fails = {"spell": LookupError("no server")}
    for outages, broken_share in (((LookupError,), 0.5), ((), 0.0)):
        seen = play(tmp_path, [[turn(A), turn("x")], ANSWERED], environment=Paying, watch={"outages": outages})
        assert seen.logged("trajectory/broken") == broken_share


def test_asked_by_the_reward_get_reward_is_counted_once(tmp_path: Path) -> None:
    seen = play(
        tmp_path,
        [[turn(A), turn("x")], ANSWERED],
        environment=Paying,
        reward=rk.agents.finished() + rk.agents.environment_reward(),
    )
    assert "Paying" not in seen.generations[-1].held
    assert seen.logged("reward") == 1.5
    assert seen.logged("components/environment_reward") == 0.5


def test_the_state_after_the_rollout_is_scored(tmp_path: Path) -> None:
    def said(environment: Words, letter: str) -> bool:
        return letter in environment.said

    scripts = [[turn(A), turn("x")], [turn(B), turn("x")], [turn("I said a.")]]
    seen = play(tmp_path, scripts, environment=Words, reward=rk.agents.final_state(said), columns={"letter": ["a"]})
    assert seen.generations[-1].columns["said"].tolist() == [1.0, 0.0, 0.0]
    dropped = play(
        tmp_path,
        scripts,
        environment=Words,
        reward=rk.agents.final_state(said),
        columns={"letter": ["a"]},
        max_completion_length=room(turn(A), RESULT) - 1,
    )
    assert dropped.generations[-1].columns["said"].tolist() == [1.0, 0.0, 0.0]  # the tool ran


class Quiet(Words):
    """An environment without a reward of its own."""


@pytest.mark.parametrize("asks", [True, False])
def test_environments_by_name(tmp_path: Path, asks: bool) -> None:
    reward = rk.agents.finished() + rk.agents.environment_reward() if asks else rk.agents.finished()
    for names in (["paying", "quiet"], ["quiet", "quiet"]):
        seen = play(
            tmp_path,
            [[turn(A), turn("x")], [turn(B), turn("x")]] * 2,
            environment={"paying": Paying, "quiet": Quiet},
            reward=reward,
            columns={"environment": names},
            prompts=2,
        )
        kinds = [name for name in names for _ in range(2)]
        assert [type(one).__name__.lower() for one in seen.environments or []] == kinds
        assert [one.ran for trajectory in seen.trajectories for one in trajectory.calls] == [True] * 4
        paid = seen.generations[-1].columns["environment_reward" if asks else "Paying"].tolist()
        assert [str(value) for value in paid] == ["0.5" if name == "paying" else "nan" for name in kinds]


def test_one_that_is_asked_for_its_reward_must_have_one() -> None:
    functions = rk.to_trl(rk.agents.environment_reward(bounds=(0, 1)))
    with pytest.raises(rk.RewardDefinitionError, match=r"Quiet, Words has no method get_reward\(\)"):
        functions.environments({"a": Quiet, "b": Words})
    assert set(functions.environments({"a": Quiet, "b": Paying})) == {"a", "b"}


@pytest.mark.parametrize(
    ("environment", "options", "problem"),
    [
        ("Words", {}, "expected an environment class"),
        (object, {}, r"needs a method reset\(self"),
        (type("Empty", (), {"reset": lambda self, **row: None}), {}, "has no tool"),
        (Words, {"timeout": 0}, "timeout must be a number of seconds greater than 0"),
        (Words, {"timeout": "1"}, "timeout"),
        (Words, {"outages": ("ValueError",)}, "must be exception classes"),
    ],
)
def test_options_of_environments_are_checked(environment: Any, options: Any, problem: str) -> None:
    with pytest.raises(rk.RewardKitError, match=problem):
        rk.to_trl(rk.agents.finished()).environments(environment, **options)


def test_factories_pickle_and_keep_the_name(tmp_path: Path) -> None:
    functions = rk.to_trl(rk.agents.finished())
    factory = functions.environments(Words, timeout=2.0, outages=LookupError)  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(factory))
    assert (again, again.__name__) == (factory, "Words")
    assert type(again()) is type(factory())
    made = functions.environments(lambda: Words())
    assert isinstance(made(), Words)
    seen = play(tmp_path, [[turn(A), turn("x")], ANSWERED], environment=lambda: Words())
    assert sources(seen) == ["recorded"]


# Rollouts of one's own


def rollout(texts: list[str], **fields: Any) -> Any:
    """A rollout_func whose completions are `texts`."""

    def function(prompts: Any, trainer: Any) -> dict[str, Any]:
        encode = trainer.processing_class
        ids = [encode(text, add_special_tokens=False)["input_ids"] for text in texts]
        return {
            "prompt_ids": [[7] for _ in prompts],
            "completion_ids": ids,
            "logprobs": [[0.0] * len(own) for own in ids],
            **fields,
        }

    return function


EPISODE = turn("look") + "<tool>door The door says <answer>42</answer></tool>" + turn("I am done")
TRANSCRIPT = [
    {"role": "assistant", "content": "look"},
    {"role": "user", "content": "The door says <answer>42</answer>"},
    {"role": "assistant", "content": "I am done"},
]
EXACT = rk.exact("gold", extract=rk.extract.tag("answer"))
ROLLOUT = pytest.mark.filterwarnings("ignore:You are using 'rollout_func'")


@ROLLOUT
def test_a_rollout_func_gives_one_message_with_the_environments_words_in_it(tmp_path: Path) -> None:
    fields = {"env_mask": [[1] * room(EPISODE)] * 2, "label": "same", "steps": [3, 4]}
    with pytest.warns(rk.errors.RewardKitWarning, match="each episode arrives as one assistant message"):
        seen = play(
            tmp_path,
            [EPISODE] * 2,
            reward=EXACT,
            given={"rollout_func": rollout([EPISODE] * 2, **fields)},
            columns={"gold": ["42"]},
        )
    ((message,), _) = seen.completions
    assert "<answer>42</answer>" in message["content"]
    assert seen.generations[-1].columns["exact"].tolist() == [1.0, 1.0]  # the door said it
    assert (seen.extra["label"], seen.extra["steps"]) == (["same"] * 2, [3, 4])
    assert "env_mask" not in seen.extra


@ROLLOUT
@pytest.mark.filterwarnings("error:.*rollout_func, so each episode")
def test_transcripts_take_the_place_of_the_completions(tmp_path: Path) -> None:
    seen = play(
        tmp_path,
        [EPISODE] * 2,
        reward=EXACT,
        given={
            "rollout_func": rollout(
                [EPISODE] * 2, transcript=[TRANSCRIPT, [{"role": "assistant", "content": "<answer>42</answer>"}]]
            )
        },
        columns={"gold": ["42"]},
        to_trl={"transcripts": "transcript"},
    )
    assert seen.generations[-1].columns["exact"].tolist() == [0.0, 1.0]
    assert [len(one.turns) for one in seen.trajectories] == [2, 1]
    assert seen.trajectories[0].turns[0].heard == ("The door says <answer>42</answer>",)


@ROLLOUT
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"transcripts": [[], []]}, "is not a field that rollout_func returns.*Did you mean 'transcripts'"),
        ({"transcript": ["text", "text"]}, "row 0 must be a list of chat messages, got 'text'"),
    ],
)
def test_transcripts_are_checked(tmp_path: Path, fields: Any, problem: str) -> None:
    with pytest.raises(rk.errors.BindingError, match=problem):
        play(
            tmp_path,
            [EPISODE] * 2,
            given={"rollout_func": rollout([EPISODE] * 2, **fields)},
            to_trl={"transcripts": "transcript"},
        )


@ROLLOUT
def test_a_field_that_is_shorter_than_the_batch_is_an_error_of_trl(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        play(
            tmp_path,
            [EPISODE] * 2,
            given={"rollout_func": rollout([EPISODE] * 2, steps=[3])},
            to_trl={"transcripts": None},
        )
