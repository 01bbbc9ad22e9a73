"""Rewards for `benchmarks/check/review.py`: real ones, each with a sample of completions as a project would commit it.

``corpus()`` has rewards of the cookbook, of public lists (open-r1, Unsloth and others), of the tests, and of
tests/faults. A sample is a group of eight completions for each row: the right one, the wrong one, and six that a
model might write. `pool` has thousands of other completions, which decide whether a mutation changes anything at all.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.check.mutation_pools import Sound, of_fault_sets, of_public_lists, of_tests
from rewardkit.check.mutants.mutants import Mutant
from rewardkit.tree.loading import load

ROOT = Path(__file__).resolve().parents[2]
COOKBOOK = ("countdown", "gsm8k", "json_extraction", "live_update")
PER_SOURCE = 12
_GROUP = 8
_EDITS = 60

Row = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A reward and its sample.

    Attributes:
        label: for the report.
        name: of its variable.
        source: of its module.
        rows: the sample: prompt, columns and completion.
        examples: the rows without completions.
        texts: the right and wrong completions.
    """

    label: str
    name: str
    source: str
    rows: tuple[Row, ...] = field(repr=False)
    examples: tuple[Row, ...] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)

    @property
    def stem(self) -> str:
        """The name of its file."""
        return re.sub(r"\W", "_", self.label)

    def with_completions(self, texts: Sequence[str]) -> list[Row]:
        """Return a row with each text for each example, in the form of its completions."""
        chat = not isinstance(self.rows[0]["completion"], str)
        return [{**example, "completion": _formed(text, chat)} for example in self.examples for text in texts]


def corpus(seed: int = 0) -> list[Subject]:
    """Return all rewards."""
    found = [_subject(one, seed) for one in of_cookbook()]
    for source in (of_public_lists, of_tests, of_fault_sets):
        usable = [one for one in source() if _is_usable(one)]
        random.Random(f"{seed} {source.__name__}").shuffle(usable)
        chosen: list[Subject] = []
        for one in usable:
            subject = _subject(one, seed)
            if subject.label not in {other.label for other in (*found, *chosen)} and len(chosen) < PER_SOURCE:
                chosen.append(subject)
        found += chosen
    return found


def of_cookbook() -> Iterator[Sound]:
    """Yield rewards of the cookbook, whose modules have their examples."""
    for name in COOKBOOK:
        path = ROOT / "cookbook" / name / "reward.py"
        options = dict(load(f"{path}:reward")[0].constants)
        if "examples" not in options:  # the recipe for live update has orders, too
            rows = [json.loads(line) for line in islice((path.parent / "data.jsonl").open(encoding="utf-8"), 3)]
            options = {"examples": rows, "good": [row["order"] for row in rows]}
            options["bad"] = [*options["good"][1:], "Sure! " + options["good"][0]]
        yield Sound(str(path), "reward", options, f"cookbook.{name}")


def _is_usable(sound: Sound) -> bool:
    """Whether its rows can be written to a file, and it needs nothing that stands beside its file."""
    source = Path(sound.path).read_text(encoding="utf-8")
    try:
        same = json.loads(json.dumps(sound.options["examples"])) == sound.options["examples"]
    except (TypeError, ValueError):
        return False
    return same and not re.search(r"^\s*from \.", source, re.MULTILINE)


def _subject(sound: Sound, seed: int) -> Subject:
    examples = [dict(one) for one in sound.options["examples"]]
    rows: list[Row] = []
    texts: list[str] = []
    for number, example in enumerate(examples):
        right, wrong = _of(sound.options["good"], number), _of(sound.options["bad"], number)
        chat = not isinstance(right, str)
        own, other = _text(right), _text(_of(sound.options["good"], (number + 1) % len(examples)))
        chance = random.Random(f"{seed} {sound.label} {number}")
        written = [edit(own, other, chance) for edit in chance.sample(MODEL_LIKE, len(MODEL_LIKE))]
        texts += [own, _text(wrong)]
        prompt = example.get("prompt", f"Task {number}")
        for text in (own, _text(wrong), *list(dict.fromkeys(written))[: _GROUP - 2]):
            rows.append({**example, "prompt": prompt, "completion": _formed(text, chat)})
    unique = list(dict.fromkeys(texts))
    examples = [{**one, "prompt": one.get("prompt", f"Task {number}")} for number, one in enumerate(examples)]
    source = Path(sound.path).read_text(encoding="utf-8")
    return Subject(sound.label, sound.name, source, tuple(rows), tuple(examples), tuple(unique))


