"""Thinking: which marks it has, what is visible beside it, and that nothing in it is an answer."""

from __future__ import annotations

import pickle
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.text.extractors import OwnTurn
from rewardkit.text.thinking import THINKING, Marks, Thinking, visible_text

NAMES = ("think", "thinking", "reasoning", "thought")
WORKING_OUT = ("<start_working_out>", "<end_working_out>")


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_is_never_read_inside_thinking(name: str) -> None:
    answer, number = rk.extract.tag("answer"), rk.number("gold")
    for text, found in (
        (f"<{name}>72</{name}> no idea", 0.0),
        (f"<{name}>The answer is 72", 0.0),
        (f"<{name}>71</{name}> It is 72.", 1.0),
        (f"71</{name}> It is 72.", 1.0),
        (f"<{name}><answer>72</answer></{name}><answer>71</answer>", 0.0),
        (f"<{name}><answer>71</answer></{name}>\n<answer>72</answer>", 1.0),
        (f"<answer>72</answer>\n<{name}>71, or <answer>71</answer>?</{name}>\n", 1.0),
    ):
        assert rk.score(number, [text], gold=[72]).total.tolist() == [found], text
    assert answer(f"<{name}><answer>72</answer></{name}>") is None
    assert answer(f"<{name}><answer>72</answer>") is None


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<think>17?</think>18<|im_end|>", "18"),
        ("a<think>b</think>c<think>d", "c"),
        ("<think>a</think>b<reasoning>c</reasoning> ", "b"),
        ("a<think>b</think>\n<thought>c</thought>", "a"),
        ("<think>a <reasoning> b</think>c", "c"),
        ("<reasoning>a</think>b</reasoning>", ""),
        ("<think>a<think>b</think>", ""),
        ("a <think>b</think> c</think>", ""),
        ("<think>hm</think>", ""),
        ("a</reasoning>", ""),
        ("a <reasonings> b", "a <reasonings> b"),
        ("<think", "<think"),
    ],
)
def test_what_is_visible(text: str, seen: str) -> None:
    assert visible_text(text).strip() == seen


def test_thinking_has_the_marks_that_the_user_names() -> None:
    number = rk.number("gold", extract=rk.extract.answer(thinking=[WORKING_OUT]))
    completions = [
        "<start_working_out>6 * 12 = 72<end_working_out> It is 72.",
        "<start_working_out>72<end_working_out> no idea",
        "<start_working_out>72",
        "72<end_working_out>It is 71.",
        "<think>71</think> 72",
    ]
    assert rk.score(number, completions, gold=[72] * 5).total.tolist() == [1.0, 0.0, 0.0, 0.0, 1.0]
    assert rk.extract.whole(thinking="[PLAN]")("[PLAN]a[/PLAN]b") == "b"
    assert rk.extract.whole(thinking=["plan", ("{{", "}}")])("<plan>a</plan>{{b}}c") == "c"
    assert rk.extract.whole(thinking=[])("<think>a</think>b") == "<think>a</think>b"
    assert rk.extract.tag("think")("<think>a</think>b") == "a"  # named, so it is what the user wants to read
    assert rk.extract.tag("think")("<reasoning><think>a</think></reasoning>b") is None


def test_the_notebook_with_start_working_out_and_solution() -> None:
    form = rk.tags(WORKING_OUT, "SOLUTION", prefilled=WORKING_OUT)
    right = rk.exact("gold", extract=rk.extract.tag("SOLUTION", thinking=[WORKING_OUT]))
    completions = [
        "6 * 12<end_working_out><SOLUTION>72</SOLUTION>",
        "<SOLUTION>72</SOLUTION><end_working_out><SOLUTION>71</SOLUTION>",
        "<SOLUTION>72</SOLUTION>",
    ]
    table = rk.score(form + right, completions, gold=["72"] * 3)
    assert table.components["tags"].values.tolist() == [1.0, 0.0, 0.0]
    assert table.components["exact"].values.tolist() == [1.0, 0.0, 1.0]
    assert repr(form) == "tags(('<start_working_out>', '<end_working_out>'), 'SOLUTION', " \
        "prefilled=('<start_working_out>', '<end_working_out>'))"  # fmt: skip


