"""The reward under test, which scores any completion for any of its examples.

``subject.see([Trial("<answer>42</answer>", 0)])`` scores a completion for the first example. If the reward raises an
exception, the result, a `TrialResult`, contains the exception.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rewardkit.batch.batch import RESERVED, Batch
from rewardkit.batch.environments import journals
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.score import Outcome
from rewardkit.batch.table import ScoreTable
from rewardkit.check.declarations import Declarations
from rewardkit.check.examples import Example
from rewardkit.check.findings import Law, Share
from rewardkit.check.reward_under_test.trials import (
    Trial,
    TrialResult,
    result_in_row,
    result_of_error,
    text_of,
    token_ids,
)
from rewardkit.check.reward_under_test.vocabulary import Mined, mine_reward, only_zipped, parameters_of, uses_argument
from rewardkit.check.variants.episodes.stage import Stage
from rewardkit.errors import BindingError, CoercionError, RewardBug, RewardFailure
from rewardkit.progress.progress import Progress
from rewardkit.tree.binding import Binding
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Reward, bindings

if TYPE_CHECKING:
    from rewardkit.check.reading.aims import Aim
    from rewardkit.check.reading.smells import Smells

# Arguments: the columns that a function has as parameters, and those that its code uses.


_OF_FORM = re.compile(
    r"form|style|tag|xml|struct|length|long|short|think|strict|soft|repet|lang|tone|layout", re.IGNORECASE
)
"""Matches the names of functions that judge an answer's format."""


def columns_of(binding: Binding, code: Mined, names: set[str]) -> set[str]:
    """Return the columns among `names` that a function uses. `code` contains the names that its code mentions."""
    function = binding.original
    if not binding.foreign:
        named = {column.source: column.name for column in binding.columns}
        if binding.reads("example"):
            return set(named) | (names & code.names)
        return {source for source, name in named.items() if binding.trusted or uses_argument(function, name)}
    parameters = parameters_of(function)
    if parameters is None:
        return set(names)
    used = named_arguments(function, names)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        used |= names & code.names - set(parameters)
    return used


def named_arguments(function: Any, names: set[str]) -> set[str]:
    """Return the columns among `names` that are parameters of a function and used in its code."""
    return {name for name in parameters_of(function) or () if name in names and uses_argument(function, name)}


def is_argument(function: Any, name: str) -> bool:
    """Return whether a function needs a column as a parameter.

    A format reward that only zips the column does not need it. Its code was copied from a reward that judges answers.
    """
    is_of_form = _OF_FORM.search(getattr(function, "__name__", ""))
    return name in (parameters_of(function) or ()) and not (is_of_form and only_zipped(function, name))


_NO_LAW = Law("", lambda subject: iter(()))
NOWHERE = Stage()
"""The default stage: without an environment or tools, calls have the results written in the completion."""

_OF_PROMPTS = ("prompt", "prompts")
_SLOW = 1.0
"""If a batch takes more seconds than this, the reward takes too long for long completions. Arbitrary: a few such
completions would use up a budget of 40 s."""


class OutOfTime(BaseException):
    """Raised when a law has no time left. It is not an Exception, because a law may catch exceptions."""


