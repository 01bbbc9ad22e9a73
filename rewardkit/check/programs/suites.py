"""Suites: the program in a correct completion, and its example's tests in the usual column formats.

A column holds ``[{"input": "2", "output": "4"}]``, ``["assert double(2) == 4"]``, or the expected output as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rewardkit.check.completion.parsed_completion import Span, parsed_json, replaced

# A fenced block of Python, or one without a language.
_FENCE = re.compile(r"```(?:python3?|py)?[ \t]*\n(.*?)\n?```", re.DOTALL)
# A line that starts like a line of Python; one such line is enough.
_CODE = re.compile(r"(?m)^\s*(?:def |import |from |print\(|class |for |while |return )")
# "assert f(1) == 2": the function, its arguments, and the result.
_EQUAL = re.compile(r"assert\s+(\w+)\((.*)\)\s*==\s*(.+?)\s*$")
# "assert not f(1)".
_TRUE = re.compile(r"assert\s+(not\s+)?(\w+)\((.*)\)\s*$")
_INPUTS = ("input", "stdin", "inputs")
_OUTPUTS = ("output", "expected", "expected_output", "stdout", "outputs")


@dataclass(frozen=True)
class Case:
    """One test: input and expected output, or, for an assertion, the source of the arguments and of the value."""

    given: str
    expected: str


@dataclass(frozen=True)
class Suite:
    """A program and its tests.

    Attributes:
        text: the completion's text.
        span: the span of the program in `text`.
        cases: the tests, at least one.
        function: the function that the assertions call, or "" for a program that reads input and prints.
    """

    text: str
    span: Span
    cases: tuple[Case, ...]
    function: str = ""

    @property
    def differing(self) -> bool:
        """Whether the tests expect different outputs."""
        return len({case.expected.strip() for case in self.cases}) > 1

    def running(self, program: str) -> str:
        """Return the completion with `program` in place of its program."""
        return replaced(self.text, [(self.span, program)])

    def giving(self, value: str, before: str = "") -> str:
        """Return the completion with a program that outputs `value`, a Python expression, for every input."""
        body = f"def {self.function}(*args, **kwargs):\n    return {value}" if self.function else f"print({value})"
        return self.running(f"{before}\n{body}" if before else body)


def suite_in(text: str, columns: Mapping[str, Any]) -> Suite | None:
    """Return the program in `text` with the tests in `columns`, or None if either is missing."""
    fence = next(reversed([*_FENCE.finditer(text)]), None)
    if fence is None and not _CODE.search(text):
        return None
    span = Span(*fence.span(1)) if fence is not None else Span(0, len(text))
    for name, value in columns.items():
        cases = tuple(_cases(name, value))
        if cases:
            function = next((case[0] for case in cases if case[0]), "")
            return Suite(text, span, tuple(case[1] for case in cases), function)
        pairs = tuple(_pairs(value))
        function = _function_of(columns, span.of(text)) if pairs else ""
        if function:
            return Suite(text, span, pairs, function)
    return None


def _pairs(value: Any) -> Iterator[Case]:
    """Yield tests that are written as ``[[arguments, expected], ...]``."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = parsed_json(value)
    for item in value if isinstance(value, (list, tuple)) else ():
        if not isinstance(item, (list, tuple)) or len(item) != 2 or not isinstance(item[0], (list, tuple)):
            return
        yield Case(", ".join(map(repr, item[0])), repr(item[1]))


def _function_of(columns: Mapping[str, Any], program: str) -> str:
    """Return the function that the tests call: the one named in a column, or the program's only function."""
    defined = re.findall(r"(?m)^def (\w+)", program)
    named = [name for name in defined if name in columns.values()]
    return named[0] if named else defined[0] if len(defined) == 1 else ""


def _cases(name: str, value: Any) -> Iterator[tuple[str, Case]]:
    """Yield each test in a column's value, as the called function's name (or "") and the case."""
    if isinstance(value, str):
        parsed = parsed_json(value)
        if isinstance(parsed, (list, dict)):
            value = parsed
        elif "assert " in value:
            value = value.splitlines()
        elif name.lower().removesuffix("s") in _OUTPUTS:
            yield "", Case("", value)
            return
        else:
            return
    if isinstance(value, Mapping):
        inputs, outputs = _part(value, _INPUTS), _part(value, _OUTPUTS)
        if isinstance(inputs, list) and isinstance(outputs, list):
            yield from (
                ("", Case(str(case_input), str(case_output)))
                for case_input, case_output in zip(inputs, outputs, strict=False)
            )
        return
    for item in value if isinstance(value, (list, tuple)) else ():
        if isinstance(item, str) and (equal := _EQUAL.search(item)) is not None:
            yield equal.group(1), Case(equal.group(2), equal.group(3))
        elif isinstance(item, str) and (true := _TRUE.search(item)) is not None:
            yield true.group(2), Case(true.group(3), str(not true.group(1)))
        elif isinstance(item, Mapping) and _part(item, _OUTPUTS) is not None:
            item_input = _part(item, _INPUTS)
            yield "", Case("" if item_input is None else str(item_input), str(_part(item, _OUTPUTS)))


def _part(case: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((case[name] for name in names if name in case), None)
