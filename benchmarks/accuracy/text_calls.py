"""Read the calls in published outputs of models, and compare them with the verdicts of BFCL.

``python benchmarks/accuracy/text_calls.py RESULTS DATA`` takes a folder of HuanzhiMao/BFCL-Result, such as
``2024-08-11`` (with ``result`` and ``score``), and the folder ``data`` of the package bfcl-eval. It prints what is
read in outputs that BFCL found right or wrong, which of them score 1.0, and what is read in outputs to questions
without a right call.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import rewardkit as rk
from rewardkit.scoring.bfcl import bfcl_rows

QUESTIONS = {
    "simple": "BFCL_v4_simple_python.json",
    "multiple_function": "BFCL_v4_multiple.json",
    "parallel_function": "BFCL_v4_parallel.json",
    "parallel_multiple_function": "BFCL_v4_parallel_multiple.json",
}


def outputs(results: Path, question: str) -> Iterator[tuple[str, list[str], set[int]]]:
    """Yield for each model that answers in text its name, its outputs, and the places that BFCL found wrong."""
    for folder in sorted((results / "result").iterdir()):
        file = folder / f"gorilla_openfunctions_v1_test_{question}_result.json"
        verdicts = results / "score" / folder.name / f"{question}_score.json"
        if file.is_file() and verdicts.is_file():
            found = [json.loads(line)["result"] for line in file.read_text().splitlines()]
            wrong = {json.loads(line)["id"] - 1 for line in verdicts.read_text().splitlines()[1:]}
            if all(isinstance(output, str) for output in found):
                yield folder.name, found, wrong


def plain(name: str) -> str:
    """A name as models write it that may use no dots."""
    return name.replace(".", "_")


def reading(output: str, gold: str) -> str:
    """Tell whether the calls of an output are as many as the gold ones, with their names."""
    calls = rk.Trajectory.of(output).with_text_calls().calls
    if any(call.fault for call in calls):
        return "broken"
    names = sorted(plain(call["name"]) for call in json.loads(gold))
    return "gold names" if sorted(plain(call.name) for call in calls) == names else "other calls" if calls else "none"


def main(results: Path, data: Path) -> None:
    read: Counter[tuple[str, str]] = Counter()
    verdicts: Counter[tuple[str, str]] = Counter()
    for question, file in QUESTIONS.items():
        golds = [str(row["calls"]) for row in bfcl_rows(data / file)]
        for _, texts, wrong in outputs(results, question):
            rows = list(zip(texts, golds, strict=False))
            scores = [0.0] * len(rows)
            for undotted in (False, True):
                calls = [
                    json.dumps([{**c, "name": plain(c["name"])} for c in json.loads(g)]) if undotted else g
                    for _, g in rows
                ]
                total = rk.score(rk.tool_calls("calls"), [text for text, _ in rows], calls=calls).total
                scores = list(map(max, scores, total.tolist()))
            for place, ((text, gold), score) in enumerate(zip(rows, scores, strict=True)):
                verdict = "BFCL: wrong" if place in wrong else "BFCL: right"
                read[verdict, reading(text, gold)] += 1
                verdicts[verdict, "1.0" if score == 1.0 else "below"] += 1
    none: Counter[tuple[str, str]] = Counter()
    for _, texts, wrong in outputs(results, "relevance"):
        for place, text in enumerate(texts):
            none["BFCL: a call" if place in wrong else "BFCL: no call", reading(text, "[]")] += 1
    for title, counts in (("calls", read), ("scores", verdicts), ("no call is right", none)):
        print(title)
        for (verdict, what), count in sorted(counts.items()):
            print(f"  {verdict:<14} {what:<12} {count:7,}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
