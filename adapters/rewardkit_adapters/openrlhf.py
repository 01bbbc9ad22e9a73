"""rewardkit and OpenRLHF: ``rk.to_openrlhf(reward)`` creates a reward function for training.

This module does not import OpenRLHF.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, final

from rewardkit.batch.messages import prompt_text
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.online.batches import RunExit, check_patience
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.labels import columns
from rewardkit.online.rows import Row, RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.serve.dialects import Answer, BadRequest, Score, list_at

# Queries of OpenRLHF: the prompt and the completion in one text.


_PROMPTS = 1_024
"""The maximum number of cached decoded prompts, enough for the completions in one step."""


@final
class Queries:
    """A splitter that removes the prompt from a query: ``Queries(None).completion("2+2=4", "2+2=")`` is ``"4"``.

    OpenRLHF encodes the prompt and later decodes the prompt and the completion as one sequence. A query therefore
    begins with the prompt as the tokenizer decodes it.

    Args:
        tokenizer: the model's tokenizer. Other values, such as a list of special tokens, are ignored.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer: Any = tokenizer if callable(getattr(tokenizer, "decode", None)) else None
        self._lock = threading.Lock()
        self._decoded = lru_cache(_PROMPTS)(self._decode)

    def completion(self, query: str, prompt: str) -> str | None:
        """Return the completion in a query, or None if the query does not begin with the prompt."""
        if query.startswith(prompt):
            return query[len(prompt) :]
        if self._tokenizer is not None:
            with self._lock:  # tokenizers are not thread-safe
                decoded = self._decoded(prompt)
            if query.startswith(decoded):
                return query[len(decoded) :]
        return None

    def why(self, query: str, prompt: str) -> str:
        """Return the reason why the completion in a query cannot be determined."""
        fix = "" if self._tokenizer is not None else ", and pass special_tokens=tokenizer"
        return (
            f"the query {shorten(query)} does not begin with the prompt {shorten(prompt)}: OpenRLHF truncated the "
            "prompt, or the tokenizer does not reproduce it exactly, so the start of the completion is unknown. Drop "
            f"prompts that are longer than --data.max_len minus --rollout.max_new_tokens{fix}"
        )

    def _decode(self, prompt: str) -> str:
        ids = self._tokenizer(text=prompt, add_special_tokens=False)["input_ids"]
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))


# to_openrlhf: turn a reward into an OpenRLHF reward function.


TESTED = ("0.11.2",)
OFFERS = TrainerInputs("OpenRLHF", end_token=True)
PATIENCE = 300.0
"""The number of seconds to wait for a completion's score if OpenRLHF cannot exclude the completion. The limit is
arbitrary, but long enough that an outage of a few minutes does not end a run."""
_OF_OPENRLHF = {
    "reward", "score", "return", "kl", "logprobs_diff", "group_reward_std", "response_clip_ratio", "response_length",
    "truncated", "total_length", "ppo_clip_ratio", "ppo_kl", "vllm_kl", "is_filter_ratio", "policy_loss",
    "entropy_loss", "actor_lr", "actor_grad_norm", "critic_loss", "critic_lr", "values",
}  # fmt: skip
"""The names of numbers that OpenRLHF logs itself. A term with one of these names would overwrite OpenRLHF's number or
be overwritten by it."""

RewardFunc = Callable[[Sequence[str], Sequence[str], Sequence[Any]], dict[str, Any]]


def to_openrlhf(
    reward: Any,
    *,
    gold: str = "answer",
    dynamic_filtering: bool = False,
    patience: float | None = None,
    examples: Iterable[Mapping[str, Any]] | None = None,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> RewardFunc:
    """Turn a reward into an OpenRLHF reward function.

    ::

        reward_func = rk.to_openrlhf(reward, gold="answer", special_tokens=tokenizer)     # in my_rewards.py
        # --reward.remote_url my_rewards.py --data.label_key answer

    The function returns ``{"rewards": total, "scores": total, "extra_logs": {"<term>": ..., "components/<name>":
    ...}}``, always with the same keys. A component that abstained is logged as 0.0. With `dynamic_filtering`, a
    completion that cannot be scored gets NaN, and OpenRLHF replaces its group. Otherwise, scoring is retried for
    `patience` seconds. If it still fails, training stops, because OpenRLHF can train only on numbers.

    Args:
        reward: a reward, a plain function, or a list of them.
        gold: the reward column to fill with the label. The label is also available as the column "label". If the label
            is a JSON object, its entries are also columns.
        dynamic_filtering: whether you train with ``--algo.dynamic_filtering_enable``. Both settings must match.
        patience: the number of seconds for which a failed completion is retried, by default 300, or 0 with
            `dynamic_filtering`.
        examples: example rows, such as ``[{"answer": "42"}]``. The reward is tried on them immediately, so that missing
            columns and bugs are found before training starts.
        special_tokens: the tokenizer whose special tokens are removed from completions, or a list of strings to remove.
            By default, only the usual end token is removed.
        record: the folder in which the run is recorded. ``rewardkit view`` displays the record.
        limits: an ``rk.Limits`` with the fractions of failed and errored completions above which training stops.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions or depends on training progress, neither of which works
            with OpenRLHF; or an argument is out of range.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
    """
    if not isinstance(dynamic_filtering, bool):
        raise RewardDefinitionError(f"dynamic_filtering= must be True or False, got {dynamic_filtering!r}")
    seconds = (0.0 if dynamic_filtering else PATIENCE) if patience is None else patience
    check_patience(seconds)
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        limits=limits,
        examples=examples,
    )
    queries = Queries(special_tokens)

    def score(query: str, prompt: str, label: Any) -> RowScore:
        completion = queries.completion(query, prompt)
        if completion is None:
            return scorer.refuse(Row(query, prompt, columns(label, gold)), queries.why(query, prompt))
        [only_score] = scorer.score([Row(completion, prompt, columns(label, gold))], patience=seconds)
        return only_score

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
        if not len(queries) == len(prompts) == len(labels) == 1:
            raise RunExit(
                f"OpenRLHF: expected one completion per call, as in OpenRLHF {TESTED[-1]}, got {len(queries)} queries, "
                f"{len(prompts)} prompts, and {len(labels)} labels. Install openrlhf=={TESTED[-1]}"
            )
        try:
            row_score = score(queries[0], prompts[0], labels[0])
        except Exception as error:  # OpenRLHF would log the error and train without a reward
            scorer.flush()
            raise RunExit(f"OpenRLHF: {type(error).__name__}: {error}") from error
        if not row_score.scored and not dynamic_filtering:
            scorer.flush()
            raise RunExit(_missing_score_text(row_score, seconds))
        total = math.nan if row_score.total is None else row_score.total
        return {"rewards": total, "scores": total, "extra_logs": logs(row_score)}

    return reward_func


