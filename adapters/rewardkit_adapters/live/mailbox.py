"""A run's mailbox: update requests and their answers, as files in ``<run>/updates/``.

``0001.json`` contains a request, ``0001/`` contains the request's code, ``0001.answer.json`` contains the answer, and
``current.json`` describes the active reward. Files are written atomically, and each number is used only once.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from rewardkit.errors import RewardKitError
from rewardkit_adapters.live.sources import Code, write_sources

Status = Literal["applied", "refused", "canceled", "pending"]
FOLDER = "updates"
MOST_BYTES = 32_000_000
"""The maximum size of a file to read, in bytes. The limit is arbitrary, but far above the few kilobytes of an update.
It prevents a user with write access from exhausting the training process's memory."""


@dataclass(frozen=True)
class Request:
    """A request to change the reward during a training run.

    Attributes:
        update: the number of the request, starting at 1.
        kind: ``reward`` to use another reward, ``numbers`` to use other numbers, or ``rollback``.
        target: the reward as specified by the user, such as ``reward.py:reward``.
        code: the reward's code.
        numbers: kind -> name -> number, or schedule as a string.
        to: the version to restore, or None for the previous version.
        time: the time of the request, in seconds since 1970.
    """

    # A request with unknown fields comes from another version of rewardkit and must not be misread.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    update: int
    kind: Literal["reward", "numbers", "rollback"]
    target: str = ""
    code: Code | None = None
    numbers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    to: int | None = None
    time: float = 0.0

    def __str__(self) -> str:
        """Describe the request in a few words."""
        if self.kind == "reward":
            return self.target
        if self.kind == "rollback":
            return "rollback" if self.to is None else f"rollback to version {self.to}"
        pairs = [f"{kind}.{name}={value}" for kind, values in self.numbers.items() for name, value in values.items()]
        return ", ".join(pairs)

    def change(self, replaced: Mapping[str, Mapping[str, Any]], to: int | None = None) -> str:
        """Describe the applied request, with the values that it `replaced`, or the version `to` for a rollback."""
        if not replaced:
            return str(self if to is None else replace(self, to=to))
        return ", ".join(
            f"{kind}.{name}: {self.numbers[kind][name]} replaces {value}"
            for kind, values in replaced.items()
            for name, value in values.items()
        )


@dataclass(frozen=True)
class Answer:
    """The answer to a request.

    Attributes:
        step: the training step at which the request was applied, or None if it was not applied.
        before: the active version before the request.
        to: the version that a rollback restored.
        replaced: kind -> name -> the number, or schedule as a string, that a new number replaced.
        fingerprints: the reward's fingerprints before and after the request.
        trial: the comparison of the old and the new reward on the last batch, as returned by `trial.compare_trials`.
        warnings: likely mistakes in the new reward.
    """

    update: int
    status: Status
    reason: str = ""
    step: int | None = None
    before: int = 0
    to: int | None = None
    replaced: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fingerprints: tuple[str, str] = ("", "")
    trial: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    time: float = 0.0


