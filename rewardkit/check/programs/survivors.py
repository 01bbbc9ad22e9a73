"""Survivors: wrong programs that the tests of an example accept.

The right program is broken in one place at a time. A version that the reward refuses is certainly wrong; a version that
it accepts is run on fresh inputs and is wrong if it gives other outputs than the right program does. Each such input is
a missing test.

The idea to measure the tests of coding tasks by mutating their solutions is gameability's (Empyrean Intelligence).
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

# Fresh inputs: more inputs like those of the given tests, inside the domain that the tests show.


_TRIES = 12
"""Fresh inputs are drawn up to so many times as often as asked for."""
_LONGEST = 2_000
"""Any limit, in characters: inputs are run hundreds of times."""
_SIZED = (list, str, tuple, dict)
# Texts of letters and digits are changed letter by letter; others may have a syntax.
_LETTERS = re.compile(r"[A-Za-z0-9 ]*")


def fresh_inputs(suite: Suite, count: int, seed: int) -> list[str]:
    """Return at most `count` inputs that no test has: standard input, or the source of a function's arguments."""
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
    """Return the source of arguments like the given ones; None if these are not written out."""
    rows = []
    for source in test_inputs:
        try:
            rows.append(ast.literal_eval(f"({source},)") if source.strip() else ())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue  # an expression, which only the test itself can evaluate
    rows = [row for row in rows if row and len(row) == len(rows[0])]
    if not rows:
        return None
    chosen = list(draw.choice(rows))
    for index in draw.sample(range(len(chosen)), draw.randint(1, len(chosen))):
        chosen[index] = like(chosen[index], [row[index] for row in rows], draw)
    return ", ".join(map(repr, _related(chosen, rows)))


def _related(chosen: list[Any], rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Keep an argument that is the length of another one in all tests."""
    for index, value in enumerate(chosen):
        for other, sized in enumerate(chosen if type(value) is int else ()):
            if isinstance(sized, _SIZED) and all(_is_length(row[index], row[other]) for row in rows):
                chosen[index] = len(sized)
    return chosen


def _is_length(value: Any, other: Any) -> bool:
    return type(value) is int and isinstance(other, _SIZED) and value == len(other)


def like(value: Any, domain: Sequence[Any], draw: random.Random) -> Any:
    """Return a value like `value`, of the kind that `domain` has."""
    make = _MAKERS.get(type(value))
    alike = [sample for sample in domain if type(sample) is type(value)]
    return value if make is None or not alike else make(value, alike, draw)


def _integer(value: int, domain: Sequence[int], draw: random.Random) -> int:
    low, high = min(domain), max(domain)
    if low == high and len(domain) > 1:
        return value
    # Twice the highest value: far enough for limits just above it, near enough for programs that take time.
    far = max(high + 3, 2 * high) if high > 0 else high
    return draw.choice((draw.randint(low, max(far, low)), draw.randint(low, high), low, high, min(low + 1, high)))


def _real(value: float, domain: Sequence[float], draw: random.Random) -> float:
    return round(draw.uniform(min(domain), max(domain)), 2) if len(domain) > 1 else value + draw.randint(0, 3)


def _text(value: str, domain: Sequence[str], draw: random.Random) -> str:
    """Return other words of the tests, or a text with letters changed, if it is made of letters."""
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
        # Any share: some letters change and some stay.
        if draw.random() < 0.3:
            characters[index] = draw.choice(letters)
    return "".join(characters)


def _list(value: list[Any], domain: Sequence[list[Any]], draw: random.Random) -> list[Any]:
    """Return another list: sorted if all are, without equal items if none has them, a matrix if all are."""
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
    """Return standard input of the same shape as one of the given: numbers and words change, counts do not."""
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
    """Return the places of the numbers that count the lines or words after them."""
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
    # Fifteen digits: longer ones are names, such as numbers of cards.
    return bool(re.fullmatch(r"-?\d{1,15}", token))


# Outputs: the results of a program for inputs, run in rewardkit's sandbox.


# Programs that are right take milliseconds on these inputs; one that hangs should not take the budget.
_LIMITS = Limits(timeout=1.0, memory=256)
_CALLED = "import os\nos.write(out, repr(eval({call!r}, program)).encode())"


def outputs(program: str, suite: Suite, inputs: Sequence[str]) -> list[str | None]:
    """Return the output for each input, as a test would have it; None where the program fails.

    Raises:
        RewardFailure: no sandbox works here.
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
"""Fresh inputs for each example. Any number: each is run by all programs."""
_NO_VALUE = object()


@dataclass(frozen=True)
class Survivor:
    """A wrong program that passes all tests.

    Attributes:
        mutant: the right program with one fault.
        given: an input that no test has: standard input, or the source of the arguments.
        expected: the result of the right program.
        found: the result of the wrong program; None if it fails.
    """

    mutant: Mutant
    given: str
    expected: str
    found: str | None

    def missing_test(self, suite: Suite) -> str:
        """Return the test that would reject it, in the form that the column has."""
        if suite.function:
            return f"assert {suite.function}({self.given}) == {self.expected}"
        return str({"input": self.given, "output": self.expected})


@dataclass(frozen=True)
class Survival:
    """The number of wrong programs that the tests of one example accept.

    Attributes:
        wrong: the number of wrong programs tried.
        survivors: those that pass.
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
    """Try wrong programs on the tests of an example; None if nothing can be said about them.

    Args:
        suite: the right program and its tests.
        pays: whether the reward pays a completion like the right one.
        most: wrong programs, drawn at random.
        seed: the same seed draws the same programs and inputs.
        over: whether the time is over.

    Raises:
        RewardFailure: no sandbox works here.
    """
    program = textwrap.dedent(suite.span.of(suite.text))
    try:
        candidates = mutants(program, operators=list(OF_SOLUTIONS))
    except RewardDefinitionError:
        return None  # not Python
    expectations = _known(program, suite, seed) if candidates else []
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


def _known(program: str, suite: Suite, seed: int) -> list[tuple[str, str]]:
    """Return fresh inputs with the outputs of the right program, each time, in a form that a test can have."""
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
    """Whether two outputs are equal as tests compare them: as values, or without white space at line ends."""
    if other_output is None:
        return False
    values = _value(output), _value(other_output)
    if _NO_VALUE not in values:
        return bool(values[0] == values[1]) or _near(*values)
    return lines(output.encode()) == lines(other_output.encode())


def _near(value: Any, other: Any) -> bool:
    """Whether two numbers differ only by rounding."""
    # Sums in another order differ by less.
    return (
        isinstance(value, (int, float)) and isinstance(other, (int, float)) and math.isclose(value, other, rel_tol=1e-9)
    )


def _value(output: str) -> Any:
    """Return the value that an output spells, or `_NO_VALUE`."""
    try:
        return ast.literal_eval(output)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NO_VALUE
