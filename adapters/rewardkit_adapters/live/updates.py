"""Updates: replace the reward between two training steps, on all processes at the same step."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rewardkit.analyze.advantages import Way
from rewardkit.batch.batch import Batch
from rewardkit.errors import RewardFailure, RewardKitError, shorten
from rewardkit.progress import states
from rewardkit.tree.reward import Reward
from rewardkit_adapters.live import trial
from rewardkit_adapters.live.mailbox import Answer, Mailbox, Request
from rewardkit_adapters.live.numbers import numbers_of, replaced_values, with_numbers
from rewardkit_adapters.live.sources import MODULES, Imported, write_sources
from rewardkit_adapters.live.trial import (
    Sample,
    TrialScores,
    compare_trials,
    means_of,
    run_trial,
    run_trial_in_child,
    undisturbed,
)
from rewardkit_adapters.trl.layout import Columns, RewardColumns
from rewardkit_adapters.trl.memory import saved_in
from rewardkit_adapters.trl.scored import Scored
from rewardkit_adapters.trl.trainer import Trainer

if TYPE_CHECKING:
    from rewardkit_adapters.trl.evaluator import Evaluator


# The versions of a reward. Each update creates a version from the previous one, and can create it again.


Records = Mapping[int, tuple[Request, Answer]]


@dataclass(frozen=True)
class Version:
    """A version of the reward that is or was active.

    Attributes:
        update: the number of the update that created the version, or 0 for the training script's version.
        raw: whether the trainer itself applies the weights, which come from a plain sum or from the script's list.
    """

    update: int
    reward: Reward
    imported: Imported | None
    raw: bool = False

    def layout(self, columns: Columns) -> RewardColumns:
        return RewardColumns.of(self.reward, columns, raw=self.raw)


class Versions:
    """The versions of one run's reward.

    Args:
        version: the training script's version.
    """

    def __init__(self, mailbox: Mailbox, version: Version) -> None:
        self._mailbox = mailbox
        self._known = {version.update: version}

    def use(self, version: Version) -> None:
        """Store `version` as the training script's version."""
        self._known[version.update] = version

    def forget(self, update: int) -> None:
        """Drop a version that was created and then rejected."""
        self._known.pop(update, None)

    def target(self, request: Request, now: Version) -> int:
        """Return the version that a rollback restores."""
        if request.to is not None:
            answer = self._mailbox.answer(request.to)
            if request.to and (answer is None or answer.status != "applied"):
                raise RewardKitError(
                    f"version {request.to} was never active, so there is nothing to go back to. See --history"
                )
            return request.to
        origin = self._origin(now.update)
        if origin == 0:
            raise RewardKitError("the active reward is the script's original reward, so there is nothing to go back to")
        answer = self._mailbox.answer(origin)
        return self._origin(answer.before if answer is not None else 0)

    def _origin(self, update: int) -> int:
        """Return the update that created a version, or that created the restored version for a rollback."""
        answer = self._mailbox.answer(update)
        return update if answer is None or answer.to is None else self._origin(answer.to)

    def records(self, update: int) -> dict[int, tuple[Request, Answer]]:
        """Read from the mailbox all updates on which a version is based."""
        collected: dict[int, tuple[Request, Answer]] = {}
        queue = [update]
        while queue:
            number = queue.pop()
            request, answer = self._mailbox.request(number), self._mailbox.answer(number)
            if number and number not in collected and request is not None and answer is not None:
                collected[number] = request, answer
                queue += [answer.to or 0] if request.kind == "rollback" else [answer.before]
        return collected

    def get(self, update: int, records: Records) -> Version:
        if update not in self._known:
            if update not in records:
                raise RewardKitError(f"there is no update {update}")
            request, answer = records[update]
            self.made(request, answer.before, answer.to, records)
        return self._known[update]

    def made(self, request: Request, before: int, to: int | None, records: Records) -> Version:
        """Create the version for a request from the version `before` it, or from the version `to` for a rollback."""
        from rewardkit_adapters.trl.layout import successor

        if request.kind == "reward" and request.code is not None:
            folder = self._mailbox.code_folder(request.update)
            write_sources(request.code.files, folder)
            imported = MODULES.imported(request.code, folder)
            base = self.get(before, records)
            weights = base.layout("terms").held if base.raw else None
            version = Version(request.update, successor(imported.reward, weights), imported, base.raw)
        elif request.kind == "numbers":
            base = self.get(before, records)
            version = Version(request.update, with_numbers(base.reward, request.numbers), base.imported, base.raw)
        else:
            base = self.get(to or 0, records)
            version = Version(request.update, base.reward, base.imported, base.raw)
        self._known[request.update] = version
        return version


# Apply requests between two steps of a training, on all of its processes at the same step.


