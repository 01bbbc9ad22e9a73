"""``rewardkit serve reward.py:reward --port 8000``: score completions for trainers over HTTP."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path
from typing import Any

from rewardkit.cli.access import TOKEN, add_token_options, has_other_users, token_of, warn_user
from rewardkit.cli.arguments import REWARD, count, seconds
from rewardkit.errors import RewardDefinitionError

DIALECTS: dict[str, str] = {
    "llamafactory": "rewardkit_adapters.llamafactory",
    "nemo-gym": "rewardkit_adapters.nemo_gym",
    "openrlhf": "rewardkit_adapters.openrlhf",
    "slime": "rewardkit_adapters.slime",
}
"""Trainer -> the module that defines its `dialect`."""
_MIB = 1 << 20


def add_options(verb: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    verb.description = (
        "Answers POST /score for any trainer (rk.remote is the client), and the paths that some trainers post to. If a "
        "completion crashes a worker, the worker is restarted."
    )
    verb.add_argument("target", metavar="REWARD", help=REWARD)
    verb.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="the address to listen on (default: 127.0.0.1)"
    )
    verb.add_argument(
        "--port", type=int, default=8000, metavar="NUMBER", help="the port, or 0 for any free port (default: 8000)"
    )
    verb.add_argument(
        "--workers", type=count, metavar="N", help="the number of worker processes (default: one per core)"
    )
    verb.add_argument(
        "--deadline", type=seconds, default=60.0, metavar="SECONDS",
        help="the time limit for one row (default: 60). A worker that takes longer is killed",
    )  # fmt: skip
    verb.add_argument(
        "--queue", type=count, default=20_000, metavar="ROWS",
        help="the maximum number of queued rows (default: 20000). Beyond that, the server returns 429",
    )  # fmt: skip
    verb.add_argument(
        "--max-body", type=count, default=32, metavar="MIB", help="the maximum request size in MiB (default: 32)"
    )
    add_token_options(verb, "none, but requests from other machines need one")
    verb.add_argument(
        "--special-token", action="append", default=[], metavar="TEXT", dest="special_tokens",
        help="remove this text from completions, such as '<|im_end|>' (may be repeated)",
    )  # fmt: skip
    verb.add_argument("--record", type=Path, metavar="DIR", help="record all scored completions in this folder")
    verb.add_argument("--no-access-log", action="store_true", help="do not log requests")


def run(options: argparse.Namespace) -> int:
    """Serve requests until a signal stops the server; return 0."""
    from rewardkit.serve.app import Options, Setup, serve

    if not 0 <= options.port <= 65_535:
        raise RewardDefinitionError(f"--port must be a number from 0 to 65535, got {options.port}")
    served = Options(
        Setup(
            _absolute(options.target),
            tuple(options.special_tokens),
            None if options.record is None else str(options.record.absolute()),
            (os.getcwd(),),
        ),
        workers=options.workers or os.cpu_count() or 1,
        queue=options.queue,
        deadline=options.deadline,
        max_body=options.max_body * _MIB,
        token=_token(options),
        dialects=[_dialect(module) for module in DIALECTS.values()],
    )
    serve(served, host=options.host, port=options.port, access_log=not options.no_access_log, announce=_announce)
    return 0


def _token(options: argparse.Namespace) -> str | None:
    token = token_of(options, lambda: "none")
    if options.token == "auto":
        print(f"clients need this token: export {TOKEN}={token}", flush=True)
    elif token is None and options.token is None and has_other_users():
        warn_user(
            f"other users of this machine can send requests to this server. Set {TOKEN} for the server and its clients"
        )
    return token


def _dialect(module: str) -> Any:
    return importlib.import_module(module).dialect


def _absolute(target: str) -> str:
    from rewardkit.tree.loading import is_file, path_of, split

    source, name = split(target)
    return (
        f"{path_of(source)}:{name}" if is_file(source) and name else str(path_of(source)) if is_file(source) else target
    )


def _announce(address: str) -> None:
    print(f"serving on {address}, documented at {address}/docs. Ctrl-C stops", flush=True)