def logs(score: RowScore) -> dict[str, float]:
    """Return the numbers for OpenRLHF's log. The names are the same for every completion."""
    return {name: value or 0.0 for name, value in score.numbers(_OF_OPENRLHF).items()}


def _missing_score_text(score: RowScore, seconds: float) -> str:
    remedy = f"Fix the cause and resume. Raise patience= if a service was down for more than {seconds:g} s."
    if score.unparsable:
        remedy = "Fix the data row and resume. To find such gold answers before training, pass all rows as examples=."
    return (
        f"OpenRLHF: a completion has no score: {score.why}. Training ends here, because OpenRLHF can train only on a "
        f"number, and any number would be invented. {remedy} If you train with --algo.dynamic_filtering_enable, pass "
        "dynamic_filtering=True, so that the group is replaced"
    )


# The path to which OpenRLHF posts: ``--reward.remote_url http://host:8000/openrlhf``.


SERVED_PATIENCE = 150.0
"""The number of seconds for which a failed row is retried, within the 180 s limit for one request."""
_GOLD = "answer"


async def score_completions(payload: Any, score: Score) -> Answer:
    """Score completions for OpenRLHF. If one has no score, return status 503, so that OpenRLHF retries."""
    scores = await _scores(payload, score, SERVED_PATIENCE)
    missing = next((row_score for row_score in scores if not row_score.scored), None)
    if missing is not None:
        return Answer({"error": f"a completion has no score: {missing.why}"}, 503, {"Retry-After": "5"})
    return _answer(scores)


async def filtered(payload: Any, score: Score) -> Answer:
    """Score completions for OpenRLHF with dynamic filtering.

    A completion without a score gets NaN, and OpenRLHF replaces its group."""
    return _answer(await _scores(payload, score, 0.0))


async def _scores(payload: Any, score: Score, patience: float) -> list[RowScore]:
    queries, prompts, labels = (list_at(payload, name) for name in ("query", "prompts", "labels"))
    if not len(queries) == len(prompts) == len(labels):
        raise BadRequest(f"expected lists of equal length, got {len(queries)}, {len(prompts)}, and {len(labels)}")
    splitter, rows = Queries(None), []
    for query, prompt, label in zip(queries, prompts, labels, strict=True):
        if not isinstance(query, str):
            raise BadRequest("query: expected a list of strings")
        prompt_prefix = prompt_text(prompt)
        completion = splitter.completion(query, prompt_prefix)
        if completion is None:
            raise BadRequest(splitter.why(query, prompt_prefix))
        rows.append(Row(completion, prompt, columns(label, _GOLD)))
    return await score(rows, patience=patience)


def _answer(scores: list[RowScore]) -> Answer:
    totals = [math.nan if entry.total is None else entry.total for entry in scores]
    if len(scores) == 1:
        return Answer({"rewards": totals[0], "scores": totals[0], "extra_logs": logs(scores[0])})
    row_logs = [logs(entry) for entry in scores]
    together = {name: [entry[name] for entry in row_logs] for name in row_logs[0]} if row_logs else {}
    return Answer({"rewards": totals, "scores": totals, "extra_logs": together})


dialect = {"/openrlhf": score_completions, "/openrlhf/dynamic_filtering": filtered}


# Export: the files and settings with which OpenRLHF uses a reward.


_FILE = '''"""The reward for OpenRLHF."""

import rewardkit as rk
{imports}

# gold= names the reward's column that the label fills. Pass special_tokens=tokenizer with your model's tokenizer.
# Pass dynamic_filtering=True if you train with --algo.dynamic_filtering_enable.
reward_func = rk.to_openrlhf(reward, gold="{gold}")
'''
_CONFIG = """\
--reward.remote_url {file}
--data.label_key {gold}"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with OpenRLHF."""
    return Export(
        {"rewards_openrlhf.py": _FILE.format(imports=target.imports, gold=target.gold)},
        _CONFIG.replace("{gold}", target.gold),
        Tested("openrlhf", TESTED),
        [
            "If a completion cannot be scored, scoring is retried for 300 s, and then training ends. With "
            "--algo.dynamic_filtering_enable and dynamic_filtering=True, the completion's group is replaced instead."
        ],
    )
