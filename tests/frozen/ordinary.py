"""A few hundred ordinary completions: answers as models write them, right, wrong, cut off, and in the wrong place.

They are built from templates, so that they are the same everywhere: ``TEXTS["boxed: 42"]`` is ``So it is \\boxed{42}.``
"""

from __future__ import annotations

from itertools import product

_FRAMES = {
    "bare": "{}",
    "sentence": "The answer is {}.",
    "bold": "**Answer: {}**",
    "marked": "6 * 7 = 42, so\n#### {}",
    "boxed": "So it is \\boxed{{{}}}.",
    "dollars": "We get ${}$.",
    "tagged": "<think>Let me see.</think><answer>{}</answer>",
    "thinking": "<think>It could be {}.</think>I am not sure.",
    "fenced": "Here it is:\n```json\n{}\n```\n",
    "listed": "1. first\n2. second\n\nFinal answer: {}",
    "doubted": "At first I thought 17. No, it is {}",
    "cut off": "<think>Let me see.</think><answer>{}",
    "echoed": "What is 6 * 7? {} is what you asked for, and {} it is.",
}
_ANSWERS = (
    *("42", "43.5", "-7", "1,234", "3/4", "0.75", "75%", "$20", "2\\sqrt{3}", "x^2-1", "(x-1)(x+1)"),
    *("Paris", "paris", "Rome", "C", "(C)", "A and C", "red, green", "green, red", "red, green, blue"),
    *('{"sku": "a-1", "qty": 3}', '{"sku": "b", "qty": "3"}', "[1.5, 2.5, [3]]", "northern lights", "Αθήνα"),
)
_PROSE = {
    "refusal": "As an AI language model, I cannot help with that.",
    "nothing": "I don't know.",
    "long": " ".join(f"Step {number} follows from the one before it." for number in range(1, 60)),
    "repeated": "the same words again and " * 12,
    "program": "```python\nprint(int(input()) * 2)\n```",
    "program that is wrong": "```python\nprint(5)\n```",
    "program that raises": "```python\nraise ValueError('no')\n```",
    "function": "```python\ndef double(n):\n    return 2 * n\n```",
    "program of nothing": "```python\n```",
    "two lines": "Yes\nNo",
    "words": "alpha beta omega",
    "steps": "Sort both lists, merge them, then return the result. QED",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "two boxes": "First \\boxed{41}, then \\boxed{42}.",
    "units": "It takes 43.5 km, about 27 miles.",
    "equation": "3 * (4 + 5) = 27",
}

TEXTS: dict[str, str] = {
    **{
        f"{frame}: {answer}": template.format(answer, answer)
        for (frame, template), answer in product(_FRAMES.items(), _ANSWERS)
    },
    **_PROSE,
}