class Mailbox:
    """The requests and answers for one run.

    Args:
        run: the run's folder.
    """

    def __init__(self, run: str | os.PathLike[str]) -> None:
        self.folder = Path(run) / FOLDER

    def send(self, kind: Any, **values: Any) -> Request:
        """Send a request with the next number.

        Raises:
            RewardKitError: the folder cannot be written to.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            number = self._claimed()
            request = Request(number, kind, **values, time=time.time())
            if request.code is not None:
                write_sources(request.code.files, self.code_folder(number))
            self._put(f"{number:04d}.json", asdict(request))
        except OSError as error:
            raise RewardKitError(f"cannot write to {self.folder}: {error.strerror or error}") from None
        return request

    def _claimed(self) -> int:
        """Reserve the next number by creating an empty file."""
        number = max([0, *self._numbers()])
        while True:
            number += 1
            with contextlib.suppress(FileExistsError), open(self.folder / f"{number:04d}.json", "x"):
                return number

    def _numbers(self) -> list[int]:
        try:
            names = os.listdir(self.folder)
        except OSError:  # no request has been sent yet, or the folder is not readable
            return []
        stems = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def code_folder(self, update: int) -> Path:
        """Return the folder that contains a request's code."""
        return self.folder / f"{update:04d}"

    def requests(self) -> list[Request]:
        """Return all complete requests, in order."""
        return [request for number in self._numbers() if (request := self.request(number)) is not None]

    def request(self, update: int) -> Request | None:
        """Return a request, or None if it is missing or invalid."""
        return self._understood(update)[0]

    def pending(self, answered: set[int]) -> list[Request]:
        """Return the requests without an answer, in order.

        Numbers in `answered` are skipped. Numbers of requests that turn out to have an answer are added to
        `answered`."""
        return [request for number in self._unanswered(answered) if (request := self.request(number)) is not None]

    def unreadable(self, answered: set[int]) -> dict[int, str]:
        """Return, for each invalid request file without an answer, the reason why it is invalid.

        Empty files are skipped as incomplete."""
        return {number: reason for number in self._unanswered(answered) if (reason := self._understood(number)[1])}

    def _unanswered(self, answered: set[int]) -> list[int]:
        candidate_numbers = [number for number in self._numbers() if number not in answered]
        answered |= {number for number in candidate_numbers if self.answer(number) is not None}
        return [number for number in candidate_numbers if number not in answered]

    def _understood(self, update: int) -> tuple[Request | None, str]:
        """Return the request with the number `update`, or the reason why its file is invalid."""
        name = f"{update:04d}.json"
        try:
            text = self._text(name)
            if not text.strip():  # the number is reserved, and the file is being written
                return None, ""
            request = _adapter(Request).validate_json(text)
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            # Other errors may be temporary, such as network problems.
            return None, f"cannot read {name}: {error}" if isinstance(error, (PermissionError, _NothingToRead)) else ""
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            return None, (
                f"{name} is not a request that this version of rewardkit understands"
                f"{f', at {where[:80]}' if where else ''}: {first['msg']}"
            )
        if request.update != update:
            return None, f"{name} is a copy of update {request.update}"
        return request, ""

    def answer(self, update: int) -> Answer | None:
        try:
            response: Answer = _adapter(Answer).validate_json(self._text(f"{update:04d}.answer.json"))
        except (OSError, ValidationError):
            return None
        return response

    def put_answer(self, answer: Answer) -> Answer:
        stamped = Answer(**{**asdict(answer), "time": time.time()})
        self._put(f"{answer.update:04d}.answer.json", asdict(stamped))
        return stamped

    def cancel(self) -> list[Request]:
        """Cancel all requests without an answer, and return them."""
        canceled_requests = []
        for request in self.pending(set()):
            cancellation = Answer(request.update, "canceled", "canceled before it was applied", time=time.time())
            with (
                contextlib.suppress(FileExistsError),
                open(self._path(f"{request.update:04d}.answer.json"), "x") as file,
            ):
                file.write(_json(asdict(cancellation)))
                canceled_requests.append(request)
        return canceled_requests

    def wait(self, update: int, seconds: float) -> Answer | None:
        """Wait up to `seconds` for the answer to a request. Return None if there is no answer."""
        until = time.monotonic() + (seconds if seconds > 0.0 else 0.0)  # NaN must not wait forever
        while True:
            answer = self.answer(update)
            if answer is not None or time.monotonic() >= until:
                return answer
            # Check five times a second, which is short compared with a training step.
            time.sleep(min(0.2, max(0.0, until - time.monotonic())))

    def current(self) -> dict[str, Any] | None:
        """Return the description of the active reward that `publish` wrote."""
        published = self._get("current.json")
        return published if isinstance(published, dict) else None

    def publish(self, current: Mapping[str, Any]) -> None:
        """Write the description of the active reward to ``current.json``."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._put("current.json", current)

    def last_written(self) -> float | None:
        """Return the time of the last write to the run in seconds since 1970, or None if there are no files."""
        times = []
        for folder in (self.folder, *(self.folder.parent / name for name in ("scores", "metrics", "attempts"))):
            with contextlib.suppress(OSError):
                times.append(folder.stat().st_mtime)  # a new file changes the modification time of its folder
        return max(times, default=None)

    def _get(self, name: str) -> Any:
        try:
            return json.loads(self._text(name))
        except (OSError, ValueError, RecursionError):
            return None

    def _path(self, name: str) -> Path:
        return self.folder / name

    def _text(self, name: str) -> bytes:
        path = self._path(name)
        if not path.is_file():
            if path.exists():
                raise _NothingToRead("it is not a file")
            raise FileNotFoundError(name)
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise _NothingToRead(f"it is larger than {MOST_BYTES:,} bytes")
        return text

    def _put(self, name: str, value: Mapping[str, Any]) -> None:
        temporary = self._path(f".{name}.{os.getpid()}.tmp")
        try:
            temporary.write_text(_json(value), encoding="utf-8")
            os.replace(temporary, self._path(name))
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


class _NothingToRead(OSError):
    """Raised if a path exists but cannot be read as a request."""


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1) + "\n"


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
