"""Compare `rk.json_schema` with jiter and jsonschema-rs on real schemas, those of MaskBench (JSONSchemaBench).

``python benchmarks/speed/primitives_schemas.py [--schemas 300] [--sets FOLDER]`` measures CPU time. A call scores 64
completions: the documents of one schema, in several layouts, so that no two texts are equal. "One schema" is a reward
for all completions of a call, "column" has a column of schemas and documents of all of them in one call. The peer
parses with jiter and asks `is_valid` of a validator that is ready; the verdicts must be the same before anything is
timed. Most documents of MaskBench are invalid: they need partial credit and a note, which the peer does not give.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiter
import jsonschema_rs

import rewardkit as rk
from benchmarks.accuracy.documents import SchemaCase, maskbench
from benchmarks.accuracy.sets import ROOT

COMPLETIONS = 64
ROUNDS = 7

Check = Callable[[Any], bool]


@dataclass(frozen=True)
class Ready:
    """A schema that both can read, with its validator and reward."""

    case: SchemaCase
    valid: Check
    reward: rk.Reward

    @property
    def all_valid(self) -> bool:
        return all(label for _, label in self.case.documents)

    def completions(self, which: Callable[[bool], bool]) -> list[str]:
        """Return 64 different texts of the documents whose label is asked for; none if there is no such document."""
        documents = [value for value, label in self.case.documents if which(label)]
        indents: tuple[int | None, ...] = (None, 1, 2, 4)
        texts = [
            " " * blanks + json.dumps(value, indent=indent)
            for blanks in range(COMPLETIONS // len(indents) + 1)
            for indent in indents
            for value in documents
        ]
        return texts[:COMPLETIONS]


def ready(sets: Path, schemas: int) -> Iterator[Ready]:
    """Yield the schemas that both can read."""
    for case in maskbench(sets, schemas):
        try:
            validator = jsonschema_rs.validator_for(case.schema, validate_formats=True, offline=True)
            yield Ready(case, validator.is_valid, rk.json_schema(case.schema))
        except Exception:  # jsonschema-rs has errors of its own for a schema that it cannot read
            continue


def peer(texts: Sequence[str], checks: Sequence[Check]) -> list[bool]:
    return [valid(jiter.from_json(text.encode())) for text, valid in zip(texts, checks, strict=True)]


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def compared(score: rk.Reward, texts: Sequence[str], checks: Sequence[Check], **columns: Any) -> tuple[float, float]:
    """Return the medians of the CPU microseconds per completion of both, on new strings in each round."""
    paid = [score == 1.0 for score in rk.score(score, texts, **columns).total.tolist()]
    assert paid == peer(texts, checks), "the verdicts differ"
    ours, theirs = [], []
    for _ in range(ROUNDS):
        fresh = [text.encode().decode() for text in texts]
        cells = {name: [value.encode().decode() for value in values] for name, values in columns.items()}
        ours.append(seconds(lambda fresh=fresh, cells=cells: rk.score(score, fresh, **cells)))  # type: ignore[misc]
        theirs.append(seconds(lambda fresh=fresh: peer(fresh, checks)))  # type: ignore[misc]
    return tuple(statistics.median(run) / len(texts) * 1e6 for run in (ours, theirs))  # type: ignore[return-value]


def report(name: str, times: Sequence[tuple[float, float]]) -> None:
    ratios = sorted(ours / theirs for ours, theirs in times)
    means = [statistics.mean(column) for column in zip(*times, strict=True)]
    print(
        f"{name}: {len(times)} calls, rewardkit {means[0]:.1f} us, jiter and is_valid {means[1]:.1f} us a completion; "
        f"median {statistics.median(ratios):.1f} times, 90th percentile {ratios[int(len(ratios) * 0.9)]:.1f}, "
        f"all together {means[0] / means[1]:.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=300, help="how many schemas; default: %(default)s")
    parser.add_argument("--sets", type=Path, default=ROOT / ".benchmarks" / "sets", help="folder of the public sets")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    found = list(ready(options.sets, options.schemas))
    documents = [label for one in found for _, label in one.case.documents]
    print(f"{len(found)} schemas, {len(documents):,} documents, {statistics.mean(documents):.0%} of them valid")
    wanted: dict[str, Callable[[bool], bool]] = {
        "all documents": lambda label: True,
        "valid ones": lambda label: label,
        "invalid ones": lambda label: not label,
    }
    for name, which in wanted.items():
        calls = [(one, texts) for one in found if len(texts := one.completions(which)) == COMPLETIONS]
        report(f"one schema, {name}", [compared(one.reward, texts, [one.valid] * len(texts)) for one, texts in calls])
    rows = [(json.dumps(one.case.schema), text, one.valid) for one in found for text in one.case.texts]
    random.Random(0).shuffle(rows)
    parts = [rows[start : start + COMPLETIONS] for start in range(0, len(rows) - COMPLETIONS + 1, COMPLETIONS)]
    column = rk.json_schema(column="schema")
    report(
        "column of schemas, all documents",
        [
            compared(column, [text for _, text, _ in part], [valid for *_, valid in part], schema=[s for s, *_ in part])
            for part in parts
        ],
    )


if __name__ == "__main__":
    main()
