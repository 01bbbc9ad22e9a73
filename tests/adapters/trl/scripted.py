"""A real training whose policy says what a script tells it: only the sampling is replaced, the tool loop is TRL's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, decoders
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import PreTrainedTokenizerFast

import rewardkit as rk
from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import Generation, watched
from tests.adapters.trl.test_depth_tools import RESPONSE, TEMPLATE

END = "<eos>"
_MARKS = ["<call>", "</call>", "<tool>", "</tool>", "<assistant>"]
Script = Sequence[str]
"""What the policy writes in each turn; a text that does not end with `END` ran into the limit."""


def call(name: str, arguments: Any = None) -> str:
    """Return a call as the policy writes it."""
    return f"<call>{json.dumps({'name': name, 'arguments': arguments or {}})}</call>"


def turn(*parts: str) -> str:
    return "".join(parts) + END


def tokenizer() -> Any:
    """One token for each character, and for each mark."""
    texts = ["<pad>", END, *_MARKS, "\n", *map(chr, range(32, 127))]
    characters = Tokenizer(WordLevel({text: number for number, text in enumerate(texts)}, unk_token="<pad>"))
    characters.pre_tokenizer = Split("", "isolated")
    characters.decoder = decoders.Fuse()
    made = PreTrainedTokenizerFast(
        tokenizer_object=characters,
        pad_token="<pad>",
        eos_token=END,
        model_input_names=["input_ids", "attention_mask"],
    )
    made.add_tokens(_MARKS)
    made.chat_template = TEMPLATE
    made.response_template = RESPONSE
    return made


@dataclass
class Seen:
    """What a TRL reward function received, and what came of the training.

    Attributes:
        completions: of the last batch, as TRL passes them.
        ids: their token ids.
        trajectories: what rewardkit made of them.
        environments: as they were when rewards were computed.
        extra: all other keywords.
    """

    completions: list[Any] = field(default_factory=list)
    prompts: list[Any] = field(default_factory=list)
    ids: list[list[int]] = field(default_factory=list)
    trajectories: list[rk.Trajectory] = field(default_factory=list)
    environments: list[Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    generations: list[Generation] = field(default_factory=list)
    trainer: Any = None
    tokenizer: Any = None

    def logged(self, name: str) -> float:
        """The value of a metric at the last step that logged it."""
        return float([entry[name] for entry in self.trainer.state.log_history if name in entry][-1])

    def text(self, row: int) -> str:
        """All that is in the completion's tokens."""
        return str(self.tokenizer.decode(self.ids[row]))

    @property
    def advantages(self) -> list[float]:
        return [float(value) for value in np.round(self.generations[-1].advantages, 4)]


_PLAYED: dict[int, Seen] = {}
"""What the rewards of the present training see, kept outside of them: a record describes what they hold."""


def heard(completions: Any, prompts: Any, completion_ids: Any, **extra: Any) -> list[float]:
    seen = _PLAYED[0]
    seen.completions, seen.prompts, seen.ids = list(completions), prompts, completion_ids
    seen.environments, seen.extra = extra.get("environments"), extra
    return [0.0] * len(completions)


@rk.reward(scope="batch")
def reading(trajectory: list[rk.Trajectory]) -> list[float]:
    _PLAYED[0].trajectories = trajectory
    return [0.0] * len(trajectory)


class Policy:
    """Generates token ids for a batch: the next text in the script of each row."""

    def __init__(self, trainer: Any, scripts: Sequence[Script]) -> None:
        self._trainer = trainer
        self._texts = [
            [trainer.processing_class(text, add_special_tokens=False)["input_ids"] for text in script]
            for script in scripts
        ]
        self._written: list[list[int]] = []
        self._turns: list[int] = []

    def __call__(self, prompt_ids: Any, images: Any, fields: Any, num_generations: int, **options: Any) -> Any:
        rows = len(self._texts)
        if num_generations != 1 or not self._written:
            assert len(prompt_ids) == rows
            self._turns = [0] * rows
            places = list(range(rows))
        else:
            places = []
            for ids in prompt_ids:  # which row is that? It continues what the row has written so far.
                places.append(
                    next(
                        row
                        for row in range(rows)
                        if row not in places
                        and ids[: len(self._written[row])] == self._written[row]
                        and len(self._texts[row]) > self._turns[row]
                    )
                )
        ids = [self._texts[row][self._turns[row]][: self._trainer.max_completion_length] for row in places]
        written = dict(
            zip(places, (list(prompt) + own for prompt, own in zip(prompt_ids, ids, strict=True)), strict=True)
        )
        self._written = [written.get(row, self._written[row] if self._written else []) for row in range(rows)]
        for row in places:
            self._turns[row] += 1
        return [list(own) for own in ids], None


def play(
    out: Path,
    scripts: Sequence[Script],
    *,
    reward: Any = None,
    tools: Sequence[Callable[..., Any]] | None = None,
    environment: Any = None,
    recorded: bool = True,
    watch: Mapping[str, Any] | None = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    prompts: int = 1,
    given: Mapping[str, Any] | None = None,
    to_trl: Mapping[str, Any] | None = None,
    **options: Any,
) -> Seen:
    """Train with a policy that follows scripts, one for each completion.

    Args:
        reward: what is trained; by default ``rk.agents.finished()``.
        environment: the class of an environment, or a dictionary of them.
        recorded: pass it through ``funcs.environments``.
        watch: the options of ``funcs.environments``.
        columns: of the dataset, one value for each prompt.
        prompts: the number of prompts, to which the completions belong in equal parts.
        given: further arguments of GRPOTrainer.
        to_trl: further arguments of ``rk.to_trl``.
        options: of GRPOConfig.
    """
    seen = _PLAYED[0] = Seen(tokenizer=tokenizer())

    tree = rk.monitor(rk.from_trl(heard)) + rk.monitor(reading)
    functions = rk.to_trl((rk.agents.finished() if reward is None else reward) + tree, **(to_trl or {}))
    rows = len(scripts)
    data: dict[str, Any] = {"prompt": [[{"role": "user", "content": "go"}]] * prompts}
    data |= {name: list(values) for name, values in (columns or {}).items()}
    parts: dict[str, Any] = {
        "model": model(),
        "processing_class": seen.tokenizer,
        "train_dataset": Dataset.from_dict(data),
        **(given or {}),
    }
    if tools is not None:
        parts["tools"] = list(tools)
    if environment is not None:
        parts["environment_factory"] = functions.environments(environment, **(watch or {})) if recorded else environment
    settings = {
        "per_device_train_batch_size": rows,
        "num_generations": rows // prompts,
        "max_completion_length": 400,
        "max_steps": 1,
        "shuffle_dataset": False,
    }
    seen.trainer = tiny.trainer(out, functions, given=parts, **(settings | options))
    seen.trainer._generate_single_turn = Policy(seen.trainer, scripts)
    seen.generations = watched(seen.trainer)
    seen.trainer.train()
    return seen


def model() -> Any:
    made = tiny.model()
    made.config.max_position_embeddings = 4_096
    made.resize_token_embeddings(len(tokenizer()))
    return made