def _of(given: Any, number: int) -> Any:
    one = given[number % len(given)]
    return one[0] if isinstance(one, list) and one and not isinstance(one[0], dict) else one


def _text(completion: Any) -> str:
    return completion if isinstance(completion, str) else str(completion[-1]["content"])


def _formed(text: str, chat: bool) -> Any:
    return [{"role": "assistant", "content": text}] if chat else text


Edit = Callable[[str, str, random.Random], str]


def _off_by_one(own: str, other: str, chance: random.Random) -> str:
    numbers = list(re.finditer(r"\d+", own))
    if not numbers:
        return own + " 1"
    last = numbers[-1]
    return f"{own[: last.start()]}{int(last[0]) + chance.choice((-1, 1, 10))}{own[last.end() :]}"


def _without_a_tag(own: str, other: str, chance: random.Random) -> str:
    tags = list(re.finditer(r"</?\w+>", own))
    gone = chance.choice(tags) if tags else None
    return own.replace("\n", " ") if gone is None else own[: gone.start()] + own[gone.end() :]


MODEL_LIKE: tuple[Edit, ...] = (
    lambda own, other, chance: own[: int(len(own) * chance.uniform(0.4, 0.9))],
    lambda own, other, chance: f"Let me think step by step.\n\n{own}",
    lambda own, other, chance: f"{own}\n\nI hope this helps! Let me know if you have any questions.",
    lambda own, other, chance: other,
    lambda own, other, chance: f"{own}\n{own}",
    lambda own, other, chance: f"```\n{own}\n```",
    lambda own, other, chance: f"{other}\nWait, that is wrong.\n{own}",
    lambda own, other, chance: own.lower() if own != own.lower() else own.upper(),
    lambda own, other, chance: "I am not sure.",
    _off_by_one,
    _without_a_tag,
)
"""What a model does to a right completion: cut short, talkative, repeated, of another row, almost right, ..."""


def pool(subject: Subject, others: Sequence[Subject], seed: int = 0) -> list[Row]:
    """Return completions that are in no sample: edits of its own texts, and the texts of all other rewards."""
    chance = random.Random(f"{seed} pool {subject.label}")
    foreign = [text for one in others if one.label != subject.label for text in one.texts]
    edited = [_edited(chance.choice(subject.texts), subject.texts, chance) for _ in range(_EDITS * len(subject.texts))]
    made = [edit(chance.choice(subject.texts), chance.choice(foreign), chance) for edit in MODEL_LIKE for _ in range(8)]
    return subject.with_completions(
        list(dict.fromkeys([*edited, *made, *chance.sample(foreign, min(60, len(foreign)))]))
    )


def _edited(text: str, texts: Sequence[str], chance: random.Random) -> str:
    """Return a text with one to three words, marks, numbers or lines moved, doubled, lost or replaced."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        pieces = re.findall(r"</?\w+>|\d+|\w+|\s+|[^\w\s]", text) or [""]
        at = chance.randrange(len(pieces))
        kind = chance.randrange(9)
        if kind == 0:
            pieces[at] = ""
        elif kind == 1:
            pieces[at] *= 2
        elif kind == 2:
            pieces[at] = chance.choice(re.findall(r"</?\w+>|\d+|\w+|\s+|[^\w\s]", chance.choice(texts)) or [""])
        elif kind == 3:
            pieces[at] = pieces[at].swapcase()
        elif kind == 4:
            pieces[at] = (
                chance.choice((" ", "\n", "\n\n", "\t", ", ", ". ", "-", "$", "%", "**", '"', "'", "\\")) + pieces[at]
            )
        elif kind == 5 and pieces[at].isdigit():
            pieces[at] = chance.choice(
                (
                    f"{pieces[at]}.0",
                    f"0{pieces[at]}",
                    f"{pieces[at]}.5",
                    f"-{pieces[at]}",
                    f"{int(pieces[at][:9]):,}",
                    f"{pieces[at]}000",
                    "0",
                    "1",
                )
            )
        elif kind == 6:
            other = chance.randrange(len(pieces))
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif kind == 7:
            pieces.insert(
                chance.choice((0, len(pieces))), chance.choice((" ", "\n", "word ", "word " * 30, "12 ", "é", "½"))
            )
        else:
            pieces = pieces[:at] if chance.random() < 0.3 else [*pieces, " ", *pieces[at:]]
        text = "".join(pieces)
    return text


def loaded(subject: Subject, source: str) -> Any:
    """Run the source of a module and return the reward in it."""
    return Mutant("none", 0, "", "", source, f"{subject.stem}.py").load(subject.name)
