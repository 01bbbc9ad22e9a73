"""rewardkit and Axolotl: ``rk.to_axolotl(reward)`` creates the reward functions named in an Axolotl configuration.

This module does not import Axolotl.
"""

from __future__ import annotations

import inspect
import keyword
import os
from collections.abc import Iterable, Mapping
from typing import Any, final

from rewardkit.errors import RewardDefinitionError
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit_adapters.trl.functions import RewardFunction, to_trl
from rewardkit_adapters.trl.layout import Columns

# to_axolotl: turn a reward into the reward functions that an Axolotl configuration names.


@final
class AxolotlFunction(RewardFunction):
    """A reward column as a function that Axolotl can call."""

    def __call__(
        self, /, *, completions: Any, prompts: Any = None, completion_ids: Any = None, **columns: Any
    ) -> list[float | None]:
        refuse(columns.get("log_metric"))
        return super().__call__(completions=completions, prompts=prompts, completion_ids=completion_ids, **columns)


def refuse(log_metric: Any) -> None:
    """Raise RewardDefinitionError if Axolotl would count a completion without a score as 0.

    Args:
        log_metric: the trainer's method that Axolotl passes to reward functions, or None if it does not pass one.
    """
    if log_metric is None:
        raise RewardDefinitionError(
            "Axolotl: this call does not come from the plain GRPO trainer, the only Axolotl trainer that skips "
            "completions without a score. In other trainers, such completions count as 0. Remove context_parallel_size "
            "and reward_num_workers from the configuration. To call the functions yourself, use rk.to_trl(reward), or "
            "rk.score(reward, ...)"
        )
    arguments = getattr(getattr(log_metric, "__self__", None), "args", None)
    if getattr(arguments, "async_prefetch", False):
        raise RewardDefinitionError(
            "Axolotl: with async_prefetch, a completion without a score counts as 0, which punishes it. Remove "
            "async_prefetch from the configuration's trl: section. You can keep use_data_producer"
        )


def to_axolotl(
    reward: Any,
    *,
    prefix: str = "",
    outputs: Columns = "terms",
    record: str | os.PathLike[str] | None = None,
    logs: bool = True,
    limits: Limits = LIMITS,
    updates: bool = True,
) -> dict[str, AxolotlFunction]:
    """Create the functions that Axolotl loads by name, one for each reward term.

    ::

        from reward import reward                     # in my_rewards.py, next to config.yml

        globals().update(rk.to_axolotl(reward))       # trl: {reward_funcs: [my_rewards.number, my_rewards.tags]}

    The functions behave like those of `to_trl`: columns are passed by name, schedules run, everything is logged, and a
    completion that cannot be scored is excluded. If Axolotl's settings would make it count such a completion as 0, the
    first call raises an error.

    Args:
        reward: a reward, or a list of rewards and plain TRL functions.
        prefix: a prefix for each name, such as ``"rk_"``.
        outputs: as in `to_trl`. Use ``"components"`` with ``rl: gdpo``, and also set ``trl: {reward_weights: [...]}``.
        record, logs, limits, updates: as in `to_trl`.

    Returns:
        A mapping from names to functions.

    Raises:
        RewardDefinitionError: a name is not a valid Python name, or the calling module already defines it.
        RewardTypeError, MissingExtraError: as in `to_trl`.
    """
    functions = to_trl(
        reward,
        outputs=outputs,
        record=record,
        logs=logs,
        limits=limits,
        updates=updates,
    )
    axolotl_functions = {
        f"{prefix}{function.__name__}": AxolotlFunction(function.evaluator, function.__name__) for function in functions
    }
    frame = inspect.currentframe()
    _check_names(axolotl_functions, {} if frame is None or frame.f_back is None else frame.f_back.f_globals)
    return axolotl_functions


def _check_names(names: Iterable[str], module: Mapping[str, Any]) -> None:
    """Raise RewardDefinitionError if a name is not a valid Python name, or if `module` already defines it.

    A function with a timeout runs in another process, which looks up the function by its name in the module. It would
    find the replacement instead.
    """
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise RewardDefinitionError(
                f"to_axolotl: {name!r} cannot be a name in a module, but Axolotl loads functions by name. "
                f'Rename the term: reward.named("...")'
            )
        if name in module and not isinstance(module[name], AxolotlFunction):
            raise RewardDefinitionError(
                f"to_axolotl: {module.get('__name__', 'the module')} already defines the name "
                f'{name!r}, and globals().update(...) would replace it. Pass prefix="rk_", or import the reward '
                "from a separate file"
            )


# Export: the file and the settings with which Axolotl uses a reward.


TESTED = Tested("axolotl", ["0.19.0"])
_FILE = '''"""The reward for Axolotl: keep it next to the configuration."""

import rewardkit as rk
{imports}

globals().update(rk.to_axolotl(reward, prefix="rk_"))
'''
_CONFIG = """\
rl: grpo
trl:
  reward_funcs: [{names}]"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with Axolotl."""
    terms = Scorer(target.load()).terms
    return Export(
        {"rewards_axolotl.py": _FILE.format(imports=target.imports)},
        _CONFIG.format(names=", ".join(f"rewards_axolotl.rk_{term}" for term in terms)),
        TESTED,
        [
            "A completion that cannot be scored is ignored in its group.",
            "Start Axolotl in the folder that contains rewards_axolotl.py, because it imports the file by name.",
        ],
    )
