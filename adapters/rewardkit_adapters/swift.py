"""rewardkit and ms-swift: ``rk.to_swift(reward)`` registers a reward, ``rk.from_swift(orm)`` wraps an ORM as a reward.

ms-swift is imported only to register a reward.
"""

from __future__ import annotations

import inspect
import os
import shlex
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Floats
from rewardkit.batch.messages import as_messages, completion_text
from rewardkit.errors import RewardDefinitionError, RewardFailure, RewardTypeError, hashable, shorten, warn
from rewardkit.online.batch_cache import BatchCache, equal
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.rows import COMPONENTS, Row, RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit.online.special_tokens import SpecialTokens
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.online.trainers import caller, nan_to_none, progress_of, warn_of_other_functions
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.binding import is_async, name_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.leaf import written_as
from rewardkit.tree.reward import Reward
from rewardkit.tree.trl_function import from_trl

# One call of an ms-swift reward function: its rows, and whether they form whole groups.


_NO_COLUMNS = (
    *("trainer_state", "trajectory_inputs", "messages", "prompt_id", "request_id"),
    *("finish_reason", "is_truncated", "rollout_infos", "response_token_ids"),
)
"""The arguments that ms-swift passes in addition to the columns of the data."""


@final
@dataclass(frozen=True)
class OrmCall:
    """The arguments of one call from ms-swift.

    Attributes:
        orm: the reward function that is called.
        completions: the last message of each row.
        given: all other arguments: lists with one item per row, and the trainer's state.
    """

    orm: Any
    completions: Sequence[str]
    given: Mapping[str, Any]

    @property
    def identity(self) -> tuple[int, ...]:
        """The ids of the objects that the trainer passed. They are valid as long as the call exists."""
        return (id(self.completions), *map(id, self.given.values()))

    def equals(self, other: OrmCall) -> bool:
        """Return whether `other` has equal contents, so that it may belong to the same batch."""
        return equal(self.completions, other.completions) and equal(self.given, other.given)

    def rows(self) -> list[Row]:
        """Return the rows in this process. Prompts and completions are lists of messages."""
        columns = {name: cells for name, cells in self.given.items() if name not in _NO_COLUMNS}
        infos = self.given.get("rollout_infos")
        if infos is not None and any(infos):  # from a multi-turn scheduler, or from an environment
            columns["rollout_infos"] = infos
        cut, ids, conversations = (self.given.get(name) for name in ("is_truncated", "response_token_ids", "messages"))
        rows = []
        for index, text in enumerate(self.completions):
            turns = _turns(ids[index] if ids else None)
            prompt, completion = _split_messages(conversations[index] if conversations else (), len(turns))
            rows.append(
                Row(
                    completion or text,
                    prompt if conversations else None,
                    {name: cells[index] for name, cells in columns.items()},
                    [token for turn in turns for token in turn] or None,
                    None if cut is None else bool(cut[index]),
                )
            )
        return rows

    def group_size(self, num_generations: Any) -> int | None:
        """Return `num_generations` if the rows form complete groups of that size, or None otherwise.

        ms-swift treats every `num_generations` consecutive rows as a group. A process may have only part of a group.
        With multi-turn schedulers, a completion may occupy several rows.
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
    """Return a completion's token ids for each turn. A flat list is treated as a single turn."""
    if not ids:
        return [[]]
    return [list(turn) for turn in ids] if isinstance(ids[0], (list, tuple)) else [list(ids)]


def _split_messages(messages: Sequence[Mapping[str, Any]], turns: int) -> tuple[list[Any], list[Any]]:
    """Split messages into the prompt and the completion.

    The completion starts with the first of the last `turns` assistant messages.
    """
    start = len(messages)
    while start and turns:
        start -= 1
        turns -= messages[start].get("role") == "assistant"
    return list(messages[:start]), list(messages[start:])


# The trainer behind a call: whether it trains or evaluates, its weights, its tokenizer, and its log.


