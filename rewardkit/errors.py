"""The errors that users can encounter, and helper functions for error messages.

A message describes the problem, its location (component, column, row), and the fix. `shorten` truncates the invalid
value, and `near_miss` suggests the intended name.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import shlex
import warnings
from collections.abc import Iterable

__all__ = [
    "BindingError",
    "CoercionError",
    "ConfigError",
    "DataError",
    "EvidenceError",
    "MissingExtraError",
    "NoExamples",
    "NoVerdict",
    "NotAFolder",
    "NotARun",
    "RewardBug",
    "RewardDefinitionError",
    "RewardFailure",
    "RewardKitError",
    "RewardKitWarning",
    "RewardTypeError",
    "RunError",
    "RunStopped",
    "SandboxFailure",
    "WorkerDied",
]

SHOWN_CHARACTERS = 200
"""The maximum number of a value's characters in an error message. The limit is arbitrary: it is enough to recognize a
value, and a completion may have 100,000 characters."""


class RewardKitError(Exception):
    """The base class of all errors that rewardkit raises on purpose.

    Attributes:
        component: the reward component that could not be scored, or an empty string if it is unknown.
    """

    component: str = ""


class RewardDefinitionError(RewardKitError):
    """A reward, schedule, or tree is defined incorrectly. Raised when it is created or compiled."""


class RewardTypeError(RewardDefinitionError, TypeError):
    """A value that is not a reward was passed instead of a reward, or vice versa."""


class BindingError(RewardKitError):
    """A reward needs an argument or a column that the batch does not have.

    Attributes:
        column: the missing column, or an empty string if something else is missing.
        hint: advice on the column's name, or an empty string if there is none.
    """

    column: str = ""
    hint: str = ""


class CoercionError(RewardKitError):
    """A value in a column does not fit the type in the reward's annotation."""


class RewardFailure(RewardKitError):
    """Scoring stopped because of a failure with the policy ``"raise"``, an unknown route, or too many faults."""


class RewardBug(RewardKitError):
    """A reward function has a bug: it raised an exception, or returned something that is not a score."""


class RunStopped(RewardFailure):
    """The run stopped because a failure, such as an invalid key or an exhausted quota, would affect all later samples.

    ``on_failure`` does not catch it.
    """


class NoVerdict(RewardFailure):
    """The judge refused this completion because of its content. The judge may accept other completions."""


class WorkerDied(RewardFailure):
    """A worker process exited before its function returned, for example because of ``os._exit`` or a lack of memory."""


class SandboxFailure(RewardFailure):
    """The sandbox did not start, or another process killed it. The program is not at fault, so it gets no score."""


class DataError(RewardKitError):
    """A data file, or a record in it, is invalid. The message contains the line number."""


class ConfigError(RewardKitError):
    """A configuration, or the data that it refers to, is invalid. The message contains the location and the fix."""


class RunError(RewardKitError):
    """A recorded run cannot be read."""


class NotARun(RunError):
    """There is no recorded run with this path or name."""


class NotAFolder(RewardKitError, NotADirectoryError):
    """The path for a run's record is a file, not a folder."""


class NoExamples(RewardDefinitionError):
    """There are no examples to check a reward that reads columns.

    Attributes:
        columns: the columns that the reward reads.
    """

    def __init__(self, message: str, columns: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


class EvidenceError(RewardKitError, ValueError):
    """The arrays in an `Evidence` object do not match each other."""


class MissingExtraError(RewardKitError, ImportError):
    """An optional dependency is not installed. The message contains the install command."""

    @classmethod
    def of(cls, feature: str, extra: str) -> MissingExtraError:
        return cls(f"{feature} needs an optional dependency. Install it: {install_command(extra)}")


class RewardKitWarning(UserWarning):
    """A reward will probably not work as intended. Training can continue."""


def requirement(extra: str = "") -> str:
    """Return the pip requirement for this copy of rewardkit with an extra: ``rewardkit-sdk[json]``.

    If it was installed from a local folder or file, the requirement is that path. If it was installed from a URL, the
    requirement is the name with that URL.
    """
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    suffix = f"[{extra}]" if extra else ""
    name = f"rewardkit-sdk{suffix}"
    if (checkout := _checkout()) is not None:
        return f"{checkout}{suffix}"
    try:
        origin = json.loads(metadata.distribution("rewardkit-sdk").read_text("direct_url.json") or "{}")
        url = str(origin.get("url", ""))
        version_control = origin.get("vcs_info")
        if version_control:
            return f"{name} @ {version_control['vcs']}+{url}@{version_control['commit_id']}"
    except (metadata.PackageNotFoundError, ValueError, KeyError):  # not installed, or by a tool that writes other files
        return name
    if not url.startswith("file:"):
        return f"{name} @ {url}" if url else name
    path = url2pathname(urlsplit(url).path)
    return f"{path}{suffix}" if os.path.exists(path) else name


def install_command(extra: str = "") -> str:
    """Return the command that installs this copy of rewardkit with an extra: ``pip install 'rewardkit-sdk[json]'``."""
    return f"pip install {'' if _checkout() is None else '-e '}{shlex.quote(requirement(extra))}"


def upgrade_command() -> str:
    """Return the command that installs a newer version of rewardkit: ``pip install --upgrade rewardkit-sdk``."""
    checkout = _checkout()
    if checkout is not None:
        return f"git -C {shlex.quote(checkout)} pull"
    return f"pip install --upgrade {shlex.quote(requirement())}"


def _checkout() -> str | None:
    """Return the source folder that rewardkit is imported from; None if the package is installed."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return folder if os.path.isfile(os.path.join(folder, "pyproject.toml")) else None


def warn(message: str) -> None:
    # A larger stacklevel would point into the trainer or a thread, never into the user's code.
    warnings.warn(message, RewardKitWarning, stacklevel=2)


def worth_reporting(count: int) -> bool:
    """Return whether to report the `count`-th of many similar events: the 1st, 10th, 100th, ..."""
    return str(count).strip("0") == "1"


def shorten(value: object, limit: int = SHOWN_CHARACTERS) -> str:
    """Return ``repr(value)`` truncated to `limit` characters, with its full length if truncated. Never raises."""
    if isinstance(value, str) and len(value) > limit:
        return f"{value[:limit]!r}... ({len(value):,} characters)"
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def shorten_line(text: str, limit: int = 400) -> str:
    """Return `text`, without its middle if it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} ... {text[-limit // 4 :]}"


def hashable(value: object) -> bool:
    """Return whether `value` is hashable. Every part of a reward must be hashable."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_factory(value: object) -> bool:
    """Return whether `value` is a rewardkit function that creates rewards, such as `rk.exact` itself."""
    home = str(getattr(value, "__module__", ""))
    return inspect.isfunction(value) and home.startswith(("rewardkit.rewards.", "rewardkit.combine."))


def near_miss(name: object, names: Iterable[str]) -> str:
    """Return `` Did you mean 'answer'?`` if `name` resembles one of `names`, or begins or ends with one, else ""."""
    choices = list(names)
    # "exact_match" suggests "exact", and "geometric_mean" suggests "mean".
    parts = [choice for choice in choices if str(name).startswith(f"{choice}_") or str(name).endswith(f"_{choice}")]
    # At most two suggestions, so that a message stays short; 0.6 is difflib's default.
    close = list(dict.fromkeys([*parts, *difflib.get_close_matches(str(name), choices, n=2, cutoff=0.6)]))[:2]
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
