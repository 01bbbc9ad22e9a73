"""Targets: the rewards that ``rewardkit check rewards.py`` and ``pytest --rewardkit rewards.py`` check or leave out.

Without a name, each candidate of the module is bound to its examples or left out with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewardkit.check.check import subject_of
from rewardkit.check.declarations import Declarations
from rewardkit.check.findings import READS_CHAT
from rewardkit.check.labels import bound_with
from rewardkit.check.reward_under_test.bound_reward import BoundReward
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, TrialResult
from rewardkit.check.run.isolation import Note, can_isolate, isolated
from rewardkit.errors import BindingError, NoExamples, RewardDefinitionError, RewardKitError
from rewardkit.tree.loading import WHAT, Loaded, survey

_CHAT = [{"prompt": [{"role": "user", "content": "..."}]}]
"""The examples of a function that reads chat messages and no columns."""
_PATIENCE = 8.0
"""Seconds for the one call that tells a helper from a reward, and whether a column is missing. As `rk.check` waits for
one completion by default."""


@dataclass(frozen=True)
class LeftOut:
    """A candidate that is not checked.

    Attributes:
        name: the name of its variable.
        reason: why it is not checked.
        certain: whether it is a reward beyond doubt that should have been checked.
        columns: the columns that it reads, if it is left out because there are no examples.
    """

    name: str
    reason: str
    certain: bool = False
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Targets:
    """The rewards that one target names.

    Attributes:
        target: the target as given.
        bound: the rewards to check.
        kinds: the kind of each of them; empty if it was asked for by name.
        left_out: the other candidates.
    """

    target: str
    bound: tuple[BoundReward, ...]
    kinds: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()

    def __str__(self) -> str:
        """List the candidates, with the definition of a candidate."""
        rows = [(one.name, kind) for one, kind in zip(self.bound, self.kinds, strict=True)]
        rows += [(one.name, f"left out: {one.reason}") for one in self.left_out]
        width = max(len(name) for name, _ in rows)
        count = f"{len(rows)} candidate{'' if len(rows) == 1 else 's'}, {len(self.bound)} to check"
        listed = (f"  {name:<{width}}  {said}" for name, said in rows)
        return "\n".join([f"{self.target}: {count}", *listed, f"{WHAT}.", *stub_of(self.left_out)])


def stub_of(left_out: Sequence[LeftOut]) -> list[str]:
    """Return lines to paste into a module whose rewards lack examples."""
    lacking = [one for one in left_out if one.columns]
    if not lacking:
        return []
    columns = dict.fromkeys(name for one in lacking for name in one.columns)
    cells = "".join(f', "{name}": "..."' for name in columns)
    return [
        "",
        "To check the others, write two or three rows of your data and their completions into the module:",
        "",
        f'EXAMPLES = [{{"prompt": [{{"role": "user", "content": "..."}}]{cells}}}]',
        'GOOD = ["..."]  # a right completion for each example',
        'BAD = ["..."]  # a wrong completion for each example',
    ]


def targets_of(target: str, **options: Any) -> Targets:
    """Load and bind the rewards of a target: one reward, or all candidates of a module.

    Args:
        target: ``file.py``, ``module``, or either with ``:reward``.
        options: the options of `bound_with`.

    Raises:
        RewardDefinitionError: nothing can be checked; the message says why.
        BindingError: the examples lack a column of the reward that `target` names.
    """
    found = survey(target)
    if not found[0].kind:
        return Targets(target, (bound_with(found[0], **options),), ("",))
    bound: list[tuple[Loaded, BoundReward]] = []
    left_out = [LeftOut(one.name, one.left_out) for one in found if one.left_out]
    for one in found:
        if not one.left_out:
            made = _bound(one, options)
            if isinstance(made, LeftOut):
                left_out.append(made)
            else:
                bound.append((one, made))
    if not bound:
        listed = "; ".join(f"{one.name}: {one.reason}" for one in left_out)
        stub = "\n".join(stub_of(left_out))
        raise RewardDefinitionError(f"{target} has nothing to check. {listed}. {WHAT}.{stub and chr(10) + stub}")
    own = [one.reward for one, _ in bound]
    return Targets(
        target,
        tuple(_with_others(one, _without_components(made, own), bound) for one, made in bound),
        tuple(one.kind for one, _ in bound),
        tuple(left_out),
    )


def _bound(one: Loaded, options: Mapping[str, Any]) -> BoundReward | LeftOut:
    doubtful = one.kind == "function of one completion"
    chat = False
    try:
        made = bound_with(one, **options)
        subject = _subject(made)
        chat = one.kind == "TRL function" and made.options["examples"] == [{}] and "good" not in made.options
    except NoExamples as error:
        said = ", ".join(error.columns) or "columns"
        return LeftOut(one.name, f"it reads {said}, but has no examples", certain=not doubtful, columns=error.columns)
    except BindingError as error:
        return LeftOut(one.name, str(error), certain=not doubtful)
    except RewardDefinitionError as error:
        if not doubtful:
            raise
        return LeftOut(one.name, str(error))
    if "function" not in one.kind or not can_isolate():
        return made
    seen = _first_score(subject)
    if chat and seen is not None and READS_CHAT.search(seen.trace or seen.reason):
        made = replace(made, options={**made.options, "examples": _CHAT})
        seen = _first_score(_subject(made))
    said = seen.reason if seen is not None else ""
    # The wording of Python for a missing key, here the column that the function reads.
    missing = re.match(r"raised KeyError: '(\w+)'", said)
    if missing and not any(missing[1] in example.columns for example in subject.examples):
        reason = f"it asks for the column {missing[1]!r}, which the examples lack"
        return LeftOut(one.name, reason, certain=not doubtful)
    # A TRL function that returns no list has a bug; one that returns texts is a helper.
    helps = said.startswith("returned") and ("not a number" if doubtful else "(str)") in said
    if helps and "return" not in getattr(one.reward, "__annotations__", {}):
        return LeftOut(one.name, f"it {said.split(', not')[0]}, not {'a score' if doubtful else 'scores'}")
    return made


def _with_others(one: Loaded, made: BoundReward, bound: Sequence[tuple[Loaded, BoundReward]]) -> BoundReward:
    """Tell a TRL function of the others in its module that have the same examples: a trainer adds them."""
    declared = made.options.get("declarations", Declarations())
    if one.kind != "TRL function" or declared.other_rewards:
        return made
    others = [
        other.reward
        for loaded, other in bound
        if loaded is not one
        and loaded.kind == "TRL function"
        and all(made.options.get(name) == other.options.get(name) for name in ("examples", "good", "bad"))
    ]
    if not others:
        return made
    return replace(made, options={**made.options, "declarations": replace(declared, other_rewards=others)})


def _subject(made: BoundReward) -> RewardUnderTest:
    given = {name: made.options[name] for name in ("good", "bad") if name in made.options}
    return subject_of(made.reward, made.options["examples"], **given)


def _first_score(subject: RewardUnderTest) -> TrialResult | None:
    """Score one completion in a child process; None if that does not end."""
    completion = [*subject.examples[0].good, subject.formed("42")][0]

    def work(send: Callable[[Any], None]) -> None:
        try:
            send(subject.see([Trial(completion)])[0])
        except RewardKitError:
            send(None)  # the check will report it

    for seen in isolated(work, Note(), _PATIENCE, _PATIENCE):
        return seen if isinstance(seen, TrialResult) else None
    return None


def _without_components(made: BoundReward, own: Sequence[Any]) -> BoundReward:
    """Do not check the items of a list twice."""
    items = made.reward if isinstance(made.reward, (list, tuple)) else ()
    known = all(any(item is one for one in own) for item in items)
    return replace(made, options={**made.options, "components": False}) if items and known else made
