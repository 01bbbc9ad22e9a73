"""from_reasoning_gym: the scorer of a task as a Reward, with its holes closed."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import PlainValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, WorkerDied, shorten
from rewardkit.core.processes import worker
from rewardkit.core.text.extraction import as_extractor, tag
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit_reasoning_gym.entries import Entry, read
from rewardkit_reasoning_gym.guards import LONGEST
from rewardkit_reasoning_gym.rows import checked
from rewardkit_reasoning_gym.scoring import scored

Credit = Literal["binary", "partial"]

_SECONDS = 10.0
_MEMORY_BYTES = 1_000_000_000
_TOO_MUCH = (TimeoutError, MemoryError, RecursionError, WorkerDied)


@dataclass(frozen=True)
class EntryOf:
    """Read a cell as an entry of `task`."""

    task: str

    def __call__(self, cell: object) -> Entry:
        entry = read(cell)
        if entry.task != self.task:
            raise ValueError(f"an entry of the task {shorten(entry.task)}, not of {self.task}")
        return entry


@dataclass(frozen=True)
class Scorer:
    """Score an answer with the scorer of `task`, in a worker process."""

    task: str
    credit: Credit
    waits: ClassVar[bool] = True

    def __call__(self, answer: str | None, entry: Entry) -> Score | Future[float | Score]:
        if answer is None or not answer.strip():
            return Score(0.0, "no answer found")
        if len(answer) > LONGEST:
            return Score(0.0, f"the answer is longer than {LONGEST:,} characters")
        arguments = (entry, answer.strip(), self.credit == "partial")
        call = worker.submit(scored, arguments, _SECONDS, _MEMORY_BYTES)
        return worker.then(call, partial(_score, answer.strip()))


def _score(answer: str, done: Future[tuple[float, str]]) -> float | Score:
    try:
        value, note = done.result()
    except _TOO_MUCH as error:
        value, note = 0.0, f"its check takes too much {'time' if isinstance(error, TimeoutError) else 'memory'}"
    return Score(value, f"{shorten(answer, 60)}: {note}") if note else value


def from_reasoning_gym(name: str, *, credit: Credit = "binary", extract: Extractor | Any = None) -> Reward:
    """Return the scorer of a task of reasoning-gym as a reward, for the rows of ``rk.reasoning_gym_rows``.

    ``rk.from_reasoning_gym("leg_counting")`` gives 1.0 to ``<answer>286</answer>`` if the animals have 286 legs.

    The task's own scorer decides what is right. Many scorers pay something for any text, or for the right answer among
    others, so by default only their full score counts. A few pay wrong answers in full or run answers as code; that is
    closed. See ``docs/reasoning_gym.md``.

    Args:
        name: the task, such as ``"leg_counting"``.
        credit: ``"binary"``: 1.0 for the scorer's full score, else 0.0; ``"partial"``: the share of its credit above
            what an answer that says nothing earns, and nothing for the right answer among other text.
        extract: finds the answer; by default the only ``<answer>`` tag after the thinking, as in reasoning-gym.

    Returns:
        A reward in [0, 1] with the name of the task. It reads the column "metadata".

    Raises:
        MissingExtraError: the extra ``reasoning-gym`` is not installed.
        RewardDefinitionError: there is no such task, or an unknown credit.
        CoercionError: while scoring: a cell of "metadata" is not an entry of this task.
    """
    task = checked(name)
    if credit not in get_args(Credit):
        raise RewardDefinitionError(
            f"from_reasoning_gym: credit must be one of {', '.join(get_args(Credit))}, got {shorten(credit)}"
        )
    where = as_extractor(extract, tag("answer"))
    return primitive(
        Scorer(task, credit),
        task,
        expression("from_reasoning_gym", task, credit=(credit, "binary"), extract=(extract and where, None)),
        Parameter("answer", "completion", view=where),
        Parameter("entry", "metadata", annotation=Annotated[Entry, PlainValidator(EntryOf(task))]),
        expensive=True,
    )