@final
class Trainer:
    """The information available from a trainer, or ``Trainer(None)`` if no trainer is known.

    ``Trainer.calling(orm).training`` is False during evaluation.
    """

    def __init__(self, trainer: Any) -> None:
        self.instance = trainer

    @classmethod
    def calling(cls, orm: object) -> Trainer:
        """Return the trainer that is currently calling `orm`."""

        def calls(owner: Any) -> bool:
            functions = getattr(owner, "reward_funcs", None)
            return isinstance(functions, list) and any(function is orm for function in functions)

        return cls(caller(calls))

    @property
    def training(self) -> bool:
        """Whether the trainer is training rather than evaluating. True if unknown."""
        model = getattr(self.instance, "model", None)
        wrapped = getattr(self.instance, "unwrapped_models", None)  # Megatron
        if isinstance(wrapped, (list, tuple)) and wrapped:
            model = wrapped[0]
        return bool(getattr(model, "training", True))

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer, or None if unknown."""
        return getattr(getattr(self.instance, "template", None), "tokenizer", None)

    @property
    def functions(self) -> list[Any]:
        """All of the trainer's reward functions."""
        return list(getattr(self.instance, "reward_funcs", []))

    @property
    def others(self) -> list[str]:
        """The names of reward columns that no reward function computes, such as the reward from a gym."""
        return list(getattr(self.instance, "reward_func_names", []))[len(self.functions) :]

    @property
    def weights(self) -> list[float]:
        """The weights of the reward functions, or an empty list if unknown."""
        reward_weights = getattr(self.instance, "reward_weights", None)
        return [] if reward_weights is None else [float(weight) for weight in reward_weights]

    def log(self, values: Mapping[str, float]) -> None:
        """Add a batch's values to the trainer's own metrics, if it has any. The trainer logs their means."""
        metrics = getattr(self.instance, "_metrics", None)
        mode_metrics = metrics.get("train" if self.training else "eval") if isinstance(metrics, Mapping) else None
        if isinstance(mode_metrics, dict):
            for name, value in values.items():
                mode_metrics.setdefault(name, []).append(value)


# Check at the first call of a trainer that its sum is the total of the reward.


def check_trainer(trainer: Trainer, terms: Sequence[str], evaluator: object) -> None:
    """Check that the trainer's sum equals the total, and warn about other reward functions.

    Raises:
        RewardDefinitionError: a term is missing or occurs twice, or its weight is not 1.
    """
    own_flags = [getattr(function, "evaluator", None) is evaluator for function in trainer.functions]
    names = [type(function).__name__ for function, is_own in zip(trainer.functions, own_flags, strict=True) if is_own]
    if sorted(names) != sorted(terms):
        raise RewardDefinitionError(
            f"ms-swift: the trainer has the reward functions {names}, but the reward is the sum of {list(terms)}. Pass "
            f"each of them exactly once: --reward_funcs {' '.join(terms)}"
        )
    weights = [weight for weight, is_own in zip(trainer.weights, own_flags, strict=False) if is_own]
    if any(weight != 1.0 for weight in weights):
        raise RewardDefinitionError(
            f"ms-swift: the trainer has the reward weights {weights} for {names}, but the reward already contains the "
            "weights of its terms. Multiply the trainer's weights into the reward, such as 0.5 * correct, and pass 1 "
            "for each term, or drop --reward_weights"
        )
    if not all(own_flags) or trainer.others:
        warn_of_other_functions()


# Rows without a score get numbers that give no learning signal, because ms-swift would count them as 0.


Flags = NDArray[np.bool_]


def neutral(terms: Floats, scored: Flags, size: int, *, each: bool) -> Floats:
    """Return the terms for all rows (n, t). Rows that are not `scored` get values without a learning signal.

    Args:
        terms: (n, t) the terms, with NaN for a term that abstained.
        scored: (n,) whether a row has a total.
        size: the number of completions per group. The rows of a group are consecutive.
        each: whether every term is normalized separately over the rows that have it (GDPO). Otherwise, the sum of the
            terms is normalized, and a missing term counts as 0 in the sum.
    """
    filled = terms.copy()
    overall_means = _means(terms[scored], each) if scored.any() else np.zeros(terms.shape[1])
    for start in range(0, len(terms), size):
        rows = slice(start, start + size)
        valid, group = scored[rows], terms[rows]
        if not valid.all():
            filled[rows][~valid] = _means(group[valid], each) if valid.any() else overall_means
    return filled


def _means(terms: Floats, each: bool) -> Floats:
    """Return the mean of each term over scored rows, shape (t,), with NaN for a term that no row has."""
    present = ~np.isnan(terms)
    counts = present.sum(axis=0)
    sums = np.where(present, terms, 0.0).sum(axis=0)
    divisors = counts if each else np.full_like(counts, len(terms))
    return np.where(counts > 0, sums / np.maximum(divisors, 1), np.nan)


# The evaluator behind the reward functions of one reward, which scores each batch once.


_WHOLE_GROUPS = (
    "Make per_device_train_batch_size * steps_per_generation a multiple of num_generations, so that each process "
    "has all completions for its prompts"
)


