"""Runs for the tests of the page: an ordinary one and a hostile one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.analyze.advantages import GroupStats, moments_of
from rewardkit.batch.batch import Batch
from rewardkit.batch.column import Column
from rewardkit.batch.messages import completion_text
from rewardkit.batch.score import ERRORED, FAILED, SCORED
from rewardkit.batch.table import ScoreTable
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import ComponentDescription, Line, Record, Version
from rewardkit.record.trajectories import Trajectories
from tests.record.conversations import OPENED, PENDING, asks, result, says

GENERATIONS = 4
ACTS = "<script>window.acted=1</script><img src=x onerror=\"window.acted=2\"><a href='javascript:window.acted=3'>x</a>"
SOURCE = """import re

TOLERANCE = 0.02


def form(completion):
    return float(completion.startswith("Step"))


def answer(completion, gold):
    # strict
    found = re.search(r"[0-9]+", completion)
    return float(found is not None and abs(int(found[0]) - gold) < TOLERANCE)
"""
HOSTILE = [
    ACTS,
    "{{ window.acted=4 }} ${window.acted=5} `${window.acted=6}`",
    "\u202egnp.exe\u2066 \x1b]52;c;aGk=\x07\x1b[2J \u200b\ufeff",
    '=HYPERLINK("http://evil.example/")',
    "lone \ud800 surrogate &lt;script&gt; </script><!-- --> ]]>",
    "[click](javascript:window.acted=7) <iframe src=http://evil.example></iframe>",
    "<svg onload=window.acted=8><style>*{display:none}</style>",
    "A" * 1_000_000,
]


def record(step: int, *, prompts: int = 3, epoch: float | None = None, changed: bool = False, **fields: Any) -> Record:
    """Return a batch. Totals rise with the steps. `answer` is wrong in row 1, and failed or errored in the last row."""
    n = prompts * GENERATIONS
    texts = [f"Step {step} says that {row} is right, since {row * step} follows." for row in range(n)]
    form = Column(np.array([1.0 if row % 3 else 0.0 for row in range(n)]), np.full(n, SCORED, dtype=np.int8))
    answer = Column(np.minimum(1.0, 0.1 * step + 0.02 * np.arange(n)), np.full(n, SCORED, dtype=np.int8))
    answer.notes[1] = "expected 7, found 8"
    answer.parts["distance"] = np.arange(n, dtype=np.float64)
    answer.codes[-1] = FAILED if step % 2 else ERRORED
    answer.values[-1] = np.nan
    terms = {"form": 0.5 * form.values, "answer": answer.values.copy()}
    terms["form"][-1] = np.nan
    total = terms["form"] + terms["answer"]
    version = Version(
        "b" * 16 if changed else "a" * 16,
        "form + answer",
        (ComponentDescription("form", (0.0, 1.0), "leaf"), ComponentDescription("answer", (0.0, 1.0), "leaf")),
        ("form", "answer"),
        sources={"reward.py": SOURCE.replace("0.02", "0.05").replace("# strict", "") if changed else SOURCE},
    )
    groups = np.repeat(np.arange(prompts), GENERATIONS)
    given: dict[str, Any] = {
        "step": step,
        "epoch": epoch,
        "prompts": [f"What is prompt number {row // GENERATIONS}?" for row in range(n)],
        "completions": texts,
        "completion_ids": [range(10 + row) for row in range(n)],
        "prompt_lengths": [5 + row // GENERATIONS for row in range(n)],
        "durations": {"form": [0.001] * n, "answer": [0.01] * (n - 1) + [2.5]},
        "columns": {"level": ["hard" if row < GENERATIONS else "easy" for row in range(n)]},
        "groups": groups,
        "advantages": GroupStats.of(total, groups).advantages("group", moments_of(total)),
        "metrics": {"weights/answer": 1.0, "gates/form": 0.5, "diversity/distinct": 1.0, "trainer/loss": 1.0 / step},
        "lines": (
            Line(f"answer says hello at step {step}", "print", component="answer"),
            Line("ValueError: no number", "fault", "error", "answer", n - 1, "Traceback: line 3", seconds=0.2),
        ),
    }
    return Record(ScoreTable(texts, {"form": form, "answer": answer}, terms, total), version, **(given | fields))


def ordinary(path: Path, steps: int = 12, *, epochs: float = 3.0) -> Path:
    """Record a run that sees all prompts in every step."""
    with Recorder(path, patience=math.inf, title="an ordinary run") as recorder:
        for step in range(1, steps + 1):
            recorder.record(record(step, epoch=epochs * step / steps, changed=step > steps // 2))
    return path


def changing(path: Path, steps: int = 60) -> Path:
    """Record a run whose reward changes often, in which `answer` rises by 0.4 at step 31.

    The gate exists up to step 18, and `form` is missing from step 41 to 45. Two terms work against each other.
    """
    with Recorder(path, patience=math.inf) as recorder:
        for step in range(1, steps + 1):
            metrics = {
                "weights/answer": 1.0,
                "advantage_share/answer": 1.5,
                "advantage_share/form": -0.5,
                "trainer/loss": 1.0 / step,
            }
            if step <= 18:
                metrics["gates/form"] = 0.5
            one = record(1, metrics=metrics)
            values = np.round(0.1 + 0.4 * (step > 30) + 0.01 * np.arange(len(one.table)), 3)
            one.table.components["answer"].values[:-1] = one.table.terms["answer"][:-1] = values[:-1]
            one.table.total[:] = one.table.terms["form"] + one.table.terms["answer"]
            if 41 <= step <= 45:
                del one.table.components["form"], one.table.terms["form"]
            number = sum(step >= change for change in (20, 21, 22, 50))
            recorder.record(replace(one, step=step, version=replace(one.version, fingerprint=f"{number:x}" * 16)))
    return path


def certain(path: Path, steps: int = 40) -> Path:
    """Record a run in which more and more of the completions that earn more end with the same words."""
    with Recorder(path, patience=math.inf) as recorder:
        for step in range(1, steps + 1):
            texts = [
                "It follows from the text"
                + (", I am certain of it" if row % 3 and (row + step) % 4 < step / 10 else "")
                for row in range(6 * GENERATIONS)
            ]
            one = record(step, prompts=6)
            recorder.record(replace(one, table=replace(one.table, completions=texts)))
    return path


def gamed(path: Path, steps: int = 40) -> Path:
    """Record a run in which the total rises, and as much with the gold answers of other prompts."""
    draw = np.random.default_rng(0)
    with Recorder(path, patience=math.inf) as recorder:
        for step in range(1, steps + 1):
            one = record(step, prompts=6)
            total = (draw.random(len(one.table)) < step / steps).astype(np.float64)
            texts = [f"{'all of them' if paid else 'one'}, row {row}" for row, paid in enumerate(total.tolist())]
            table = replace(one.table, completions=texts, total=total)
            recorder.record(replace(one, table=table, completions=texts, foreign=(total, total, np.zeros(len(total)))))
    return path


def conversations(path: Path, steps: int = 6) -> Path:
    """Record a run with tool calls: a call with a long result, an error, a call without a result, a plain answer."""
    prompts = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which number?"}]] * 4
    long = "In the drawer:\n" + "\n".join(f"thing {number}" for number in range(100_000))
    said = [
        OPENED,
        [asks(("open", {"color": "green"})), result("open", long), says("It is 7.")],
        PENDING,
        [asks(("look", {"at": ACTS})), result("look", ACTS), says(ACTS)],
    ]
    found = Trajectories.of(Batch(said))
    with Recorder(path, patience=math.inf) as recorder:
        for step in range(1, steps + 1):
            one = record(step, prompts=1, completions=said, trajectories=found)
            one.table.components["form"].turns.update({0: (0.75, 0.25), 1: (-0.5, 0.5)})
            texts = [completion_text(messages) for messages in said]
            recorder.record(replace(one, table=replace(one.table, completions=texts), prompts=prompts))
    return path


def marked_up(path: Path) -> Path:
    """Record a run whose chats have Markdown, mathematics and JSON; the last completion is unlike the others."""
    solution = "# Solution\n\n" + "\n\n".join(
        f"{line}. **Step** {line}: $x_{line}^2 = \\frac{{{line}}}{{2}}$" for line in range(1, 40)
    )
    link = "[click](javascript:window.acted=1) ![cat](http://evil.example/cat.png)"
    texts = [
        f"{solution}\n\n\\[\n\\boxed{{7}}\n\\]\n\n{link}",
        f'{solution}\n\n\\[\n\\boxed{{8}}\n\\]\n\n```json\n{{"x": 8}}\n```',
        '{"answer": [1, 2]}',
        "Quite another text, without anything in common.",
    ]
    prompts = [[says("Be $brief$.") | {"role": "system"}, says("What is $x^2$?") | {"role": "user"}]] * GENERATIONS
    with Recorder(path, patience=math.inf) as recorder:
        for step in (1, 2):
            one = record(step, prompts=1)
            table = replace(one.table, completions=texts)
            recorder.record(replace(one, table=table, prompts=prompts, completions=[[says(text)] for text in texts]))
    return path


def hostile(path: Path) -> Path:
    """Record a run with hostile names, prompts, completions, notes, columns, logs and title."""
    n = len(HOSTILE)
    name = '<img src=x onerror="window.acted=9">'
    column = Column(np.linspace(0.0, 1.0, n), np.full(n, SCORED, dtype=np.int8))
    column.notes.update({row: text[:5_000] for row, text in enumerate(HOSTILE)})
    column.parts["<b>part</b>"] = np.arange(n, dtype=np.float64)
    with Recorder(path, patience=math.inf, title=ACTS) as recorder:
        for step in (1, 2, 3):
            table = ScoreTable(HOSTILE, {name: column}, {name: column.values}, column.values.copy())
            described = (ComponentDescription(name, (0.0, 1.0), ACTS),)
            sources = {ACTS: "\n".join(HOSTILE[:-1]), "<b>": "\u202e" + ACTS}
            version = Version("c" * 16, ACTS, described, (name,), sources=sources)
            recorder.record(
                Record(
                    table,
                    version,
                    step=step,
                    prompts=[ACTS] * (n // 2) + ["\u202e" + ACTS + "\ud800"] * (n - n // 2),
                    completions=HOSTILE,
                    columns={ACTS: HOSTILE, "=cmd": [text[:100] for text in HOSTILE]},
                    metrics={f"weights/{name}": 1.0, f"trainer/{ACTS}": 2.0},
                    lines=[Line(text[:50_000], "print", "warning", name, 0, text[:50_000]) for text in HOSTILE],
                )
            )
    return path
