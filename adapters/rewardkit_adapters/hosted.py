"""rewardkit and hosted services: ``rk.to_hosted(reward, url=...)`` creates functions that query your reward server."""

from __future__ import annotations

import hashlib
import json
import keyword
import linecache
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from rewardkit.batch.batch import RESERVED
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs

# The source text of a function that queries the reward server. It takes three arguments, depends on no other code, and
# uses only the standard library.


Function = Callable[[Any, Any, Any], float]

_TEXT = '''\
def NAME(prompt, completion, example):
    """Ask the reward server for a score; raise if there is none, so that an outage is never a score."""
    import http.client
    import json
    import os
    import time
    import urllib.error
    import urllib.request

    address = ADDRESS
    headers = {"Content-Type": "application/json"}
    token = TOKEN
    if token:
        headers["Authorization"] = "Bearer " + token
    columns = {name: cell for name, cell in dict(example or {}).items() if name not in RESERVED}
    row = {"completion": completion, "prompt": prompt, "columns": columns}
    body = json.dumps({"rows": [row]}, default=str).encode()
    until = time.monotonic() + DEADLINE
    pause = 1.0
    while True:
        wait = pause
        left = max(1.0, until - time.monotonic())
        request = urllib.request.Request(address, data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=min(left, LONGEST_TRY)) as reply:
                score = json.load(reply)["rows"][0]
            if score["total"] is not None:
                value = VALUE
                return 0.0 if value is None else float(value)  # a term that abstained adds nothing
            why = "; ".join(score["reasons"])
            if not why:
                raise RuntimeError("this completion has no score: every component of the reward abstained")
            if score["unparsable"]:
                raise RuntimeError("this completion has no score: " + why)
        except urllib.error.HTTPError as error:
            try:
                why = "status %d: %s" % (error.code, error.read(500).decode(errors="replace"))
            except (OSError, http.client.HTTPException):
                why = "status %d" % error.code
            if error.code not in (408, 425, 429, 500, 502, 503, 504):
                raise RuntimeError("%s rejects the request with %s" % (address, why)) from None
            asked = error.headers.get("Retry-After", "")
            wait = max(wait, min(float(asked), 60.0)) if asked.isdigit() else wait
        except (OSError, http.client.HTTPException, LookupError, TypeError, ValueError) as error:
            why = "%s: %s" % (type(error).__name__, error)
        if time.monotonic() + wait > until:
            raise RuntimeError("no score from %s within %g s; the last try: %s" % (address, DEADLINE, why))
        time.sleep(wait)
        pause = min(2.0 * pause, 30.0)
'''
_LONGEST_TRY = 150.0
"""The maximum number of seconds for one HTTP request, longer than the server's own deadline."""


def function_text(name: str, address: str, token: str, deadline: float, term: str = "") -> str:
    """Return the source text of a function that queries the reward server.

    Args:
        name: the name of the function, after which the service names the curve.
        address: the URL of the server's ``/score``.
        token: a Python expression for the server's token.
        deadline: the maximum number of seconds for all attempts.
        term: the term whose value is the score, or "" for the total.
    """
    values = {
        "NAME": name,
        "ADDRESS": repr(address),
        "TOKEN": token,
        "RESERVED": repr(RESERVED),
        "DEADLINE": repr(float(deadline)),
        "LONGEST_TRY": repr(_LONGEST_TRY),
        "VALUE": f'score["terms"][{term!r}]' if term else 'score["total"]',
    }
    # Replace whole words in a single pass: a value may contain the name of another placeholder.
    return re.sub(rf"\b({'|'.join(values)})\b", lambda match: values[match[0]], _TEXT)


