"""Read gold cells with tests: ``read_tests('[{"input": "2", "output": "4"}]')`` is one test of a program's output.

A cell may be one of these, as a list or dict or as its text:

- ``[{"input": "2\\n", "output": "4\\n"}, ...]``: the text a program reads and prints;
- ``["assert double(2) == 4", ...]``, or the same as lines of one text, set-up code between them (MBPP);
- ``{"setup": "import math", "asserts": [...]}``, also with MBPP's names ``test_setup_code`` and ``test_list``;
- ``{"inputs": [...], "outputs": [...]}``, with ``"fn_name"`` for calls instead of text (APPS, TACO).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, final

from rewardkit.core.errors import shorten
from rewardkit.core.text.literals import read_literal
from rewardkit.primitives.sandbox.assertions import Assertion, parsed, split
from rewardkit.primitives.sandbox.limits import OUTPUT_BYTES

_BLANKS = b" \t\r\v\f"
_SETUP, _ASSERTS = ("setup", "test_setup_code", "test_imports"), ("asserts", "test_list")


@final
@dataclass(frozen=True)
class Printed:
    """The standard input of a program, and the output it must print."""

    given: bytes
    expected: tuple[bytes, ...]

    def problem(self, output: bytes) -> str:
        """Describe the first difference, ignoring white space at line ends; empty if there is none."""
        found = lines(output)
        if found == self.expected:
            return ""
        if len(found) != len(self.expected):
            return f"printed {_counted(found)}, not {_counted(self.expected)}"
        place = next(place for place, pair in enumerate(zip(found, self.expected, strict=True)) if pair[0] != pair[1])
        where = f" in line {place + 1}" if len(found) > 1 else ""
        return f"printed {_shown(found[place])}{where}, not {_shown(self.expected[place])}"


@final
@dataclass(frozen=True)
class Tests:
    """All tests of a cell; all of the same kind."""

    printed: tuple[Printed, ...] = ()
    asserted: tuple[Assertion, ...] = ()


def lines(output: bytes) -> tuple[bytes, ...]:
    """Split into lines without white space at their ends, and without empty lines at the very end."""
    found = [line.rstrip(_BLANKS) for line in output.split(b"\n")]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def read_tests(cell: object) -> Tests:
    """Read the tests in a gold cell.

    Raises:
        ValueError: there are none, or they cannot be read; the message says why.
    """
    if isinstance(cell, str):
        cell = _read(cell)
    if isinstance(cell, Mapping):
        return _read_mapping(cell)
    tests = _listed(cell, "the cell")
    if all(isinstance(test, str) for test in tests):
        return Tests(asserted=tuple(split(test) for test in tests))
    return Tests(printed=tuple(_printed(test, number) for number, test in enumerate(tests, 1)))


def _read(text: str) -> Any:
    """Parse as JSON, else as a Python literal, else as lines of Python that include assertions."""
    for read in (json.loads, read_literal, _read_lines):
        with suppress(ValueError, SyntaxError, RecursionError):
            return read(text)
    raise ValueError(f"neither JSON nor assertions: {shorten(text)}")


def _read_lines(text: str) -> dict[str, Any]:
    statements = parsed(text)
    asserts = [line for line in statements if isinstance(line, ast.Assert)]
    others = [line for line in statements if not isinstance(line, ast.Assert)]
    if not asserts or any(isinstance(node, ast.Assert) for line in others for node in ast.walk(line)):
        raise ValueError("no assertions, or assertions inside loops or functions")
    return {"setup": "\n".join(map(ast.unparse, others)), "asserts": [*map(ast.unparse, asserts)]}


def _read_mapping(cell: Mapping[str, Any]) -> Tests:
    asserts = next((name for name in _ASSERTS if name in cell), None)
    if asserts:
        setup = "\n".join("\n".join(_texts(cell[name])) for name in _SETUP if cell.get(name))
        return Tests(asserted=tuple(split(test, setup) for test in _texts(_listed(cell[asserts], asserts))))
    if "inputs" not in cell or "outputs" not in cell:
        raise ValueError(
            f"tests need the keys 'inputs' and 'outputs', or 'setup' and 'asserts', got {shorten([*cell])}"
        )
    inputs, outputs = _listed(cell["inputs"], "inputs"), _listed(cell["outputs"], "outputs")
    if len(inputs) != len(outputs):
        raise ValueError(f"got {len(inputs)} inputs and {len(outputs)} outputs; give one output for each input")
    pairs = list(zip(inputs, outputs, strict=True))
    name = cell.get("fn_name")
    if name is not None:
        return Tests(asserted=tuple(_called(name, given, expected) for given, expected in pairs))
    tests = [
        _printed({"input": given, "output": expected}, number) for number, (given, expected) in enumerate(pairs, 1)
    ]
    return Tests(printed=tuple(tests))


def _printed(test: object, number: int) -> Printed:
    if not isinstance(test, Mapping) or not {"input", "output"} <= test.keys():
        raise ValueError(f"test {number} must be {{'input': ..., 'output': ...}}, got {shorten(test)}")
    expected = _bytes(test["output"], number)
    if len(expected) > OUTPUT_BYTES:
        raise ValueError(f"test {number} expects {len(expected):,} bytes of output; the limit is {OUTPUT_BYTES:,}")
    return Printed(_bytes(test["input"], number), lines(expected))


def _bytes(value: object, number: int) -> bytes:
    """Return text, a number, or a list of lines as the bytes that a program reads or prints."""
    if isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"test {number} must have text, got {shorten(value)}")
    return value.encode()


def _called(name: str, given: object, expected: object) -> Assertion:
    """Test ``fn_name`` on a list of arguments; as in APPS, the expected value may be in a list of one."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"fn_name must be the name of a function, got {shorten(name)}")
    function = f"(Solution().{name} if 'Solution' in globals() else {name})"
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"the inputs of {name} must be lists of arguments, got {shorten(given)}")
    call = f"{function}(*{given!r})"
    expectations = [expected, *expected] if isinstance(expected, list) and len(expected) == 1 else [expected]
    check = f"assert plain(answer_0) in {expectations!r}"
    return Assertion("", (call,), PLAIN, check, f"{name}(*{given!r}) == {expected!r}")


PLAIN = """
def plain(value):
    return [*map(plain, value)] if isinstance(value, (list, tuple)) else value
"""


def _listed(value: object, what: str) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
        raise ValueError(f"{what}: expected a non-empty list of tests, got {shorten(value)}")
    return list(value)


def _texts(value: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"source must be text or a list of texts, got {shorten(value)}")
    return list(texts)


def _counted(found: tuple[bytes, ...]) -> str:
    return "nothing" if not found else _shown(found[0]) if len(found) == 1 else f"{len(found)} lines"


def _shown(line: bytes) -> str:
    return shorten(line.decode(errors="replace"), 60)
