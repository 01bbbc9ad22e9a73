"""One call of a reward function of ms-swift: its rows, and whether they are whole groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row
from rewardkit.online.shared_tables import equal

_NO_COLUMNS = (
    *("trainer_state", "trajectory_inputs", "messages", "prompt_id", "request_id"),
    *("finish_reason", "is_truncated", "rollout_infos", "response_token_ids"),
)
"""What ms-swift passes besides the columns of the data."""


@final
@dataclass(frozen=True)
class OrmCall:
    """The arguments of one call.

    Attributes:
        orm: the reward function that is called.
        completions: the last message of each row.
        given: all other arguments: lists with one item for each row, and the state of the trainer.
    """

    orm: Any
    completions: Sequence[str]
    given: Mapping[str, Any]

    @property
    def identity(self) -> tuple[int, ...]:
        """The ids of the objects that the trainer passed; they live as long as the call."""
        return (id(self.completions), *map(id, self.given.values()))

    def equals(self, other: OrmCall) -> bool:
        """Whether `other` has equal contents and may be of the same batch."""
        return equal(self.completions, other.completions) and equal(self.given, other.given)

    def rows(self) -> list[Row]:
        """Return the rows of this process; prompt and completion are lists of messages."""
        columns = {name: cells for name, cells in self.given.items() if name not in _NO_COLUMNS}
        infos = self.given.get("rollout_infos")
        if infos is not None and any(infos):  # of a scheduler of turns, or of an environment
            columns["rollout_infos"] = infos
        cut, ids, conversations = (self.given.get(name) for name in ("is_truncated", "response_token_ids", "messages"))
        rows = []
        for place, text in enumerate(self.completions):
            turns = _turns(ids[place] if ids else None)
            prompt, completion = _divided(conversations[place] if conversations else (), len(turns))
            rows.append(
                Row(
                    completion or text,
                    prompt if conversations else None,
                    {name: cells[place] for name, cells in columns.items()},
                    [token for turn in turns for token in turn] or None,
                    None if cut is None else bool(cut[place]),
                )
            )
        return rows

    def progress(self, training: bool) -> Progress | None:
        """Return the progress that the state of the trainer shows; None without a state, as with Ray."""
        state = self.given.get("trainer_state")
        step, max_steps = getattr(state, "global_step", None), getattr(state, "max_steps", None)
        if not isinstance(step, int) or not isinstance(max_steps, int):
            return None
        epoch = getattr(state, "epoch", None)
        known = float(epoch) if isinstance(epoch, (int, float)) else math.nan
        return Progress(step, max(max_steps, 1), training, epoch=known)

    def group_size(self, num_generations: Any) -> int | None:
        """Return `num_generations` if the rows are whole groups of so many completions of a prompt, else None.

        ms-swift takes so many rows in a row as a group. A process may have only a part of one, and with schedulers of
        turns a completion may be several rows.
        """
        prompts, requests = (self.given.get(name) for name in ("prompt_id", "request_id"))
        count = len(self.completions)
        if not isinstance(num_generations, int) or num_generations < 1 or not prompts or count % num_generations:
            return None
        if requests and len(set(requests)) not in (1, count):  # Ray may leave them empty
            return None
        groups = (prompts[start : start + num_generations] for start in range(0, count, num_generations))
        return num_generations if all(len(set(group)) == 1 for group in groups) else None


def _turns(ids: Any) -> list[list[int]]:
    """Return the tokens of a completion, turn by turn; one turn may come as a plain list."""
    if not ids:
        return [[]]
    return [list(turn) for turn in ids] if isinstance(ids[0], (list, tuple)) else [list(ids)]


def _divided(messages: Sequence[Mapping[str, Any]], turns: int) -> tuple[list[Any], list[Any]]:
    """Return the prompt, and the completion: the messages from the first of the last `turns` answers on."""
    start = len(messages)
    while start and turns:
        start -= 1
        turns -= messages[start].get("role") == "assistant"
    return list(messages[:start]), list(messages[start:])
