"""Targets: the rewards that ``rewardkit check rewards.py`` and ``pytest --rewardkit rewards.py`` check or skip.

If a target has no reward name, each candidate in the module is bound to its examples or skipped with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from rewardkit.check.check import subject_of
from rewardkit.check.declarations import Declarations
from rewardkit.check.findings import READS_CHAT
from rewardkit.check.labels import bound_with
from rewardkit.check.reading.slips import reads_messages
from rewardkit.check.reward_under_test.bound_reward import BoundReward
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, TrialResult
from rewardkit.check.run.isolation import Note, can_isolate, run_in_child
from rewardkit.check.run.scratch import scratch_for
from rewardkit.errors import BindingError, NoExamples, RewardDefinitionError, RewardKitError
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.loading import WHAT, Loaded, survey

_CHAT = [{"prompt": [{"role": "user", "content": "..."}]}]
"""The examples for a function that reads chat messages but no columns."""
_PATIENCE = 8.0
"""The time limit, in seconds, for the one call that distinguishes a helper from a reward and shows whether a column
is missing. It is the same as the default limit in `check_reward` for one completion."""


@dataclass(frozen=True)
class LeftOut:
    """A candidate that is not checked.

    Attributes:
        name: the name of the candidate's variable.
        reason: why the candidate is not checked.
        certain: whether the candidate is certainly a reward, which should have been checked.
        columns: the columns that the candidate reads, if it is skipped because it has no examples.
        chat: whether the candidate reads chat messages.
    """

    name: str
    reason: str
    certain: bool = False
    columns: tuple[str, ...] = ()
    chat: bool = False


@dataclass(frozen=True)
class Targets:
    """The rewards that one target specifies.

    Attributes:
        target: the target as given.
        bound: the rewards to check.
        kinds: the kind of each reward in `bound`, or "" if the target names the reward.
        left_out: the candidates that are not checked.
        misnamed: lists in the module that need a name in capitals to be used by the check.
        skipped: a line about the statements of a script that were not run, or "".
    """

    target: str
    bound: tuple[BoundReward, ...]
    kinds: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    misnamed: tuple[str, ...] = ()
    skipped: str = ""

    def __str__(self) -> str:
        """Return a list of the candidates, followed by the definition of a candidate."""
        if not any(self.kinds):  # the target names the reward
            return self.skipped
        rows = [(candidate.name, kind) for candidate, kind in zip(self.bound, self.kinds, strict=True)]
        rows += [(candidate.name, f"excluded: {candidate.reason}") for candidate in self.left_out]
        width = max(len(name) for name, _ in rows)
        count = f"{len(rows)} candidate{'' if len(rows) == 1 else 's'}, {len(self.bound)} to check"
        listed = (f"  {name:<{width}}  {status}" for name, status in rows)
        skipped = [self.skipped] if self.skipped else []
        stub = stub_of(self.left_out, self.misnamed)
        return "\n".join([f"{self.target}: {count}", *listed, *skipped, f"{WHAT}.", *stub])


def stub_of(left_out: Sequence[LeftOut], misnamed: Sequence[str] = ()) -> list[str]:
    """Return lines to paste into a module whose rewards lack examples, and the module's names that need capitals."""
    lines = []
    if misnamed:
        capitals = ", ".join(f"{name} as {name.upper()}" for name in misnamed)
        lines = ["", f"The check reads only names in capital letters. Write {capitals}."]
    lacking = [candidate for candidate in left_out if candidate.columns]
    if not lacking or any(name.lower() == "examples" for name in misnamed):
        return lines
    names = ", ".join(candidate.name for candidate in lacking)
    columns = dict.fromkeys(name for candidate in lacking for name in candidate.columns)
    cells = "".join(f', "{name}": "..."' for name in columns)
    # With a chat prompt, completions are lists of messages, which a function for texts misreads.
    prompt = '[{"role": "user", "content": "..."}]' if any(candidate.chat for candidate in lacking) else '"..."'
    return [
        *lines,
        "",
        f"To check {names}, write two or three rows of your data, with their completions, into the module:",
        "",
        f'EXAMPLES = [{{"prompt": {prompt}{cells}}}]',
        'GOOD = ["..."]  # a correct completion for each example',
        'BAD = ["..."]  # an incorrect completion for each example',
    ]


def targets_of(target: str, within: AbstractContextManager[object] | None = None, **options: Any) -> Targets:
    """Load and bind the rewards of a target: one reward, or all candidates of a module.

    Args:
        target: ``file.py``, ``module``, or either with ``:reward``.
        within: the context in which the module is imported.
        options: the options for `bound_with`.

    Raises:
        RewardDefinitionError: nothing can be checked. The message explains why.
        BindingError: `target` names a reward, and the examples lack a column that it reads.
    """
    candidates = survey(target, within)
    if not candidates[0].kind:
        return Targets(target, (bound_with(candidates[0], **options),), ("",), skipped=candidates[0].skipped)
    bound: list[tuple[Loaded, BoundReward]] = []
    left_out = [
        LeftOut(candidate.name, candidate.left_out, certain=candidate.reward is None)
        for candidate in candidates
        if candidate.left_out
    ]
    for candidate in candidates:
        if not candidate.left_out:
            bound_reward = _bind_candidate(candidate, options)
            if isinstance(bound_reward, LeftOut):
                left_out.append(bound_reward)
            else:
                bound.append((candidate, bound_reward))
    if not bound:
        listed = "; ".join(f"{candidate.name}: {candidate.reason}" for candidate in left_out)
        stub = "\n".join(stub_of(left_out, candidates[0].misnamed))
        raise RewardDefinitionError(f"{target} has nothing to check. {listed}. {WHAT}.{stub and chr(10) + stub}")
    rewards = [candidate.reward for candidate, _ in bound]
    return Targets(
        target,
        tuple(
            _with_others(candidate, _without_components(bound_reward, rewards), bound)
            for candidate, bound_reward in bound
        ),
        tuple(candidate.kind for candidate, _ in bound),
        tuple(left_out),
        candidates[0].misnamed,
        candidates[0].skipped,
    )


