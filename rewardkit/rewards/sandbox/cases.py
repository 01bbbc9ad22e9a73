"""Parsing of gold cells with tests: ``read_tests('[{"input": "2", "output": "4"}]')`` is one test of program output.

A cell is a list or dict, or text (JSON, a Python literal, or Python code), in one of these formats:

- a program's inputs and outputs: ``[{"input": "2\\n", "output": "4\\n"}, ...]``, or in two lists;
- function calls: inputs and outputs with ``"fn_name"`` (APPS, TACO) or ``"testtype": "functional"`` (LiveCodeBench);
- assertions: ``["assert double(2) == 4", ...]`` or, with setup code, ``{"setup": "import math", "asserts": [...]}``;
- test code: pytest functions, unittest classes, or ``check(candidate)`` with ``"entry_point"``.

`_read_mapping` handles the key names in datasets. If the format identifies the dataset, that dataset's rule is used to
compare outputs.
"""

from __future__ import annotations

import ast
import base64
import binascii
import difflib
import json
import marshal
import math
import pickletools
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, final

from rewardkit.errors import shorten
from rewardkit.rewards.sandbox import scripts
from rewardkit.rewards.sandbox.limits import OUTPUT_BYTES
from rewardkit.rewards.sandbox.scripts import NO_SCRIPT, Script, Step, parsed
from rewardkit.rewards.sandbox.values import near
from rewardkit.text.literals import LITERAL_CHARACTERS, read_literal

_BLANKS = b" \t\r\v\f"


# --- Outputs -------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Rule:
    """A rule for comparing an output with the expected output.

    Attributes:
        stripped: whether to ignore white space at the beginning of lines, and empty lines before the first line.
        blank: whether to ignore all empty lines.
        words: whether to ignore the difference between spaces and newlines, and between upper and lower case.
        relative: the allowed difference between numbers, as a fraction of the expected number; None to compare numbers
            as text.
        absolute: the absolute difference that is always allowed.
        mixed: whether to also compare numbers in lines that contain other words.
    """

    stripped: bool = False
    blank: bool = False
    words: bool = False
    relative: float | None = None
    absolute: float = 0.0
    mixed: bool = False

    def lines(self, output: bytes) -> tuple[bytes, ...]:
        if self.words:
            return tuple(output.lower().split())
        output_lines = lines(output)
        if self.stripped or self.blank:
            output_lines = tuple(line.lstrip(_BLANKS) for line in output_lines)
            start = next((index for index, line in enumerate(output_lines) if line), len(output_lines))
            output_lines = tuple(filter(None, output_lines)) if self.blank else output_lines[start:]
        return output_lines

    def same(self, line: bytes, expected: bytes) -> bool:
        if line == expected:
            return True
        words, expected_words = line.split(), expected.split()
        if self.relative is None or len(words) != len(expected_words):
            return False
        pairs = zip(words, expected_words, strict=True)
        return all((self.mixed and word == other) or self._close(word, other) for word, other in pairs)

    def _close(self, word: bytes, expected: bytes) -> bool:
        if self.relative is None or not (_NUMBER.fullmatch(word) and _NUMBER.fullmatch(expected)):
            return False
        number, target = Decimal(word.decode()), Decimal(expected.decode())
        is_integer = _INTEGER.fullmatch(expected) is not None
        if number == target or (is_integer and _INTEGER.fullmatch(word)) or not (self.relative or self.absolute):
            return number == target
        return near(float(word), int(target) if is_integer else float(expected), self.relative, self.absolute)


# Decimal numbers as programs print them, but not "nan", "inf", "1_000", or exponents that would be slow to evaluate.
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_INTEGER = re.compile(rb"[+-]?[0-9]+")

EXACT = Rule()
_LIVE_CODE_BENCH = Rule(stripped=True, relative=0.0)
"""https://github.com/LiveCodeBench/LiveCodeBench, ``lcb_runner/evaluation/testing_util.py``: it compares decimals."""