@final
class Evaluator:
    """The batch scorer that the reward functions for all terms share.

    Args:
        scorer: the scorer for rows.
        finds_tokens: whether to remove the tokenizer's special tokens from completions.
    """

    def __init__(self, scorer: RowScorer, *, finds_tokens: bool) -> None:
        self.scorer = scorer
        self.terms = scorer.scorer.terms
        self._finds_tokens = finds_tokens
        self._tables: BatchCache[OrmCall] = BatchCache(readers=len(self.terms))
        self._trainers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._strict = True  # bugs raise until the first training batch is scored

    def column(self, term: str, call: OrmCall) -> list[float | None]:
        """Return one term for a batch, with one value per row.

        Raises:
            RewardDefinitionError: the trainer's settings change the meaning of the reward.
            RewardFailure: a row has no score and cannot be excluded, or too many rows failed or errored.
        """
        return nan_to_none(self._tables.get(term, call, self._table)[term])

    def _table(self, call: OrmCall) -> Mapping[str, Floats]:
        trainer = Trainer.calling(call.orm)
        self._meet(trainer)
        progress = self._progress(call, trainer)
        arguments = getattr(call.orm, "args", None)
        size = call.group_size(_num_generations(arguments, trainer))
        together = self.scorer.scorer.together == "group"
        if together and size is None:
            raise RewardFailure(
                "ms-swift: this reward compares the completions for each prompt, but this process has only a part of "
                f"them. {_WHOLE_GROUPS}"
            )
        scores = self.scorer.score(
            call.rows(),
            progress=progress,
            num_generations=size if together else None,
            step=None if progress is None else progress.step,
            training=trainer.training,
            strict=self._strict,
        )
        self._strict = self._strict and not trainer.training
        trainer.log(_batch_metrics(scores))
        terms = np.array([[score.terms[name] for name in self.terms] for score in scores], dtype=np.float64)
        scored = np.array([score.scored for score in scores], dtype=np.bool_)
        if size is None and trainer.training:
            if lost := [score for score in scores if not (score.scored or score.unparsable)]:
                raise RewardFailure(_no_score_text(lost, len(scores)))
            # These rows have unreadable gold answers. All completions of such a prompt get the same terms in all
            # processes, so their advantage is 0.
            terms[~scored] = 0.0
        elif not scored.all():
            each = getattr(arguments, "scale_rewards", None) == "gdpo"
            terms = neutral(terms, scored, size or len(scores), each=each)
        return dict(zip(self.terms, terms.T, strict=True))

    def _meet(self, trainer: Trainer) -> None:
        """Check a trainer on its first call, and read its tokenizer."""
        if trainer.instance is None or trainer.instance in self._trainers:
            return
        check_trainer(trainer, self.terms, self)
        self._trainers.add(trainer.instance)
        if self._finds_tokens and trainer.tokenizer is not None:
            self.scorer.special_tokens = SpecialTokens.of(trainer.tokenizer)

    def _progress(self, call: OrmCall, trainer: Trainer) -> Progress | None:
        """Return the training progress, or None if unknown."""
        progress = progress_of(call.given.get("trainer_state"), trainer.training)
        if progress is None and self.scorer.scorer.scheduled:
            raise RewardDefinitionError(
                "ms-swift: the reward follows training progress, but this trainer passes no trainer_state, as with "
                "Ray. Use plain numbers instead of schedules"
            )
        if progress is not None and trainer.training and self._strict:
            for late in self.scorer.scorer.late(progress.max_steps):
                warn(late)
        return progress


def _num_generations(arguments: Any, trainer: Trainer) -> Any:
    generations = getattr(arguments, "num_generations", None)
    return generations if trainer.training else getattr(arguments, "num_generations_eval", None) or generations


def _batch_metrics(scores: Sequence[RowScore]) -> dict[str, float]:
    """Return a batch's metrics: the components' means and the shares of rows without a score."""
    means = {}
    for name in scores[0].components if scores else ():
        values = [value for score in scores if (value := score.components[name]) is not None]
        if values:
            means[f"{COMPONENTS}{name}"] = sum(values) / len(values)
    rows = max(len(scores), 1)
    unparsable = sum(score.unparsable for score in scores) / rows
    return {**means, "unscorable": sum(not score.scored for score in scores) / rows, "unparsable_gold": unparsable}


def _no_score_text(lost: Sequence[RowScore], rows: int) -> str:
    return (
        f"ms-swift: {len(lost)} of {rows} completions have no score ({lost[0].why}). ms-swift would count "
        "them as 0, and they cannot get the mean of their group, because this process has only a part of the group. "
        f"{_WHOLE_GROUPS}"
    )


# to_swift: turn a reward into outcome reward models (ORMs) of ms-swift, one for each term.


