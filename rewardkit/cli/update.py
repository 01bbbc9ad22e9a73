"""``rewardkit update runs/x reward.py:name``: change the reward or its numbers in an active training run."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rewardkit.batch.table_text import visible
from rewardkit.cli.arguments import REWARD, count
from rewardkit.report.document import aligned
from rewardkit.report.values import short

if TYPE_CHECKING:
    from rewardkit_adapters.live.mailbox import Mailbox, Request

_WAIT = 120.0
"""The seconds to wait for an answer. The limit is arbitrary: an update takes effect at the next step, and most steps
are shorter."""
_KINDS = ("weights", "thresholds", "schedules")
_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Asks a training run to change to another reward, to other weights, thresholds, or schedules, or back to an "
        "earlier version. The run tries the change on its last batch. At its next step, the run applies the change, or "
        "refuses it with a reason."
    )
    verb.epilog = (
        "Exit code 0: the change was applied, or the requested list was printed; 1: the change was refused; 2: the "
        "request is not possible; 3: no answer in time (the request stays until the run answers it)."
    )
    verb.add_argument("folder", metavar="RUN", help="the folder of the run")
    verb.add_argument("reward", nargs="?", metavar="REWARD", help=f"the new reward: {REWARD}")
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        dest="numbers",
        metavar="KIND.NAME=VALUE",
        help="set a number of the current reward, as in weights.exact=0.5, thresholds.tags_gate=0.9, "
        "or schedules.first=0.3, or a schedule, as in 'weights.style=linear(0.0, 0.3, end=0.5)' (may be repeated)",
    )
    verb.add_argument(
        "--rollback",
        nargs="?",
        type=int,
        const=True,
        default=False,
        metavar="VERSION",
        help="go back to VERSION (default: the previous version). 0 is the reward that the run started with",
    )
    verb.add_argument("--show", action="store_true", help="print the current reward with its numbers")
    verb.add_argument("--history", action="store_true", help="print all updates with their status")
    verb.add_argument("--cancel", action="store_true", help="cancel the updates that the run has not answered yet")
    verb.add_argument(
        "--dry-run",
        action="store_true",
        help="try REWARD in this process, on the last recorded batch, and send nothing to the run",
    )
    verb.add_argument(
        "--on-recorded",
        type=count,
        metavar="N",
        help="with --dry-run: compare on the last N recorded steps, without judges and other expensive components",
    )
    verb.add_argument(
        "--wait",
        type=float,
        default=_WAIT,
        metavar="SECONDS",
        help=f"the time to wait for the answer (default: {_WAIT:g})",
    )


def run(options: argparse.Namespace) -> int:
    """Send the update or print the requested list; return the exit code."""
    from rewardkit.errors import RewardKitError
    from rewardkit_adapters.live.requests import mailbox_of, send_request, wait_for_answer

    folder = options.folder
    numbers = _numbers(options.numbers)
    prints = options.show or options.history or options.cancel
    if prints and (options.reward or numbers or options.rollback is not False):
        raise RewardKitError("--show, --history, and --cancel cannot be combined with a change: run two commands")
    mailbox = mailbox_of(folder)
    if options.dry_run:
        if not options.reward:
            raise RewardKitError(
                "--dry-run needs a new reward: pass path/to/file.py:reward. The run itself tries --set and --rollback "
                "changes before it applies them"
            )
        from rewardkit_adapters.live.dry_run import dry_run, dry_run_on

        if options.on_recorded is None:
            print(_trial(dry_run(folder, options.reward)))
        else:
            print(dry_run_on(folder, options.reward, options.on_recorded))
        return 0
    if options.on_recorded is not None:
        raise RewardKitError("--on-recorded sets the number of batches for a dry run, so it needs --dry-run")
    if options.show:
        print(_config(mailbox))
    if options.history:
        print(_history(mailbox))
    if options.cancel:
        canceled = [f"canceled update {each.update}: {visible(str(each))}" for each in mailbox.cancel()]
        print("\n".join(canceled) or "no update is waiting")
    if prints:
        return 0
    request = send_request(mailbox, options.reward, numbers, options.rollback)
    print(f"update {request.update}: {visible(str(request))}", file=sys.stderr, flush=True)
    return _print_answer(request, wait_for_answer(mailbox, request, options.wait), options.wait, mailbox)


def _numbers(assignments: list[str]) -> dict[str, dict[str, Any]]:
    from rewardkit.errors import RewardKitError, near_miss

    numbers: dict[str, dict[str, Any]] = {}
    for text in assignments:
        path, equals, value = text.partition("=")
        kind, dot, name = path.strip().partition(".")
        if not equals or not dot or not name or kind not in _KINDS:
            raise RewardKitError(
                f"--set {text}: write KIND.NAME=VALUE, where KIND is {', '.join(_KINDS)}.{near_miss(kind, _KINDS)}"
            )
        numbers.setdefault(kind, {})[name] = _value(value.strip())
    return numbers


def _value(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _print_answer(request: Request, answer: Mapping[str, Any], waited: float, mailbox: Mailbox) -> int:
    """Print the training run's answer; return the exit code."""
    if answer["status"] == "pending":
        print(
            f"no answer within {waited:g} s. The request stays: the training run reads it at its next step. "
            f"{_alive(mailbox)}See its status with --history, or cancel it with --cancel."
        )
        return 3
    if answer.get("trial"):
        print(_trial(answer["trial"]))
    for warning in answer["warnings"]:
        print(f"warning: {visible(warning)}")
    if answer["status"] != "applied":
        print(f"{answer['status']}: {visible(answer['reason'])}")
        return 1
    if answer["replaced"] or answer["to"] is not None:
        print(visible(request.change(answer["replaced"], answer["to"])))
    print(f"applied: version {answer['update']} starting at step {answer['step']}")
    return 0