_OPEN_R1 = Rule(stripped=True)
"""https://github.com/huggingface/open-r1, ``src/open_r1/rewards.py``. Unlike open-r1, rewardkit checks the number of
lines."""

_APPS = Rule(blank=True, relative=1e-5, absolute=1e-8)
"""https://github.com/hendrycks/apps, ``eval/testing_util.py`` (also used by TACO): ``numpy.allclose``. That code also
compares sets of words, and integers with a tolerance. rewardkit does not, because both checks accept incorrect
outputs."""

_CODE_CONTESTS = Rule(words=True, relative=0.0, absolute=1e-5)
"""https://github.com/google-deepmind/code_contests, ``execution/tester_sandboxer.cc``."""


@final
@dataclass(frozen=True)
class Printed:
    """A test of a program's output: the standard input and the lines that the program must print."""

    given: bytes
    expected: tuple[bytes, ...]
    rule: Rule = EXACT

    def problem(self, output: bytes) -> str:
        """Return a description of the first difference between `output` and the expected lines; "" if there is none."""
        output_lines, unit = self.rule.lines(output), "words" if self.rule.words else "lines"
        if len(output_lines) != len(self.expected):
            return f"printed {_counted(output_lines, unit)}, not {_counted(self.expected, unit)}"
        for number, (line, expected) in enumerate(zip(output_lines, self.expected, strict=True), 1):
            if not self.rule.same(line, expected):
                where = f" in {unit[:-1]} {number}" if len(output_lines) > 1 else ""
                return f"printed {_shown(line)}{where}, not {_shown(expected)}"
        return ""


def lines(output: bytes) -> tuple[bytes, ...]:
    """Split an output into lines without trailing white space or empty lines at the end."""
    output_lines = [line.rstrip(_BLANKS) for line in output.split(b"\n")]
    while output_lines and not output_lines[-1]:
        output_lines.pop()
    return tuple(output_lines)


def _counted(output_lines: tuple[bytes, ...], unit: str) -> str:
    return (
        "nothing"
        if not output_lines
        else _shown(output_lines[0])
        if len(output_lines) == 1
        else f"{len(output_lines)} {unit}"
    )


def _shown(line: bytes) -> str:
    return shorten(line.decode(errors="replace"), 60)


# --- Cells ---------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Tests:
    """All tests in a gold cell.

    Attributes:
        printed: the tests of the program's output.
        script: the tests of the program's values.
        prelude: whether the program may use the imports from the dataset's grader.
        tolerance: the allowed difference between numbers in the values; None to compare them as the tests do.
    """

    printed: tuple[Printed, ...] = ()
    script: Script = NO_SCRIPT
    prelude: bool = False
    tolerance: float | None = None

    @property
    def before(self) -> str:
        """The source code that runs before the program."""
        return (_PRELUDE if self.prelude else "") + (scripts.names_of(self.script).before if self.script.steps else "")


_STARRED = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics"),
    *("itertools", "functools", "operator", "io", "sys", "json", "builtins", "typing"),
)
PRELUDE_MODULES = (*_STARRED, "fractions", "time")
_PRELUDE = "".join(
    [f"from {name} import *\n" for name in _STARRED]
    + [f"import {name}\n" for name in PRELUDE_MODULES]
    + ["sys.setrecursionlimit(50_000)\n"]
)
"""The code that the LiveCodeBench grader prepends to a program, with additions from the APPS grader. Many programs rely
on it."""

_LEETCODE_NAMES = ("ListNode", "TreeNode", "list_node", "tree_node", "is_same_list", "is_same_tree")
_LEETCODE = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val, self.next = val, next

class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right