OFFERS = TrainerInputs("ms-swift", step=True, groups=True, batch=True, ids=True)


def to_swift(
    reward: Any,
    *,
    examples: Iterable[Mapping[str, Any]] | None = None,
    special_tokens: Any = None,
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> list[str]:
    """Register a reward with ms-swift as one ORM per term, and return the terms' names.

    ::

        rk.to_swift(0.8 * rk.number("answer") + 0.2 * rk.tags("answer"))     # in my_rewards.py
        # swift rlhf --rlhf_type grpo --external_plugins my_rewards.py --reward_funcs number tags

    All data columns are passed by name. Schedules and rewards that compare the completions for a prompt are supported.
    For a completion that cannot be scored, each term is the mean over the prompt's other completions, so the
    completion's advantage is 0.

    Args:
        reward: a reward, a plain function, or a list of them.
        examples: example rows, such as ``[{"answer": "42"}]``. The reward is tried on them immediately, so that missing
            columns and bugs are found before training starts.
        special_tokens: a tokenizer whose special tokens are removed from completions, or a list of strings to remove.
            With None, the special tokens of the trainer's tokenizer are removed. With ``()``, nothing is removed.
        record: the folder in which the run is recorded. ``rewardkit view`` displays the record.
        limits: an ``rk.Limits`` with the fractions of failed and errored completions above which the run stops.

    Returns:
        The terms' names, for ``--reward_funcs``.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward has no terms, a term has the same name as an ms-swift ORM, or the reward
            compares completions for different prompts.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
    """
    tokens = () if special_tokens is None else special_tokens
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=tokens,
        record=record,
        limits=limits,
        examples=examples,
    )
    names = scorer.scorer.terms
    if not names:
        raise RewardDefinitionError(
            f"{scorer.scorer.reward!r} has no term, so there is nothing to train on. Add a reward to it"
        )
    _register(Evaluator(scorer, finds_tokens=special_tokens is None))
    return list(names)


def _register(evaluator: Evaluator) -> None:
    try:
        from swift.rewards import ORM, orms
    except ImportError as error:
        warn(f"ms-swift cannot be imported ({error}), so the reward is not registered. Run: pip install ms-swift")
        return
    for name in evaluator.terms:
        if name in orms and not hasattr(orms[name], "evaluator"):
            raise RewardDefinitionError(
                f"to_swift: ms-swift already has a reward function named {name!r}. Rename the term: "
                f'reward.named("my_{name}")'
            )
    for name in evaluator.terms:
        orms[name] = _orm(ORM, evaluator, name)


def _orm(base: Any, evaluator: Evaluator, term: str) -> type[Any]:
    """Return an ORM class named after the term, because ms-swift logs the class name."""

    def call(self: Any, completions: Any, **columns: Any) -> list[float | None]:
        return evaluator.column(term, OrmCall(self, completions, columns))

    orm_class: type[Any] = type(base)(term, (base,), {"__call__": call, "evaluator": evaluator, "__module__": __name__})
    return orm_class


# from_swift: use an ms-swift outcome reward model (ORM) as a Reward.


_ROLLOUTS = ("prompt_id", "request_id", "finish_reason", "is_truncated", "rollout_infos", "response_token_ids")
"""The arguments about rollouts that ms-swift passes in addition to the columns."""


@final
@dataclass(frozen=True)
class Orm:
    """A callable that calls an ORM with the same arguments as ms-swift."""

    orm: Callable[..., Any]

    def __call__(self, completions: Sequence[Any], prompts: Sequence[Any], **columns: Any) -> Any:
        return self.orm(**arguments(self.orm, completions, prompts, columns))

    @property
    def __signature__(self) -> inspect.Signature:
        return signature_of(self.orm)


@final
@dataclass(frozen=True)
class AsyncOrm:
    """The async version of `Orm`."""

    orm: Callable[..., Any]

    async def __call__(self, completions: Sequence[Any], prompts: Sequence[Any], **columns: Any) -> Any:
        return await self.orm(**arguments(self.orm, completions, prompts, columns))

    @property
    def __signature__(self) -> inspect.Signature:
        return signature_of(self.orm)