def compiled(name: str, text: str) -> Function:
    """Compile `text` and return the function `name`, for which ``inspect.getsource`` returns `text`."""
    file = f"<rewardkit {name} {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "rewardkit_hosted_function"}
    exec(compile(text, file, "exec"), names)
    function: Function = names[name]
    return function


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return a unique Python identifier for each name: ``{"length between": "length_between"}``."""
    assigned: dict[str, str] = {}
    for name in names:
        # "length between" is not a valid function name.
        base = re.sub(r"\W", "_", name)
        if not base.isidentifier() or keyword.iskeyword(base):
            base = f"term_{base}"
        identifier, number = base, 2
        while identifier in assigned.values():
            identifier, number = f"{base}_{number}", number + 1
        assigned[name] = identifier
    return assigned


# to_hosted: turn a reward into functions that a hosted service takes as source text and that query your reward server.


OFFERS = TrainerInputs("to_hosted")
# An address, with or without a path. A query is rejected, because a path cannot be appended to it.
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_TOKEN = "REWARDKIT_TOKEN"


@final
@dataclass(frozen=True)
class Hosted:
    """The functions for a hosted service.

    Attributes:
        functions: plain functions with the arguments ``prompt``, ``completion``, and ``example``. The service sums
            their results and names a curve after each function.
        texts: the source text of each function, as ``inspect.getsource`` returns it.
    """

    functions: tuple[Function, ...]
    texts: tuple[str, ...]

    @property
    def source(self) -> str:
        """The source text of all functions, to be written to a file."""
        return "\n\n".join(self.texts)


def to_hosted(
    reward: Any,
    *,
    url: str,
    name: str = "rewardkit",
    outputs: Literal["total", "terms"] = "total",
    token: str | None = None,
    # An arbitrary limit: services wait for minutes, and a judge behind the server may be down for a few minutes.
    deadline: float = 600.0,
    examples: Iterable[Mapping[str, Any]] | None = None,
) -> Hosted:
    """Turn a reward into functions for a hosted service. They query a server with the same reward.

    ::

        # rewardkit serve reward.py:reward --host 0.0.0.0
        hosted = rk.to_hosted(reward, url="https://rewards.example.com")
        config = RewardFunctionsConfig(functions=list(hosted.functions))

    Each function takes three arguments and uses only the standard library. A call waits while the server restarts, the
    server's queue is full, or a judge is down. After `deadline` seconds, the call raises an exception. A failure is
    never returned as a number.

    Args:
        reward: the reward that the server serves: a reward, a plain function, or a list of them. `to_hosted` only
            checks that a service can use the reward. The scores come from the server.
        url: the URL at which the service reaches the server, such as ``"https://rewards.example.com"``.
        name: the name of the function and its curve.
        outputs: ``"total"`` for one function; ``"terms"`` for one function per term, whose sum is the total. Each
            function queries the server separately, so a nondeterministic reward, such as a judge without a cache, is
            scored once per term.
        token: the server's token, which becomes part of the function's source text. By default, the function reads the
            token from the environment variable REWARDKIT_TOKEN on the machine where it runs.
        deadline: the maximum number of seconds per completion, including all attempts.
        examples: example rows, such as ``[{"answer": "42"}]``, on which the reward is tried immediately. The service
            passes every cell as a string.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: an argument is invalid, or the reward compares completions or depends on training
            progress, neither of which works with a hosted service.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
    """
    scorer = RowScorer(reward, OFFERS)
    if examples is not None:
        scorer.probe([{key: _text(cell) for key, cell in example.items()} for example in examples])
    if not isinstance(url, str) or not _ADDRESS.fullmatch(url):
        raise RewardDefinitionError(
            f"to_hosted: url= must be an address such as 'https://host:8000', got {shorten(url)}"
        )
    if not deadline > 0:
        raise RewardDefinitionError(
            f"to_hosted: deadline= must be a number of seconds greater than 0, got {deadline!r}"
        )
    if outputs not in ("total", "terms"):
        raise RewardDefinitionError(f"to_hosted: outputs= must be 'total' or 'terms', got {shorten(outputs)}")
    if identifiers([name]) != {name: name}:
        raise RewardDefinitionError(f"to_hosted: name= must be a valid function name, got {shorten(name)}")
    address = f"{url.rstrip('/')}/score"
    token_source = repr(token) if token is not None else f'os.environ.get("{_TOKEN}", "")'
    terms = (
        {name: ""}
        if outputs == "total"
        else {identifier: term for term, identifier in identifiers(scorer.scorer.terms).items()}
    )
    texts = {
        identifier: function_text(identifier, address, token_source, deadline, term)
        for identifier, term in terms.items()
    }
    return Hosted(tuple(compiled(identifier, text) for identifier, text in texts.items()), tuple(texts.values()))


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return json.dumps(cell) if isinstance(cell, (list, tuple, Mapping)) else str(cell)


# Export: the file with which a hosted service uses a reward.


TESTED = Tested("predibase", ["2025.10.3"])
_FILE = '''"""The functions for a hosted service, which ask the server that serves the reward."""

import rewardkit as rk
{imports}

# The address at which the service reaches `rewardkit serve`.
hosted = rk.to_hosted(reward, url="https://rewards.example.com")
functions = list(hosted.functions)
'''
_CONFIG = "RewardFunctionsConfig(functions=functions)    # from {file}"


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with a hosted service."""
    return Export(
        {"rewards_hosted.py": _FILE.format(imports=target.imports)},
        _CONFIG,
        TESTED,
        [
            "Serve the reward with `rewardkit serve`, write the server's address in the file, and set "
            "REWARDKIT_TOKEN for both."
        ],
    )
