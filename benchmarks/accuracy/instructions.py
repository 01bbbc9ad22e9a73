"""Compare ``rk.instructions`` with the reference packages of IFEval and IFBench: verdicts and time.

There are two sets: real outputs with the published verdicts (REWARDKIT_DATA names the folder that holds ``ifbench/``),
and thousands of questions that `instructions_texts` makes from them and from short texts. A reference runs in an
environment of its own::

    python -m venv .venv-ifbench
    .venv-ifbench/bin/pip install absl-py emoji immutabledict langdetect nltk syllapy
    git clone https://github.com/allenai/IFBench
    python benchmarks/accuracy/instructions.py --python .venv-ifbench/bin/python --path IFBench --registry \
        ifbench.instructions_registry

It downloads its language data by itself when it starts. For the training set, the path is a clone of
https://github.com/allenai/open-instruct and the registry is ``open_instruct.IFEvalG.instructions_registry``. CPU time
is that of one strict reading of each question, for the reference without the harness around it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import rewardkit as rk
from benchmarks.accuracy.instructions_texts import Question, made, real
from rewardkit.rewards.instructions.reward import Reading

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("REWARDKIT_DATA", ROOT.parent / "shared" / "data")) / "ifbench" / "outputs.jsonl"


def ours(asked: list[Question], reading: Reading) -> list[float]:
    """Return our verdicts, 1.0 or 0.0."""
    table = rk.score(
        rk.instructions(reading=reading, credit="binary"),
        [question.completion for question in asked],
        instruction_id_list=[[question.id] for question in asked],
        kwargs=[[question.arguments] for question in asked],
    )
    scores: list[float] = table.total.tolist()
    return scores


def theirs(asked: list[Question], python: str, registry: str, path: str) -> list[dict[str, Any]]:
    """Return the reference's verdicts and seconds."""
    lines = [json.dumps({"id": one.id, "kwargs": one.arguments, "completion": one.completion}) for one in asked]
    script = ROOT / "benchmarks" / "peers" / "instruction_checks.py"
    command = [python, str(script), registry, *([path] if path else [])]
    finished = subprocess.run(command, input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in finished.stdout.splitlines()]


def published(rows: list[dict[str, Any]]) -> None:
    """Compare our verdicts with the published ones, instruction by instruction."""
    asked = [
        Question(identifier, arguments, row["completion"])
        for row in rows
        for identifier, arguments in zip(row["instruction_id_list"], row["kwargs"], strict=True)
    ]
    for reading in get_args(Reading):
        labels = [label for row in rows for label in row[reading]]
        verdicts = ours(asked, reading)
        differing = [
            (question.id, label)
            for question, label, verdict in zip(asked, labels, verdicts, strict=True)
            if label != (verdict == 1.0)
        ]
        print(f"{reading}: {len(labels) - len(differing)} of {len(labels)} published verdicts are the same")
        report(Counter(differing))


def compare(name: str, asked: list[Question], reference: Sequence[str], *, details: bool) -> None:
    """Compare verdicts and time with a reference: its Python, registry and path."""
    answers = theirs(asked, *reference)
    known = [number for number, answer in enumerate(answers) if answer["strict"] is not None]
    raised = sum(answer["strict"] is None and answer["seconds"] > 0 for answer in answers)
    asked, answers = [asked[number] for number in known], [answers[number] for number in known]
    if not asked:
        return
    instructions = len({one.id for one in asked})
    print(f"\n{name}: {len(asked):,} questions, {instructions} instructions; it raises on {raised:,} more")
    for reading in get_args(Reading):
        differing = [
            (question, answer[reading])
            for question, answer, verdict in zip(asked, answers, ours(asked, reading), strict=True)
            if answer[reading] is not None and answer[reading] != (verdict == 1.0)
        ]
        print(f"{reading}: {100 * (1 - len(differing) / len(asked)):.1f}% of the verdicts are the same")
        report(Counter((question.id, accepted) for question, accepted in differing))
        for question, accepted in differing if details else ():
            print(json.dumps([question.id, reading, accepted, question.completion[:300]], ensure_ascii=False))
    start = time.process_time()
    ours(asked, "strict")
    mine = time.process_time() - start
    theirs_took = sum(answer["seconds"] for answer in answers)
    each, faster = 1e6 / len(asked), theirs_took / mine
    print(f"{mine * each:.0f} us a question, the reference {theirs_took * each:.0f} us: {faster:.1f} times faster")


def report(counts: Counter[tuple[str, bool]]) -> None:
    """Print how many verdicts differ, by instruction."""
    for (identifier, accepted), count in sorted(counts.items()):
        print(f"  {identifier}: {count} {'accepted' if accepted else 'refused'} by the reference alone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="the reference's Python")
    parser.add_argument("--registry", default="ifbench.instructions_registry", help="default: %(default)s")
    parser.add_argument("--path", default="", help="folder to import the reference from, if it is not installed")
    parser.add_argument("--details", action="store_true", help="print every strict verdict that differs")
    options = parser.parse_args()
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()] if DATA.exists() else []
    published(rows)
    if options.python:
        reference = options.python, options.registry, options.path
        compare("Real outputs and their mutations", real(rows), reference, details=options.details)
        compare("Short texts, and outputs for other instructions", made(rows), reference, details=options.details)


if __name__ == "__main__":
    main()
