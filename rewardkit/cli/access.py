"""The token for ``rewardkit view`` visitors and ``rewardkit serve`` clients, and a check for other users.

Every user on a machine can connect to the machine's ports and see the command line of each process. Therefore, the
token is read from an environment variable or a file, or it is generated and printed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from rewardkit.batch.table_text import visible
from rewardkit.errors import RewardDefinitionError
from rewardkit.workers.addresses import is_loopback

TOKEN = "REWARDKIT_TOKEN"
# The lowest id of a person; services have lower ones, on macOS and on Linux.
_FIRST_HUMAN = 501 if sys.platform == "darwin" else 1000
_NOBODY = 65_534
"""The id of the account "nobody" on nearly all systems, which is not a person."""
_NO_LOGIN = ("", "/bin/false", "/bin/sync", "/sbin/nologin", "/usr/bin/false", "/usr/bin/nologin", "/usr/sbin/nologin")


def add_token_options(verb: argparse.ArgumentParser, default: str) -> None:
    """Add ``--token`` and ``--token-file``; `default` describes the behavior without them."""
    verb.add_argument(
        "--token",
        metavar="auto|none|TEXT",
        help="auto: generate a token and print it; none: require no token. Or the token itself, which other users of "
        f"this machine can then see in the process list (default: the variable {TOKEN}, else {default})",
    )
    verb.add_argument("--token-file", type=Path, metavar="FILE", help="a file with the token")


def token_of(options: argparse.Namespace, default: Callable[[], str]) -> str | None:
    """Return the token that requests must send, or None if they do not need a token.

    Args:
        default: a function that returns ``auto`` or ``none``. It is called if neither the options nor the environment
            contain a token.

    Raises:
        RewardDefinitionError: the token is specified twice, is empty, cannot be read, or cannot be sent; or it is
            missing although other machines can reach the host.
    """
    token = _given(options)
    if token is None:
        token = default()
    if token == "none" and not is_loopback(options.host):
        raise RewardDefinitionError(
            f"--host {options.host} is reachable from other machines, so requests must have a token: set {TOKEN}, or "
            "pass --token-file FILE or --token auto"
        )
    if not (token.isascii() and token.isprintable()):
        raise RewardDefinitionError(
            "the token contains characters that a header cannot have. Use only printable ASCII characters"
        )
    # 24 bytes: no one can guess 192 bits.
    return None if token == "none" else secrets.token_urlsafe(24) if token == "auto" else token


def _given(options: argparse.Namespace) -> str | None:
    if options.token is not None and options.token_file is not None:
        raise RewardDefinitionError("--token and --token-file both specify the token: pass only one of them")
    if options.token_file is not None:
        token, source = _read(options.token_file), f"the file {options.token_file}"
    elif options.token is not None:
        token, source = str(options.token).strip(), "--token"
    else:
        return os.environ.get(TOKEN, "").strip() or None
    if not token:
        raise RewardDefinitionError(f"{source} is empty: put a token in it, or omit the option")
    if source == "--token" and token not in ("auto", "none"):
        warn_user(
            f"other users of this machine can see the token in the process list. Set {TOKEN}, or pass --token-file "
            "FILE or --token auto"
        )
    return token


def has_other_users() -> bool:
    """Return whether another person can run programs on this machine.

    A person has an account with a login shell and a user id of at least 1000 (501 on macOS). Directory-service accounts
    are usually not listed, so they count only while they run a process. The result is False on Windows, where this is
    unknown.
    """
    try:
        import pwd
    except ImportError:
        return False
    if any(map(_is_person, _running() - {os.getuid()})):
        return True
    return any(map(_is_person, {account.pw_uid for account in pwd.getpwall()} - {os.getuid()}))


def _running() -> set[int]:
    """Return the ids of users that are running processes; empty on systems without ``/proc``."""
    user_ids = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            user_ids.add(process.stat().st_uid)
    return user_ids


def _is_person(uid: int) -> bool:
    import pwd

    try:
        return uid >= _FIRST_HUMAN and uid != _NOBODY and pwd.getpwuid(uid).pw_shell not in _NO_LOGIN
    except KeyError:
        return False


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
        # The permissions of the group and of all other users.
        shared_bits = stat.S_IMODE(path.stat().st_mode) & 0o077
    except (OSError, UnicodeDecodeError) as error:
        raise RewardDefinitionError(f"--token-file {path} cannot be read: {error}") from None
    if shared_bits and os.name == "posix":
        warn_user(f"other users of this machine can read --token-file {path}. Run: chmod 600 {path}")
    return text


def warn_user(text: str) -> None:
    """Print a warning to stderr."""
    print(visible(f"warning: {text}"), file=sys.stderr, flush=True)
