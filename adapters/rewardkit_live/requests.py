"""get_config and update_config: what a training's reward is now, and what it should be from the next step on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, RewardKitError, near_miss, shorten
from rewardkit_live.mailbox import Mailbox, Request


def get_config(run: Any) -> dict[str, Any]:
    """The reward in force of a training that records to `run`.

    ::

        rk.get_config("runs/x")["weights"]  # {"exact": 0.7, "style": "linear(0.0, 0.3, start=0.0, end=0.5)"}

    Args:
        run: the folder of the record, or what ``rk.open_run`` gave.

    Returns:
        ``version`` (the number of the update, 0 for the script's own reward), ``fingerprint``, ``reward`` (as text),
        ``said`` (what was asked for), ``since`` (the step from which it counts), ``components``, and the numbers that
        can be changed, name -> number or text of a schedule: ``weights``, ``thresholds``, ``schedules`` (when the
        stages of a curriculum end).

    Raises:
        RewardKitError: no training has recorded there that takes updates.
    """
    mailbox = mailbox_of(run)
    current = mailbox.current()
    if current is None:
        raise RewardKitError(
            f"{mailbox.folder.parent} is no record of a training that takes updates: one does from its first batch "
            "on, with rk.to_trl(reward, record=...) of a local folder"
        )
    return current


def update_config(
    run: Any,
    *,
    reward: str | None = None,
    weights: Mapping[str, float | str] | None = None,
    thresholds: Mapping[str, float | str] | None = None,
    schedules: Mapping[str, float | int | str] | None = None,
    rollback: bool | int = False,
    wait: float | None = None,
) -> dict[str, Any]:
    """Asks a training for another reward, other numbers, or the version before.

    ::

        rk.update_config("runs/x", weights={"exact": 0.5, "style": "linear(0.0, 0.3, end=0.5)"}, wait=60)

    The training tries it on its last batch and takes it at the next step, or refuses it and goes on as before.

    Args:
        run: the folder of the record, or what ``rk.open_run`` gave.
        reward: ``path.py:name`` or ``module:name``; its code is copied as it is now.
        weights: component -> number, or a schedule as text.
        thresholds: gate -> number, or a schedule as text.
        schedules: stage of a curriculum -> where it ends: a position or a schedule.
        rollback: True for the version before, or the number of a version; 0 is the script's own.
        wait: seconds to wait for the answer; None sends and returns.

    Returns:
        ``update`` (the number), ``status`` (applied, refused, or pending), ``reason``, ``step``, ``before``, ``trial``:
        the rows of the batch it was tried on, each component's mean and the total before and after, how many advantages
        changed their sign and the largest change.

    Raises:
        RewardDefinitionError: nothing is asked for, or several things that exclude each other; a name is unknown; the
            code cannot be read, or is called like an installed module.
        RewardKitError: no training has recorded there that takes updates, or it has come to its end.
    """
    mailbox = mailbox_of(run)
    request = sent(mailbox, reward, {"weights": weights, "thresholds": thresholds, "schedules": schedules}, rollback)
    return answered(mailbox, request, wait or 0.0)


def answered(mailbox: Mailbox, request: Request, seconds: float) -> dict[str, Any]:
    """The answer to `request` within `seconds`, or that it is pending."""
    answer = mailbox.wait(request.update, seconds)
    if answer is None:
        return {"update": request.update, "status": "pending"}
    return asdict(answer)


def sent(mailbox: Mailbox, reward: str | None, numbers: Mapping[str, Any], rollback: bool | int) -> Request:
    """Checks and sends what is asked for; errors as in `update_config`."""
    from rewardkit_live.grammar import parsed
    from rewardkit_live.sources import collected

    current = get_config(mailbox.folder.parent)
    given = {kind: dict(values) for kind, values in numbers.items() if values}
    back = rollback is not False
    if (reward is not None) + bool(given) + back != 1:
        raise RewardDefinitionError(
            "one update asks for one thing: another reward, other numbers (weights, thresholds, schedules), or a "
            "rollback"
        )
    if state_of(mailbox) == "finished":
        raise RewardKitError(
            f"the training of {mailbox.folder.parent} has come to its end: its reward changes no more. Try another one "
            "on its last batch with rewardkit update --dry-run, or on all that it recorded with rewardkit score"
        )
    if reward is not None:
        return mailbox.send("reward", target=reward, code=collected(reward))
    if back:
        return mailbox.send("rollback", to=None if rollback is True else int(rollback))
    for kind, values in given.items():
        for name, value in values.items():
            _check_name(name, kind, current)
            parsed(value)
    return mailbox.send("numbers", numbers=given)


def _check_name(name: str, kind: str, current: Mapping[str, Any]) -> None:
    """Raises where the reward in force has no such number; one that stands in several places is asked for itself."""
    known = list(current.get(kind, {}))
    if not any(f"/{one}".endswith(f"/{name}") or f"/{name}".endswith(f"/{one}") for one in known):
        there = ", ".join(known) or "none"
        raise RewardDefinitionError(f"{kind}: there is no {shorten(name)}.{near_miss(name, known)} There are: {there}")


def state_of(mailbox: Mailbox) -> str:
    """``running``, ``stopped`` or ``finished``, as the record of the run has it; empty where there is none."""
    from rewardkit.store.run import open_run

    try:
        return open_run(mailbox.folder.parent).state
    except RewardKitError:
        return ""


def mailbox_of(run: Any) -> Mailbox:
    """The mailbox of a run, by its folder or as ``rk.open_run`` gave it."""
    files = getattr(run, "files", None)
    if files is not None:
        run = files.root
    if not isinstance(run, (str, os.PathLike)):
        raise RewardKitError(f"a run is the folder of its record, got {shorten(run)}")
    return Mailbox(Path(run))