def _alive(mailbox: Mailbox) -> str:
    """Return a warning if the training run does not seem to be active; otherwise, an empty string."""
    from rewardkit_adapters.live.requests import state_of

    last = mailbox.last_written()
    if last is None or state_of(mailbox) == "running":
        return ""
    seconds = max(0.0, time.time() - last)
    ago = next((f"{seconds / unit:.0f} {name}" for unit, name in _UNITS if seconds >= 2 * unit), "a moment")
    return f"The training run does not seem to be active: it last wrote {ago} ago. "


def _trial(trial: Mapping[str, Any]) -> str:
    """Return a table of the scores before and after an update, for the batch on which the update was tested."""
    pairs = [*trial["components"].items(), ("total", trial["total"])]
    rows = [[name, short(before, 4), short(after, 4)] for name, (before, after) in pairs]
    part = f", the main process's part of {trial['processes']}" if trial.get("processes", 1) > 1 else ""
    lines = [f"on the last batch ({trial['rows']} completions{part}):"]
    lines += aligned([["", "before", "after"], *rows])
    changes = trial["advantages"]
    if changes is not None:
        lines.append(
            f"advantages: {changes['changed_sign']} of {trial['rows']} change sign, the largest change is "
            f"{changes['largest_change']:.3g}"
        )
    return "\n".join(lines)


def _config(mailbox: Mailbox) -> str:
    from rewardkit_adapters.live.requests import get_config

    config = get_config(mailbox.folder.parent)
    lines = [
        f"version {config['version']} ({config['fingerprint']}), since step {config['since']}: {config['said']}",
        config["reward"],
    ]
    lines += [f"{kind}.{name}={value}" for kind in _KINDS for name, value in config[kind].items()]
    return "\n".join(map(visible, lines))


def _history(mailbox: Mailbox) -> str:
    rows = []
    for request in mailbox.requests():
        answer = mailbox.answer(request.update)
        sent = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(request.time))
        state = answer.status if answer is not None else "pending"
        step = "" if answer is None or answer.step is None else str(answer.step)
        change = str(request) if answer is None else request.change(answer.replaced, answer.to)
        change += f": {answer.reason}" if answer is not None and answer.reason else ""
        rows.append([str(request.update), sent, state, step, change])
    names = ["update", "sent", "status", "step", "change"]
    return "\n".join(aligned([names, *rows], left=len(names))) if rows else "no updates"