def list_node(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head

def tree_node(values):
    nodes = [None if value is None else TreeNode(value) for value in values]
    children = iter(nodes[1:])
    for node in filter(None, nodes):
        node.left, node.right = next(children, None), next(children, None)
    return nodes[0] if nodes else None

def is_same_list(one, other):
    while one is not None and other is not None and one.val == other.val:
        one, other = one.next, other.next
    return one is None and other is None

def is_same_tree(one, other):
    if one is None or other is None:
        return one is other
    same = is_same_tree(one.left, other.left) and is_same_tree(one.right, other.right)
    return same and one.val == other.val
"""
"""Definitions that LeetCode provides to all programs, and helpers for building and comparing lists and trees in the
tests in LeetCodeDataset (newfacade/LeetCodeDataset on Hugging Face), code-r1, and DeepCoder. Rows in these datasets may
omit the definitions."""


def read_tests(cell: object, tolerance: float | None = None) -> Tests:
    """Parse the tests in a gold cell.

    Args:
        cell: the gold cell.
        tolerance: the allowed difference between numbers, relative or absolute; None for the dataset's rule.

    Raises:
        ValueError: there are no tests, or they cannot be parsed. The message contains the reason.
    """
    tests = _read(_parse(cell) if isinstance(cell, str) else cell, {})
    names = {*scripts.names_of(tests.script).program} if tests.script.steps else set()
    if "Solution" in names:  # in the style of LeetCode, whose judge provides these definitions
        setup = f"{tests.script.setup}\n{'' if names.isdisjoint(_LEETCODE_NAMES) else _LEETCODE}"
        tests = replace(tests, script=replace(tests.script, setup=setup.strip()), prelude=True)
    if tolerance is None:
        return tests
    printed = (
        replace(test, rule=replace(test.rule, relative=tolerance, absolute=tolerance, mixed=True))
        for test in tests.printed
    )
    return replace(tests, printed=tuple(printed), tolerance=tolerance)


# The key names that datasets use. The keys in `_ABOVE` also apply to the tests inside a mapping.
_SETUP = ("setup", "test_setup_code", "test_imports")
_ABOVE = (*_SETUP, "prompt", "entry_point", "fn_name", "func_name", "metadata")
_ASSERTS = ("asserts", "test_list")
_CODE = ("test", "test_code", "functional")
_AROUND = (
    *("verification_info", "input_output", "test_cases", "unit_tests", "tests", "ground_truth", "reward_model"),
    "answer",
)
_CONTESTS = ("public_tests", "private_tests", "generated_tests")
_LIVE = ("public_test_cases", "private_test_cases")
_FORMATS = {
    "one test of a program's output": ("input", "output"),
    "the format of APPS and TACO": ("inputs", "outputs"),
    "assertions with setup code": ("setup", "asserts"),
    "the format of MBPP": ("test_setup_code", "test_list"),
    "the format of HumanEval": ("test", "entry_point"),
    "the format of open-r1": ("language", "test_cases"),
    "the format of LiveCodeBench": _LIVE,
    "the format of CodeContests": _CONTESTS,
}
_OF_OUTPUT = ("stdin", "stdin_stdout", "standard_input")
_OF_CALLS = ("functional", "function_call", "call_based")


def _read(cell: object, row: Mapping[str, Any]) -> Tests:
    """Parse tests, or a value that contains tests. `row` is the mapping around the value, or is empty."""
    if isinstance(cell, Mapping):
        return _read_mapping({**{key: row[key] for key in _ABOVE if key in row}, **cell})
    if isinstance(cell, str):
        if cell.lstrip()[:1] in ("[", "{"):
            raise ValueError(f"neither JSON nor a Python literal: {shorten(cell)}")
        entry_point = row.get("entry_point")
        return Tests(script=scripts.read_script(cell, _setup(row), entry_point if isinstance(entry_point, str) else ""))
    tests = _listed(cell, "the cell")
    if all(isinstance(test, str) for test in tests):
        return Tests(script=Script(tuple(map(_asserted, tests)), _setup(row)))
    return _read_pairs(tests, row)


def _read_mapping(cell: Mapping[str, Any]) -> Tests:
    present_keys = {key for key, value in cell.items() if value is not None}
    if name := _first(_ASSERTS, present_keys):
        return _read(_listed(_texts(cell[name]), name) + _texts(cell.get("challenge_test_list") or []), cell)
    if name := _first(_CODE, present_keys):
        return _read(_opened(cell[name]), cell)
    if present := [key for key in _CONTESTS if key in present_keys]:
        pairs = _some([pair for key in present for pair in _pairs(_opened(cell[key]))])
        return Tests(tuple(_printed(*pair, number, _CODE_CONTESTS) for number, pair in enumerate(pairs, 1)))
    if present := [key for key in _LIVE if key in present_keys]:
        return _read_pairs(_listed([test for key in present for test in _opened(cell[key])], present[0]), cell)
    if {"inputs", "outputs"} <= present_keys:
        pairs = _some([*_pairs({"input": cell["inputs"], "output": cell["outputs"]})])
        if name := _function(cell):
            steps = tuple(_called(name, *pair, _wrapped(pairs)) for pair in pairs)
            return Tests(script=Script(steps, _setup(cell)), prelude=True)
        printed = tuple(_printed(*pair, number, _APPS) for number, pair in enumerate(pairs, 1))
        return Tests(printed, prelude=True)
    if {"input", "output"} <= present_keys:
        lists = all(isinstance(cell[key], (list, tuple)) for key in ("input", "output"))
        return _read_mapping({"public_tests": cell}) if lists else _read_pairs([cell], cell)
    if name := _first(_AROUND, present_keys):
        language = cell.get("language")
        if isinstance(language, str) and not language.lower().startswith("py"):
            raise ValueError(
                f"the tests are for programs in {shorten(language, 40)}, but only Python programs can be run"
            )
        return _read(_opened(cell[name]), cell)
    keys = [str(key)[:40] for key in cell][:40]
    nearest = max(_FORMATS, key=lambda name: _likeness(_FORMATS[name], keys))
    names = " and ".join(map(repr, _FORMATS[nearest]))
    raise ValueError(f"unknown format with the keys {shorten(keys)}. The closest format is {nearest}, with {names}")


def _first(names: Sequence[str], has: set[str]) -> str:
    return next((name for name in names if name in has), "")


def _likeness(names: Sequence[str], keys: Sequence[str]) -> float:
    ratios = [max([difflib.SequenceMatcher(None, name, key).ratio() for key in keys], default=0.0) for name in names]
    return sum(ratios) / len(ratios)


def _some(pairs: list[tuple[object, object]]) -> list[tuple[object, object]]:
    if not pairs:
        raise ValueError("the cell: expected a non-empty list of tests, got none")
    return pairs


def _pairs(tests: object) -> Iterator[tuple[object, object]]:
    """Yield (input, output) pairs from a list of tests, or from a mapping with lists of inputs and outputs."""
    if isinstance(tests, Mapping) and {"input", "output"} <= tests.keys():
        inputs, outputs = (_listed(tests[key], f"{key}s", least=0) for key in ("input", "output"))
        if len(inputs) != len(outputs):
            raise ValueError(f"got {len(inputs)} inputs and {len(outputs)} outputs. Provide one output for each input")
        yield from zip(inputs, outputs, strict=True)
        return
    for number, test in enumerate(_listed(tests, "tests", least=0), 1):
        yield _pair(test, number)


def _pair(test: object, number: int) -> tuple[object, object]:
    if not isinstance(test, Mapping) or not {"input", "output"} <= test.keys():
        raise ValueError(f"test {number} must be {{'input': ..., 'output': ...}}, got {shorten(test)}")
    return test["input"], test["output"]


def _read_pairs(tests: Sequence[object], row: Mapping[str, Any]) -> Tests:
    """Parse (input, output) tests. Each may state whether it tests a program's output or a function."""
    printed, steps, prelude = [], [], False
    pairs = [_pair(test, number) for number, test in enumerate(tests, 1)]
    wrapped = _wrapped(pairs)
    for number, (test, pair) in enumerate(zip(tests, pairs, strict=True), 1):
        assert isinstance(test, Mapping)
        kind = test.get("testtype") or test.get("type")
        name = _function(test) or _function(row)
        if kind not in (None, *_OF_OUTPUT, *_OF_CALLS):
            known_kinds = " and ".join(map(repr, (*_OF_OUTPUT, *_OF_CALLS)))
            raise ValueError(f"test {number} has the unknown type {shorten(kind, 40)}. Known types: {known_kinds}")
        prelude = prelude or "testtype" in test or kind in _OF_CALLS
        if kind in _OF_CALLS or (kind is None and name):
            steps.append(_called(name, *pair, wrapped))
        else:
            rule = _LIVE_CODE_BENCH if "testtype" in test else _OPEN_R1 if "type" in test else EXACT
            printed.append(_printed(*pair, number, rule))
    return Tests(tuple(printed), Script(tuple(steps), _setup(row)) if steps else NO_SCRIPT, prelude)


def _function(cell: Mapping[str, Any]) -> str:
    """Return the name of the function that the tests call; "" if there is no name."""
    metadata = cell.get("metadata")
    if isinstance(metadata, str):
        with suppress(ValueError):
            metadata = json.loads(metadata)
    inner = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    name = cell.get("fn_name") or cell.get("func_name") or inner or ""
    short = name.rpartition(".")[2] if isinstance(name, str) else ""  # "Solution().double"
    if name and not short.isidentifier():
        raise ValueError(f"fn_name must be the name of a function, got {shorten(name)}")
    return short


def _setup(row: Mapping[str, Any]) -> str:
    """Return the code that runs before the tests: setup code, and the prompt's definitions except the tested one."""
    parts = []
    prompt, entry_point = row.get("prompt"), str(row.get("entry_point") or "")
    if isinstance(prompt, str):
        with suppress(ValueError):  # the prompt is in English
            for line in parsed(prompt):
                is_target = isinstance(line, (ast.FunctionDef, ast.ClassDef)) and entry_point.startswith(line.name)
                if isinstance(line, _DEFINING) and not is_target:
                    parts.append(ast.unparse(line))
    return "\n".join(parts + ["\n".join(_texts(row[name])) for name in _SETUP if row.get(name)])


_DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def _asserted(test: str) -> Step:
    if not any(isinstance(node, ast.Assert) for line in parsed(test) for node in ast.walk(line)):
        raise ValueError(f"a test must be an assertion such as 'assert f(1) == 2', got {test[:100]!r}")
    return Step(test.strip(), source=test)


def _wrapped(pairs: Sequence[tuple[object, object]]) -> bool:
    """Return whether every expected value is a list with one item, which may be only a wrapper, as in APPS."""
    return all(isinstance(output, list) and len(output) == 1 for _, output in pairs)


def _called(name: str, arguments: object, expected: object, wrapped: bool) -> Step:
    """Return a function test for a list of arguments, or for text with one JSON argument per line (LiveCodeBench).

    If results are `wrapped`, both the list and its single item pass. Integer keys that JSON converted to text become
    integers again.
    """
    results: list[object] = []
    if isinstance(arguments, str):
        try:
            arguments = [_json(line) for line in arguments.strip().split("\n")] if arguments.strip() else []
            results = [_json(expected) if isinstance(expected, str) else expected]
        except json.JSONDecodeError as error:
            raise ValueError(
                f"the input and output of {name or 'a call'} must have a JSON value in each line ({error}), "
                f"got {shorten(arguments, 60)} and {shorten(expected, 60)}"
            ) from None
    elif isinstance(arguments, (list, tuple)):
        arguments = [_with_integers(item) for item in arguments]
        expected = _with_integers(expected)
        results = [expected, *map(_with_integers, expected if wrapped and isinstance(expected, list) else ())]
    else:
        raise ValueError(f"the inputs of {name or 'a call'} must be lists of arguments, got {shorten(arguments)}")
    try:
        label = f"{name or 'the function'}({', '.join(map(repr, arguments))}) == {results[-1]!r}"
    except ValueError:  # an integer with more digits than Python converts to text
        label = name or "the function"
    return Step(label[:200], call=marshal.dumps((name or None, arguments, results)))


def _with_integers(value: object) -> object:
    if not isinstance(value, dict) or not all(
        isinstance(key, str) and _INTEGER.fullmatch(key.encode()) for key in value
    ):
        return value
    return {int(key): item for key, item in value.items()}


def _printed(stdin: object, expected: object, number: int, rule: Rule) -> Printed:
    output = _bytes(expected, number)
    if len(output) > OUTPUT_BYTES:
        raise ValueError(f"test {number} expects {len(output):,} bytes of output, but the limit is {OUTPUT_BYTES:,}")
    return Printed(_bytes(stdin, number), rule.lines(output), rule)


def _bytes(value: object, number: int) -> bytes:
    """Convert text, an integer, or a list of lines to the bytes that a program reads or prints."""
    if isinstance(value, (list, tuple)) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"test {number} must contain text, got {shorten(value)}")
    return value.encode()


