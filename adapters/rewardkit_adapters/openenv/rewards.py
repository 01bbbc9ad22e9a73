"""to_openenv: use a reward as a rubric of OpenEnv environments."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from rewardkit.errors import MissingExtraError, hashable
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.requests import Requests
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.tree.evaluation.scorer import Scorer

OFFERS = TrainerInputs("OpenEnv")
_SHARED: WeakValueDictionary[Any, Requests] = WeakValueDictionary()
_LOCK = threading.Lock()


def to_openenv(
    reward: Any,
    *,
    text: str | Callable[[Any, Any], Any],
    columns: Callable[[Any, Any], Mapping[str, Any]] | None = None,
    numbers: str | None = None,
    asynchronous: bool = False,
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    limits: Limits = LIMITS,
) -> Any:
    """Turn a reward into an OpenEnv rubric.

    ::

        class MyEnvironment(Environment):
            def __init__(self):
                super().__init__(rubric=rk.to_openenv(reward, text="message"))

    The rubric's children are the terms and the components (``components/<name>``). ``named_rubrics()`` lists them, each
    with its own ``last_score`` and hooks. For a completion that cannot be scored, the rubric returns None, and the
    client receives ``"reward": null``.

    Call `to_openenv` in ``__init__``, so that each session has its own ``last_score``. Everything else is shared
    between rubrics with equal rewards and options.

    Args:
        reward: a reward, a plain function, or a list of them.
        text: the name of the action field that contains the completion, or a function of the action and the observation
            that returns the completion as a string or a list of messages.
        columns: a function of the action and the observation that returns the columns. The column "prompt" is the
            prompt. By default, the columns are the observation's fields and the entries in its ``metadata``, which
            OpenEnv does not send to the client.
        numbers: the observation field in which to store the numbers for all terms and components, so that the client
            receives them. Its type is ``dict[str, float | None]``.
        asynchronous: whether the environment computes scores in ``step_async``, so that the rubric must be awaited.
        examples: example rows, such as ``[{"answer": "42"}]``. The reward is tried on them immediately, so that missing
            columns and bugs are found before training starts.
        deadline: the maximum number of seconds for scoring a completion. If scoring takes longer, the completion counts
            as unscorable. None means no limit.
        special_tokens: a tokenizer whose special tokens are removed from completions, or a list of strings to remove.
        record: the folder in which the run is recorded. ``rewardkit view`` displays the record.
        limits: an ``rk.Limits`` with the fractions of failed and errored completions above which every further
            completion raises an error, because training on such scores is useless.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions or depends on training progress, neither of which works
            with OpenEnv.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
        MissingExtraError: OpenEnv is not installed.
    """
    try:
        from rewardkit_adapters.openenv.rubrics import AsyncRewardRubric, RewardRubric
    except ImportError as error:
        raise MissingExtraError(
            f"rk.to_openenv creates an OpenEnv rubric, but OpenEnv cannot be imported ({error}). Install it: pip "
            "install openenv-core"
        ) from error

    options = (special_tokens, record, limits, deadline)
    requests = _share_requests(tuple(reward) if isinstance(reward, list) else reward, options)
    if examples is not None:
        requests.scorer.probe(examples)
    return (AsyncRewardRubric if asynchronous else RewardRubric)(requests, text, columns, numbers)


def _share_requests(reward: Any, options: tuple[Any, ...]) -> Requests:
    """Return a reward's scorer, which all environments in a server share while at least one of them exists."""
    key = (reward, tuple(tuple(option) if isinstance(option, list) else option for option in options))
    if not hashable(key):
        return _make_requests(reward, *options)
    with _LOCK:
        requests = _SHARED.get(key)
        if requests is None:
            requests = _SHARED[key] = _make_requests(reward, *options)
        return requests


def _make_requests(reward: Any, special_tokens: Any, record: Any, limits: Limits, deadline: Any) -> Requests:
    scorer = RowScorer(
        list(reward) if isinstance(reward, tuple) else reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        limits=limits,
    )
    return Requests(scorer, deadline=deadline)


# Export: the files and settings with which an OpenEnv environment uses a reward.


TESTED = Tested("openenv-core", ["0.3.0"])
_FILE = '''"""The reward for an environment of OpenEnv."""

from typing import Any

import rewardkit as rk
{imports}


def rubric() -> Any:
    # text= names the action's field that contains the completion.
    return rk.to_openenv(reward, text="message")
'''
_CONFIG = """\
from rewards_openenv import rubric

super().__init__(rubric=rubric())                                     # in __init__ of your environment
observation.reward = self._apply_rubric(action, observation)          # in its step"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with OpenEnv.

    Raises:
        RewardDefinitionError: an environment cannot run the reward. This is checked during the export, because the
            exported file creates the rubric only when it runs.
    """
    OFFERS.check(Scorer(target.load()))
    return Export(
        {"rewards_openenv.py": _FILE.format(imports=target.imports)},
        _CONFIG,
        TESTED,
        [
            "A completion that cannot be scored gets the reward null. Exclude such an episode, because "
            "null does not mean 0."
        ],
    )
