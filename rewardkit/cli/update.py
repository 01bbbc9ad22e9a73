"""``rewardkit update runs/x reward.py:name``: another reward, or other numbers, for a training that runs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.core.batch.table_text import visible

if TYPE_CHECKING:
    from rewardkit_live.mailbox import Mailbox

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

_WAIT = 120.0
_KINDS = ("weights", "thresholds", "schedules")
_UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


def add_to(verbs: Verbs) -> None:
    """Adds the verb with its options."""
    verb = verbs.add_parser(
        "update",
        help="change the reward of a training that runs",
        description="Asks a training for another reward, other weights, thresholds and schedules, or the version "
        "before. The training tries it on its last batch, and takes it at its next step or refuses it with the reason.",
        epilog="Exit code 0: applied, or shown; 1: refused; 2: not possible; 3: no answer came in time, and the "
        "request stays until the training takes it.",
    )
    verb.add_argument("folder", metavar="RUN", help="the folder that the training records to")
    verb.add_argument("reward", nargs="?", metavar="REWARD", help="path/to/file.py:reward or module:reward")
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        dest="numbers",
        metavar="KIND.NAME=VALUE",
        help="weights.exact=0.5, thresholds.tags_gate=0.9, schedules.first=0.3, or a schedule: "
        "'weights.style=linear(0.0, 0.3, end=0.5)'; may be repeated",
    )
    verb.add_argument(
        "--rollback",
        nargs="?",
        type=int,
        const=True,
        default=False,
        metavar="VERSION",
        help="to the version before, or to this one (0: the training's own)",
    )
    verb.add_argument("--show", action="store_true", help="print the reward in force with its numbers")
    verb.add_argument("--history", action="store_true", help="print all updates and what became of them")
    verb.add_argument("--cancel", action="store_true", help="take back what nobody has answered")
    verb.add_argument(
        "--dry-run", action="store_true", help="only try REWARD, here, on the last recorded batch; send nothing"
    )
    verb.add_argument(
        "--wait", type=float, default=_WAIT, metavar="SECONDS", help=f"for the answer (default: {_WAIT:g})"
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """0 where the training took it."""
    from rewardkit.core.errors import RewardKitError
    from rewardkit_live.requests import answered, mailbox_of, sent

    folder = options.folder
    numbers = _numbers(options.numbers)
    shown = options.show or options.history or options.cancel
    if shown and (options.reward or numbers or options.rollback is not False):
        raise RewardKitError("--show, --history and --cancel ask for nothing else: give what is to change by itself")
    mailbox = mailbox_of(folder)
    if options.dry_run:
        if not options.reward:
            raise RewardKitError(
                "--dry-run tries a reward from its code: name it, path/to/file.py:reward. Numbers need the training's "
                "own reward: it tries them before it takes them"
            )
        from rewardkit_live.dry_run import dry_run

        print(_trial(dry_run(folder, options.reward)))
        return 0
    if options.show:
        print(_config(mailbox))
    if options.history:
        print(_history(mailbox))
    if options.cancel:
        taken_back = mailbox.cancel()
        print(
            "\n".join(f"update {one.update} is taken back: {visible(str(one))}" for one in taken_back) or "none waits"
        )
    if shown:
        return 0
    request = sent(mailbox, options.reward, numbers, options.rollback)
    print(f"update {request.update}: {visible(str(request))}", file=sys.stderr, flush=True)
    return _told(answered(mailbox, request, options.wait), options.wait, mailbox)


def _numbers(given: list[str]) -> dict[str, dict[str, Any]]:
    from rewardkit.core.errors import RewardKitError, near_miss

    found: dict[str, dict[str, Any]] = {}
    for text in given:
        path, equals, value = text.partition("=")
        kind, dot, name = path.strip().partition(".")
        if not equals or not dot or not name or kind not in _KINDS:
            raise RewardKitError(
                f"--set {text}: write KIND.NAME=VALUE, where KIND is {', '.join(_KINDS)}.{near_miss(kind, _KINDS)}"
            )
        found.setdefault(kind, {})[name] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _told(answer: Mapping[str, Any], waited: float, mailbox: Mailbox) -> int:
    """Prints an answer; the exit code."""
    if answer["status"] == "pending":
        print(
            f"no answer within {waited:g} s: the request stays, and is taken when the training comes to its next step. "
            f"{_alive(mailbox)}--history shows what became of it, --cancel takes it back"
        )
        return 3
    if answer.get("trial"):
        print(_trial(answer["trial"]))
    for warning in answer["warnings"]:
        print(f"warning: {visible(warning)}")
    if answer["status"] != "applied":
        print(f"{answer['status']}: {visible(answer['reason'])}")
        return 1
    print(f"applied: version {answer['update']} from step {answer['step']} on")
    return 0


def _alive(mailbox: Mailbox) -> str:
    """Whether there seems to be a training at all."""
    from rewardkit_live.requests import state_of

    last = mailbox.last_written()
    if last is None or state_of(mailbox) == "running":
        return ""
    seconds = max(0.0, time.time() - last)
    ago = next((f"{seconds / unit:.0f} {name}" for unit, name in _UNITS if seconds >= 2 * unit), "a moment")
    return f"That training does not seem to run: it wrote its last {ago} ago. "


def _trial(trial: Mapping[str, Any]) -> str:
    """Old and new on the batch that it was tried on."""
    pairs = [*trial["components"].items(), ("total", trial["total"])]
    rows = [[visible(name), _number(before), _number(after)] for name, (before, after) in pairs]
    part = f", the main process's part of {trial['processes']}" if trial.get("processes", 1) > 1 else ""
    lines = [f"on the last batch ({trial['rows']} completions{part}):"]
    lines.append(_aligned([["", "before", "after"], *rows]))
    changes = trial["advantages"]
    if changes is not None:
        lines.append(
            f"advantages: {changes['changed_sign']} of {trial['rows']} change their sign, the largest change is "
            f"{changes['largest_change']:.3g}"
        )
    return "\n".join(lines)


def _config(mailbox: Mailbox) -> str:
    from rewardkit_live.requests import get_config

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
        said = f"{request}: {answer.reason}" if answer is not None and answer.reason else str(request)
        rows.append([str(request.update), sent, state, step, visible(said)])
    return _aligned([["update", "sent", "became", "step", "what"], *rows]) if rows else "no updates"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