def _listed(value: object, key: str, least: int = 1) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or len(value) < least:
        raise ValueError(f"{key}: expected a non-empty list of tests, got {shorten(value)}")
    return list(value)


def _texts(value: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"source must be text or a list of strings, got {shorten(value)}")
    return list(texts)


# --- Text ----------------------------------------------------------------------------------------------------


def _opened(value: object) -> Any:
    return _parse(value) if isinstance(value, str) else value


def _parse(text: str) -> Any:
    """Parse JSON, a Python literal, or LiveCodeBench's encoded form; return other text unchanged."""
    if _ENCODED.fullmatch(text.strip()):
        return _parse(_decoded(text))
    with suppress(json.JSONDecodeError, RecursionError):
        value = _json(text)
        return _parse(value) if isinstance(value, str) else value
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        value = (read_literal if len(text) <= LITERAL_CHARACTERS else ast.literal_eval)(text.strip())
        return _parse(value) if isinstance(value, str) else value
    return text


def _json(text: str) -> Any:
    return json.loads(text, parse_int=lambda digits: int(Decimal(digits)), parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):  # all numbers that are too large would be equal
        raise ValueError(f"the number {shorten(text, 40)} is too large")
    return number


# LiveCodeBench's private tests are zlib data in base64, which always begins with "eJ".
_ENCODED = re.compile(r"eJ[A-Za-z0-9+/=\s]+")
_MOST_DECODED = 1 << 28
"""The maximum size of decoded tests in bytes. The limit is arbitrary: the tests for a LiveCodeBench problem take up to
tens of megabytes."""

_PICKLED_TEXT = ("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE")
_AROUND_TEXT = ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT", "STOP")


def _decoded(text: str) -> str:
    """Decode a cell with LiveCodeBench's private tests, which are JSON in a compressed pickle, encoded as base64.

    The pickle is not loaded, because that could run any code. Instead, its instructions are parsed. They may only
    create a single string.
    """
    try:
        opened = zlib.decompressobj()
        data = opened.decompress(base64.b64decode(text), _MOST_DECODED)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"the encoded tests cannot be read ({error}): {shorten(text, 60)}") from None
    if opened.unconsumed_tail:
        raise ValueError(f"the encoded tests have more than {_MOST_DECODED:,} bytes")
    if data[:1] in (b"[", b"{"):
        return data.decode()
    texts = []
    for operation, argument, _ in pickletools.genops(data):
        if operation.name in _PICKLED_TEXT:
            texts.append(argument)
        elif operation.name not in _AROUND_TEXT or len(texts) > 1:
            raise ValueError(
                f"the encoded tests are a pickle of more than one string ({operation.name}). Unpickling could run "
                "any code. If you trust the tests, decode them yourself, and pass JSON"
            )
    return str(texts[-1]) if texts else ""
