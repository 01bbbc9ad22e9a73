"""get_config and update_config: read and change the reward during a training run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rewardkit.errors import RewardDefinitionError, RewardKitError, near_miss, shorten
from rewardkit_adapters.live.mailbox import Mailbox, Request


def get_config(run: Any) -> dict[str, Any]:
    """Return the active reward of a training run that records to `run`.

    ::

        rk.get_config("runs/x")["weights"]  # {"exact": 0.7, "style": "linear(0.0, 0.3, start=0.0, end=0.5)"}

    Args:
        run: the run's folder, or the result of ``rk.open_run``.

    Returns:
        A dictionary with ``version`` (the number of the update, or 0 for the script's own reward), ``fingerprint``,
        ``reward`` (as a string), ``said`` (the request), ``since`` (the first step that uses this version),
        ``components``, and the numbers that can be changed: ``weights``, ``thresholds``, and ``schedules`` (the ends of
        curriculum stages). Each of these three is a mapping from names to numbers or to schedules as strings.

    Raises:
        RewardKitError: the folder has no training run that accepts updates.
    """
    mailbox = mailbox_of(run)
    current = mailbox.current()
    if current is None:
        from rewardkit.record.run import first_batch_missing, is_starting

        folder = mailbox.folder.parent
        if folder.is_dir() and is_starting(os.listdir(folder)):
            raise RewardKitError(first_batch_missing(str(folder)))
        raise RewardKitError(
            f"{folder} is not the record of a training run that accepts updates. Train "
            "with rk.to_trl(reward, record=...), where record= is a local folder, and wait for the first batch"
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
    """Request that a training run use another reward, other numbers, or a previous version.

    ::

        rk.update_config("runs/x", weights={"exact": 0.5, "style": "linear(0.0, 0.3, end=0.5)"}, wait=60)

    The training run first tries the change on its last batch. It then either applies the change at the next step, or
    rejects the change and continues with the current reward.

    Args:
        run: the run's folder, or the result of ``rk.open_run``.
        reward: ``path.py:name`` or ``module:name``. The current version of the code is copied.
        weights: a mapping from components to numbers or to schedules as strings.
        thresholds: a mapping from gates to numbers or to schedules as strings.
        schedules: a mapping from curriculum stages to their ends, each of which is a position or a schedule.
        rollback: True to restore the previous version, or the number of the version to restore. Version 0 is the
            script's own reward.
        wait: the number of seconds to wait for the result, or None to return immediately.

    Returns:
        A dictionary with ``update`` (the number), ``status`` (applied, refused, or pending), ``reason``, ``step``,
        ``before`` (the previous version), ``replaced`` (the numbers and schedules that new numbers replaced), and
        ``trial``. ``trial`` contains the number of rows in the batch, the means of each component and of the total
        before and after the change, the number of advantages that change sign, and the largest change.

    Raises:
        RewardDefinitionError: no change is requested, the requested changes cannot be combined, a name is unknown, the
            code cannot be read, or a file has the name of an installed module.
        RewardKitError: the folder has no training run that accepts updates, or the run has finished.
    """
    mailbox = mailbox_of(run)
    request = send_request(
        mailbox, reward, {"weights": weights, "thresholds": thresholds, "schedules": schedules}, rollback
    )
    return wait_for_answer(mailbox, request, wait or 0.0)


def wait_for_answer(mailbox: Mailbox, request: Request, seconds: float) -> dict[str, Any]:
    """Return the answer to `request`, or the status pending if there is no answer within `seconds`."""
    answer = mailbox.wait(request.update, seconds)
    if answer is None:
        return {"update": request.update, "status": "pending"}
    return asdict(answer)


def send_request(mailbox: Mailbox, reward: str | None, numbers: Mapping[str, Any], rollback: bool | int) -> Request:
    """Check and send a request. Raises the same errors as `update_config`."""
    from rewardkit_adapters.live.numbers import parse_weight
    from rewardkit_adapters.live.sources import collect_sources

    current = get_config(mailbox.folder.parent)
    changes = {kind: dict(values) for kind, values in numbers.items() if values}
    back = rollback is not False
    if (reward is not None) + bool(changes) + back != 1:
        raise RewardDefinitionError(
            "an update makes only one kind of change: pass another reward, numbers (weights, thresholds, or "
            "schedules), or a rollback"
        )
    if state_of(mailbox) == "finished":
        folder, target = shlex.quote(str(mailbox.folder.parent)), shlex.quote(reward or "reward.py:reward")
        raise RewardKitError(
            f"the training run in {folder} has finished, so its reward cannot change. Try a reward on its last batch "
            f"(rewardkit update {folder} {target} --dry-run) or on the whole record (rewardkit score {folder} "
            f"--reward {target})"
        )
    if reward is not None:
        return mailbox.send("reward", target=reward, code=collect_sources(reward))
    if back:
        return mailbox.send("rollback", to=None if rollback is True else int(rollback))
    for kind, values in changes.items():
        for name, value in values.items():
            _check_name(name, kind, current)
            parse_weight(value)
    return mailbox.send("numbers", numbers=changes)


def _check_name(name: str, kind: str, current: Mapping[str, Any]) -> None:
    """Raise RewardDefinitionError if the active reward has no such number. The training run rejects ambiguous names."""
    paths = list(current.get(kind, {}))
    if not any(f"/{path}".endswith(f"/{name}") or f"/{name}".endswith(f"/{path}") for path in paths):
        available = ", ".join(paths) or "none"
        raise RewardDefinitionError(
            f"{kind}: there is no {shorten(name)}.{near_miss(name, paths)} Choose from: {available}"
        )


def state_of(mailbox: Mailbox) -> str:
    """Return the run's recorded state: ``running``, ``stopped``, or ``finished``, or "" if there is no record."""
    from rewardkit.record.run import open_run

    try:
        return open_run(mailbox.folder.parent).state
    except RewardKitError:
        return ""


def mailbox_of(run: Any) -> Mailbox:
    """Return the mailbox for a run, which is given as a folder or as the result of ``rk.open_run``."""
    files = getattr(run, "files", None)
    if files is not None:
        run = files.root
    if not isinstance(run, (str, os.PathLike)):
        raise RewardKitError(f"expected the folder of a recorded run, got {shorten(run)}")
    return Mailbox(Path(run))