def _bind_candidate(candidate: Loaded, options: Mapping[str, Any]) -> BoundReward | LeftOut:
    is_doubtful = candidate.kind == "function of one completion"
    chat = False
    try:
        bound_reward = bound_with(candidate, **options)
        subject = _subject(bound_reward)
        chat = (
            candidate.kind == "TRL function"
            and bound_reward.options["examples"] == [{}]
            and "good" not in bound_reward.options
        )
    except NoExamples as error:
        detail = ", ".join(error.columns) or "columns"
        return LeftOut(
            candidate.name,
            f"it reads {detail}, but has no examples",
            certain=not is_doubtful,
            columns=error.columns,
            chat=candidate.kind == "TRL function"
            and reads_messages(tree_of(candidate.reward, "a reward with examples")),
        )
    except BindingError as error:
        return LeftOut(candidate.name, str(error), certain=not is_doubtful)
    except RewardDefinitionError as error:
        if not is_doubtful:
            raise
        return LeftOut(candidate.name, str(error))
    if "function" not in candidate.kind or not can_isolate():
        return bound_reward
    score = _first_score(subject, bound_reward)
    if chat and score is not None and READS_CHAT.search(score.trace or score.reason):
        bound_reward = replace(bound_reward, options={**bound_reward.options, "examples": _CHAT})
        score = _first_score(_subject(bound_reward), bound_reward)
    detail = score.reason if score is not None else ""
    # Python's message for a missing key; here, the key is a column that the function reads.
    missing_key = re.match(r"raised KeyError: '(\w+)'", detail)
    if missing_key and not any(missing_key[1] in example.columns for example in subject.examples):
        reason = f"it reads the column {missing_key[1]!r}, which the examples do not have"
        return LeftOut(candidate.name, reason, certain=not is_doubtful)
    # A TRL function that does not return a list has a bug, but one that returns texts is a helper.
    is_helper = detail.startswith("returned") and ("not a number" if is_doubtful else "(str)") in detail
    if is_helper and "return" not in getattr(candidate.reward, "__annotations__", {}):
        return LeftOut(candidate.name, f"it {detail.split(', not')[0]}, not {'a score' if is_doubtful else 'scores'}")
    return bound_reward


def _with_others(
    candidate: Loaded, bound_reward: BoundReward, bound: Sequence[tuple[Loaded, BoundReward]]
) -> BoundReward:
    """Declare a module's other TRL functions as `other_rewards`, since a trainer adds all of them.

    Only functions with the same examples and completions are declared.
    """
    declared = bound_reward.options.get("declarations", Declarations())
    if candidate.kind != "TRL function" or declared.other_rewards:
        return bound_reward
    other_rewards = [
        other.reward
        for loaded, other in bound
        if loaded is not candidate
        and loaded.kind == "TRL function"
        and all(bound_reward.options.get(name) == other.options.get(name) for name in ("examples", "good", "bad"))
    ]
    if not other_rewards:
        return bound_reward
    return replace(
        bound_reward, options={**bound_reward.options, "declarations": replace(declared, other_rewards=other_rewards)}
    )


def _subject(bound_reward: BoundReward) -> RewardUnderTest:
    completions = {name: bound_reward.options[name] for name in ("good", "bad") if name in bound_reward.options}
    return subject_of(bound_reward.reward, bound_reward.options["examples"], **completions)


def _first_score(subject: RewardUnderTest, bound_reward: BoundReward) -> TrialResult | None:
    """Score one completion in a child process. Return None if there is no score in time."""
    completion = [*subject.examples[0].good, subject.formed("42")][0]

    def work(send: Callable[[Any], None]) -> None:
        try:
            send(subject.see([Trial(completion)])[0])
        except RewardKitError:
            send(None)  # the check will report it

    with scratch_for(subject.reward, network=bool(bound_reward.options.get("network"))):
        for message in run_in_child(work, Note(), _PATIENCE, _PATIENCE):
            return message if isinstance(message, TrialResult) else None
    return None


def _without_components(bound_reward: BoundReward, rewards: Sequence[Any]) -> BoundReward:
    """Turn off the check of components if all items in a list are also checked separately."""
    items = bound_reward.reward if isinstance(bound_reward.reward, (list, tuple)) else ()
    is_checked = all(any(item is reward for reward in rewards) for item in items)
    return (
        replace(bound_reward, options={**bound_reward.options, "components": False})
        if items and is_checked
        else bound_reward
    )
