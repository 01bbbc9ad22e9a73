"""What `to_trl` and a live update take: a reward, a plain function, or a list of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.bounds import number
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.reward import Reward
from rewardkit.tree.trl_function import is_model
from rewardkit_adapters.trl.checks import weighted_expression
from rewardkit_adapters.trl.layout import Columns, Layout


def layout_of(reward: Any, columns: Columns = "terms", weights: Sequence[float] | None = None) -> Layout:
    """Return the layout for what was passed to `to_trl`.

    Raises:
        RewardDefinitionError: there is not one weight for each item, a weight is not finite, or as in `Layout.listed`.
        RewardTypeError: as in `checked_tree`, or a weight is not a number.
    """
    checked_tree(reward)
    listed = list(reward) if isinstance(reward, (list, tuple)) else [reward]
    items = [tree_of(item, "an item of to_trl") for item in listed]
    if weights is None:
        return Layout.listed(items, columns)
    given = list(weights)
    if len(given) != len(items):
        layout, inside = Layout.listed(items, columns), None
        if len(given) == len(layout.names):  # one for each column, but a reward gives several
            inside = weighted_expression(layout, dict(zip(layout.names, given, strict=True)))
        instead = "" if inside is None else f", or write the weights into the reward: rk.to_trl({inside})"
        raise RewardDefinitionError(
            f"to_trl: there are {len(given)} weights for {len(items)} reward{'s' * (len(items) != 1)}. Pass one weight "
            f"for each reward{instead}"
        )
    for weight, item in zip(given, listed, strict=True):
        if isinstance(weight, Schedule):
            raise RewardTypeError(
                f"to_trl: weights= are numbers, got the schedule {weight!r}. Multiply the reward by it instead, and "
                f"give {shorten(item)} the weight 1"
            )
    return Layout.listed(items, columns, [number(weight, "to_trl: a weight") for weight in given])


def successor(reward: Any, held: Mapping[str, float] | None) -> Reward:
    """Return the tree of what takes the place of a reward whose columns the trainer weights with `held`.

    A list keeps these weights, as it keeps those of a GRPOConfig. Any other reward has its own.

    Raises:
        RewardDefinitionError: a list has other columns, so it is unknown how they are weighted.
        RewardTypeError: as in `checked_tree`.
    """
    tree = checked_tree(reward)
    if held is None or not isinstance(reward, (list, tuple)) or set(held.values()) == {1.0}:
        return tree
    layout = layout_of(reward)
    if not layout.honors or set(layout.names) != set(held):
        columns = ", ".join(f"{weight!r} * rk.from_trl({name})" for name, weight in held.items())
        raise RewardDefinitionError(
            f"the trainer weights the columns of the list in force, {dict(held)}, but this list has the columns "
            f"{list(layout.names)}. Write the weights into the reward: rk.weighted_sum([{columns}])"
        )
    return layout.holding([held[name] for name in layout.names]).reward


def checked_tree(reward: Any) -> Reward:
    """Return the tree for what was passed to `to_trl`: a reward, a plain function, or a list of them.

    Raises:
        RewardTypeError: a reward model, something that `to_trl` returned, or anything else.
    """
    if hasattr(reward, "reward_weights"):
        raise RewardTypeError("rk.to_trl already returned this list. Join lists with +: rk.to_trl(a) + rk.to_trl(b)")
    for item in reward if isinstance(reward, (list, tuple)) else [reward]:
        if hasattr(item, "evaluator"):
            raise RewardTypeError("rk.to_trl already returned this function. Join its list with others with +")
        if isinstance(item, str) or is_model(item):
            raise RewardTypeError(
                f"to_trl does not take reward models. Add it to the list: rk.to_trl(reward) + [{shorten(item)}]"
            )
    return tree_of(reward, "to_trl")
