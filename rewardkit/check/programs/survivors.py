"""Survivors: incorrect programs that an example's tests accept.

The correct program is broken in one place at a time. A version that the reward rejects is certainly incorrect. A
version that it accepts is run on fresh inputs, and is incorrect if its outputs differ from those of the correct
program. Each input with different outputs is a missing test.

The idea of measuring a coding task's tests by mutating its solution comes from gameability (Empyrean Intelligence).
"""

from __future__ import annotations

import ast
import math
import random
import re
import textwrap
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rewardkit.check.mutants.mutants import Mutant, mutants
from rewardkit.check.mutants.operators import OF_SOLUTIONS
from rewardkit.check.programs.suites import Suite
from rewardkit.errors import RewardDefinitionError
from rewardkit.rewards.sandbox.cases import lines
from rewardkit.rewards.sandbox.isolation import chosen
from rewardkit.rewards.sandbox.limits import Limits
from rewardkit.rewards.sandbox.runs import Job, Trial
from rewardkit.rewards.sandbox.verdicts import launched

# Fresh inputs: more inputs like those of the given tests, within the domain that the tests suggest.


_TRIES = 12
"""The maximum number of draws per requested fresh input. Arbitrary: many draws repeat a test or an earlier draw."""
_LONGEST = 2_000
"""The maximum length of an input, in characters. Arbitrary: inputs are run hundreds of times."""
_SIZED = (list, str, tuple, dict)
# Texts of letters, digits and spaces are changed letter by letter; other texts may have a syntax.
_LETTERS = re.compile(r"[A-Za-z0-9 ]*")


def fresh_inputs(suite: Suite, count: int, seed: int) -> list[str]:
    """Return at most `count` inputs that no test uses: standard input, or the source of a function's arguments."""
    draw = random.Random(seed)
    test_inputs = {case.given.strip() for case in suite.cases}
    make = _arguments if suite.function else _lines
    inputs: dict[str, None] = {}
    for _ in range(count * _TRIES):
        candidate = make([case.given for case in suite.cases], draw)
        if candidate is None:
            break
        if candidate.strip() not in test_inputs and len(candidate) <= _LONGEST:
            inputs.setdefault(candidate)
        if len(inputs) == count:
            break
    return list(inputs)


def _arguments(test_inputs: Sequence[str], draw: random.Random) -> str | None:
    """Return the source of arguments like those in the tests, or None if no test has literal arguments."""
    rows = []
    for source in test_inputs:
        try:
            rows.append(ast.literal_eval(f"({source},)") if source.strip() else ())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue  # only the test itself can evaluate an expression
    rows = [row for row in rows if row and len(row) == len(rows[0])]
    if not rows:
        return None
    chosen = list(draw.choice(rows))
    for index in draw.sample(range(len(chosen)), draw.randint(1, len(chosen))):
        chosen[index] = like(chosen[index], [row[index] for row in rows], draw)
    return ", ".join(map(repr, _related(chosen, rows)))


