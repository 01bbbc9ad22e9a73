"""Tags: exactly one of each, in order, closed, with something visible inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.text.thinking import Marks
from rewardkit.text.visibility import has_visible_character

TAGS = rk.tags("think", "answer")
GOOD = [
    "<think>a</think><answer>1</answer>",
    " <think>a</think>\n\n<answer>1</answer>\n",
    "<think>a</think><answer><b>1</b></answer>",
    "\ufeff<think>a</think>\u200b<answer>1</answer>",
    "<think>a</think><answer>1</answer>\u200b\n",
]
BAD = [
    ("", "is missing"),
    ("42", "is missing"),
    ("<think>a</think>", "<answer> is missing"),
    ("<answer>1</answer><think>a</think>", "out of order"),
    ("<think>a<answer>1</answer></think>", "is inside"),
    ("<think>a</think><answer>1</answer><answer>2</answer>", "2 times"),
    ("<think>a</think><answer>1", "</answer> is missing"),
    ("<think>a</think><answer></answer>", "is empty"),
    ("<think> </think><answer>1</answer>", "is empty"),
    ("<think>\u200b\u2060</think><answer>1</answer>", "is empty"),
    ("<think>\u3164</think><answer>1</answer>", "is empty"),
    ("<think>\U0001d159</think><answer>1</answer>", "is empty"),
    ("<think>a</think>so<answer>1</answer>", "text outside the tags: 'so'"),
    ("x<think>a</think><answer>1</answer>", "text outside"),
    ("<think>a</think><answer>1</answer> end", "text outside"),
    *((f"{before}<think>a</think>{between}<answer>1</answer>{after}", "text outside") for before, between, after in (
        ("\0", "", ""), ("", "\0\n", ""), ("", "", "\0"), ("\ud800", "", ""), ("", "\udfff", ""),
        ("", "\n", " \ud83d\n"), ("", "\x1b", ""),
        ("", "\x7f", ""), ("", "\ue000", ""), ("", "\uffff", ""), ("", "\u3164", ""), ("", "\u0301", ""),
        ("", "\u202e", ""), ("", "\U000e0041", ""),
    )),
    ("<think>\0</think><answer>1</answer>", "is empty"),
    ("<think>a</think><answer>\ud800</answer>", "is empty"),
    ("<th\0ink>a</think><answer>1</answer>", "<think> is missing"),
    ("<think>a</think><answer>1</ans\u200bwer>", "</answer> is missing"),
    ("<THINK>a</THINK><answer>1</answer>", "is missing"),
    ("<think >a</think><answer>1</answer>", "<think> is missing"),
    ("a</think><answer>1</answer>", "prefilled='think'"),
    ("</think>a<think><answer>1</answer>", "out of order"),
]  # fmt: skip


@pytest.mark.parametrize("completion", GOOD)
def test_good_format_is_one(completion: str) -> None:
    assert rk.score(TAGS, [completion]).total.tolist() == [1.0]


@pytest.mark.parametrize(("completion", "note"), BAD)
def test_bad_format_is_zero_with_a_note(completion: str, note: str) -> None:
    table = rk.score(TAGS, [completion])
    assert table.total.tolist() == [0.0]
    assert note in table.notes["tags"][0]


@pytest.mark.parametrize(
    ("completion", "credit"),
    [
        ("<think>a</think><answer>1</answer>", 1.0),
        ("<think>a</think>so<answer>1</answer>", 2 / 3),
        ("<think>a</think>", 0.5),
        ("<answer>1</answer>", 0.5),
        ("<answer>1</answer><think>a</think>", 0.5),
        ("<answer>1</answer><answer>1</answer>", 0.0),
        ("", 0.0),
    ],
)
def test_partial_credit_by_tag(completion: str, credit: float) -> None:
    reward = rk.tags("think", "answer", partial=True)
    assert rk.score(reward, [completion]).total.tolist() == [pytest.approx(credit)]


def test_the_first_tag_may_be_prefilled_by_the_prompt() -> None:
    reward = rk.tags("think", "answer", prefilled="think")
    completions = ["a</think><answer>1</answer>", "<think>a</think><answer>1</answer>", "</think><answer>1</answer>"]
    table = rk.score(reward, completions)
    assert table.total.tolist() == [1.0, 0.0, 0.0]
    assert (
        table.notes["tags"][1] == "<think> is already in the prompt (prefilled='think'), and the completion repeats it"
    )


def test_without_anchors_text_may_be_anywhere() -> None:
    reward = rk.tags("answer", anchored=False)
    assert rk.score(reward, ["so <answer>1</answer> it is", "<answer>1"]).total.tolist() == [1.0, 0.0]


@given(st.text(alphabet="<>/thinkaswer \n", max_size=60))
def test_only_a_complete_format_is_one(text: str) -> None:
    scored = rk.score(TAGS, [text]).total[0]
    assert scored in (0.0, 1.0)
    if scored == 1.0:
        assert [text.count(tag) for tag in ("<think>", "</think>", "<answer>", "</answer>")] == [1, 1, 1, 1]
        assert text.strip().startswith("<think>")
        assert text.strip().endswith("</answer>")


@given(st.text(alphabet="<>/thinkaswer \n", max_size=60))
def test_partial_credit_lies_between_and_is_one_exactly_where_binary_is(text: str) -> None:
    partial = rk.score(rk.tags("think", "answer", partial=True), [text]).total[0]
    assert 0.0 <= partial <= 1.0
    assert (partial == 1.0) == (rk.score(TAGS, [text]).total[0] == 1.0)


@pytest.mark.parametrize(
    "build",
    [
        lambda: rk.tags(),
        lambda: rk.tags("a", "a"),
        lambda: rk.tags(""),
        lambda: rk.tags("a b"),
        lambda: rk.tags("<a><b>"),
        lambda: rk.tags(("<a>", "<a>")),
        lambda: rk.tags(("<a>", "<b>"), ("<c>", "<b>")),
        lambda: rk.tags(("think", "answer")),
        lambda: rk.tags("|a|"),
        lambda: rk.tags(3),  # type: ignore[arg-type]
        lambda: rk.tags("a", "b", prefilled="b"),
        lambda: rk.tags("a", prefilled="c"),
        lambda: rk.tags("a", anchored=1),  # type: ignore[arg-type]
        lambda: rk.tags("a", anchored=0),  # type: ignore[arg-type]
        lambda: rk.tags("a", partial="no"),  # type: ignore[arg-type]
    ],
)
def test_impossible_tags_are_refused(build: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="tags"):
        build()


def test_a_list_of_names_is_to_be_starred() -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"rk\.tags\(\*names\)"):
        rk.tags(["a", "b"])  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["a", "中", "😀", "-", " a", "\u200ba"])
def test_what_a_reader_would_see(text: str) -> None:
    assert has_visible_character(text)


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\u2800", "\x00", "\u0301", "\ue000", "\u3164"])
def test_what_a_reader_would_not_see(text: str) -> None:
    assert not has_visible_character(text)


@pytest.mark.parametrize(
    ("completion", "anchored", "expected"),
    [
        ("<think>a</think> The answer is 42.", True, 0.0),
        ("<think>a</think> The answer is 42.", "start", 1.0),
        ("<think>a</think>", "start", 1.0),
        ("So <think>a</think> 42", "start", 0.0),
        ("So <think>a</think> 42", False, 1.0),
        ("<think>a</think> 4 < 5", "start", 1.0),
        ("<think>a</think> <think>b</think>", "start", 0.0),
    ],
)
def test_anchors(completion: str, anchored: Any, expected: float) -> None:
    assert rk.score(rk.tags("think", anchored=anchored), [completion]).total.tolist() == [expected]
    with pytest.raises(rk.RewardDefinitionError, match="anchored"):
        rk.tags("think", anchored="end")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ("<start>a<end>[ANSWER]1[/ANSWER]", 1.0),
        ("<start>a [1] < 2<end>\n[ANSWER][1][/ANSWER]", 1.0),
        ("<start>a[ANSWER]<end>[ANSWER]1[/ANSWER]", 0.0),
        ("<start>a<end>so[ANSWER]1[/ANSWER]", 0.0),
        ("<start>a</start>[ANSWER]1[/ANSWER]", 0.0),
        ("[ANSWER]1[/ANSWER]<start>a<end>", 0.0),
    ],
)
def test_marks_that_are_no_pairs_of_a_name(completion: str, expected: float) -> None:
    reward = rk.tags(("<start>", "<end>"), "[ANSWER]")
    assert rk.score(reward, [completion]).total.tolist() == [expected]
    assert repr(reward) == "tags(('<start>', '<end>'), '[ANSWER]')"
    opened = rk.tags(("<start>", "<end>"), "[ANSWER]", prefilled=("<start>", "<end>"))
    assert rk.score(opened, [completion.removeprefix("<start>")]).total.tolist() == [expected]
    assert rk.tags("<think>", "answer") == rk.tags("think", "answer")


def test_the_token_that_ends_a_turn_is_not_outside() -> None:
    assert rk.score(TAGS, ["<think>a</think><answer>1</answer><|im_end|>\n"]).total.tolist() == [1.0]


@pytest.mark.parametrize(
    ("completion", "language", "options", "expected"),
    [
        ("So:\n```python\nprint(42)\n```", "python", {}, 1.0),
        ("```Python\nprint(42)\n```\nDone.", "python", {}, 1.0),
        ("```python\nprint(42)", "python", {}, 0.0),
        ("```python\n \n```", "python", {}, 0.0),
        ("```\nprint(42)\n```", "python", {}, 0.0),
        ("~~~json\n{}\n~~~", "json", {}, 1.0),
        ("<think>```python\nx\n```</think>no", "python", {}, 0.0),
        ("```\na\n```\n```python\nb\n```", "python", {}, 1.0),
        ("```\na\n```\n```python\nb\n```", "python", {"single": True}, 0.0),
        ("```\na\n```", "", {"single": True}, 1.0),
        ("", "", {}, 0.0),
        ("```py\nx\n```", "python", {}, 1.0),
        ("```python3\nx\n```", "python", {}, 1.0),
        ("```{python}\nx\n```", "python", {}, 1.0),
        ("```{.python .numbered}\nx\n```", "python", {}, 1.0),
        ('```python title="a.py"\nx\n```', "python", {}, 1.0),
        ("```python\nx\n```", "Py", {}, 1.0),
        ("```js\nx\n```", "javascript", {}, 1.0),
        ("```ts\nx\n```", "typescript", {}, 1.0),
        ("```shell\nx\n```", "sh", {}, 1.0),
        ("```yml\nx\n```", "yaml", {}, 1.0),
        ("```pythonic\nx\n```", "python", {}, 0.0),
        ("```text python\nx\n```", "python", {}, 0.0),
    ],
)
def test_fenced(completion: str, language: str, options: dict[str, Any], expected: float) -> None:
    assert rk.score(rk.fenced(language, **options), [completion]).total.tolist() == [expected]


@pytest.mark.parametrize("language", ["a b", "a\n", "```", 5])
def test_the_language_of_a_block_is_one_word(language: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="fenced: "):
        rk.fenced(language)


STARTED = ("<start_working_out>", "<end_working_out>")
EXTRACTORS: dict[str, Callable[[Any], Any]] = {
    "tag": lambda where: rk.exact("gold", extract=where(rk.extract.tag("ANSWER"))),
    "after": lambda where: rk.exact("gold", extract=where(rk.extract.after("####"))),
    "answer": lambda where: rk.math_equal("gold", extract=where(rk.extract.answer())),
    "default": lambda where: rk.number("gold", extract=where(None)),
    "function": lambda where: rk.exact("gold", extract=where(str.strip)),
    "field": lambda where: rk.number("gold", extract=rk.extract.json("a", where=where(rk.extract.document()))),
    "document": lambda where: rk.json_match("gold", extract=where(rk.extract.document())),
}


@pytest.mark.parametrize("tag", ["THINK", "[think]", STARTED, "plan"])
@pytest.mark.parametrize("kind", EXTRACTORS)
def test_an_extractor_that_waits_for_another_thinking_is_refused_with_its_fix(kind: str, tag: Any) -> None:
    form = rk.tags(tag, "ANSWER", prefilled=tag)
    reward = EXTRACTORS[kind](rk.extract.prefilled)
    for tree in (form + reward, rk.gate(form, reward), form + rk.route({"a": reward, "b": form}, by="gold")):
        with pytest.raises(rk.RewardDefinitionError) as caught:
            rk.score(tree, ["x"], gold=["42"])
    advised = eval(str(caught.value).rpartition("extract=")[2])
    _, closing = Marks.of(tag, "")
    answer = '{"a": 42}' if kind == "field" else "#### 42" if kind == "after" else "42"
    completion = f"41 or 43{closing}<ANSWER>{answer}</ANSWER>" if kind == "tag" else f"41 or 43{closing}{answer}"
    fixed = EXTRACTORS[kind](lambda where: advised)
    for text in (completion, [{"role": "assistant", "content": completion}]):
        assert rk.score(form + fixed, [text], gold=["42"])[fixed.name].tolist() == [1.0]


def test_extractors_and_tags_that_agree_on_the_prompt_are_accepted() -> None:
    upper, lower = (rk.tags(tag, "answer", prefilled=tag) for tag in ("THINK", "think"))
    waits = rk.exact("gold", extract=rk.extract.prefilled(rk.extract.tag("answer")))
    routes = rk.route({"a": upper, "b": rk.gate(lower, waits)}, by="task")
    for tree in (
        lower + waits,
        rk.tags("reasoning", "answer", prefilled="reasoning") + waits,
        rk.tags("THINK", "answer") + waits,
        rk.maximum(upper, lower) + waits,
        upper + rk.exact("gold", extract=rk.extract.tag("answer")),
        routes,
        rk.route({"a": upper}, by="task", default=waits),
    ):
        assert rk.score(tree, ["1</think><answer>42</answer>"], gold=["42"], task=["b"]).total[0] > 0.0
