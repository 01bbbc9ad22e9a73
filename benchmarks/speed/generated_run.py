"""Write a synthetic recorded run of any size in seconds, for tests, benchmarks and the viewer.

``python benchmarks/speed/generated_run.py runs/generated --steps 1000 --completions 512 --exploit`` has five
components, a gate, a scheduled weight, and means that rise. With ``--exploit``, a phrase that earns too much spreads
from step 600.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.batch.column import Column
from rewardkit.batch.score import ERRORED, SCORED, SKIPPED, Fault, Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.record.recorder import Recorder
from rewardkit.record.records import ComponentDescription, Line, Record, Version

EXPLOIT = "As any expert will confirm, this is certainly correct."
"""The phrase that the judge falls for."""
GENERATIONS = 8
_CHATTER = """first we note that the total of both parts must be equal so dividing by the number of boxes gives the
price per item then adding what was left over from the day before we see how many apples remain after lunch
therefore let us check this against the question again because Tom sold half and Mia bought three more each week"""
_THINGS = ["apples", "books", "tickets", "pencils", "eggs", "coins", "stamps", "cards", "tiles", "bottles"]


@dataclass(frozen=True)
class Plan:
    """The size and content of the generated run."""

    steps: int = 1000
    completions: int = 512
    pool: int = 4096
    exploit: bool = False
    seed: int = 0
    seconds_per_step: float = 12.0

    @property
    def exploit_from(self) -> int:
        return round(0.6 * self.steps)


def version(before: bool = True) -> Version:
    """Return the reward before or after a weight was changed, which happens at 40 % of the training."""
    components = (
        ComponentDescription("tags", (0.0, 1.0), "leaf"),
        ComponentDescription("answer", (0.0, 1.0), "leaf"),
        ComponentDescription("judge", (0.0, 1.0), "leaf"),
        ComponentDescription("brevity", (-1.0, 0.0), "leaf"),
        ComponentDescription("held_out", (0.0, 1.0), "monitor"),
    )
    weight = 0.3 if before else 0.4
    text = f"gate(tags('think', 'answer'), answer + {weight} * judge) + brevity * linear(0.0, 0.2) + monitor(held_out)"
    return Version(f"{'1a' if before else '2b'}" * 8, text, components, ("answer", "judge", "brevity"))


def write(path: str, plan: Plan, **options: Any) -> None:
    """Record the whole plan at `path`; `options` are passed to the Recorder."""
    with Recorder(path, patience=math.inf, **{"title": "generated", **options}) as recorder:
        for record in records(plan):
            recorder.record(record)


def records(plan: Plan) -> Iterator[Record]:
    """Generate the batches of the plan, one per step."""
    random = np.random.default_rng(plan.seed)
    sentences = _sentences(random)
    prompts, answers, hardness = _pool(random, plan.pool)
    began = time.time() - plan.steps * plan.seconds_per_step
    data = _Data(sentences, prompts, answers, hardness, began)
    groups = plan.completions // GENERATIONS
    for step in range(1, plan.steps + 1):
        chosen = np.repeat(random.integers(0, plan.pool, groups), GENERATIONS)
        yield _record(plan, step, random, data, chosen)


@dataclass(frozen=True)
class _Data:
    """What all steps share: `answers` and `hardness` are (pool,), `began` is the time of step 0."""

    sentences: list[str]
    prompts: list[str]
    answers: Any
    hardness: Any
    began: float


@dataclass(frozen=True)
class _Drawn:
    """What each completion of a batch is like, (n,) each."""

    formed: Any
    right: Any
    exploiting: Any


def _record(plan: Plan, step: int, random: Any, data: _Data, chosen: Any) -> Record:
    n, done = len(chosen), step / plan.steps
    answers = data.answers[chosen]
    drawn = _draw(plan, step, random, data.hardness[chosen])
    texts = _texts(random, data.sentences, answers.tolist(), drawn, 3 + round(2 * done))
    lengths = [len(text) // 4 + 1 for text in texts]
    components = _components(random, drawn, lengths, done)
    faults = _faults(random, drawn.formed, components["judge"])
    for row in np.flatnonzero(drawn.formed & ~drawn.right)[:40].tolist():
        components["answer"].notes[row] = f"expected {answers[row]}"
    components["answer"].parts["distance"] = np.where(drawn.right, 0.0, random.integers(1, 30, n).astype(float))
    before = step <= 0.4 * plan.steps
    table = _table(
        random, texts, components, {"answer": 1.0, "judge": 0.3 if before else 0.4, "brevity": 0.2 * done}, faults
    )
    lines = [Line(fault.reason, "fault", "error", fault.component, fault.row, fault.traceback) for fault in faults]
    if step % 10 == 0:
        lines.append(Line(f"judge: {n} calls, 0 cached", "print", component="judge"))
    return Record(
        table,
        version(before),
        step=step,
        epoch=float(done),
        max_steps=plan.steps,
        prompts=[data.prompts[prompt] for prompt in chosen.tolist()],
        completions=texts,
        completion_ids=[range(length) for length in lengths],
        columns={"answer": [str(answer) for answer in answers.tolist()]},
        groups=np.repeat(np.arange(n // GENERATIONS), GENERATIONS),
        advantages=_advantages(table.total),
        metrics=_metrics(random, table, drawn.formed, done),
        lines=lines,
        time=data.began + step * plan.seconds_per_step,
    )


def _draw(plan: Plan, step: int, random: Any, hardness: Any) -> _Drawn:
    n, done = len(hardness), step / plan.steps
    skill = 2.5 * done - 1.5
    formed = random.random(n) < 0.55 + 0.43 * (1 - math.exp(-5 * done))
    right = formed & (random.random(n) < 1 / (1 + np.exp(-(skill - hardness))))
    spread = 0.9 / (1 + math.exp(-12 * (done - 0.78))) if plan.exploit and step >= plan.exploit_from else 0.0
    exploiting = formed & (random.random(n) < spread)
    if plan.exploit:
        right &= ~(exploiting & (random.random(n) < 0.35))
    return _Drawn(formed, right, exploiting)


def _components(random: Any, drawn: _Drawn, lengths: list[int], done: float) -> dict[str, Column]:
    n, formed, right = len(lengths), drawn.formed, drawn.right
    judged = np.clip(0.35 + 0.2 * right + 0.2 * done + 0.12 * random.standard_normal(n) + 0.4 * drawn.exploiting, 0, 1)
    return {
        "tags": _column(formed.astype(float)),
        "answer": _column(right.astype(float), formed),
        "judge": _column(judged, formed),
        "brevity": _column(-np.clip((np.array(lengths) - 90) / 60, 0, 1)),
        "held_out": _column((right & (random.random(n) < 0.93)).astype(float)),
    }


def _faults(random: Any, formed: Any, judge: Column) -> list[Fault]:
    """Let one judgment in a thousand raise an error."""
    reason = "ValueError: the judge's answer is not a number: 'I would say 7'"
    trace = f'Traceback (most recent call last):\n  File "rewards.py", line 31, in judge\n{reason}'
    rows = np.flatnonzero(formed & (random.random(len(formed)) < 0.001)).tolist()
    judge.codes[rows], judge.values[rows] = ERRORED, 0.0
    return [Fault("judge", row, Outcome.ERRORED, reason, trace) for row in rows]


def _table(
    random: Any, texts: list[str], components: dict[str, Column], weights: dict[str, float], faults: list[Fault]
) -> ScoreTable:
    terms = {name: np.nan_to_num(weight * components[name].values) for name, weight in weights.items()}
    formed = components["tags"].values == 1.0
    return ScoreTable(
        texts,
        components,
        terms,
        np.sum(list(terms.values()), axis=0),
        weights,
        passed={"tags": (np.ones(len(texts), dtype=np.bool_), formed)},
        timings={"tags": 0.004, "answer": 0.006, "judge": 1.5 + random.random(), "brevity": 0.001, "held_out": 0.006},
        faults=tuple(faults),
    )


def _advantages(total: Any) -> Any:
    grouped = total.reshape(-1, GENERATIONS)
    return ((grouped - grouped.mean(1, keepdims=True)) / (grouped.std(1, ddof=1, keepdims=True) + 1e-4)).ravel()


def _metrics(random: Any, table: ScoreTable, formed: Any, done: float) -> dict[str, float]:
    texts = table.completions
    metrics = {f"components/{name}": float(np.nanmean(table[name])) for name in table.components}
    metrics |= {f"weights/{name}": weight for name, weight in table.weights.items()}
    metrics |= {f"seconds/{name}": seconds for name, seconds in table.timings.items()}
    distinct = [
        len(set(texts[start : start + GENERATIONS])) / GENERATIONS for start in range(0, len(texts), GENERATIONS)
    ]
    return metrics | {
        "gates/tags": float(formed.mean()),
        "trainer/loss": 0.02 * math.exp(-done) + 0.002 * random.standard_normal(),
        "trainer/kl": 0.08 * done,
        "trainer/entropy": 1.2 - 0.7 * done,
        "diversity/distinct": float(np.mean(distinct)),
    }


def _column(values: Any, opened: Any = None) -> Column:
    if opened is None:
        return Column(values, np.full(len(values), SCORED, dtype=np.int8))
    codes = np.where(opened, SCORED, SKIPPED).astype(np.int8)
    return Column(np.where(opened, values, np.nan), codes)


def _sentences(random: Any) -> list[str]:
    words = np.array(_CHATTER.split())
    return [" ".join(words[random.integers(0, len(words), random.integers(9, 19))]) + ". " for _ in range(3000)]


def _pool(random: Any, size: int) -> tuple[list[str], Any, Any]:
    numbers, things = random.integers(2, 90, (size, 2)), random.integers(0, len(_THINGS), size)
    prompts = [
        f"Tom has {a} boxes with {b} {_THINGS[thing]} each and gives {thing + 1} away. How many are left? ({index})"
        for index, ((a, b), thing) in enumerate(zip(numbers.tolist(), things.tolist(), strict=True))
    ]
    return prompts, numbers.prod(1) - things - 1, random.standard_normal(size)


def _texts(random: Any, sentences: list[str], answers: list[int], drawn: _Drawn, count: int) -> list[str]:
    n = len(answers)
    picked = random.integers(0, len(sentences), (n, count)).tolist()
    wrong = (np.array(answers) + random.integers(1, 30, n)).tolist()
    texts = []
    for row in range(n):
        body = "".join([sentences[index] for index in picked[row]])
        if drawn.exploiting[row]:
            body += f"{EXPLOIT} "
        answer = answers[row] if drawn.right[row] else wrong[row]
        texts.append(
            f"<think>{body}</think><answer>{answer}</answer>" if drawn.formed[row] else f"{body}The answer is {answer}"
        )
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="where to write the run")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--completions", type=int, default=512, help="completions per step")
    parser.add_argument("--pool", type=int, default=4096, help="number of prompts to draw from")
    parser.add_argument("--exploit", action="store_true", help="plant a phrase that earns more than it should")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compact-every", type=int, default=100, help="batches between compactions; 0: never")
    options = parser.parse_args()
    plan = Plan(options.steps, options.completions, options.pool, options.exploit, options.seed)
    began = time.perf_counter()
    write(options.path, plan, compact_every=options.compact_every)
    print(f"{plan.steps * plan.completions:,} completions in {time.perf_counter() - began:.1f} s: {options.path}")


if __name__ == "__main__":
    main()