_LOG = logging.getLogger("rewardkit")
_SAVED = "updates"
"""The key in a checkpoint under which the number of each run's active update is saved."""
_PAUSE = 5.0
"""The number of seconds between mailbox checks in a process without training steps. The interval is arbitrary, but not
shorter because each check reads a folder that may be on a network drive."""
_MOST = 32
"""The maximum number of requests per step. The limit is arbitrary, but low because requests are read between two steps,
while the GPUs wait."""


@dataclass(frozen=True)
class Look:
    """The main process's decision on a request.

    Attributes:
        refusal: the reason for rejecting the request, or None if the request may be applied.
        to: the version that a rollback restores.
        records: the data that other processes need to create this version.
        withdrawn: whether the request was canceled and already has an answer.
    """

    refusal: str | None = None
    to: int | None = None
    records: Records | None = None
    trial: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    after: TrialScores | None = None
    withdrawn: bool = False


class Updates:
    """The updates of one evaluator's reward.

    Args:
        run: the local folder with the evaluator's record.
        layout: the training script's columns and reward.

    Attributes:
        version: the number of the active update, or 0 before the first update.
    """

    def __init__(self, run: str, layout: RewardColumns) -> None:
        self.mailbox = Mailbox(run)
        self.version = 0
        self._now = Version(0, layout.reward, None, layout.raw)
        self._versions = Versions(self.mailbox, self._now)
        self._answered: set[int] = set()
        self._again: list[Answer] = []
        self._trainer: Callable[[], Any] = lambda: None
        self._state: Any = None
        self._last: tuple[Batch, Scored, Way | None, states.States] | None = None
        self._after: TrialScores | None = None  # the scores of the last batch with an update that was applied after it
        self._unwritten: dict[int, Answer] = {}
        self._looked = 0.0

    def use(self, layout: RewardColumns) -> None:
        """Replace the script's own reward with the reward in `layout`, because the trainer has different weights."""
        version = Version(0, layout.reward, None, layout.raw)
        self._versions.use(version)
        if self._now.update == 0:
            self._now = version

    def remember(self, evaluator: Evaluator, batch: Batch, scored: Scored, trainer: Trainer) -> None:
        """Store the last training batch, so that the next reward can be tried on it."""
        self._last = batch, scored, trainer.way, evaluator.memory.states
        self._after = None

    def begin(self, evaluator: Evaluator, trainer: Trainer, state: Any, *, scoring: bool = False) -> None:
        """Activate the version in the trainer's state. For new training, it is the script's reward.

        Args:
            scoring: whether a batch is being scored, so that the columns cannot change.

        Raises:
            RewardFailure: the version cannot be loaded, or it has different columns but a batch is being scored.
        """
        if not trainer.known or state is None or state is self._state:
            return
        self._state, self._trainer = state, weakref.ref(trainer.instance)
        MODULES.keep([updates for entry in trainer.reward_functions if (updates := _updates_of(entry)) is not None])
        saved = self._saved(state)
        records = trainer.on_main(lambda: self._versions.records(saved))
        if saved != self._now.update:
            version = self._saved_version(saved, records)
            names = version.layout(evaluator.layout.columns).names
            if scoring and names != evaluator.layout.names:
                raise RewardFailure(
                    f"this run resumes with version {saved} of its reward, which has different columns. Pass "
                    "callbacks=[funcs.callback()] to the trainer, so that the columns exist before the first batch"
                )
            self._adopt(evaluator, version, trainer, state)
        if trainer.is_main:
            step = state.global_step
            answers = [self.mailbox.answer(request.update) for request in self.mailbox.requests()] if step else []
            applied = [
                entry for entry in answers if entry is not None and entry.status == "applied" and entry.update > saved
            ]
            # Updates of the interrupted run apply again from the same steps on.
            self._again = [entry for entry in applied if entry.step is not None and entry.step >= step]
            origin = "the script's own" if not saved else f"from the checkpoint of step {step}"
            self._publish(evaluator, state, origin)
            if not step:
                self._refuse_all(
                    "it was sent before this training run started with the script's own reward. Send it again"
                )

    def end(self, state: Any) -> None:
        """Reject all remaining requests when training ends."""
        if state is self._state and state.is_world_process_zero and state.global_step >= state.max_steps:
            self._refuse_all(f"training finished after {state.global_step} steps, before the request could be applied")

    def take(self, evaluator: Evaluator, state: Any) -> None:
        """Apply pending requests. This method is called on all processes before each step."""
        trainer = Trainer(self._trainer(), evaluator)
        if not trainer.known or state is not self._state:
            return
        for request, again in trainer.on_main(lambda: self._waiting(state.global_step)):
            self._take(evaluator, trainer, state, request, again)

    def refuse_elsewhere(self) -> None:
        """Reject requests in a process that scores for a trainer in another process."""
        if time.monotonic() - self._looked > _PAUSE:
            self._looked = time.monotonic()
            self._refuse_all(
                "asynchronous GRPO scores completions outside the trainer's process, where there is no training step "
                "at which to apply an update"
            )

    def _refuse_all(self, reason: str) -> None:
        with self._harmless():
            for request in self.mailbox.pending(self._answered):
                self._answer(Answer(request.update, "refused", reason, before=self._now.update))

    def _waiting(self, step: int) -> list[tuple[Request, Answer | None]]:
        """Return the work due at `step`: updates to repeat, and new requests if there is a batch for trying them."""
        work: list[tuple[Request, Answer | None]] = []
        with self._harmless():
            due = [
                past_answer for past_answer in self._again if past_answer.step is not None and past_answer.step <= step
            ]
            self._again = [past_answer for past_answer in self._again if past_answer not in due]
            for answer in sorted(due, key=lambda past_answer: past_answer.update):
                request = self.mailbox.request(answer.update)
                if request is not None and answer.update > self._now.update:  # no newer update is in force
                    work.append((request, answer))
            if self._last is not None:
                work += [(request, None) for request in self._new()]
        return work

    def _new(self) -> list[Request]:
        """Return the next requests, up to and including the first one with code, whose trial may take long."""
        for answer in list(self._unwritten.values()):
            self._answer(answer)
        requests = self.mailbox.pending(self._answered)[:_MOST]
        for update, reason in self.mailbox.unreadable(self._answered).items():
            self._answer(Answer(update, "refused", reason, before=self._now.update))
        code_indices = [index for index, request in enumerate(requests) if request.kind == "reward"]
        return requests[: code_indices[0] + 1] if code_indices else requests

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """Log mailbox errors instead of raising them, because they must not stop training."""
        try:
            yield
        except Exception:
            _LOG.warning("%s: cannot read updates", self.mailbox.folder, exc_info=True)

    def _take(self, evaluator: Evaluator, trainer: Trainer, state: Any, request: Request, again: Answer | None) -> None:
        before = self._now
        verdict: Look = trainer.on_main(lambda: self._looked_at(evaluator, trainer, request, again))
        version, reason = None, verdict.refusal
        if reason is None:
            try:
                with undisturbed():
                    version = self._versions.made(request, before.update, verdict.to, verdict.records or {})
                    layout = version.layout(evaluator.layout.columns)
                    reason = trainer.refusal(layout.names)
            except Exception as error:
                reason = _error_text(error)
            reason = next(filter(None, trainer.of_each_process(reason)), None)
        if reason is not None or version is None:
            self._versions.forget(request.update)
            if trainer.is_main and not verdict.withdrawn:
                self._answer(Answer(request.update, "refused", reason or "", before=before.update, trial=verdict.trial))
                _LOG.warning("update %d (%s) was refused: %s", request.update, request, reason)
            return
        with undisturbed():
            self._adopt(evaluator, version, trainer, state)
        self._after = verdict.after or self._after
        if trainer.is_main:
            step = state.global_step
            replaced = replaced_values(before.reward, request.numbers)
            change = request.change(replaced, verdict.to)
            message = f"reward version {version.update} is active from step {step}: {change}"
            _LOG.info("%s", message)
            if evaluator.recording is not None:
                evaluator.recording.say(message)
            if again is None:
                fingerprints = before.reward.fingerprint, version.reward.fingerprint
                self._answer(
                    Answer(
                        request.update,
                        "applied",
                        step=step,
                        before=before.update,
                        to=verdict.to,
                        replaced=replaced,
                        fingerprints=fingerprints,
                        trial=verdict.trial,
                        warnings=verdict.warnings,
                    )
                )
            self._publish(evaluator, state, change)

    def _answer(self, answer: Answer) -> None:
        self._answered.add(answer.update)
        first = answer.update not in self._unwritten
        try:
            self.mailbox.put_answer(answer)
            self._unwritten.pop(answer.update, None)
        except Exception as error:
            # A resumed run needs the answer, so every step tries to write it again.
            self._unwritten[answer.update] = answer
            if first:
                _LOG.warning("update %d: cannot write its answer: %s", answer.update, error)

    def _looked_at(self, evaluator: Evaluator, trainer: Trainer, request: Request, again: Answer | None) -> Look:
        """Examine a request on the main process. If it was applied before the run was resumed, skip the trial."""
        try:
            to = None
            if request.kind == "rollback":
                to = self._versions.target(request, self._now) if again is None else again.to
            records = self._versions.records(to) if to else {}
            if again is not None:
                return Look(to=to, records=records)
            look = self._after_trial(evaluator, trainer, request, to, records)
            if self.mailbox.answer(request.update) is not None:
                self._answered.add(request.update)
                return Look("it was canceled", withdrawn=True)
            return look
        except Exception as error:
            return Look(_error_text(error))

    def _after_trial(
        self, evaluator: Evaluator, trainer: Trainer, request: Request, to: int | None, records: Records
    ) -> Look:
        if self._last is None:
            raise RewardKitError(
                "there is no batch yet on which to try the update. Send the update again after the first step"
            )
        batch, scored, normalization, schedule_states = self._last
        before = self._after or TrialScores(tuple(scored.table.terms), means_of(scored.table), scored.totals)
        sample = Sample(
            batch.completions,
            batch.prompts,
            batch.completion_ids,
            batch.columns,
            progress=batch.progress,
            states=states.saved(schedule_states),
            num_generations=batch.num_generations,
            groups=None if scored.cut else scored.groups,
            way=normalization,
            processes=scored.processes,
        )
        if request.kind == "reward":
            if request.code is None:
                raise RewardKitError("the request does not contain the reward's code. Send it again")
            folder = self.mailbox.code_folder(request.update)
            write_sources(request.code.files, folder)
            after = run_trial_in_child(request.code, folder, evaluator.layout, sample, trial.SECONDS)
        else:
            if request.kind == "numbers":
                version = replace(self._now, reward=with_numbers(self._now.reward, request.numbers))
            else:
                with undisturbed():
                    version = self._versions.get(to or 0, records)
            layout = version.layout(evaluator.layout.columns)
            MODULES.activate(version.imported, self)
            try:
                after = run_trial(layout, sample, strict=request.kind == "numbers")
            finally:
                MODULES.activate(self._now.imported, self)
        reason = trainer.refusal(after.names)
        return Look(reason, to, records, compare_trials(before, after, sample), after.warnings, after)

    def _saved(self, state: Any) -> int:
        """Return this run's version in a trainer's state.

        If the state contains only one run, it is assumed to be this run, whose folder may have been moved."""
        saved_versions = saved_in(state).get(_SAVED, {})
        update: int = saved_versions.get(
            self.mailbox.folder.parent.name, *(saved_versions.values() if len(saved_versions) == 1 else [0])
        )
        return update

    def _saved_version(self, update: int, records: Records) -> Version:
        try:
            with undisturbed():
                return self._versions.get(update, records)
        except Exception as error:
            raise RewardFailure(
                f"this run resumes with version {update} of its reward, which cannot be loaded from "
                f"{self.mailbox.folder}: {_error_text(error)}. Restore that folder, or pass updates=False to "
                "rk.to_trl to "
                "continue with the script's own reward"
            ) from error

    def _adopt(self, evaluator: Evaluator, version: Version, trainer: Trainer, state: Any) -> None:
        """Activate `version` in this process."""
        from rewardkit_adapters.trl.functions import RewardFunction

        MODULES.activate(version.imported, self)
        layout = version.layout(evaluator.layout.columns)
        own_functions = {
            function.__name__: function
            for function in trainer.reward_functions
            if getattr(function, "evaluator", None) is evaluator
        }
        functions = [own_functions.get(name) or RewardFunction(evaluator, name) for name in layout.names]
        before = evaluator.scorer.components
        trainer.replace_functions(functions, layout.weights)
        evaluator.take(layout, trainer, state)
        if evaluator.options.logs:
            components = evaluator.scorer.components
            removed = [f"components/{name}" for name in before if name not in components]
            trainer.even_out("extra", removed, [f"components/{name}" for name in components], None)
        self._now, self.version = version, version.update
        saved_in(state).setdefault(_SAVED, {})[self.mailbox.folder.parent.name] = version.update

    def _publish(self, evaluator: Evaluator, state: Any, origin: str) -> None:
        """Write a description of the active reward for `get_config` and for users. Failures only log a warning."""
        reward = self._now.reward
        try:
            self.mailbox.publish(
                {
                    "version": self._now.update,
                    "fingerprint": reward.fingerprint,
                    "reward": repr(reward),
                    "said": origin,
                    "since": state.global_step,
                    "max_steps": state.max_steps,
                    "components": evaluator.scorer.components,
                    "held": evaluator.layout.held,
                    **numbers_of(reward),
                }
            )
        except Exception as error:
            _LOG.warning("%s: cannot write the active reward: %s", self.mailbox.folder, error)


def _updates_of(function: Any) -> Updates | None:
    """Return a reward function's updates, or None if it is not a rewardkit function."""
    updates: Updates | None = getattr(getattr(function, "evaluator", None), "updates", None)
    return updates


def _error_text(error: BaseException) -> str:
    return str(error) if isinstance(error, RewardKitError) else f"{type(error).__name__}: {shorten(str(error))}"
