"""Calls in text: what is a call in which form, what only looks like one, and what breaks one."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.call_arguments import Arguments
from rewardkit.batch.text_calls import FORMS, MAX_CALLS, begins_like_a_call, read_text_calls
from rewardkit.check.variants.wild_texts import TEXTS
from tests.batch.text_forms import ALL, TYPED, UNTYPED, Call, as_json
from tests.record.conversations import asks, says

ROME: Call = ("weather", {"city": "Rome"})
BODY = as_json(*ROME)
HERMES = f"<tool_call>\n{BODY}\n</tool_call>"
QWEN = "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"


def read(text: str) -> list[tuple[str, Any]]:
    """The calls of a text; the arguments of one that cannot be read are None."""
    calls = read_text_calls(text).calls
    assert all((call.arguments is None) is bool(call.fault) for call in calls)
    return [(call.name, None if call.arguments is None else dict(call.arguments)) for call in calls]


def fault(text: str) -> str:
    (call,) = read_text_calls(text).calls
    return call.fault


# Forms

NAMES = st.sampled_from(["look", "open_box", "spotify.play", "get-weather", "f2"])
TEXTS_OF_ARGUMENTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6) | TEXTS_OF_ARGUMENTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
CALLS = st.lists(st.tuples(NAMES, st.dictionaries(st.sampled_from(["city", "n_days"]), VALUES)), min_size=1, max_size=3)


@pytest.mark.parametrize(("form", "written"), TYPED.values(), ids=TYPED)
@given(CALLS)
def test_what_is_written_is_read(form: str, written: Any, calls: Sequence[Call]) -> None:
    text = written(calls)
    if form == "gemma" and ("<" in json.dumps(calls) or not text.isprintable()):
        return  # its strings cannot hold their own marks
    found = read_text_calls(text).calls
    assert [(call.name, call.arguments, call.form) for call in found] == [(*call, form) for call in calls]


@pytest.mark.parametrize("written", [written for _, written in UNTYPED.values()], ids=UNTYPED)
@given(CALLS)
def test_xml_has_no_types(written: Any, calls: Sequence[Call]) -> None:
    if "<" in json.dumps(calls) or "]]" in json.dumps(calls):
        return
    found = rk.Trajectory.of(written(calls)).with_text_calls().calls
    assert [(call.name, call.form) for call in found] == [(name, "xml") for name, _ in calls]
    for call, (_, arguments) in zip(found, calls, strict=True):
        assert call.has(**arguments)
        assert set(call.arguments or {}) == set(arguments)


@pytest.mark.parametrize(("form", "written"), ALL.values(), ids=ALL)
def test_what_may_be_around_a_call(form: str, written: Any) -> None:
    text = written([ROME])
    marked = "<" in text or "[TOOL" in text or text[:9] in ("functools", "Let me se")
    for other in (
        f"  \n{text}\n\n",
        f"{text}<|im_end|>",
        f"{text}</s>",
        f"{text}<|eot_id|><|eot_id|>",
        f"<think>It needs the weather.</think>\n\n{text}",
        f"<think>Or: {text}</think>\n\n{text}",
        f"It needs the weather.</think>{text}",
        f"[THINK]{text}[/THINK]\n{text}",
        f"{text}\n<think>Done.</think>",
        *([f"I will look it up.\n\n{text}", f"{text}\nLet me see."] if marked and "[{" not in text[:2] else []),
    ):
        assert read(other) == [ROME], other
    assert form in FORMS


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', [("f", {"a": 1})]),
        ('{"name": "f", "arguments": ""}', [("f", {})]),
        ('{"name": "f", "arguments": null}', [("f", {})]),
        ('{"name": "f", "args": {"a": 1}}', [("f", {"a": 1})]),
        ('{"type": "function", "name": "f", "parameters": {"a": 1}}', [("f", {"a": 1})]),
        ('{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}', [("f", {})]),
        ('{"tool_name": "f", "parameters": {}, "tool_call_id": "0"}', [("f", {})]),
        ('{"function": "f", "arguments": {}}', [("f", {})]),
        ('{"function_call": {"name": "f", "arguments": {}}}', [("f", {})]),
        ('{"name": "f", "arguments": {}, "why": "to look"}', [("f", {})]),
        ("[]", []),
    ],
)
def test_spellings_of_a_call_in_json(text: str, calls: Any) -> None:
    assert read(text) == calls
    assert read(f"<tool_call>{text}</tool_call>") == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f()]", [("f", {})]),
        ("f(a=1)", [("f", {"a": 1})]),
        ("f(a=1);", [("f", {"a": 1})]),
        ("f(a=1)\ng(b=2)", [("f", {"a": 1}), ("g", {"b": 2})]),
        ("[f(a=1,), g(b=[1, {'x': None}],)]", [("f", {"a": 1}), ("g", {"b": [1, {"x": None}]})]),
        ("[f(a=true, b=null, c=-1.5e3)]", [("f", {"a": True, "b": None, "c": -1500.0})]),
        ("[f(a='it\\'s', b=\"(]\")]", [("f", {"a": "it's", "b": "(]"})]),
        ("[f(a=(1, 2))]", [("f", {"a": [1, 2]})]),
        ("[\n  f(\n    a = 1\n  )\n]", [("f", {"a": 1})]),
        ("f\n{}", [("f", {})]),
        ('f{"a": 1}', [("f", {"a": 1})]),
    ],
)
def test_spellings_of_a_call_in_python(text: str, calls: Any) -> None:
    assert read(text) == calls


@pytest.mark.parametrize(
    ("written", "readings"),
    [
        ("2", [2, 2.0, "2"]),
        ("\n2\n", [2, "2"]),
        (" 2 ", [2, "2", " 2 "]),
        ("02", ["02"]),
        ("true", [True, "true"]),
        ("True", [True, "True"]),
        ("None", [None, "None"]),
        ("null", [None, "null"]),
        ('["a", 1]', [["a", 1], '["a", 1]']),
        ("{'a': 1}", [{"a": 1}, "{'a': 1}"]),
        ('"Rome"', ['"Rome"']),
        ("Rome", ["Rome"]),
        ("", [""]),
        ("a\nb\n", ["a\nb"]),
        ("\n\na\n\n", ["\na\n", "a"]),
        ("a &lt; b", ["a < b", "a &lt; b"]),
        ("1e999", ["1e999"]),
    ],
)
def test_the_text_of_an_argument_may_be_any_of_these(written: str, readings: list[Any]) -> None:
    text = f"<function=f><parameter=a>{written}</parameter></function>"
    (call,) = rk.Trajectory.of(text).with_text_calls().calls
    assert all(call.has(a=value) for value in readings)
    others: tuple[Any, ...] = (0, 3, False, "Paris", '"2"', [], 1)
    for other in others:
        if repr(other) not in map(repr, readings) and other not in readings:
            assert not call.has(a=other)


def test_deepseek_tells_the_type_of_an_argument() -> None:
    text = (
        '<｜DSML｜function_calls><｜DSML｜invoke name="f">'
        '<｜DSML｜parameter name="a" string="true">2</｜DSML｜parameter>'
        '<｜DSML｜parameter name="b" string="false">2</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>'
    )
    (call,) = rk.Trajectory.of(text).with_text_calls().calls
    assert call.has(a="2", b=2)
    assert not call.has(a=2)


def test_untyped_arguments_survive_a_pickle_and_compare_by_their_likeliest_value() -> None:
    arguments = Arguments.written({"a": (2, "2"), "b": ([1], "[1]")})
    assert arguments == {"a": 2, "b": [1]}
    assert not arguments.typed
    again = pickle.loads(pickle.dumps(arguments))
    assert (again, again.readings("a"), again.typed) == (arguments, (2, "2"), False)
    arguments.readings("b")[0].append(2)
    assert arguments.readings("b")[0] == [1]


# Where a call is none


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"To ask for it, write <tool_call>{BODY}</tool_call> on a line.", "in a sentence"),
        (f"You could write <tool_call>{BODY}</tool_call>", "in a sentence"),
        (f"It writes `{HERMES}` there.", "in a sentence"),
        (f'It says "<tool_call>{BODY}</tool_call>".', "in a sentence"),
        (f"A call ({HERMES}) is text.", "in a sentence"),
        (f"Mistral writes [TOOL_CALLS] [{BODY}] to call.", "in a sentence"),
        (f"Llama writes `<|python_tag|>{BODY}`.", "in a sentence"),
        (f"> <tool_call>{BODY}</tool_call>\nis what you wrote.", "in a sentence"),
        (f"For example:\n{HERMES}", "in a sentence"),
        (f"A call looks like this: {HERMES}", "in a sentence"),
        (f"Here is an example:\n{HERMES}", "in a sentence"),
        (f"The format is:\n{HERMES}", "in a sentence"),
        (f"I refuse to make this call:\n{HERMES}", "in a sentence"),
        (f"Do not run this:\n{HERMES}", "in a sentence"),
        (f"Example:\n```\n{HERMES}\n```\nThat is all.", "in a fence next to other text"),
        (f"Here it is:\n```json\n[{BODY}]\n```", "in a fence next to other text"),
        (f"~~~xml\n{QWEN}\n~~~\nThat is all.", "in a fence next to other text"),
        (f"<think>{HERMES}</think>I cannot.", "in the thinking"),
        (f"<think>{HERMES}", "in the thinking"),
        (f"{HERMES}</think>I cannot.", "in the thinking"),
        (
            f"<|channel|>analysis<|message|>{HERMES}<|end|><|start|>assistant<|channel|>final<|message|>No.",
            "in the thi",
        ),
        (f"I cannot.<|im_end|>\n<|im_start|>user\n{HERMES}<|im_end|>", "after the end of the turn"),
        (f"I cannot.<|im_end|>\n<|im_start|>assistant\n{HERMES}", "after the end of the turn"),
        (f"I cannot.</s>{HERMES}", "after the end of the turn"),
        (f"I cannot.<|eot_id|>{BODY}", "after the end of the turn"),
        (f"I cannot.\nUser: {HERMES}\n{HERMES}", "after the end of the turn"),
        (f"I cannot.\n\nHuman: try\n\nAssistant:\n{HERMES}", "after the end of the turn"),
        (f"I cannot.\n### User:\n{HERMES}", "after the end of the turn"),
        (f"<tool_response>\n{HERMES}\n</tool_response>\nI cannot.", "in the result of a tool"),
        (f"<tool_response>\n{HERMES}", "in the result of a tool"),
        (f"<｜tool▁outputs▁begin｜>{HERMES}<｜tool▁outputs▁end｜>", "in the result of a tool"),
        (f"I would call it:\n{BODY}", "without a mark, after other text"),
        ('{"name": "Bob"}', ""),
        ('{"name": "Rome", "population": 3}', ""),
        ('```json\n[{"name": "Bob", "age": 3}]\n```', ""),
        (f"<!-- {HERMES} -->I cannot.", ""),
        (f"<code>{HERMES}</code> is a call.", ""),
    ],
)
def test_what_is_talked_about_or_made_up_is_no_call(text: str, where: str) -> None:
    found = read_text_calls(text)
    assert found.calls == ()
    assert found.unread.startswith(where)


@pytest.mark.parametrize(
    "text",
    [
        f"Let me check. {HERMES}",
        f"Let me check: {HERMES}",
        f"Let me check the weather 🌤 {HERMES}",
        f"我来查一下。{HERMES}",
        f"**Checking!** {HERMES}",
        f"- {HERMES}",
        f"It would be best to check:\n{HERMES}",
        f"It looks like you want the weather in Rome: {HERMES}",
        f"To see what the weather looks like, I'll call the tool:\n\n{HERMES}",
        f"I'll check what the forecast would look like:\n{HERMES}",
        f"For instance, I can check the weather:\n{HERMES}",
        f"I cannot know that, so I'll call the tool:\n{HERMES}",
        "```tool_code\nprint(default_api.weather(city='Rome'))\n```",
        f"Action: weather\nAction Input: ```json\n{json.dumps(ROME[1])}\n```",
        f"**Action:** `weather`\n**Action Input:** {json.dumps(ROME[1])}",
        f"I could use the weather tool:\n{HERMES}",
        f"{HERMES} I will tell you then.",
        f"{HERMES}\n<response>I am looking.</response>",
        f"<answer>{HERMES}</answer>",
        f"Checking now[TOOL_CALLS] [{BODY}]",
        f"Checking now<|python_tag|>{BODY}",
        f"<|im_start|>assistant\n{HERMES}<|im_end|>",
        f"```xml\n{HERMES}\n```",
        f"```\n{BODY}\n```",
        "```python\n[weather(city='Rome')]\n```\n\n",
        f"<code>x</code> first.\n{HERMES}",
        f"Some <code> that is never closed.\n{HERMES}",
        f"<tool_calls>\n{HERMES}\n</tool_calls>",
        f"{HERMES}<|im_end|>\n<|im_start|>user\n<tool_response>18</tool_response>\n{HERMES}",
        f"{HERMES}\n<tool_response>\n{HERMES}\n</tool_response>",
        f"Thought: it needs it.\nAction: weather\nAction Input: {json.dumps(ROME[1])}\nObservation: 18\n{HERMES}",
        f"Observation: it is late.\n{HERMES}",
    ],
)
def test_what_is_a_call_all_the_same(text: str) -> None:
    assert read(text) == [ROME]


def test_all_calls_outside_the_thinking_count() -> None:
    """Or a policy could hide its guesses before a block of thinking."""
    other = ("weather", {"city": "Oslo"})
    texts = [f"<tool_call>{as_json(*call)}</tool_call>" for call in (other, ROME)]
    for between in (
        " or ",
        ", ",
        "<think>Or</think>",
        "<think></think>",
        "\n",
        "<tool_response>0</tool_response>",
        "\n```\nx\n```\n",
    ):
        assert read(f"<think>a</think>{between.join(texts)}") == [other, ROME]
    assert read(f"<think>a</think>{texts[0]}</think>{texts[1]}") == [other, ROME]
    assert read("<think></think>".join([as_json(*other), as_json(*ROME)])) == [other, ROME]


@pytest.mark.parametrize("text", ['f(x="a")', '[f(x="a")]', '{"name": "f", "arguments": {"x": "a"}}'])
@pytest.mark.parametrize("space", [" " * 250, "\n" * 250])
def test_white_space_before_a_call_does_not_hide_it(space: str, text: str) -> None:
    assert [call.name for call in read_text_calls(space + text).calls] == ["f"]


def test_calls_in_two_forms_both_count() -> None:
    for text in (
        f"{HERMES}\n{QWEN}",
        f"{QWEN}\n{HERMES}",
        f"[TOOL_CALLS] [{BODY}]\n{HERMES}",
        f"{HERMES}[TOOL_CALLS][{BODY}]",
    ):
        assert read(text) == [ROME, ROME]


def test_marks_inside_an_argument_are_text() -> None:
    for inner in (HERMES, "</tool_call>", "</think>", "<think>", "<|im_end|>", "```", "[TOOL_CALLS]", "\nUser: x"):
        said = ("say", {"text": inner})
        assert read(f"<tool_call>{as_json(*said)}</tool_call>") == [said]
        assert read(f"[TOOL_CALLS][{as_json(*said)}]") == [said]
        (call,) = (
            rk.Trajectory.of(f"<function=say><parameter=text>{inner}</parameter></function>").with_text_calls().calls
        )
        assert call.has(text=inner)
        assert read(f"[say(text={inner!r})]") == [said]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is 18.",
        '{"answer": 18}',
        "sin(x)",
        "O(n)",
        "log(2)\n",
        "print(2)\n\nThis prints 2.",
        '{"answer": {"city": "Rome"}}',
        "[1, 2]",
        "f(x) = 2",
        "print() is a function",
        "[Rome](https://rome.example) is warm.",
        "Rome (Italy)",
        "<answer>18</answer>",
        "3 < 4 and 5 > 2",
        "A tool_call is a tag.",
        "```python\nprint(1)\n```",
        "Run it:\n```python\nprint(1)\n```",
        'Its "name" is Rome.',
        "```json\n{}\n```",
        "> quoted",
    ],
)
def test_ordinary_text_has_no_calls(text: str) -> None:
    found = read_text_calls(text)
    assert (found.calls, found.unread) == ((), "")


# Broken calls


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<tool_call>\n{"name": "f", "arguments": {\n</tool_call>', "not valid JSON"),
        ('<tool_call>\n{"name": "f", "arguments": {"a": 1}', "not valid JSON"),
        ("<tool_call>{'name': 'f', 'arguments': {}}</tool_call>", "not valid JSON"),
        ('<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>', "not valid JSON"),
        ('<tool_call>{"name": "f", "arguments": {"a": NaN}}</tool_call>', "not valid JSON"),
        ('<tool_call>{"name": "f", "arguments": {"a": Infinity}}</tool_call>', "not valid JSON"),
        ('<tool_call>{"name": "f", "arguments": {"a": 1e999}}</tool_call>', "too large"),
        ('<tool_call>{"name": "f", "arguments": {"a": 1, "a": 2}}</tool_call>', "duplicate key"),
        ('<tool_call>{"name": "f", "name": "g", "arguments": {}}</tool_call>', "duplicate key"),
        ('<tool_call>{"name": "f", "arguments": {"a": "\\ud800"}}</tool_call>', ""),
        ('<tool_call>{"name": "f", "arguments": {}, "parameters": {"a": 1}}</tool_call>', "has both"),
        ('<tool_call>{"name": "f", "tool_name": "g", "arguments": {}}</tool_call>', "has both"),
        ('<tool_call>{"name": "f", "function": {"name": "g"}}</tool_call>', "two names"),
        ('<tool_call>{"name": "f", "city": "Rome"}</tool_call>', "no arguments, but 'city'"),
        ('<tool_call>{"name": "f", "arguments": [1]}</tool_call>', "not an object"),
        ('<tool_call>{"name": "f", "arguments": "[1]"}</tool_call>', "not an object"),
        ('<tool_call>{"name": "f", "arguments": "{"}</tool_call>', "not valid JSON"),
        ('<tool_call>{"name": "", "arguments": {}}</tool_call>', "no name"),
        ('<tool_call>{"name": 1, "arguments": {}}</tool_call>', "no name"),
        ('<tool_call>{"arguments": {}}</tool_call>', "no name"),
        ('<tool_call>["f"]</tool_call>', "a call is an object"),
        ("<tool_call></tool_call>", "no call begins"),
        ("<tool_call>", "no call begins"),
        ("<tool_call>the weather</tool_call>", "no call begins"),
        (f"<tool_call>{BODY} // now</tool_call>", "not closed by </tool_call>"),
        (f"<tool_call>{BODY}</tool_calls>", "not closed by </tool_call>"),
        (f"<tool_call>{BODY}\nI will wait.", "not closed by </tool_call>"),
        (f"<tool_call>\n```json\n{BODY}\n```\n</tool_call>", "no call begins"),
        ("<tool_call><function=f><parameter=a>1</tool_call>", "not closed by </parameter>"),
        ("<function=f><parameter=a>1</parameter>", "not closed by </function>"),
        ("<function=f><parameter=a>1\n<parameter=b>2</parameter></function>", "not closed by </parameter>"),
        ("<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>", "given twice"),
        ("<function=f>a=1</function>", "not closed by </function>"),
        ("<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value>", "not closed by </tool_call>"),
        ('<invoke name="f"><parameter name="a">1</parameter>', "not closed by </invoke>"),
        ("[TOOL_CALLS] the weather", "no call begins"),
        ('[TOOL_CALLS]f[ARGS]{"a": 1', "not valid JSON"),
        ('<｜tool▁call▁begin｜>f\n```json\n{"a": 1}<｜tool▁call▁end｜>', "the fence"),
        ("<|tool_call>call:f{a:1", "not closed by }"),
        ("<|tool_call>call:f{a:b}<tool_call|>", "not valid JSON"),
        ("\nAction: f\nAction Input: now", "no JSON object"),
        ("[f(a=b)]", "not a literal"),
        ("[f(a=g(1))]", "not a literal"),
        ("[f(a=1 + 1)]", "not a Python call"),
        ("[f(1)]", "not a Python call"),
        ("[f(a=1, a=2)]", "same key twice"),
        ("[f(a=1e999)]", "not finite"),
        ("[f(a=1)", "not closed by ]"),
        ("[f(a=1)] is what I would do", "other text follows"),
        ("f(a=1)\nThis asks for it.", "other text follows"),
        (f"{BODY} is what I would do", "other text follows"),
        (f"{BODY}\n```\nx\n```", "other text follows"),
        ('{"name": "f", "arguments": {', "not valid JSON"),
        ('[{"name": "f"}, {"name": "g", "arguments": {}}]', "no arguments"),
        ("<tool-call>{}</tool-call>", "no call begins"),
        ("<Tool_Call>\n{}", "no call begins"),
        ("＜tool_call＞{}＜/tool_call＞", "no call begins"),
        ("<tool\u200b_call>{}", "no call begins"),
        ("['f(a=1)']", ""),
        ("search\\_web(q='x')", "no call begins"),
        ("<tools>{}</tools>", "no call begins"),
        ('<|open|>call tool="f"<|sep|>', "no call begins"),
        ("```tool_code\nimport weather\n```", "no call begins"),
    ],
)
def test_a_call_that_cannot_be_read_is_one(text: str, problem: str) -> None:
    assert problem in fault(text)
    assert len(fault(text)) < 400


def test_a_broken_call_does_not_hide_the_others() -> None:
    broken = '<tool_call>{"name": "f", "arguments": {</tool_call>'
    assert read(f"{broken}\n{HERMES}\n{broken}\n{HERMES}") == [("", None), ROME, ("", None), ROME]
    assert read(f"<tool_call>{BODY}\n{HERMES}") == [("", None), ROME]
    assert read(f"<tool_call>\n{HERMES}") == [("", None), ROME]
    assert read("<function=f><parameter=a>1</function>\n" + QWEN) == [("f", None), ROME]


@pytest.mark.parametrize(
    "text", [f"<tool_call>\n{BODY}", f"<tool_call>{BODY}<|im_end|>", f"{HERMES}\n<tool_call>\n{BODY}\n"]
)
def test_only_the_last_closing_mark_may_be_missing(text: str) -> None:
    """Engines cut it off if it is a stop word; JSON says itself whether it is complete."""
    assert set(map(str, read(text))) == {str(ROME)}


@pytest.mark.parametrize(
    "text", [f"<tool_call>{BODY}", "[TOOL_CALLS] [{", '{"name":', "[f(", " <TOOL CALL>", "<|tool_calls"]
)
def test_what_begins_like_a_call(text: str) -> None:
    assert begins_like_a_call(text)
    assert not begins_like_a_call(f"So: {text}")


# In a trajectory


def test_messages_with_calls_win() -> None:
    text = rk.Trajectory.of([says(HERMES)])
    (call,) = text.with_text_calls().calls
    assert (call.name, call.form, call.turn, call.place, call.result, call.ran) == (
        "weather",
        "hermes",
        0,
        0,
        None,
        None,
    )
    assert (text.calls, text.stop, text.with_text_calls().stop) == ((), "answered", "pending")
    assert text.with_text_calls("messages") == text
    both = rk.Trajectory.of([asks(("open", {}), text=HERMES), says(HERMES)])
    assert both.with_text_calls() == both
    assert [call.form for call in both.calls] == [""]


def test_a_trainer_that_runs_calls_leaves_none_in_a_text() -> None:
    from rewardkit.batch.rollouts import RolloutInfo

    for rollouts in (RolloutInfo(runs_calls=True), RolloutInfo(records=[[]]), RolloutInfo(environments=[object()])):
        trajectory = rollouts.read(0, [says(HERMES)])
        assert trajectory.with_text_calls() == trajectory
        assert len(trajectory.with_text_calls("hermes").calls) == 1
    assert len(RolloutInfo().read(0, HERMES).with_text_calls().calls) == 1


def test_every_turn_is_read() -> None:
    trajectory = rk.Trajectory.of([says(f"{HERMES}\n{HERMES}"), {"role": "user", "content": "And?"}, says(HERMES)])
    assert [(call.turn, call.place) for call in trajectory.with_text_calls().calls] == [(0, 0), (0, 1), (1, 0)]


def test_one_form_alone() -> None:
    text = rk.Trajectory.of(HERMES)
    assert [call.fault for call in text.with_text_calls("hermes").calls] == [""]
    assert ["hermes" in call.fault for call in text.with_text_calls("llama").calls] == [True]
    for form in ("llama", "mistral", "json"):  # their marks are special tokens, which many trainers remove
        assert [call.fault for call in rk.Trajectory.of(BODY).with_text_calls(form).calls] == [""]


# Hostile


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hostile_texts_in_arguments(text: str) -> None:
    for form, written in TYPED.values():
        if form != "gemma" and len(text) < 50_000:
            calls = read_text_calls(written([("f", {"a": text})])).calls
            assert all(call.fault or call.arguments == {"a": text} for call in calls)
    read_text_calls(text)
    read_text_calls(f"<tool_call>{text}</tool_call>")


FRAGMENTS = (
    "<tool_call>", "</tool_call>", "<think>", "</think>", "\n```", "\n", " ", "{", "[", '"', "'", "\\", "<", "(", "=",
    "[TOOL_CALLS]", "<function=f>", "<parameter=a>", "</parameter>", "<|im_end|>", "<tool_response>", "<!--", "f(a=",
    "\nUser:", "\nAction: f\nAction Input: ", "<|channel|>analysis<|message|>", "call:f{", "<escape>", "word ",
)  # fmt: skip
PIECES = st.sampled_from([HERMES, QWEN, BODY, *FRAGMENTS, *(written([ROME]) for _, written in ALL.values())])


@given(st.lists(PIECES, max_size=8), st.integers(0, 60))
def test_no_text_makes_it_raise(pieces: list[str], cut: int) -> None:
    text = "".join(pieces)
    for one in (text, text[: len(text) - cut]):
        read(one)
        begins_like_a_call(one)


@pytest.mark.parametrize(
    "piece", ["<tool_call>", "<tool_call>{", '<tool_call>{"a', "<function=f><parameter=a>", "[TOOL_CALLS]["]
)
def test_a_text_of_nothing_but_beginnings(piece: str) -> None:
    found = read_text_calls(f"\n{piece}" * (190_000 // (len(piece) + 1))).calls
    assert 1 <= len(found) <= MAX_CALLS + 1
    assert all(call.fault for call in found)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([HERMES] * 1_500),
        "f(a=1)\n" * 3_000,
        f"[{', '.join([BODY] * 3_000)}]",
        "\n```\n" * 30_000,
        "[" * 90_000,
    ],
)
def test_long_texts(text: str) -> None:
    found = read_text_calls(text).calls
    assert len(found) <= MAX_CALLS + 1
    assert not found or found[-1].fault


def test_a_text_that_is_too_long_is_one_broken_call() -> None:
    assert "longer than" in fault(HERMES + " " * 200_000)
    assert read("It is 18. " * 30_000 + HERMES) == []