def _related(chosen: list[Any], rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """If an argument is the length of another argument in all tests, set it to the new argument's length."""
    for index, value in enumerate(chosen):
        for other, sized in enumerate(chosen if type(value) is int else ()):
            if isinstance(sized, _SIZED) and all(_is_length(row[index], row[other]) for row in rows):
                chosen[index] = len(sized)
    return chosen


def _is_length(value: Any, other: Any) -> bool:
    return type(value) is int and isinstance(other, _SIZED) and value == len(other)


def like(value: Any, domain: Sequence[Any], draw: random.Random) -> Any:
    """Return a random value like `value`, similar to the values in `domain`."""
    make = _MAKERS.get(type(value))
    alike = [sample for sample in domain if type(sample) is type(value)]
    return value if make is None or not alike else make(value, alike, draw)


def _integer(value: int, domain: Sequence[int], draw: random.Random) -> int:
    low, high = min(domain), max(domain)
    if low == high and len(domain) > 1:
        return value
    # Up to twice the highest value: far enough to pass limits just above it, near enough for slow programs.
    far = max(high + 3, 2 * high) if high > 0 else high
    return draw.choice((draw.randint(low, max(far, low)), draw.randint(low, high), low, high, min(low + 1, high)))


def _real(value: float, domain: Sequence[float], draw: random.Random) -> float:
    return round(draw.uniform(min(domain), max(domain)), 2) if len(domain) > 1 else value + draw.randint(0, 3)


def _text(value: str, domain: Sequence[str], draw: random.Random) -> str:
    """Return a text of other words from the tests, or, for a single word of letters, change some of the letters."""
    if any(" " in sample for sample in domain):
        words = [word for sample in domain for word in sample.split()]
        size = draw.randint(
            min(len(sample.split()) for sample in domain), max(len(sample.split()) for sample in domain) + 1
        )
        return " ".join(draw.choice(words) for _ in range(size)) if words else value
    if not all(_LETTERS.fullmatch(sample) for sample in domain):
        return draw.choice(list(domain))
    letters = sorted({letter for sample in domain for letter in sample})
    size = draw.randint(min(map(len, domain)), max(map(len, domain)) + 2)
    characters = [*value, *(draw.choice(letters) for _ in range(max(0, size - len(value))))][:size] if letters else []
    for index in range(len(characters)):
        # Arbitrary share: some letters change and some stay.
        if draw.random() < 0.3:
            characters[index] = draw.choice(letters)
    return "".join(characters)


def _list(value: list[Any], domain: Sequence[list[Any]], draw: random.Random) -> list[Any]:
    """Return a similar list. It is sorted, without duplicates, or a matrix if all lists in `domain` are."""
    items = [item for sample in domain for item in sample]
    if not items:
        return value
    size = draw.randint(min(map(len, domain)), max(map(len, domain)) + 1)
    drawn = [like(draw.choice(items), items, draw) for _ in range(size)]
    if all(isinstance(item, list) for item in items):
        widths = {len(item) for sample in domain for item in sample}
        drawn = drawn if len(widths) > 1 else [draw.choice(items) for _ in range(size)]
    if all(_is_unique(sample) for sample in domain):
        drawn = [item for index, item in enumerate(drawn) if item not in drawn[:index]]
    for order in (False, True):
        if all(_is_sorted(sample, order) for sample in domain) and _is_sortable(drawn):
            drawn = sorted(drawn, reverse=order)
            break
    return drawn


def _pair(value: tuple[Any, ...], domain: Sequence[tuple[Any, ...]], draw: random.Random) -> tuple[Any, ...]:
    alike = [sample for sample in domain if len(sample) == len(value)]
    return tuple(like(item, [sample[index] for sample in alike], draw) for index, item in enumerate(value))


def _mapping(value: dict[Any, Any], domain: Sequence[dict[Any, Any]], draw: random.Random) -> dict[Any, Any]:
    values = [item for sample in domain for item in sample.values()]
    return {key: like(item, values, draw) for key, item in value.items()}


_MAKERS: dict[type, Callable[[Any, Sequence[Any], random.Random], Any]] = {
    bool: lambda value, domain, draw: draw.choice((True, False)),
    int: _integer,
    float: _real,
    str: _text,
    list: _list,
    tuple: _pair,
    dict: _mapping,
}


def _is_unique(items: Sequence[Any]) -> bool:
    return all(item not in items[:index] for index, item in enumerate(items))


def _is_sortable(items: Sequence[Any]) -> bool:
    return all(isinstance(item, (int, float)) for item in items) or all(isinstance(item, str) for item in items)


def _is_sorted(items: Sequence[Any], reverse: bool) -> bool:
    return len(items) > 1 and _is_sortable(items) and list(items) == sorted(items, reverse=reverse)


def _lines(test_inputs: Sequence[str], draw: random.Random) -> str | None:
    """Return standard input shaped like a test's. Numbers and words change, but counts of lines and words do not."""
    text = draw.choice([sample for sample in test_inputs if sample.strip()] or [""])
    tokens = list(re.finditer(r"\S+", text))
    if not tokens:
        return None
    sample_tokens = [re.findall(r"\S+", sample) for sample in test_inputs]
    numbers = [int(token) for sample in sample_tokens for token in sample if _is_integer(token)]
    words = [token for sample in sample_tokens for token in sample if not _is_integer(token)]
    fixed = _counts(text)
    free = [index for index in range(len(tokens)) if index not in fixed]
    for index in sorted(draw.sample(free, draw.randint(1, len(free))), reverse=True) if free else ():
        token = tokens[index]
        same = [int(sample[index]) for sample in sample_tokens if len(sample) > index and _is_integer(sample[index])]
        if _is_integer(token.group()):
            replacement = str(_integer(int(token.group()), same if len(set(same)) > 1 else numbers, draw))
        else:
            replacement = _text(token.group(), words, draw)
        text = text[: token.start()] + (replacement or token.group()) + text[token.end() :]
    return text


def _counts(text: str) -> set[int]:
    """Return the indices of the words in `text` that are counts of the lines or words after them."""
    lines = text.strip().splitlines()
    indices, start = set(), 0
    for number, line in enumerate(lines):
        words = line.split()
        following = [len(lines) - number - 1, *(len(other.split()) for other in lines[number + 1 : number + 2])]
        for offset, word in enumerate(words):
            if _is_integer(word) and int(word) in following and number + 1 < len(lines):
                indices.add(start + offset)
        start += len(words)
    return indices


def _is_integer(token: str) -> bool:
    # At most fifteen digits: longer ones are identifiers, such as card numbers.
    return bool(re.fullmatch(r"-?\d{1,15}", token))


# Outputs: run a program on inputs in rewardkit's sandbox.


# Right programs take milliseconds on these inputs; a program that hangs should not use up the budget.
_LIMITS = Limits(timeout=1.0, memory=256)
_CALLED = "import os\nos.write(out, repr(eval({call!r}, program)).encode())"


def outputs(program: str, suite: Suite, inputs: Sequence[str]) -> list[str | None]:
    """Return the program's output for each input in the format of a test, or None if it fails on the input.

    Raises:
        RewardFailure: no sandbox works on this system.
    """
    if suite.function:
        trials = tuple(Trial(epilogue=_CALLED.format(call=f"{suite.function}({test_input})")) for test_input in inputs)
    else:
        trials = tuple(Trial(test_input.encode()) for test_input in inputs)
    sandbox = chosen(packages=False, unsafe=False)
    with closing(launched(Job(program, trials, _LIMITS), sandbox)) as results:
        printed = [None if run.problem or not run.finished else run.output.decode(errors="replace") for run in results]
    return printed + [None] * (len(inputs) - len(printed))


_INPUTS = 16
"""The number of fresh inputs per example. Arbitrary: every program runs on each of them."""
_NO_VALUE = object()


@dataclass(frozen=True)
class Survivor:
    """An incorrect program that passes all tests.

    Attributes:
        mutant: the correct program with one bug.
        given: an input that no test uses: standard input, or the source of the arguments.
        expected: the correct program's output for that input.
        found: the incorrect program's output, or None if it fails.
    """

    mutant: Mutant
    given: str
    expected: str
    found: str | None

    def missing_test(self, suite: Suite) -> str:
        """Return the test that would reject the incorrect program, in the column's format."""
        if suite.function:
            return f"assert {suite.function}({self.given}) == {self.expected}"
        return str({"input": self.given, "output": self.expected})


@dataclass(frozen=True)
class Survival:
    """The incorrect programs that one example's tests accept.

    Attributes:
        wrong: the number of incorrect programs tried.
        survivors: the incorrect programs that pass all tests.
    """

    wrong: int
    survivors: tuple[Survivor, ...]


def survival(
    suite: Suite,
    pays: Callable[[str], bool],
    *,
    most: int = 24,
    seed: int = 0,
    over: Callable[[], bool] = lambda: False,
) -> Survival | None:
    """Try incorrect programs on an example's tests. Return None if the tests cannot be judged.

    Args:
        suite: the correct program and its tests.
        pays: a function that returns whether the reward scores a completion as high as the correct one.
        most: the maximum number of incorrect programs to try. These are drawn at random.
        seed: the same seed draws the same programs and inputs.
        over: a function that returns whether the time is up.

    Raises:
        RewardFailure: no sandbox works on this system.
    """
    program = textwrap.dedent(suite.span.of(suite.text))
    try:
        candidates = mutants(program, operators=list(OF_SOLUTIONS))
    except RewardDefinitionError:
        return None  # not Python
    expectations = _verified_inputs(program, suite, seed) if candidates else []
    if not expectations:
        return None
    chosen = sorted(
        random.Random(seed).sample(candidates, min(most, len(candidates))), key=lambda candidate: candidate.line
    )
    wrong, survivors = 0, []
    for mutant in chosen:
        if over():
            break
        if not pays(suite.running(mutant.source)):
            wrong += 1
            continue
        actual_outputs = outputs(mutant.source, suite, [test_input for test_input, _ in expectations])
        for (test_input, expected), actual in zip(expectations, actual_outputs, strict=True):
            if not _equal(expected, actual):
                wrong += 1
                survivors.append(Survivor(mutant, test_input, expected, actual))
                break
    return Survival(wrong, tuple(survivors)) if wrong else None


def _verified_inputs(program: str, suite: Suite, seed: int) -> list[tuple[str, str]]:
    """Return fresh inputs with the correct program's output, if it is the same twice and can be written as a test."""
    inputs = fresh_inputs(suite, _INPUTS, seed)
    if not inputs:
        return []
    first, again = (outputs(program, suite, inputs) for _ in range(2))
    return [
        (test_input, output)
        for test_input, output, other in zip(inputs, first, again, strict=True)
        if output is not None and _equal(output, other) and (not suite.function or _value(output) is not _NO_VALUE)
    ]


def _equal(output: str, other_output: str | None) -> bool:
    """Return whether two outputs are equal as values or, as in tests, as text without whitespace at line ends."""
    if other_output is None:
        return False
    values = _value(output), _value(other_output)
    if _NO_VALUE not in values:
        return bool(values[0] == values[1]) or _near(*values)
    return lines(output.encode()) == lines(other_output.encode())


def _near(value: Any, other: Any) -> bool:
    """Return whether two values are numbers that differ only by rounding."""
    # Rounding in sums of another order stays below this tolerance.
    return (
        isinstance(value, (int, float)) and isinstance(other, (int, float)) and math.isclose(value, other, rel_tol=1e-9)
    )


def _value(output: str) -> Any:
    """Parse an output as a Python literal. Return `_NO_VALUE` if it is not a literal."""
    try:
        return ast.literal_eval(output)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NO_VALUE