def test_every_extractor_takes_thinking() -> None:
    extract = rk.extract
    plan = {"thinking": "plan"}
    for extractor, text, found in (
        (extract.answer(**plan), "<plan>\\boxed{1}</plan>\\boxed{2}", "2"),
        (extract.boxed(**plan), "<plan>\\boxed{1}</plan>", None),
        (extract.after("####", **plan), "<plan>#### 1</plan>", None),
        (extract.fenced("json", **plan), "<plan>```json\n1\n```</plan>", None),
        (extract.document(**plan), "<plan>[1]</plan>[2]", "[2]"),
        (extract.json(0, where=extract.document(**plan)), "<plan>[1]</plan>[2]", "2"),
        (extract.prefilled(extract.answer(**plan)), "1</plan>2", "2"),
        (extract.prefilled(extract.answer(**plan)), "so 1 <plan>2</plan>", ""),
        (extract.prefilled(extract.answer(**plan)), "1</think>2", None),
    ):
        assert extractor(text) == found
        assert pickle.loads(pickle.dumps(extractor)) == extractor
    assert repr(extract.answer(**plan)) == "answer(thinking=['plan'])"
    assert repr(extract.tag("[A]", thinking=[("<s>", "<e>"), "b"])) == "tag('[A]', thinking=[('<s>', '<e>'), 'b'])"
    assert repr(extract.tag("think")) == "tag('think')"
    assert extract.answer(thinking=NAMES) == extract.answer()


def test_the_default_extractor_of_a_primitive_takes_thinking() -> None:
    """``answer()`` is each primitive's own default, so the last number and the last formula are still found."""
    plan = rk.extract.answer(thinking="plan")
    text = "<plan>1</plan>So there are 2 apples."
    assert rk.score(rk.number("gold", extract=plan), [text], gold=[2]).total.tolist() == [1.0]
    assert rk.number("gold", extract=rk.extract.answer()) == rk.number("gold")
    assert rk.math_equal("gold", extract=rk.extract.answer()) == rk.math_equal("gold")
    assert rk.choice("gold", extract=rk.extract.answer()) == rk.choice("gold")
    text = "<plan>It is A.</plan>I considered all of them. The answer is B."
    assert rk.score(rk.choice("gold", extract=plan), [text], gold=["B"]).total.tolist() == [1.0]
    opened = rk.number("gold", extract=rk.extract.prefilled(plan))
    assert rk.score(opened, ["1</plan>So 2.", "So 2."], gold=[2, 2]).total.tolist() == [1.0, 0.0]
    assert repr(opened) == "number('gold', extract=prefilled(answer(thinking=['plan'])))"


def test_a_pattern_with_a_mark_of_thinking_is_matched_with_the_thinking() -> None:
    form = rk.regex(r"(?s)<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n?")
    completions = ["<reasoning>\na\n</reasoning>\n<answer>\n1\n</answer>\n", "<answer>\n1\n</answer>"]
    assert rk.score(form, completions).total.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "thinking", [3, [3], "", ["a b"], [("a", "b")], [("<a>", "<a>")], [("<a>", "<b>"), ("<c>", "<b>")], [("<a>",)]]
)
def test_impossible_thinking_is_refused(thinking: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="thinking"):
        rk.extract.answer(thinking=thinking)


def test_two_marks_that_may_be_one_block_or_two_are_refused_with_both_ways_to_write_them() -> None:
    with pytest.raises(rk.RewardDefinitionError) as caught:
        rk.extract.answer(thinking=WORKING_OUT)
    assert "thinking=[('<start_working_out>', '<end_working_out>')]" in str(caught.value)
    assert "thinking=['start_working_out', 'end_working_out']" in str(caught.value)
    with pytest.raises(rk.RewardDefinitionError, match="thinking="):
        rk.extract.prefilled(rk.extract.answer(thinking=[]))


@pytest.mark.parametrize(
    ("tag", "marks", "written"),
    [
        ("a", ("<a>", "</a>"), "a"), ("<a>", ("<a>", "</a>"), "a"), ("[A]", ("[A]", "[/A]"), "[A]"),
        (("<a>", "</a>"), ("<a>", "</a>"), "a"), (["◁t▷", "◁/t▷"], ("◁t▷", "◁/t▷"), ("◁t▷", "◁/t▷")),
    ],
)  # fmt: skip
def test_tags_as_users_write_them(tag: Any, marks: tuple[str, str], written: Any) -> None:
    assert Marks.of(tag, "it") == marks
    assert Marks.of(tag, "it").written == written
    assert Marks.of(written, "it") == marks