class RewardUnderTest:
    """A reward with its examples, whose scores are cached and timed.

    Args:
        reward: the reward tree.
        examples: the examples, at least one.
        plain: whether the reward is a reward function for a trainer.
        seed: the seed for all random choices.
        declarations: the author's declarations.
        whole: the sum of all rewards in the run, if this reward is one of several.
        stage: the environment or tools that run a completion's calls.
        part: the reward's name if it is an addend of a sum that is checked separately.
        imports: statements that import the reward as ``reward``, or "" if the reward cannot be located.

    Attributes:
        law: the law that is being checked.
        covered: whether, for this law, this reward accepted an incorrect completion that the sum of all rewards
            rejects.
        rejects: whether an incorrect completion of a law was observed to score below a correct one.
        shares: what lazy policies get, if this law measured it.
        slow: a completion that was slow while this law was checked, with the time in seconds, or None if there is none.
    """

    def __init__(
        self,
        reward: Reward,
        examples: Sequence[Example],
        *,
        plain: bool = False,
        seed: int = 0,
        declarations: Declarations | None = None,
        whole: RewardUnderTest | None = None,
        stage: Stage = NOWHERE,
        part: str = "",
        imports: str = "",
    ) -> None:
        self.reward = reward
        self.examples = tuple(examples)
        self.plain = plain
        self.seed = seed
        self.scorer = Scorer(reward)
        self.tries = 0
        self.deadline = math.inf
        self._stop = math.inf
        self.declarations = declarations or Declarations()
        self._memory: dict[Any, Any] = {}
        self._avoided: set[tuple[Any, ...]] = set()
        self._watch: Callable[[Sequence[Trial] | None], None] = _unwatched
        self._results: dict[tuple[Any, ...], TrialResult] = {}
        self._seconds = 0.0
        self._scored = 0
        self._reached: dict[str, int] = {}
        self._longest = math.inf
        self.slow: tuple[Trial, float] | None = None
        self.whole = whole
        self.stage = stage
        self.covered = False
        self.rejects = False
        self.shares: tuple[Share, ...] = ()
        self.law = _NO_LAW
        self.part = part
        self.imports = imports

    def addend(self, reward: Reward, *, name: str = "", declarations: Declarations | None = None) -> RewardUnderTest:
        """Return an addend as a reward under test with the same examples. This reward becomes its `whole`."""
        return RewardUnderTest(
            reward,
            self.examples,
            plain=is_foreign(reward),
            seed=self.seed,
            declarations=declarations,
            whole=self.whole or self,
            stage=self.stage,
            part=name,
        )

    def resume(self, results: Mapping[str, int]) -> None:
        """Let laws continue after the kinds of completions already tried. `results` maps a law to their number."""
        self._reached.update(results)

    def reached(self, law: str) -> int:
        """Return how many kinds of completions a law has already tried."""
        return self._reached.get(law, 0)

    def skip_longer(self, size: int) -> None:
        """From now on, skip completions longer than `size`, because the reward is slow and other laws need the time."""
        # Arbitrary: at least 200 characters, so that right completions are still scored.
        self._longest = min(self._longest, max(size, 200))

    def avoid(self, trials: Iterable[Trial]) -> None:
        """Never score these completions again, for any example, because the reward hung or crashed on one of them."""
        self._avoided.update(_key(trial)[:-1] for trial in trials)

    @property
    def longest(self) -> int:
        """The maximum length of completions that are still scored, or 0 for any length."""
        return int(self._longest) if math.isfinite(self._longest) else 0

    def skips(self, trial: Trial) -> bool:
        """Return whether a completion is skipped: it is too long for a slow reward, or the reward hung or crashed."""
        return len(text_of(trial.completion)) > self._longest or _key(trial)[:-1] in self._avoided

    @property
    def lost(self) -> bool:
        """Whether the reward has hung or crashed on a completion."""
        return bool(self._avoided)

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Inside the ``with`` block, raise `OutOfTime` instead of scoring once the time is up."""
        limited = [subject for subject in (self, self.whole) if subject is not None]
        for subject in limited:
            subject._stop = time.monotonic() + seconds
        try:
            yield
        finally:
            for subject in limited:
                subject._stop = math.inf

    # Facts about the reward that need no call

    @cached_property
    def bindings(self) -> list[tuple[Reward, Binding]]:
        """The nodes that call functions, with their bindings."""
        return bindings(self.reward)

    @cached_property
    def mined(self) -> Mined:
        return mine_reward(self.reward)

    @cached_property
    def aims(self) -> list[Aim]:
        """The texts and cells to try, as suggested by the source of the reward's functions."""
        from rewardkit.check.reading.aims import aims

        return aims(self.reward)

    @cached_property
    def smells(self) -> Smells:
        """The patterns in the source of the reward's functions that may fail."""
        from rewardkit.check.reading.smells import smells

        return smells(self.reward)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        return self.reward.bounds

    @cached_property
    def conversational(self) -> bool:
        """Whether the given completions are chat messages."""
        completions = [completion for example in self.examples for completion in (*example.good, *example.bad)]
        if not completions:
            return any(isinstance(example.prompt, list) for example in self.examples)
        return any(not isinstance(completion, str) for completion in completions)

    @cached_property
    def columns_read(self) -> frozenset[str]:
        """The columns that the reward's functions use."""
        read: set[str] = set()
        for _, binding in self.bindings:
            read |= columns_of(binding, self.mined, {name for example in self.examples for name in example.columns})
        return frozenset(read)

    @cached_property
    def columns_named(self) -> frozenset[str]:
        """The columns that are read and are named parameters."""
        named: set[str] = set()
        column_names = {name for example in self.examples for name in example.columns}
        for _, binding in self.bindings:
            named |= columns_of(binding, Mined((), (), frozenset()), set())
            if binding.foreign:
                named |= named_arguments(binding.original, column_names)
        return frozenset(named)

    @cached_property
    def columns_forgotten(self) -> frozenset[str]:
        """The columns that a function has as parameters but never reads. Empty if the run has other rewards."""
        if self.whole is not None:
            return frozenset()
        column_names = {name for example in self.examples for name in example.columns}
        asked_columns: set[str] = set()
        for _, binding in self.bindings:
            if binding.foreign:
                asked_columns |= {name for name in column_names if is_argument(binding.original, name)}
            else:
                asked_columns |= {column.source for column in binding.columns}
        return frozenset(asked_columns - self.columns_read)

    @cached_property
    def reads_prompts(self) -> bool:
        """Whether any of the reward's functions uses the prompt, or all columns at once."""
        for _, binding in self.bindings:
            if not binding.foreign and binding.reads("prompt", "example"):
                return True
            if binding.foreign and any(is_argument(binding.original, name) for name in _OF_PROMPTS):
                return any(uses_argument(binding.original, name) for name in _OF_PROMPTS)
        return bool(self.mined.names & set(_OF_PROMPTS))

    @cached_property
    def scope(self) -> str:
        """The declared scope of the rows needed to score a completion: ``"sample"``, ``"group"``, or ``"batch"``."""
        scopes = {binding.scope for _, binding in self.bindings if not binding.foreign} | {_deepest_scope(self.reward)}
        return next((scope for scope in ("batch", "group") if scope in scopes), "sample")

    def score_in_groups(self) -> None:
        """From now on, score each trial together with the given completions of its example."""
        self.__dict__["scope"] = "group"
        self._results.clear()
        self._memory.clear()

    @cached_property
    def deterministic(self) -> bool:
        """Whether the reward declares that it is deterministic."""
        return all(binding.deterministic for _, binding in self.bindings)

    def remembered(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the result of `make`. It is called only once per key."""
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    def remembers(self, key: Any) -> bool:
        """Return whether there is a remembered result for `key`."""
        return key in self._memory

    def watch(self, before: Callable[[Sequence[Trial] | None], None]) -> None:
        """Call `before` with trials before they are scored, and with None afterward."""
        self._watch = before
        if self.whole is not None:
            self.whole.watch(before)

    # Scores

    def see(self, trials: Iterable[Trial], *, fresh: bool = False) -> list[TrialResult]:
        """Return the score of each trial. A known score is reused unless `fresh` is True."""
        listed = list(trials)
        keys = [_key(trial) for trial in listed]
        missing = {key: trial for key, trial in zip(keys, listed, strict=True) if fresh or key not in self._results}
        for key in [key for key in missing if key[:-1] in self._avoided]:
            del missing[key]
            self._results[key] = TrialResult(math.nan, Outcome.SKIPPED, "the reward hung or crashed on it")
        for key in [key for key, trial in missing.items() if self.skips(trial)]:
            del missing[key]
            self._results[key] = TrialResult(
                math.nan, Outcome.SKIPPED, "the reward is slow, and the completion is long"
            )
        new_scores = dict(zip(missing, self._score(list(missing.values())), strict=True)) if missing else {}
        for key, score in new_scores.items():
            self._results.setdefault(key, score)
        return [new_scores[key] if key in new_scores else self._results[key] for key in keys]

    def known(self, trials: Iterable[Trial]) -> list[TrialResult]:
        """Return the results of the trials that were already scored."""
        return [self._results[key] for key in map(_key, trials) if key in self._results]

    def value(self, completion: Any, example: int = 0, columns: Mapping[str, Any] | None = None) -> float:
        """Return the total of one completion, or NaN if it has none."""
        return self.see([Trial(completion, example, columns)])[0].value

    def _score(self, trials: list[Trial]) -> list[TrialResult]:
        if self.scope != "sample" or self.plain:
            return [self._alone(trial) for trial in trials]
        scores: list[TrialResult] = []
        # Arbitrary batch size: large enough for rewards that are fast in batches, small enough that one broken
        # completion costs little.
        for start in range(0, len(trials), 32):
            scores += self._together(trials[start : start + 32])
        return scores

    def _together(self, trials: list[Trial]) -> list[TrialResult]:
        if len(trials) == 1:
            return [self._alone(trials[0])]
        try:
            table = self.table(trials)
        except Exception:  # one of the trials caused it: score each by itself
            return [self._alone(trial) for trial in trials]
        return [result_in_row(table, row) for row in range(len(trials))]

    def _alone(self, trial: Trial) -> TrialResult:
        """Score one completion. If the reward compares completions, put it after its example's given completions."""
        neighbors = self.beside(trial.example) if self.scope != "sample" else []
        try:
            table = self.table([*(replace(trial, completion=completion) for completion in neighbors), trial])
        except (BindingError, CoercionError):
            raise
        except (RewardBug, RewardFailure) as error:
            return result_of_error(error)
        return result_in_row(table, len(table) - 1)

    def beside(self, example: int) -> list[Any]:
        """Return the completions that form a group with a trial, if the reward compares completions."""
        row = self.examples[example]
        return [*row.good[:2], *row.bad[:2]] or [self.formed("."), self.formed("No.")]

    def table(self, trials: Sequence[Trial], progress: Progress | None = None) -> ScoreTable:
        """Score `trials` as one batch, in this order."""
        if time.monotonic() > self._stop:
            raise OutOfTime
        batch = self.batch(trials, progress)
        self.tries += len(trials)
        self._watch(trials)
        started, before = time.perf_counter(), time.process_time()
        try:
            return self.scorer.score(batch, strict=False)
        finally:
            spent = time.perf_counter() - started
            self._seconds += spent
            self._scored += len(trials)
            busy = time.process_time() - before
            if busy > _SLOW:
                self.slow = max(trials, key=lambda trial: len(text_of(trial.completion))), busy
            self._watch(None)

    def check_columns(self) -> None:
        """Raise a BindingError if the examples lack a column that the reward reads. No calls are run."""
        everything = [Trial(self.formed(""), number) for number in range(len(self.examples))]
        self.scorer.check(self.batch(everything, play=False))

    def batch(self, trials: Sequence[Trial], progress: Progress | None = None, *, play: bool = True) -> Batch:
        """Return the trials as a batch, after their calls have been run unless `play` is False."""
        rows = [self.examples[trial.example] for trial in trials]
        columns = [{**row.columns, **(trial.columns or {})} for row, trial in zip(rows, trials, strict=True)]
        all_columns = (
            *(example.columns for example in self.examples),
            *columns,
        )  # a dataset has all columns in all rows
        names = dict.fromkeys(name for row in all_columns for name in row if name not in RESERVED)
        prompts = [(trial.columns or {}).get("prompt", row.prompt) for row, trial in zip(rows, trials, strict=True)]
        completions = [trial.completion for trial in trials]
        environments: list[Any] | None = None if self.stage.environment is None else [None] * len(trials)
        if play and self.stage.real:
            played = [
                self.stage.played(completion, _row(prompt, cells))
                for completion, prompt, cells in zip(completions, prompts, columns, strict=True)
            ]
            completions = [completion for completion, _ in played]
            environments = environments and [environment for _, environment in played]
        return Batch(
            completions,
            prompts=None if all(prompt is None for prompt in prompts) else prompts,
            completion_ids=[token_ids(completion) for completion in completions],
            columns={name: [row.get(name) for row in columns] for name in names},
            progress=progress,
            context=None if environments is None else {"environments": environments},
            rollouts=RolloutInfo(**journals(environments)),
        )

    def measure(self) -> None:
        """Measure the cost of scoring a completion. The first call does not count, since it may load a model."""
        trials = [Trial(self.beside(number)[0], number) for number in range(len(self.examples))][:2]
        self.see(trials)
        times: list[float] = []
        while len(times) < 3 and sum(times) < 0.1:  # on a busy machine, a quick call may look slow once
            self._seconds, self._scored = 0.0, 0
            self.see(trials, fresh=True)
            times.append(self._seconds)
        self._seconds = min(times)

    @property
    def cost(self) -> float:
        """The mean seconds per scored completion."""
        return self._seconds / self._scored if self._scored else 0.0

    def affordable(self, count: int, share: float = 0.25) -> int:
        """Return how many of `count` completions fit into a `share` of the time left, at least 8."""
        if self.cost == 0.0:
            return count
        # Arbitrary: with fewer than 8, a law would say nothing.
        return max(8, min(count, int(self.left * share / self.cost)))

    @property
    def left(self) -> float:
        """The number of seconds until the budget is used up."""
        # At most an hour: a budget may be infinite, but shares of it must not be.
        return max(0.0, min(self.deadline - time.monotonic(), 3600.0))

    def formed(self, text: str) -> Any:
        """Return a text in the format of the given completions, which is text or chat messages."""
        return [{"role": "assistant", "content": text}] if self.conversational else text


def _row(prompt: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row in the format in which a trainer passes it to ``reset``."""
    return {**({} if prompt is None else {"prompt": prompt}), **columns}


def _unwatched(trials: Sequence[Trial] | None) -> None:
    """Do nothing: the default callback."""


def _deepest_scope(reward: Reward) -> str:
    deepest: str = reward.facts.together
    for child in reward.children:
        below = _deepest_scope(child)
        deepest = below if (deepest, below) != ("batch", "group") and below != "sample" else deepest
    return deepest


def _key(trial: Trial) -> tuple[Any, ...]:
    completion = trial.completion if isinstance(trial.completion, str) else json.dumps(trial.completion, default=repr)
    columns = None if trial.columns is None else repr(sorted(trial.columns.items()))
    return type(trial.completion) is str, completion, columns, trial.example


def is_foreign(tree: Reward) -> bool:
    """Return whether any function in the tree was written for a trainer."""
    return any(binding.foreign for _, binding in bindings(tree))
