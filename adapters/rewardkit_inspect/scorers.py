"""from_inspect: use a scorer of inspect_ai as a Reward.

``rk.from_inspect(match(numeric=True))`` can be weighted, gated, checked and logged like any other reward. The scorer
gets a TaskState that is made from the row, and a Target.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import cloudpickle

from rewardkit.core.errors import RewardFailure, RewardTypeError, RunStopped, hashable, shorten
from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.binding import Binding, is_async, name_of
from rewardkit.core.tree.decorator import policy_number
from rewardkit.core.tree.fingerprints import described, source
from rewardkit.core.tree.leaf import Leaf
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.results import Abstention, Contract, Nonsense, Raised
from rewardkit.core.tree.reward import Reward, checked_name
from rewardkit_inspect.scores import Pick, read
from rewardkit_inspect.states import state_of, texts
from rewardkit_inspect.surroundings import surround

_OUTAGES = {"ConnectionError", "TimeoutError", "TransportError", "APIConnectionError", "RateLimitError"}
_OUTAGES |= {"InternalServerError", "SandboxTimeoutError"}
"""Classes of exceptions that the completion does not cause."""


@final
@dataclass(frozen=True)
class Call:
    """Call the scorer for one completion and convert its score."""

    scorer: Callable[..., Any]
    value: Pick

    async def __call__(
        self, completion: Sequence[Mapping[str, Any]], row: Mapping[str, Any], gold: Any = "", *, prompt: Any = ""
    ) -> Any:
        from inspect_ai.scorer import Target

        if gold is None:
            return Abstention("there is no target")
        target = Target(texts(gold))
        state = await state_of(prompt, completion, row, target)
        sandboxes = surround(state)
        try:
            score = await self.scorer(state, target)
        except Exception as error:
            if not sandboxes.asked:
                raise _judged(error) from error
        if sandboxes.asked:
            raise RunStopped(
                "the scorer asks for the sandbox of a sample, which a completion lacks. Score it in inspect_ai, or "
                "test code with rk.code_tests"
            )
        try:
            return read(score, self.value, state.output.completion)
        except Nonsense as error:
            return Raised(error.with_traceback(None))  # whose lines are ours, not the scorer's

    def describe(self) -> str:
        """Return the text for the fingerprint: not all that the scorer encloses, such as a model and its client."""
        if not hasattr(self.scorer, "__registry_info__") or not inspect.isroutine(self.scorer):
            return f"Call({described(self.scorer)}, {described(self.value)})"
        held = [cell.cell_contents for cell in getattr(self.scorer, "__closure__", None) or ()]
        codes = [source(one) for one in (self.scorer, *held) if inspect.isroutine(one)]
        return f"Call({called(self.scorer)}, {codes!r}, {described(self.value)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Scorers are functions inside functions, which pickle alone cannot write.
        return _revived, (cloudpickle.dumps((self.scorer, self.value)),)


def _revived(pickled: bytes) -> Call:
    return Call(*cloudpickle.loads(pickled))


def as_it_is(prompt: Any) -> Any:
    """Return a prompt, text or messages."""
    return prompt


def from_inspect(
    scorer: Callable[..., Any],
    name: str | None = None,
    *,
    target: str | None = "target",
    value: Pick = None,
    on_error: float | None = None,
) -> Reward:
    """Turn a scorer of inspect_ai into a Reward: ``0.8 * rk.from_inspect(match(numeric=True)) + 0.2 * form``.

    ``rk.from_inspect(includes())`` gives 1.0 to ``It is 4.`` if the column "target" is ``4``.

    The scorer gets a TaskState: the prompt as input, prompt and completion as messages, the last assistant message as
    output, the columns as metadata (and the entries of a column "metadata"), "id", "epoch" and "choices". Choices are
    marked as the solver ``multiple_choice`` marks them. "C", "P", "I" and "N" count 1.0, 0.5, 0.0 and 0.0, as in
    inspect_ai's metrics. The numbers of a dict or list are parts; answer and explanation are the note.

    An unscored (NaN) or missing score abstains. With the reason "grader_failed" or "scoring_failed", or if a model's
    service is down, the completion has no score: outcome ``failed``.

    Args:
        scorer: an async function ``score(state, target)``, as a ``@scorer`` function returns it.
        name: the name of the component; by default the scorer's name.
        target: the column of the target, a text or a list of texts; where it is None, the reward abstains. None for a
            scorer that reads no target.
        value: for scores that are a dict or a list: the key or the index of the number that counts; or a function from
            the value to a number, a letter, or None to abstain.
        on_error: a number to score where the scorer raises; by default an exception stops the run.

    Raises:
        RewardTypeError: `scorer` is not a scorer.
        BindingError: while scoring: there is no such column.
        RunStopped: while scoring: the scorer needs a model and none is given, or a sandbox.
    """
    if isinstance(scorer, (Reward, Schedule, type, str)) or not callable(scorer):
        raise RewardTypeError(
            f"from_inspect: expected a scorer of inspect_ai, got {shorten(scorer)} ({type(scorer).__name__})"
        )
    label = _unqualified(scorer)
    if not is_async(scorer):
        hint = f"It makes scorers: pass rk.from_inspect({label}())." if hasattr(scorer, "__registry_info__") else ""
        raise RewardTypeError(
            f"from_inspect: {label} is not an async function, so it is not a scorer. "
            f"{hint or 'A scorer is async def score(state, target)'}"
        )
    if not hashable(scorer):
        raise RewardTypeError(f"from_inspect: {label} is not hashable, which a reward must be. Pass a function")
    fixed = None if on_error is None else policy_number(label, "on_error", on_error)
    options = [f"{key}={given!r}" for key, given in (("name", name), ("value", value)) if given is not None]
    options += [f"target={target!r}"] if target != "target" else []
    parameters = [Parameter("completion", "messages"), Parameter("row", "example")]
    if target is not None:
        parameters.append(Parameter("gold", target))
    parameters.append(Parameter("prompt", "prompt", view=as_it_is, default="", keyword_only=True))
    return Leaf(
        Binding(Call(scorer, value), tuple(parameters)),
        Contract(checked_name(name if name is not None else label), (-math.inf, math.inf), on_error=fixed),
        f"from_inspect({', '.join([called(scorer), *options])})",
    )


def called(scorer: Callable[..., Any]) -> str:
    """Return the call that made a scorer, as inspect_ai has registered it: ``match(numeric=True)``."""
    given = getattr(scorer, "__registry_params__", None)
    if not isinstance(given, Mapping):
        return _unqualified(scorer)
    return f"{_unqualified(scorer)}({', '.join(f'{name}={shorten(cell, 60)}' for name, cell in given.items())})"


def _unqualified(scorer: Callable[..., Any]) -> str:
    """Return the name of a scorer without its package: ``inspect_ai/match`` is ``match``."""
    registered = getattr(getattr(scorer, "__registry_info__", None), "name", None)
    return str(registered).rpartition("/")[2] if registered else name_of(scorer)


def _judged(error: Exception) -> Exception:
    """Return `error`; RunStopped if every sample would raise it; a RewardFailure if a service was down."""
    said = re.sub(r"\[/?[a-z]+\]", "", str(error)).strip()  # inspect_ai formats some messages for the terminal
    if said.startswith("No model specified"):
        return RunStopped(
            f"{said}. Pass a model to the scorer, such as model_graded_qa(model='openai/gpt-5'), or set the "
            "environment variable INSPECT_EVAL_MODEL"
        )
    if type(error).__name__ == "PrerequisiteError":  # a key or a package is missing
        return RunStopped(said)
    cause: BaseException | None = error
    while cause is not None:
        if any(kind.__name__ in _OUTAGES for kind in type(cause).__mro__):
            return RewardFailure(f"{type(error).__name__}: {error}")
        cause = cause.__cause__
    return error
