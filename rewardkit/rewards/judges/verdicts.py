"""Parsers and checks for a judge's verdict: ``Scale(0, 10).read('{"reason": "short", "score": 7}')``.

A form describes a verdict as a JSON schema and in words, and parses it. Verdicts are not repaired, guessed, or clamped:
for text that does not match, the form raises `Malformed` with a message that is sent back to the judge.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from rewardkit.errors import shorten
from rewardkit.text.json_text import Parsed, parse_json
from rewardkit.text.visibility import spoken_text

Interval = tuple[float, float]

_FENCE = "```"


class Malformed(Exception):
    """The text is not a valid verdict. The message is sent to the judge and added to the sample's note."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answers by question name, and the reason for them."""

    answers: Mapping[str, Any]
    reason: str


class Form(ABC):
    """A verdict's form: the questions, and the conversion of answers to scores."""

    @property
    @abstractmethod
    def questions(self) -> Mapping[str, Question]:
        """The questions by name, which is also the JSON field name."""

    @abstractmethod
    def scores(self, answers: Mapping[str, Any]) -> dict[str, float]:
        """Return the scores, from 0 (worst) to 1 (best), by question, checklist item, or identifier."""

    def answers_of(self, scores: Any) -> tuple[tuple[str, Any], ...]:
        """Return the answers that give these `scores`, for an example: one number, or a mapping by name."""
        return tuple(dict(scores).items())

    def checked(self, verdict: Verdict) -> Verdict:
        """Return `verdict`; raise `Malformed` if its fields, which already have the correct types, are inconsistent."""
        return verdict

    @final
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema. It omits number ranges because not all servers support them."""
        return _schema(self)

    @final
    def instructions(self) -> str:
        """Return the judge's instructions for the format of the verdict."""
        return _instructions(self)

    @final
    def read(self, text: str) -> Verdict:
        """Parse the verdict in `text`.

        Raises:
            Malformed: there is no verdict, there are several, or the verdict does not have this form.
        """
        parsed = _only_json(text)
        if parsed.error:
            raise Malformed(parsed.error)
        try:
            model, names = _model(self)
            validated = model.model_validate(parsed.value)
        except ValidationError as error:
            raise Malformed("; ".join(map(_problem, error.errors()[:3]))) from None
        answers = {name: getattr(validated, field) for field, name in names.items()}
        return self.checked(Verdict(answers, vars(validated)["reason"]))

    @final
    def written(self, answers: Mapping[str, Any], reason: str) -> str:
        """Return a verdict as text, as a judge would write it, for examples."""
        return f"```json\n{json.dumps({'reason': reason, **answers}, ensure_ascii=False)}\n```"


@final
@dataclass(frozen=True)
class Question:
    """One field of a verdict: the types for pydantic and for the JSON schema, an example, and a description."""

    type: Any
    schema: Mapping[str, Any]
    example: str
    words: str

    @classmethod
    def number(cls, scale: Interval, words: str) -> Question:
        low, high = scale
        numeric = Annotated[float, Field(ge=low, le=high, allow_inf_nan=False)]
        text = f"{words}: a number from {low:g} (worst) to {high:g} (best)"
        return cls(numeric, {"type": "number"}, f"<number from {low:g} to {high:g}>", text)

    @classmethod
    def yes_or_no(cls, words: str) -> Question:
        return cls(bool, {"type": "boolean"}, "<true or false>", f"{words}: true if so, else false")


@final
@dataclass(frozen=True)
class Scale(Form):
    """One score: ``{"reason": "short", "score": 7}``."""

    low: float
    high: float

    @property
    def questions(self) -> Mapping[str, Question]:
        return {"score": Question.number((self.low, self.high), "the score")}

    def scores(self, answers: Mapping[str, Any]) -> dict[str, float]:
        return {"score": _share(answers["score"], (self.low, self.high))}

    def answers_of(self, scores: Any) -> tuple[tuple[str, Any], ...]:
        return (("score", scores),)


@final
@dataclass(frozen=True)
class Scales(Form):
    """A score for each criterion. A criterion is a triple (name, meaning, scale)."""

    criteria: tuple[tuple[str, str, Interval], ...]

    @property
    def questions(self) -> Mapping[str, Question]:
        return {name: Question.number(scale, text) for name, text, scale in self.criteria}

    def scores(self, answers: Mapping[str, Any]) -> dict[str, float]:
        return {name: _share(answers[name], scale) for name, _, scale in self.criteria}


@final
@dataclass(frozen=True)
class Checklist(Form):
    """A yes-or-no answer for each item. Items are numbered in the JSON."""

    items: tuple[str, ...]

    @property
    def questions(self) -> Mapping[str, Question]:
        return {f"item_{number}": Question.yes_or_no(item) for number, item in enumerate(self.items, 1)}

    def scores(self, answers: Mapping[str, Any]) -> dict[str, float]:
        return dict(zip(self.items, map(float, answers.values()), strict=True))

    def answers_of(self, scores: Any) -> tuple[tuple[str, Any], ...]:
        answers = dict(scores)
        numbered = {item: name for name, item in zip(self.questions, self.items, strict=True)}
        return tuple((numbered.get(item, str(item)), answer) for item, answer in answers.items())


