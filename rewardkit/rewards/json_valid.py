"""Valid JSON: ``rk.json_valid()`` gives 1.0 to ``<answer>{"total": 12.5}</answer>``, and 0.0 to ``total: 12.5``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.text.extraction import as_extractor, document
from rewardkit.text.extractors import Extractor, Json
from rewardkit.text.json_text import Parsed, json_parser
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

Kind = Literal["object", "array"]

_KINDS = {"object": dict, "array": list}


@dataclass(frozen=True)
class JsonValid:
    """A check that the completion's JSON is valid and of the requested kind."""

    kind: Kind | None

    def __call__(self, document: Parsed) -> float | Score:
        if document.error:
            return Score(0.0, document.error)
        if self.kind and not isinstance(document.value, _KINDS[self.kind]):
            return Score(0.0, f"valid JSON, but not an {self.kind}")
        return 1.0


def json_valid(*, kind: Kind | None = None, extract: Extractor | Any = None) -> Reward:
    """Score 1.0 if the completion's JSON is valid, else 0.0 with the parser's message as the note.

    ``rk.json_valid()`` gives 1.0 to ``<answer>{"total": 12.5}</answer>``, and 0.0 to ``{"total": 12.5,}``.

    ``{}`` and ``null`` are also valid JSON, so this reward checks only the form. Use it as a gate's condition:
    ``rk.gate(when=rk.json_valid(kind="object"), then=...)``.

    Args:
        kind: the required type, ``"object"`` or ``"array"``, by default any JSON value.
        extract: finds the JSON: by default, the ``<answer>``, else the last fenced block, else the whole visible text.
            It is parsed strictly (RFC 8259): no repair, no duplicate keys, no NaN, and at most 200,000 characters and
            64 levels.

    Raises:
        RewardDefinitionError: the kind is unknown.
        MissingExtraError: the extra ``json`` is not installed.
    """
    if kind is not None and kind not in _KINDS:
        raise RewardDefinitionError(f'json_valid: kind must be "object", "array", or None, got {shorten(kind)}')
    json_parser("rk.json_valid")
    call_text = expression("json_valid", kind=(kind, None), extract=(extract, None))
    where = as_extractor(extract, document())
    return primitive(JsonValid(kind), "json_valid", call_text, Parameter("document", "completion", view=Json(where)))
