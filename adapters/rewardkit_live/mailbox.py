"""The mailbox of a run: requests and answers as files in ``<run>/updates/``.

``0001.json`` is a request, ``0001/`` the code that came with it, ``0001.answer.json`` what became of it, and
``current.json`` the reward in force. Every file is written whole or not at all, and a number is given once.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from rewardkit.core.errors import RewardKitError
from rewardkit_live.sources import Code, placed

Status = Literal["applied", "refused", "canceled", "pending"]
FOLDER = "updates"
MOST_BYTES = 32_000_000
"""Of one file; what is longer is not read."""


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes:
        update: its number, from 1 on.
        kind: another ``reward``, other ``numbers``, or a ``rollback``.
        target: how the reward was named, ``reward.py:reward``.
        code: of the reward.
        numbers: kind -> name -> number or text of a schedule.
        to: the version to go back to; None for the one before.
        time: seconds since 1970.
    """

    # What another version of this program asks for with more words than these must not be taken for something else.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    update: int
    kind: Literal["reward", "numbers", "rollback"]
    target: str = ""
    code: Code | None = None
    numbers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    to: int | None = None
    time: float = 0.0

    def __str__(self) -> str:
        """What it asks for, in a few words."""
        if self.kind == "reward":
            return self.target
        if self.kind == "rollback":
            return "rollback" if self.to is None else f"rollback to {self.to}"
        pairs = [f"{kind}.{name}={value}" for kind, given in self.numbers.items() for name, value in given.items()]
        return ", ".join(pairs)


@dataclass(frozen=True)
class Answer:
    """What became of a request.

    Attributes:
        step: of training at which it was taken; None before that.
        before: the version in force until then.
        to: the version that a rollback went back to.
        fingerprints: of the reward before and after.
        trial: old and new on the last batch, see `trial.Comparison`.
        warnings: what will probably not do what its author wants.
    """

    update: int
    status: Status
    reason: str = ""
    step: int | None = None
    before: int = 0
    to: int | None = None
    fingerprints: tuple[str, str] = ("", "")
    trial: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    time: float = 0.0


class Mailbox:
    """The requests and answers of one run.

    Args:
        run: its folder.
    """

    def __init__(self, run: str | os.PathLike[str]) -> None:
        self.folder = Path(run) / FOLDER

    def send(self, kind: Any, **values: Any) -> Request:
        """Puts in a request under the next number.

        Raises:
            RewardKitError: the folder cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            number = self._claimed()
            request = Request(number, kind, **values, time=time.time())
            if request.code is not None:
                placed(request.code.files, self.code_folder(number))
            self._put(f"{number:04d}.json", asdict(request))
        except OSError as error:
            raise RewardKitError(f"{self.folder} cannot be written: {error.strerror or error}") from None
        return request

    def _claimed(self) -> int:
        """The next number; an empty file, which is no request yet, takes it."""
        number = max([0, *self._numbers()])
        while True:
            number += 1
            with contextlib.suppress(FileExistsError), open(self.folder / f"{number:04d}.json", "x"):
                return number

    def _numbers(self) -> list[int]:
        try:
            names = os.listdir(self.folder)
        except OSError:  # none was sent yet, or nobody can see it now
            return []
        stems = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def code_folder(self, update: int) -> Path:
        """Where the code of a request stands."""
        return self.folder / f"{update:04d}"

    def requests(self) -> list[Request]:
        """All requests that are there whole, in order."""
        return [request for number in self._numbers() if (request := self.request(number)) is not None]

    def request(self, update: int) -> Request | None:
        """A request; None where there is none, or none that can be understood."""
        return self._understood(update)[0]

    def pending(self, known: set[int]) -> list[Request]:
        """Requests without an answer, in order; `known` are answered ones, which are not looked at again."""
        return [request for number in self._unanswered(known) if (request := self.request(number)) is not None]

    def unreadable(self, known: set[int]) -> dict[int, str]:
        """Files without an answer that are no requests, and why; one that is still empty may become one."""
        return {number: reason for number in self._unanswered(known) if (reason := self._understood(number)[1])}

    def _unanswered(self, known: set[int]) -> list[int]:
        waiting = [number for number in self._numbers() if number not in known]
        known |= {number for number in waiting if self.answer(number) is not None}
        return [number for number in waiting if number not in known]

    def _understood(self, update: int) -> tuple[Request | None, str]:
        """The request of that number, or why what stands in its place is none."""
        name = f"{update:04d}.json"
        try:
            text = self._text(name)
            if not text.strip():  # its number is taken, and it is being written
                return None, ""
            request = _adapter(Request).validate_json(text)
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            # Anything else may pass: a network that is away for a moment.
            return None, f"{name} cannot be read: {error}" if isinstance(
                error, (PermissionError, _NothingToRead)
            ) else ""
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            return None, (
                f"{name} is no request that this version of rewardkit understands"
                f"{f', at {where[:80]}' if where else ''}: {first['msg']}"
            )
        if request.update != update:
            return None, f"{name} is a copy: it says that it is update {request.update}"
        return request, ""

    def answer(self, update: int) -> Answer | None:
        try:
            found: Answer = _adapter(Answer).validate_json(self._text(f"{update:04d}.answer.json"))
        except (OSError, ValidationError):
            return None
        return found

    def put_answer(self, answer: Answer) -> Answer:
        stamped = Answer(**{**asdict(answer), "time": time.time()})
        self._put(f"{answer.update:04d}.answer.json", asdict(stamped))
        return stamped

    def cancel(self) -> list[Request]:
        """Takes back all requests that nobody has answered."""
        taken_back = []
        for request in self.pending(set()):
            said = Answer(request.update, "canceled", "taken back before it was taken", time=time.time())
            with (
                contextlib.suppress(FileExistsError),
                open(self._path(f"{request.update:04d}.answer.json"), "x") as file,
            ):
                file.write(_json(asdict(said)))
                taken_back.append(request)
        return taken_back

    def wait(self, update: int, seconds: float) -> Answer | None:
        """The answer to a request; None where there is none within `seconds`."""
        until = time.monotonic() + (seconds if seconds > 0.0 else 0.0)  # not for ever where it is no number
        while True:
            answer = self.answer(update)
            if answer is not None or time.monotonic() >= until:
                return answer
            time.sleep(min(0.2, max(0.0, until - time.monotonic())))

    def current(self) -> dict[str, Any] | None:
        """The reward in force, as `publish` wrote it."""
        found = self._get("current.json")
        return found if isinstance(found, dict) else None

    def publish(self, current: Mapping[str, Any]) -> None:
        """Says which reward is in force."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._put("current.json", current)

    def last_written(self) -> float | None:
        """When the run was last written to, in seconds since 1970; None where nothing of it is there."""
        times = []
        for folder in (self.folder, *(self.folder.parent / name for name in ("scores", "metrics", "attempts"))):
            with contextlib.suppress(OSError):
                times.append(folder.stat().st_mtime)  # a file that is put there changes its folder
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
                raise _NothingToRead("it is no file")
            raise FileNotFoundError(name)
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise _NothingToRead(f"it is longer than {MOST_BYTES:,} bytes")
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
    """What lies there is nothing to read."""


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1) + "\n"


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
