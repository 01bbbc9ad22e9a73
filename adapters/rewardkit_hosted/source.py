"""The source text of a function that asks the reward server: plain, alone, of three arguments, standard library only.

A hosted service reads a function with ``inspect.getsource`` and runs the text elsewhere. So the function is compiled
from text, which ``linecache`` keeps, and everything that it needs is inside.
"""

from __future__ import annotations

import hashlib
import keyword
import linecache
import re
from collections.abc import Callable, Iterable
from typing import Any

from rewardkit.core.batch.batch import RESERVED

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
                raise RuntimeError("%s refuses the request with %s" % (address, why)) from None
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
"""Seconds; longer than the server's own deadline."""


def function_text(name: str, address: str, token: str, deadline: float, term: str = "") -> str:
    """Return the source text of a function.

    Args:
        name: an identifier; the service names the curve after it.
        address: of ``/score``.
        token: an expression.
        deadline: seconds, all tries together.
        term: whose share is the score; empty for the total.
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
    return re.sub(rf"\b({'|'.join(values)})\b", lambda found: values[found[0]], _TEXT)


def compiled(name: str, text: str) -> Function:
    """Return the function of a source text, such that ``inspect.getsource`` returns this text."""
    file = f"<rewardkit {name} {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "rewardkit_hosted_function"}
    exec(compile(text, file, "exec"), names)
    function: Function = names[name]
    return function


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Return an identifier for each name: ``{"length between": "length_between"}``."""
    found: dict[str, str] = {}
    for name in names:
        base = re.sub(r"\W", "_", name)
        if not base.isidentifier() or keyword.iskeyword(base):
            base = f"term_{base}"
        own, number = base, 2
        while own in found.values():
            own, number = f"{base}_{number}", number + 1
        found[name] = own
    return found
