"""Extractors: what they find, what they refuse, and that no text slows or breaks them."""

from __future__ import annotations

import pickle
import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.text.extraction import as_extractor
from rewardkit.text.extractors import Json
from rewardkit.text.marks import fenced_blocks

extract = rk.extract

FOUND: list[tuple[Any, str, str | None]] = [
    (extract.whole(), " text ", "text"),
    (extract.whole(), "<think>no</think> yes", "yes"),
    (extract.whole(), "<think>never ends", ""),
    (extract.whole(), "no</think>yes", "yes"),
    (extract.tag("answer"), "<answer> 42 </answer>", "42"),
    (extract.tag("<answer>"), "<answer>42</answer>", "42"),
    (extract.tag("answer"), "<answer>1</answer><answer>2</answer>", None),
    (extract.tag("answer"), "</answer>42<answer>", None),
    (extract.tag("answer"), "<answer>42", None),
    (extract.tag("answer"), "<answer></answer>", ""),
    (extract.tag("answer"), "<think><answer>17</answer></think><answer>42</answer>", "42"),
    (extract.tag("answer"), "<think><answer>17</answer></think>", None),
    (extract.boxed(), r"\boxed{1} so \boxed{42}", "42"),
    (extract.boxed(), r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
    (extract.boxed(), r"\boxed{\}}", r"\}"),
    (extract.boxed(), r"\boxed{42", None),
    (extract.boxed(), "42", None),
    (extract.after("####"), "so\n#### 72", "72"),
    (extract.after("####"), "#### 1\n#### 2\nrest", "2"),
    (extract.after("####"), "#### ", ""),
    (extract.after("####"), "72", None),
    (extract.fenced("python"), "```python\nprint(1)\n```", "print(1)"),
    (extract.fenced("python"), "```py\nprint(1)\n```", None),
    (extract.fenced("python"), "```python\nprint(1)", None),
    (extract.fenced("python"), "```python\n1\n```\n```python\n2\n```", "2"),
    (extract.fenced(), "```\n1\n```", "1"),
    (extract.fenced("PYTHON"), "```Python\n1\n```", "1"),
    (extract.fenced("json"), "```inline```\n```json\n{}\n```", "{}"),
    (extract.fenced("json"), '```json\n{"a": "x\u2028y"}\n```', '{"a": "x\u2028y"}'),
    (extract.fenced("md"), "````md\n```\n1\n```\n````", "```\n1\n```"),
    (extract.fenced("json"), "```json\r\n{}\r\n```\r\n", "{}"),
    (extract.answer(), "<answer>1</answer> \\boxed{2} #### 3", "1"),
    (extract.answer(), "\\boxed{2} #### 3", "2"),
    (extract.answer(), "#### 3", "3"),
    (extract.answer(), "four", "four"),
    (extract.answer(), "42</answer>", "42"),
    (extract.document(), "```json\n{}\n```", "{}"),
    (extract.document(), "<answer>```\n[]\n```</answer>", "[]"),
    (extract.document(), "{}", "{}"),
    (extract.document(), "<answer>1</answer><answer>2</answer>", None),
    (extract.document(), "```json\n1\n```\n```json\n2\n```", "2"),
    (extract.document(), "```json\n1\n```\n```jsonc\n2\n```", "2"),
    (extract.document(), "```json\n1\n```\n```python\n{}\n```", "{}"),
    (extract.document(), "```json\n1\n```\n```python\nprint(2)\n```", "1"),
    (extract.document(), "```json\n1\n```\n```json\n2", None),
    (extract.document(), "```json\n1\n```\n```", "1"),
    (extract.document(), "```json\n1\n```\nOr rather:\n{}", None),
    (extract.document(), '```json\n1\n```\nOr rather: {"a": 2}', None),
    (extract.document(), '```json\n1\n```\nThe set {a, b} is "x".', "1"),
    (extract.document(), "```json\n1\n```\n> ```json\n> {}\n> ```", None),
    (extract.document(), "```json\n1\n```\nThe key {a} is one; [b] is not.", "1"),
    (extract.document(), "{}\n```json\n1\n```", "1"),
]


RIGHT = '```json\n{"a": 1}\n```\n'


@pytest.mark.parametrize(
    "other",
    [
        '{"a": 2}', '  {"a": 2}', '- {"a": 2}', '> {"a": 2}', '1. {"a": 2}', '**{"a": 2}**', '`{"a": 2}`',
        '{ "a" : 2 }', "{}", "[]",
        "Actually: {'a': 2}", "So {a: 2}.", "\u201cb\u201d: {\u201ca\u201d: 2}", 'Final:\n{\n  "a": 2\n}',
        'Final: {\n  "a": 2\n}',
        'Final: [2, "y"]', "[2, 3]", '["y"]', "<answer>{}</answer>", "```json\n[2]", "~~~json\n[2]\n~~~",
        "```yaml\na: 2\n```",
        "```xml\n<a>2</a>\n```", '```js\nconst a = {"a": 2}\n```', '{"a": 2}\n```bash\nls\n```',
        'No, {"a": 2}.\n```python\nprint(1)\n```',
    ],
)  # fmt: skip
def test_a_document_with_another_one_after_it_is_none(other: str) -> None:
    assert extract.document()(RIGHT + other) != '{"a": 1}'
    assert extract.document()(f"<answer>{RIGHT}</answer>\n{other}") is None
    assert extract.document()('<answer>{"a": 1}</answer>\n' + other) is None


@pytest.mark.parametrize(
    "words",
    [
        "Done.", "The key {a} is 1; [b] is none.", "It has 1 key [1].", "[1] Doe 2020",
        "See [the docs](http://x.y/z).", "a = 1", '"a" is 1.',
        '```python\nprint(data["a"], f"{a:.2f}")\n```', "```bash\nls\n```", 'It is `row["a"]`.', "- a: one\n- b: two",
        "$\\{1, 2\\}$",
    ],
)  # fmt: skip
def test_words_after_a_document_are_no_other_one(words: str) -> None:
    for text in (RIGHT + words, f"<answer>{RIGHT}</answer>\n{words}", f"{RIGHT}Done.\n\n{words}"):
        assert extract.document()(text) == '{"a": 1}'


@pytest.mark.parametrize(("extractor", "text", "found"), FOUND)
def test_extractors_find(extractor: Any, text: str, found: str | None) -> None:
    assert extractor(text) == found


ALL = [
    extract.whole(), extract.tag("answer"), extract.boxed(), extract.after("####"), extract.fenced("json"),
    extract.fenced(), extract.answer(), extract.document(),
]  # fmt: skip


@pytest.mark.parametrize("extractor", ALL, ids=repr)
def test_extractors_are_values(extractor: Any) -> None:
    again = pickle.loads(pickle.dumps(extractor))
    assert again == extractor
    assert hash(again) == hash(extractor)
    assert "object at" not in repr(extractor)


@given(st.sampled_from(ALL), st.text(alphabet="<>/answerthink\\boxed{}#`json\n 1", max_size=80))
def test_no_text_makes_an_extractor_raise(extractor: Any, text: str) -> None:
    found = extractor(text)
    assert found is None or found == found.strip()


UNITS = [
    "<answer>", "</answer>", "<think>", "</think>", "\\boxed{", "}", "{", "\\", "####", "#", "```\n", "```json\n",
    " ", "\n", "<", "`", "<answer></answer>", "1", "1,", "<s>1</s>",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_in_the_text(unit: str) -> None:
    started = time.perf_counter()
    for extractor in ALL:
        extractor(unit * (190_000 // len(unit)))
    assert time.perf_counter() - started < 2.0


def test_nothing_is_found_in_a_text_over_the_limit() -> None:
    assert extract.whole()("a" * 200_000) is not None
    assert extract.whole()("a" * 200_001) is None


def test_an_own_function_is_an_extractor_and_its_faults_are_its_own() -> None:
    def shout(text: str) -> Any:
        if text == "boom":
            raise ValueError("bug")
        return 3 if text == "three" else text.upper()

    reward = rk.exact("answer", extract=shout)
    assert rk.score(reward, ["<think>x</think>yes"], answer=["YES"]).total.tolist() == [1.0]
    with pytest.raises(rk.errors.RewardBug, match="bug"):
        rk.score(reward, ["boom"], answer=["a"])
    with pytest.raises(rk.errors.RewardBug, match="returned 3"):
        rk.score(reward, ["three"], answer=["a"])


@pytest.mark.parametrize(
    "value", ["answer", 3, str, type("U", (), {"__call__": lambda self, text: text, "__hash__": None})()]
)
def test_other_values_are_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="extract="):
        as_extractor(value, extract.whole())


wrong: Any = extract


@pytest.mark.parametrize(
    "build", [lambda: wrong.tag(""), lambda: wrong.tag(3), lambda: wrong.after(" "), lambda: wrong.fenced(None)]
)
def test_impossible_arguments_are_refused(build: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError):
        build()


def test_json_view() -> None:
    assert Json(extract.document())("```json\n[1]\n```").value == [1]
    assert Json(extract.tag("a"))("none").error == "no JSON found"


def test_a_box_inside_the_answer_tag_is_opened() -> None:
    assert rk.extract.answer()(r"<answer>so \boxed{42}</answer>") == "42"
    assert rk.score(rk.number("gold"), [r"<answer>\boxed{42}</answer>"], gold=[42]).total.tolist() == [1.0]


def test_blocks_of_tildes_and_raw_text() -> None:
    assert fenced_blocks("~~~a\n```\n~~~") == [("a", "```")]
    assert rk.extract.raw()(" <think>a</think>b<|im_end|>") == "<think>a</think>b"
    assert rk.extract.raw()("a" * 200_001) is None


def test_a_tag_that_is_only_mentioned_is_ignored() -> None:
    answer = rk.extract.answer()
    assert answer("I will give it in <answer> tags.\n<answer>42</answer>") == "42"
    assert answer("<answer>41</answer><answer>42</answer> \\boxed{42}") is None
    assert answer("<answer>41</answer><answer>42") is None
    assert answer("</answer>42<answer>") is None


def test_prefilled_thinking() -> None:
    where = rk.extract.prefilled()
    assert where("6*7 = 42. Hmm wait") is None
    assert where("6*7 = 42.</think> The answer: \\boxed{42}") == "42"
    assert where("<think>a</think>42") == "42"
    assert rk.extract.prefilled(rk.extract.tag("a"))("x</think><a>1</a>") == "1"
    assert repr(where) == "prefilled(answer())"
    with pytest.raises(TypeError, match=r"json\('a'\)"):
        rk.extract.prefilled(rk.extract.json("a"))


def test_a_factory_that_was_not_called_says_so() -> None:
    with pytest.raises(TypeError, match=r"rk.extract.boxed\(\.\.\.\)"):
        rk.number("a", extract=rk.extract.boxed)
    for make, name in ((rk.extract.tag, "<>"), (rk.extract.tag, "a b"), (rk.extract.fenced, " python")):
        with pytest.raises(rk.RewardDefinitionError):
            make(name)
