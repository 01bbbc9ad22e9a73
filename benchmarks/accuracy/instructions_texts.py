"""Questions to compare verdicts on: real outputs and short texts, and what small changes make of them."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

OUTPUTS = 12
"""How many real outputs each instruction is asked about."""


class Question(NamedTuple):
    """Does a completion follow an instruction?"""

    id: str
    arguments: dict[str, Any]
    completion: str


def mutations(text: str, random_: random.Random) -> Iterator[str]:
    """Yield small changes of `text`, many of which decide an instruction."""
    words = text.split(" ")
    here = random_.randrange(len(words))
    yield " ".join(words[:here] + words[here + 1 :])
    yield " ".join([*words[:here], words[here], *words[here:]])
    yield text.upper()
    yield text.lower()
    yield text.title()
    yield re.sub(r"[.!?]", "", text)
    yield text.replace(". ", ".\n\n")
    yield f"Sure! Here it is:\n{text}"
    yield f"{text}\nLet me know if you need more, e.g. a Part 2."
    yield f"**{text}**"
    yield f'"{text}"'
    yield f"{text}\n***\n{text}"
    yield f"- {text}\n* {text}\n* more"
    yield text[: len(text) // 2]
    yield " ".join(reversed(words))


def real(rows: list[dict[str, Any]]) -> list[Question]:
    """Return the real outputs and their mutations, each with its own instructions."""
    random_ = random.Random(0)
    return [
        Question(identifier, arguments, text)
        for row in rows
        for identifier, arguments in zip(row["instruction_id_list"], row["kwargs"], strict=True)
        for text in dict.fromkeys([row["completion"], *mutations(row["completion"], random_)])
    ]


def made(rows: list[dict[str, Any]]) -> list[Question]:
    """Return short texts written for each instruction, their mutations, and real outputs for other instructions."""
    sys.path.append(str(Path(__file__).resolve().parent.parent))  # the tests are not installed
    from tests.rewards.instructions.cases import CASES

    random_ = random.Random(0)
    outputs = [row["completion"] for row in rows]
    found = []
    for identifier, case in CASES.items():
        texts = [case.right, case.wrong, "", "...", "Fog", "\U0001f32b"]
        texts += [changed for text in (case.right, case.wrong) for changed in mutations(text, random_)]
        texts += random_.sample(outputs, min(OUTPUTS, len(outputs)))
        found += [Question(identifier, case.arguments, text) for text in dict.fromkeys(texts)]
    return found
