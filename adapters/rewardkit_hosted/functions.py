"""to_hosted: a reward as functions that a hosted service takes as source text, and that ask your reward server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.online.offers import Offers
from rewardkit.online.scorer import RowScorer
from rewardkit_hosted.source import Function, compiled, function_text, identifiers

OFFERS = Offers("to_hosted")
_ADDRESS = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_TOKEN = "REWARDKIT_TOKEN"


@final
@dataclass(frozen=True)
class Hosted:
    """Functions for a hosted service.

    Attributes:
        functions: plain functions of ``prompt``, ``completion`` and ``example``; the service names a curve after each,
            and sums what they return.
        texts: the source text of each function, as ``inspect.getsource`` returns it.
    """

    functions: tuple[Function, ...]
    texts: tuple[str, ...]

    @property
    def source(self) -> str:
        """The source text of all functions, for a file."""
        return "\n\n".join(self.texts)


def to_hosted(
    reward: Any,
    *,
    url: str,
    name: str = "rewardkit",
    columns: Literal["total", "terms"] = "total",
    token: str | None = None,
    deadline: float = 600.0,
    examples: Iterable[Mapping[str, Any]] | None = None,
) -> Hosted:
    """Turn a reward into functions for a hosted service, which ask the server that serves the same reward.

    ::

        # rewardkit serve reward.py:reward --host 0.0.0.0
        hosted = rk.to_hosted(reward, url="https://rewards.example.com")
        config = RewardFunctionsConfig(functions=list(hosted.functions))

    Each function is source text of three arguments that uses the standard library only. It waits inside the call while
    the server restarts, is full, or a judge is down; after `deadline` it raises. A failure is never returned as a
    number.

    Args:
        reward: the reward that the server serves: a reward, a plain function, or a list of them. What is checked is
            whether a service can use it; the scores come from the server.
        url: where it is served, as the service reaches it, such as ``"https://rewards.example.com"``.
        name: the name of the function, and of the curve.
        columns: ``"total"`` for one function; ``"terms"`` for one per term, whose sum is the total. Each asks the
            server by itself, so a reward that is not deterministic, such as a judge without a cache, is scored once per
            term.
        token: the token of the server, which is then part of the source text. By default, the function reads the
            environment variable REWARDKIT_TOKEN where it runs.
        deadline: seconds for a completion, all tries together.
        examples: rows of columns, such as ``[{"answer": "42"}]``, to try the reward on at once. The service passes all
            cells as texts.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: an argument is wrong, or the reward compares completions or follows the training
            progress: neither arrives with a completion.
        BindingError, CoercionError, RewardFailure: it cannot score `examples`.
    """
    scorer = RowScorer(reward, OFFERS)
    if examples is not None:
        scorer.probe([{key: _text(cell) for key, cell in example.items()} for example in examples])
    if not isinstance(url, str) or not _ADDRESS.fullmatch(url):
        raise RewardDefinitionError(f"to_hosted: url= is an address such as 'https://host:8000', got {shorten(url)}")
    if not deadline > 0:
        raise RewardDefinitionError(f"to_hosted: deadline= is a number of seconds above 0, got {deadline!r}")
    if columns not in ("total", "terms"):
        raise RewardDefinitionError(f"to_hosted: columns= is 'total' or 'terms', got {shorten(columns)}")
    if identifiers([name]) != {name: name}:
        raise RewardDefinitionError(f"to_hosted: name= becomes the name of a function, got {shorten(name)}")
    address = f"{url.rstrip('/')}/score"
    given = repr(token) if token is not None else f'os.environ.get("{_TOKEN}", "")'
    terms = {name: ""} if columns == "total" else {own: term for term, own in identifiers(scorer.scorer.terms).items()}
    texts = {own: function_text(own, address, given, deadline, term) for own, term in terms.items()}
    return Hosted(tuple(compiled(own, text) for own, text in texts.items()), tuple(texts.values()))


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return json.dumps(cell) if isinstance(cell, (list, tuple, Mapping)) else str(cell)
