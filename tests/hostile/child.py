"""Score hostile input in a separate process and print one line of JSON after each case.

``python -m tests.hostile.child texts NAME``. The memory limit is set here; the parent enforces the time limit.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from typing import Any

import rewardkit as rk
from tests.hostile.cells import CELLS
from tests.hostile.rewards import REWARDS
from tests.hostile.schemas import DOCUMENTS, REFUSED, USABLE
from tests.hostile.texts import TEXTS

ADDRESS_SPACE = 6 * 2**30
Line = dict[str, Any]


def texts(name: str) -> Iterator[Line]:
    """Score each text between a right and a wrong completion, whose scores must not change."""
    case = REWARDS[name]
    reward = case.make()
    columns = {column: [value] * 3 for column, value in case.columns.items()}
    yield {"scores": scored(reward, [case.right, case.wrong], {name: both[:2] for name, both in columns.items()})}
    for text, make in TEXTS.items():
        yield {"case": text, "scores": scored(reward, [case.right, case.form(make()), case.wrong], columns)}


def cells(name: str) -> Iterator[Line]:
    """Score a right completion with each cell as its gold answer."""
    case = REWARDS[name]
    reward = case.make()
    for cell, make in CELLS.items():
        try:
            yield {"case": cell, "scores": scored(reward, [case.right], {column: [make()] for column in case.columns})}
        except rk.errors.CoercionError as error:
            yield {"case": cell, "refused": str(error)}


def schemas(name: str) -> Iterator[Line]:
    """Score each document with each of the schemas, refused or usable."""
    for schema, make_schema in (REFUSED if name == "refused" else USABLE).items():
        try:
            reward = rk.json_schema(make_schema())
        except rk.RewardDefinitionError as error:
            yield {"case": schema, "refused": str(error)}
            continue
        for document, make in DOCUMENTS.items():
            yield {"case": f"{schema}, {document}", "scores": scored(reward, [make()], {})}


def scored(reward: rk.Reward, completions: list[Any], columns: dict[str, list[Any]]) -> list[float]:
    texts = [completion if isinstance(completion, str) else "" for completion in completions]
    ids = [[ord(character) for character in text[:5_000]] for text in texts]
    batch = rk.Batch(completions, completion_ids=ids, columns=columns)
    total: list[float] = rk.Scorer(reward).score(batch).total.tolist()
    return total


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    kinds: dict[str, Callable[[str], Iterator[Line]]] = {"texts": texts, "cells": cells, "schemas": schemas}
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    before = peak_memory()
    for line in kinds[sys.argv[1]](sys.argv[2]):
        print(json.dumps({**line, "grown": peak_memory() - before}), flush=True)
        before = peak_memory()


if __name__ == "__main__":
    main()
