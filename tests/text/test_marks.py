"""Marks: fences, boxes and hashes, and text that only looks like them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.text.marks import boxes, fenced_blocks, last_box


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("\\boxed{42}", "42"),
        ("\\boxed {42}", "42"),
        ("\\\\boxed{\\\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\\\boxed{41} \\boxed{42}", "42"),
        ("\\\\\\boxed{42}", "42"),
        ("\\boxed{41} and \\boxed{42}", "42"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed{\\boxed{42}}", "42"),
        ("\\boxed 42", "42"),
        ("\\boxed{\\phantom{400}} = x, so \\boxed{4}", "4"),
        ("The form is \\boxed{answer}: \\boxed{42}.", "42"),
        ("\\boxed{42}, as \\boxed{?} asks", "42"),
        ("\\boxed{ \\boxed{42} }", "42"),
        ("\\boxed{x \\ne \\boxed{42}}", "x \\ne \\boxed{42}"),
        ("\\boxed{\\boxed{41} 42}", "\\boxed{41} 42"),
        ("\\boxed{\\boxed{41} \\boxed{42}}", "\\boxed{41} \\boxed{42}"),
        ("$\\boxed{42}$. I put it in \\boxed{}.", "42"),
        ("$\\boxed{42}$. I put it in \\boxed{...}.", "42"),
        ("\\boxed{42} \\boxed{4", None),
        ("\\boxed{42", None),
        ("\\boxed{}", None),
        ("42", None),
        ("\\boxed{a\\}b}", "a\\}b"),
        ("x = -\\boxed{42}", "-42"),
        ("5-\\boxed{42}", "42"),
        ("- \\boxed{42}", "42"),
        ("\\boxed{" + "{}" * 9 + "}", "{}" * 9),
    ],
)
def test_last_box(text: str, content: str | None) -> None:
    assert last_box(text) == content


@pytest.mark.parametrize("content", ["7", " 7 ", "7\\boxed{8}"])
def test_boxes_inside_boxes_to_any_depth(content: str) -> None:
    depth = 20_000
    assert boxes("\\boxed{" * depth + content + "}" * depth) == [content]
    assert boxes("\\boxed{ " * depth + content + "\n}" * depth) == [f" {content}\n"]
    assert boxes("\\boxed{" * depth + content + "}" * (depth - 1)) is None


def test_fenced_blocks_of_both_kinds() -> None:
    assert fenced_blocks("~~~a\n```\n~~~\n```B\n~~~\n```") == [("a", "```"), ("b", "~~~")]


@given(st.text(alphabet="\\boxed{} .4#\n~`", max_size=80))
def test_any_text_is_read(text: str) -> None:
    last_box(text)
    boxes(text)
    fenced_blocks(text)
    box = f"{text.replace('{', '').replace('}', '')}\\\\ \\boxed{{7}}"
    assert "\\boxed" in text or last_box(box) == "7"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        # The opening fence and its info string.
        ('```python title="a.py"\nx\n```', [("python", "x")]),
        ("```Python {1,3}\nx\n```", [("python", "x")]),
        ("```python,ignore\nx\n```", [("python", "x")]),
        ("```python:a.py\nx\n```", [("python", "x")]),
        ("```{.python .numberLines}\nx\n```", [("python", "x")]),
        ("``` c++\nx\n```", [("c++", "x")]),
        ("~~~ a`b ~~~ c\nx\n~~~", [("a`b", "x")]),
        ("``` a`b\nx", []),
        ("``\nx\n``", []),
        ("```\n```", [("", "")]),
        # The closing fence: of the same character, at least as long, indented by at most three spaces, alone.
        ("````\n```\nx\n````", [("", "```\nx")]),
        ("```\nx\n`````  ", [("", "x")]),
        ("```\nx\n   ```", [("", "x")]),
        ("```\nx\n    ```\ny\n```", [("", "x\n    ```\ny")]),
        ("```\nx\n\t```\ny\n```", [("", "x\n\t```\ny")]),
        ("```\nx\n``` y\n```", [("", "x\n``` y")]),
        ("```\nx\n- ```\n```", [("", "x\n- ```")]),
        ("~~~\nx\n```\n~~~", [("", "x\n```")]),
        ("```\nx\n    ```", []),
        ("```py\nx\n```\n```py\n", [("py", "x")]),
        # In lists, as models write them.
        ("- ```py\n  x\n  ```", [("py", "x")]),
        ("1. ```py\n   if x:\n       y\n   ```", [("py", "if x:\n    y")]),
        ("10. a\n    ```py\n    if x:\n        y\n    ```\nb", [("py", "if x:\n    y")]),
        ("- a\n  - b\n\n      ```py\n      x\n      ```", [("py", "x")]),
        ("1. a\n\t```py\n\tx\n\t```", [("py", "x")]),
        ("   ```py\n   x\ny\n```", [("py", "x\ny")]),
        ('10. a\n    ```py\n    """\n        ```\n    """\n    ```', [("py", '"""\n    ```\n"""')]),
        ("* a ```b```\n```py\nx\n```", [("py", "x")]),
    ],
)
def test_fences_follow_commonmark(text: str, blocks: list[tuple[str, str]]) -> None:
    assert fenced_blocks(text) == blocks


@given(st.text(alphabet="ab `~\n-1.", max_size=60), st.integers(0, 3), st.sampled_from("`~"))
def test_a_longer_fence_keeps_any_text(text: str, indent: int, mark: str) -> None:
    fence = mark * 61
    assert fenced_blocks(f"{fence}py x=1\n{text}\n{' ' * indent}{fence}") == [("py", text)]


def test_fenced_blocks_in_order() -> None:
    assert fenced_blocks("x\n```a\n1\n```\n  ```b\n2\n  ```") == [("a", "1"), ("b", "2")]