def arguments(
    orm: Callable[..., Any], completions: Sequence[Any], prompts: Sequence[Any], columns: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments that ms-swift would pass and that the ORM accepts."""
    texts = [completion_text(completion, row) for row, completion in enumerate(completions)]
    messages = [
        [
            *_prompt_messages(prompt, row),
            *({"role": "assistant", **message} for message in as_messages(entry, "completions", row)),
        ]
        for row, (prompt, entry) in enumerate(zip(prompts, completions, strict=True))
    ]
    ids = columns.get("completion_ids")
    available = {**columns, "completions": texts, "messages": messages}
    if ids is not None:
        available["response_token_ids"] = [[list(token_ids)] for token_ids in ids]
    available = {
        name: value for name, value in available.items() if name not in ("completion_ids", "log_metric", "log_extra")
    }
    parameters = inspect.signature(orm).parameters
    if any(entry.kind is entry.VAR_KEYWORD for entry in parameters.values()):
        return available
    return {name: value for name, value in available.items() if name in parameters}


def _prompt_messages(prompt: Any, row: int) -> list[Mapping[str, Any]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}] if prompt else []
    return list(as_messages(prompt, "prompts", row))


def signature_of(orm: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of the ORM as a TRL reward function: the columns that the ORM names, and ``**given``."""
    parameters = inspect.signature(orm).parameters.values()
    fixed = ("completions", "prompts", "messages", "trainer_state", *_ROLLOUTS)
    column_parameters = [
        parameter.replace(kind=parameter.KEYWORD_ONLY)
        for parameter in parameters
        if parameter.name not in fixed and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    fixed_parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("completions", "prompts")
    ]
    return inspect.Signature(
        [*fixed_parameters, *column_parameters, inspect.Parameter("given", inspect.Parameter.VAR_KEYWORD)]
    )


def from_swift(orm: Any, name: str | None = None) -> Reward:
    """Turn an ms-swift ORM into a Reward: ``rk.from_swift(MathAccuracy) + 0.2 * rk.from_swift(Format)``.

    An ORM receives completions as strings, even with chat prompts. ``messages`` is the whole conversation. Fields from
    an ms-swift rollout, such as ``prompt_id`` and ``finish_reason``, are not passed. If the ORM returns None or NaN,
    the reward abstains.

    Args:
        orm: a subclass of ``ORM`` or ``AsyncORM``, an instance, or a function ``f(completions, **kwargs)`` that returns
            one number per completion. A class is instantiated with ``args=None``.
        name: the component's name, by default the name of the class or function.

    Raises:
        RewardTypeError: `orm` is not an ORM, cannot be instantiated without training arguments, or requires
            ``infer_requests``.
        BindingError: while scoring: a column is missing.
    """
    instance = _make_orm(orm) if isinstance(orm, type) else orm
    if isinstance(instance, (Reward, Schedule, str)) or not callable(instance):
        raise RewardTypeError(f"from_swift: expected an ms-swift ORM, got {shorten(orm)} ({type(orm).__name__})")
    label = name_of(instance)
    try:
        parameters = inspect.signature(instance).parameters
    except (TypeError, ValueError) as error:
        raise RewardTypeError(f"from_swift: cannot read the signature of {label} ({error})") from None
    if "completions" not in parameters:
        hint = " An ORM for inference has the argument infer_requests and is not used in training." * (
            "infer_requests" in parameters
        )
        raise RewardTypeError(f"from_swift: {label} has no argument completions, so it is not a GRPO ORM.{hint}")
    if not hashable(instance):
        raise RewardTypeError(f"from_swift: {label} is not hashable, but rewards must be hashable")
    leaf = from_trl(AsyncOrm(instance) if is_async(instance) else Orm(instance), name if name is not None else label)
    call_text = f"from_swift({label}{'' if name is None else f', name={name!r}'})"
    return written_as(leaf, call_text)


def _make_orm(kind: type) -> Any:
    try:
        return kind(args=None)
    except Exception as error:
        raise RewardTypeError(
            f"from_swift: {kind.__name__}(args=None) raised {type(error).__name__}: {error}. Create an instance "
            f"with the arguments that it needs, and pass the instance: rk.from_swift({kind.__name__}(...))"
        ) from None


# Export: the files and settings with which ms-swift uses a reward.


TESTED = Tested("ms-swift", ["4.6.0"])
_FILE = '''"""The reward for ms-swift."""

import rewardkit as rk
{imports}

names = rk.to_swift(reward)
'''
_CONFIG = """\
--external_plugins {{file}} \\
--reward_funcs {names}"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with ms-swift."""
    terms = Scorer(target.load()).terms
    names = " ".join(map(shlex.quote, terms)).replace("{", "{{").replace("}", "}}")
    return Export(
        {"rewards_swift.py": _FILE.format(imports=target.imports)},
        _CONFIG.format(names=names),
        TESTED,
        [
            "A completion that cannot be scored gets the mean scores of the prompt's other completions, so its "
            "advantage is 0."
        ],
    )
