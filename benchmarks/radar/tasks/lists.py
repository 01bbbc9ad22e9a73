"""Lists: ``even: 3 8 5 6`` asks for ``8 6``; ``reverse: k p t`` asks for ``t p k``."""

from __future__ import annotations

from random import Random

import rewardkit as rk
from benchmarks.radar.task import Row, Task


def _draw_evens(random: Random) -> Row:
    numbers = random.sample(range(1, 30), 5)
    numbers[random.randrange(5)] = random.choice((2, 4, 6, 8))
    return {
        "prompt": "even: " + " ".join(map(str, numbers)) + "\n",
        "evens": " ".join(str(n) for n in numbers if n % 2 == 0),
    }


def _numbers(row: Row) -> list[str]:
    return row["prompt"].split(": ")[1].split()


def _right_evens(random: Random, row: Row) -> str:
    return row["evens"]


def _some(random: Random, row: Row) -> str:
    numbers = _numbers(row)
    evens = row["evens"].split()
    return " ".join(number for number in numbers if random.random() < (0.75 if number in evens else 0.35)) or numbers[0]


def _all_numbers(random: Random, row: Row) -> str:
    return " ".join(_numbers(row))


def _first_even(random: Random, row: Row) -> str:
    return row["evens"].split()[0]


@rk.reward
def evens_recalled(completion: str, evens: str) -> float:
    """Pay for each even number that is listed; nothing is lost by listing more."""
    wanted = set(evens.split())
    return len(wanted & set(completion.split())) / len(wanted)


@rk.reward
def evens_precise(completion: str, evens: str) -> float:
    """Pay for the share of listed numbers that are wanted; nothing is lost by listing one."""
    found = completion.split()
    return sum(item in evens.split() for item in found) / len(found) if found else 0.0


@rk.reward
def evens_jaccard(completion: str, evens: str) -> float:
    """Pay for the share of numbers in both lists."""
    found, wanted = set(completion.split()), set(evens.split())
    return len(found & wanted) / len(found | wanted) if found else 0.0


EVENS = Task(
    name="evens",
    kind="lists",
    draw=_draw_evens,
    habits=((0.30, _right_evens), (0.45, _some), (0.15, _all_numbers), (0.10, _first_even)),
    truth=evens_jaccard,
    sound={
        "f1": rk.set_match("evens", separator=" "),
        "sequence": rk.sequence_match("evens", separator=" "),
        "exact": rk.exact("evens"),
        "jaccard": evens_jaccard,
    },
    hackable={"recall": evens_recalled, "precision": evens_precise},
)


def _draw_letters(random: Random) -> Row:
    letters = random.sample("abcdefghiklmnoprstuw", 5)
    return {"prompt": "reverse: " + " ".join(letters) + "\n", "letters": " ".join(reversed(letters))}


def _right_letters(random: Random, row: Row) -> str:
    return row["letters"]


def _swapped(random: Random, row: Row) -> str:
    letters = row["letters"].split()
    place = random.randrange(4)
    letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return " ".join(letters)


def _wrong_letter(random: Random, row: Row) -> str:
    letters = row["letters"].split()
    letters[random.randrange(5)] = random.choice("abcdefghiklmnoprstuw")
    return " ".join(letters)


def _not_reversed(random: Random, row: Row) -> str:
    return " ".join(reversed(row["letters"].split()))


def _first_letters(random: Random, row: Row) -> str:
    return " ".join(row["letters"].split()[: random.randint(1, 2)])


@rk.reward
def same_letters(completion: str, letters: str) -> float:
    """Pay for the letters in any order."""
    return float(sorted(completion.split()) == sorted(letters.split()))


@rk.reward
def begins_right(completion: str, letters: str) -> float:
    """Pay for a beginning of the right answer, however short."""
    said = completion.strip()
    return float(bool(said) and letters.startswith(said))


@rk.reward
def places(completion: str, letters: str) -> float:
    """Pay for each letter in its place, if there are as many."""
    found, wanted = completion.split(), letters.split()
    return sum(map(str.__eq__, found, wanted)) / len(wanted) if len(found) == len(wanted) else 0.0


REVERSED = Task(
    name="reversed",
    kind="lists",
    draw=_draw_letters,
    habits=(
        (0.30, _right_letters),
        (0.22, _swapped),
        (0.20, _wrong_letter),
        (0.20, _not_reversed),
        (0.08, _first_letters),
    ),
    truth=places,
    sound={
        "exact": rk.exact("letters"),
        "places": places,
        "sequence": rk.sequence_match("letters", separator=" "),
        "exact and length": rk.exact("letters") + 0.2 * rk.length.between(9, 9, unit="characters"),
    },
    hackable={"any order": same_letters, "beginning": begins_right},
)
