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
    known = {case.given.strip() for case in suite.cases}
    make = _arguments if suite.function else _lines
    found: dict[str, None] = {}
    for _ in range(count * _TRIES):
        made = make([case.given for case in suite.cases], draw)
        if made is None:
            break
        if made.strip() not in known and len(made) <= _LONGEST:
            found.setdefault(made)
        if len(found) == count:
            break
    return list(found)


def _arguments(given: Sequence[str], draw: random.Random) -> str | None:
    """Return the source of arguments like the given ones; None if these are not written out."""
    rows = []
    for source in given:
        try:
            rows.append(ast.literal_eval(f"({source},)") if source.strip() else ())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue  # an expression, which only the test itself can evaluate
    rows = [row for row in rows if row and len(row) == len(rows[0])]
    if not rows:
        return None
    chosen = list(draw.choice(rows))
    for place in draw.sample(range(len(chosen)), draw.randint(1, len(chosen))):
        chosen[place] = like(chosen[place], [row[place] for row in rows], draw)
    return ", ".join(map(repr, _related(chosen, rows)))


def _related(chosen: list[Any], rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Keep an argument that is the length of another one in all tests."""
    for place, value in enumerate(chosen):
        for other, sized in enumerate(chosen if type(value) is int else ()):
            if isinstance(sized, _SIZED) and all(_is_length(row[place], row[other]) for row in rows):
                chosen[place] = len(sized)
    return chosen


def _is_length(value: Any, other: Any) -> bool:
    return type(value) is int and isinstance(other, _SIZED) and value == len(other)


def like(value: Any, domain: Sequence[Any], draw: random.Random) -> Any:
    """Return a value like `value`, of the kind that `domain` has."""
    make = _MAKERS.get(type(value))
    alike = [one for one in domain if type(one) is type(value)]
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
    if any(" " in one for one in domain):
        words = [word for one in domain for word in one.split()]
        size = draw.randint(min(len(one.split()) for one in domain), max(len(one.split()) for one in domain) + 1)
        return " ".join(draw.choice(words) for _ in range(size)) if words else value
    if not all(_LETTERS.fullmatch(one) for one in domain):
        return draw.choice(list(domain))
    letters = sorted({letter for one in domain for letter in one})
    size = draw.randint(min(map(len, domain)), max(map(len, domain)) + 2)
    made = [*value, *(draw.choice(letters) for _ in range(max(0, size - len(value))))][:size] if letters else []
    for place in range(len(made)):
        # Any share: some letters change and some stay.
        if draw.random() < 0.3:
            made[place] = draw.choice(letters)
    return "".join(made)


def _list(value: list[Any], domain: Sequence[list[Any]], draw: random.Random) -> list[Any]:
    """Return another list: sorted if all are, without equal items if none has them, a matrix if all are."""
    items = [item for one in domain for item in one]
    if not items:
        return value
    size = draw.randint(min(map(len, domain)), max(map(len, domain)) + 1)
    made = [like(draw.choice(items), items, draw) for _ in range(size)]
    if all(isinstance(item, list) for item in items):
        widths = {len(item) for one in domain for item in one}
        made = made if len(widths) > 1 else [draw.choice(items) for _ in range(size)]
    if all(_is_unique(one) for one in domain):
        made = [item for place, item in enumerate(made) if item not in made[:place]]
    for order in (False, True):
        if all(_is_sorted(one, order) for one in domain) and _is_sortable(made):
            made = sorted(made, reverse=order)
            break
    return made


def _pair(value: tuple[Any, ...], domain: Sequence[tuple[Any, ...]], draw: random.Random) -> tuple[Any, ...]:
    alike = [one for one in domain if len(one) == len(value)]
    return tuple(like(item, [one[place] for one in alike], draw) for place, item in enumerate(value))


def _mapping(value: dict[Any, Any], domain: Sequence[dict[Any, Any]], draw: random.Random) -> dict[Any, Any]:
    values = [item for one in domain for item in one.values()]
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
    return all(item not in items[:place] for place, item in enumerate(items))


def _is_sortable(items: Sequence[Any]) -> bool:
    return all(isinstance(item, (int, float)) for item in items) or all(isinstance(item, str) for item in items)


def _is_sorted(items: Sequence[Any], reverse: bool) -> bool:
    return len(items) > 1 and _is_sortable(items) and list(items) == sorted(items, reverse=reverse)


def _lines(given: Sequence[str], draw: random.Random) -> str | None:
    """Return standard input of the same shape as one of the given: numbers and words change, counts do not."""
    text = draw.choice([one for one in given if one.strip()] or [""])
    tokens = list(re.finditer(r"\S+", text))
    if not tokens:
        return None
    known = [re.findall(r"\S+", one) for one in given]
    numbers = [int(token) for one in known for token in one if _is_integer(token)]
    words = [token for one in known for token in one if not _is_integer(token)]
    fixed = _counts(text)
    free = [place for place in range(len(tokens)) if place not in fixed]
    for place in sorted(draw.sample(free, draw.randint(1, len(free))), reverse=True) if free else ():
        token = tokens[place]
        same = [int(one[place]) for one in known if len(one) > place and _is_integer(one[place])]
        if _is_integer(token.group()):
            made = str(_integer(int(token.group()), same if len(set(same)) > 1 else numbers, draw))
        else:
            made = _text(token.group(), words, draw)
        text = text[: token.start()] + (made or token.group()) + text[token.end() :]
    return text


def _counts(text: str) -> set[int]:
    """Return the places of the numbers that count the lines or words after them."""
    lines = text.strip().splitlines()
    found, place = set(), 0
    for number, line in enumerate(lines):
        words = line.split()
        following = [len(lines) - number - 1, *(len(other.split()) for other in lines[number + 1 : number + 2])]
        for offset, word in enumerate(words):
            if _is_integer(word) and int(word) in following and number + 1 < len(lines):
                found.add(place + offset)
        place += len(words)
    return found


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
        trials = tuple(Trial(epilogue=_CALLED.format(call=f"{suite.function}({one})")) for one in inputs)
    else:
        trials = tuple(Trial(one.encode()) for one in inputs)
    place = chosen(packages=False, unsafe=False)
    with closing(launched(Job(program, trials, _LIMITS), place)) as results:
        said = [None if run.problem or not run.finished else run.output.decode(errors="replace") for run in results]
    return said + [None] * (len(inputs) - len(said))


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
        made = mutants(program, operators=list(OF_SOLUTIONS))
    except RewardDefinitionError:
        return None  # not Python
    known = _known(program, suite, seed) if made else []
    if not known:
        return None
    chosen = sorted(random.Random(seed).sample(made, min(most, len(made))), key=lambda one: one.line)
    wrong, survivors = 0, []
    for mutant in chosen:
        if over():
            break
        if not pays(suite.running(mutant.source)):
            wrong += 1
            continue
        said = outputs(mutant.source, suite, [given for given, _ in known])
        for (given, expected), found in zip(known, said, strict=True):
            if not _equal(expected, found):
                wrong += 1
                survivors.append(Survivor(mutant, given, expected, found))
                break
    return Survival(wrong, tuple(survivors)) if wrong else None


def _known(program: str, suite: Suite, seed: int) -> list[tuple[str, str]]:
    """Return fresh inputs with the outputs of the right program, each time, in a form that a test can have."""
    inputs = fresh_inputs(suite, _INPUTS, seed)
    if not inputs:
        return []
    first, again = (outputs(program, suite, inputs) for _ in range(2))
    return [
        (given, said)
        for given, said, other in zip(inputs, first, again, strict=True)
        if said is not None and _equal(said, other) and (not suite.function or _value(said) is not _NO_VALUE)
    ]


def _equal(one: str, other: str | None) -> bool:
    """Whether two outputs are equal as tests compare them: as values, or without white space at line ends."""
    if other is None:
        return False
    values = _value(one), _value(other)
    if _NO_VALUE not in values:
        return bool(values[0] == values[1]) or _near(*values)
    return lines(one.encode()) == lines(other.encode())


def _near(one: Any, other: Any) -> bool:
    """Whether two numbers differ only by rounding."""
    # Sums in another order differ by less.
    return isinstance(one, (int, float)) and isinstance(other, (int, float)) and math.isclose(one, other, rel_tol=1e-9)


def _value(said: str) -> Any:
    """Return the value that an output spells, or `_NO_VALUE`."""
    try:
        return ast.literal_eval(said)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NO_VALUE