OTHER = {
    "<think>": "[T]", "</think>": "[/T]", "<answer>": "<SOLUTION", "</answer>": "END_SOLUTION>", "<": "(", "/": "|",
}  # fmt: skip
PIECES = st.lists(st.sampled_from([*OTHER, "a", " ", "\n", "answer", "think>"]), max_size=14)


@given(PIECES)
def test_other_marks_mean_the_same(pieces: list[str]) -> None:
    """A text reads the same after all its marks are replaced by others."""
    pieces = [piece for piece in pieces if piece != "think>"]
    text, other = "".join(pieces), "".join(OTHER.get(piece, piece) for piece in pieces)
    marks = {name: (OTHER[f"<{name}>"], OTHER[f"</{name}>"]) for name in ("think", "answer")}
    ours = rk.extract.tag("answer", thinking="think")(text)
    theirs = rk.extract.tag(marks["answer"], thinking=[marks["think"]])(other)
    for mark, replacement in OTHER.items():
        theirs = None if theirs is None else theirs.replace(replacement, mark)
    assert ours == theirs
    for options in ({}, {"anchored": False}, {"partial": True}):
        scores = [
            rk.score(rk.tags(*names, **options), [one]).total.tolist()  # type: ignore[arg-type]
            for names, one in ((("think", "answer"), text), ((marks["think"], marks["answer"]), other))
        ]
        assert scores[0] == scores[1]


@given(PIECES)
def test_what_is_visible_holds_no_mark_of_thinking(pieces: list[str]) -> None:
    text = "".join(pieces)
    seen = visible_text(text)
    assert seen in text
    assert "<think>" not in seen
    assert "</think>" not in seen
    assert visible_text(seen) == seen
    assert visible_text(f"<think>{text}").strip() in ("", seen.strip())


@pytest.mark.parametrize(
    "unit", ["<think>", "</think>", "<think></think>", "a<think></think>", "<thought></think>", "think>", "</think> "]
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    started = time.perf_counter()
    for thinking in (THINKING, Thinking.of([WORKING_OUT, ("</think", "x>")])):
        thinking.visible(unit * (190_000 // len(unit)))
    assert time.perf_counter() - started < 2.0


PIECES = st.sampled_from(["<think>", "</think>", "<thinking>", "</reasoning>", "<", "<thin", ">", "x", " ", "\n"])


@given(st.lists(PIECES, max_size=12), st.sampled_from(["", "<", "< ", "</think>x", "<think>"]), st.integers(0, 60))
def test_marks_are_found_wherever_they_are(pieces: list[str], filler: str, times: int) -> None:
    text = "".join(pieces) + filler * times + "".join(reversed(pieces))
    one_by_one = Thinking((*THINKING.blocks, Marks("[begin]", "[end]")))  # its marks begin differently
    assert THINKING.visible(text) == one_by_one.visible(text)


TURNS = [
    "<think>", "</think>", "<thinking>", "</reasoning>", "<|im_end|>", "<|im_start|>user\n", "<|im_start|>assistant\n",
    "</s>", "<s>", "[INST]", "[/INST]", "[PAD]", "<<SYS>>", "<|channel|>final<|message|>", "<eos>", "<pad>",
    "<extra_id_1>", "<turn|>", "[|user|]", "\nQuestion: why?\n", "<answer>4</answer>", "<", "[1, 2]", "x", " ", "\n",
    "[" * 30, "<" * 19,
]  # fmt: skip


@given(st.lists(st.sampled_from(TURNS), max_size=6))
def test_the_own_turn_is_the_same_however_it_is_found(pieces: list[str]) -> None:
    text = "".join(pieces)
    searched = Thinking((*THINKING.blocks, Marks("[begin]", "[end]")))  # no text is plain: its marks begin differently
    assert OwnTurn(THINKING)(text) == OwnTurn(searched)(text)


@given(
    st.sampled_from([("<a", "<ab"), ("<a>", "<a>>"), ("<s>", "</s>"), ("<|think|>", "<|end|>"), ("<", "<|")]), st.data()
)
def test_the_own_turn_is_the_same_with_marks_that_are_like_each_other_or_like_tokens(
    tag: tuple[str, str], data: st.DataObject
) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from([*tag, "</s>", "<|im_end|>", ">", "x"]), max_size=6)))
    thinking = Thinking.of([tag])
    searched = Thinking((*thinking.blocks, Marks("[begin]", "[end]")))
    assert OwnTurn(thinking)(text) == OwnTurn(searched)(text)