@final
@dataclass(frozen=True)
class Ranking(Form):
    """A ranking of all identifiers, the best first."""

    identifiers: tuple[str, ...]

    @property
    def questions(self) -> Mapping[str, Question]:
        schema = {"type": "array", "items": {"type": "string", "enum": sorted(self.identifiers)}}
        words = f"all {len(self.identifiers)} identifiers, each exactly once, the best one first"
        return {"ranking": Question(list[str], schema, json.dumps(sorted(self.identifiers)), words)}

    def scores(self, answers: Mapping[str, Any]) -> dict[str, float]:
        ranking = answers["ranking"]
        return {identifier: 1.0 - position / (len(ranking) - 1) for position, identifier in enumerate(ranking)}

    def checked(self, verdict: Verdict) -> Verdict:
        ranking: list[str] = verdict.answers["ranking"]
        unknown = [entry for entry in ranking if entry not in self.identifiers]
        missing = [identifier for identifier in self.identifiers if identifier not in ranking]
        if unknown or missing or len(ranking) != len(self.identifiers):
            repeated = sorted({entry for entry in ranking if ranking.count(entry) > 1})
            defects = [
                f"{defect}: {shorten(', '.join(names), 80)}"
                for defect, names in (("missing", missing), ("unknown", unknown), ("repeated", repeated))
                if names
            ]
            raise Malformed(f"ranking must hold every identifier exactly once ({'; '.join(defects)})")
        return verdict


def _share(score: float, scale: Interval) -> float:
    low, high = scale
    return (score - low) / (high - low)


# Arbitrary, also below: the forms of a run are few.
@lru_cache(maxsize=64)
def _schema(form: Form) -> dict[str, Any]:
    properties: dict[str, Any] = {"reason": {"type": "string"}}
    properties |= {name: question.schema for name, question in form.questions.items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


@lru_cache(maxsize=64)
def _instructions(form: Form) -> str:
    named = {json.dumps(name, ensure_ascii=False): question for name, question in form.questions.items()}
    shape = ",\n".join(f"  {name}: {question.example}" for name, question in named.items())
    meanings = "\n".join(f"- {name}: {question.words}" for name, question in named.items())
    return (
        "Answer with one JSON object in one fenced block and nothing else:\n"
        f'```json\n{{\n  "reason": "<why, in one or two sentences>",\n{shape}\n}}\n```\n{meanings}'
    )


@lru_cache(maxsize=64)
def _model(form: Form) -> tuple[type[BaseModel], dict[str, str]]:
    """Return a strict pydantic model for the verdict, and a mapping from the model's fields to question names.

    The model's fields are numbered because a question's name need not be an identifier.
    """
    named = {f"field_{number}": name for number, name in enumerate(form.questions)}
    definitions: dict[str, Any] = {
        field: (form.questions[name].type, Field(alias=name)) for field, name in named.items()
    }
    config = ConfigDict(strict=True, extra="forbid")
    return create_model("Verdict", __config__=config, reason=(str, ...), **definitions), named


def _only_json(text: str) -> Parsed:
    """Parse the only JSON object in `text`, which is either bare or in a single fenced block at the end.

    A judge may quote a completion, and a completion may contain a verdict in a fenced block. Therefore, if a verdict
    could be read from several places, an error is raised.
    """
    whole_answer = _find_json(text.strip())
    thinking, end, answer = spoken_text(text).partition("</think>")  # in case the server did not remove it
    if not whole_answer.error or not end or thinking.lstrip().startswith(("{", _FENCE)):  # a verdict precedes the tag
        return whole_answer
    return _find_json(answer.strip())


def _find_json(answer: str) -> Parsed:
    before, fence, block = answer.partition(_FENCE)
    if not fence or answer.startswith("{"):
        bare = parse_json(answer)
        return bare if not bare.error or answer.startswith("{") else Parsed(error="no JSON verdict in a fenced block")
    if not block.endswith(_FENCE) or "{" in before:
        return Parsed(error="the fenced block with the verdict must end the answer, with no JSON before it")
    language, _, body = block.removesuffix(_FENCE).partition("\n")
    parsed = parse_json(body.strip())
    if parsed.error and (language.strip() not in ("", "json") or _FENCE in body):
        return Parsed(error="the verdict must be in the only fenced block")
    return parsed


def _problem(error: Mapping[str, Any]) -> str:
    location = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"{location} is missing"
    if error["type"] == "extra_forbidden":
        return f"{location} was not asked for"
    message = str(error["msg"])
    return f"{location or 'the verdict'}: {message[:1].lower()}{message[1:]}, got {shorten(error['input'], 60)}"
