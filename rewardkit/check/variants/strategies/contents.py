"""Contents: texts that a component accepts, and texts that violate only that component's requirement.

For ``rk.number("answer")``, ``asked_by(leaf, {"answer": "42"})`` contains ``42`` as a correct text, and ``427`` and
``nan`` as incorrect texts. The contents do not come from the reward's scores, so a test can show that the reward
rejects correct contents.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import types
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache, singledispatch
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from hypothesis import assume, strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from pydantic import TypeAdapter

from rewardkit.check.variants.strategies.documents import json_documents, json_values, unlike
from rewardkit.check.variants.strategies.texts import bodies, numbers, pattern_texts, sentences, wrong_answers
from rewardkit.errors import CoercionError, RewardDefinitionError, RewardKitError, shorten
from rewardkit.rewards.choice.reward import Choice
from rewardkit.rewards.code import CodeRuns, CodeTests
from rewardkit.rewards.format import FencedBlock
from rewardkit.rewards.json_match import JsonMatch
from rewardkit.rewards.json_schema.engine import SchemaEngine
from rewardkit.rewards.json_schema.reward import JsonSchema, RowSchemaCredit
from rewardkit.rewards.json_valid import JsonValid
from rewardkit.rewards.language import SHORTEST, FixedLanguage, Script
from rewardkit.rewards.length import LengthBetween, OverlongPenalty
from rewardkit.rewards.math_equal.reward import MathEqual
from rewardkit.rewards.milestones import FixedMilestones
from rewardkit.rewards.number.reward import Number
from rewardkit.rewards.patterns import Contains, Regex
from rewardkit.rewards.repetition import RepetitionPenalty
from rewardkit.text.languages import SCRIPTS
from rewardkit.text.numbers import Exact, number_text
from rewardkit.tree.binding import Binding
from rewardkit.tree.coercion import Coercer
from rewardkit.tree.gold import AcceptedGolds, GoldTexts
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward, bindings

# Columns: cells of a dataset for an annotation, typed or as the strings in data files.


_ANY = (Any, object, inspect.Parameter.empty)
_LISTS = {list: list, set: set, frozenset: frozenset, tuple: tuple}


def columns(annotation: Any = Any, *, written: bool | None = None) -> SearchStrategy[Any]:
    """Draw cells for an argument of a reward with the type `annotation`.

    Args:
        annotation: a type, optionally ``Annotated`` with constraints and parsers.
        written: True for strings only, or False for typed values only. By default, both are drawn.

    ``rk.coerce(cell, annotation)`` accepts every cell. It returns the same value for a string as for the value that the
    string spells.

    Raises:
        RewardDefinitionError: cells of this type cannot be generated. List cells yourself with
            ``st.sampled_from([...])``.
    """
    values = _values(annotation)
    coercer = Coercer.of(annotation)

    def fits(cell: Any) -> bool:
        try:
            coercer(cell)
        except CoercionError:
            return False
        return True

    def means_the_same(cell: tuple[Any, str]) -> bool:
        try:
            return bool(coercer(cell[1]) == coercer(cell[0]))
        except CoercionError:
            return False

    typed = values.filter(fits)
    pairs = values.flatmap(lambda value: st.tuples(st.just(value), st.sampled_from(_strings(value))))
    strings = pairs.filter(means_the_same).map(lambda pair: pair[1])
    return strings if written else typed if written is False else st.one_of(typed, strings)


def rows(reward: Reward, *, given: Mapping[str, Any] | None = None) -> SearchStrategy[dict[str, Any]]:
    """Draw data rows, with a cell for each column that a reward's functions name.

    Args:
        reward: the reward.
        given: cells, or strategies for cells, that replace those drawn from the annotation.
    """
    cells: dict[str, SearchStrategy[Any]] = {}
    for _, binding in bindings(reward):
        for parameter in binding.columns:
            if parameter.source not in cells:
                cells[parameter.source] = columns(parameter.annotation)
    for name, cell in (given or {}).items():
        cells[name] = cell if isinstance(cell, SearchStrategy) else st.just(cell)
    return st.fixed_dictionaries(cells)


def _values(annotation: Any) -> SearchStrategy[Any]:
    """Draw values of a type, ignoring its constraints."""
    if annotation in _ANY:
        return st.one_of(st.integers(-100, 100), numbers(), sentences())
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(annotation)
    if origin in (Union, types.UnionType):
        return st.one_of([_values(argument) for argument in inner])
    if origin is Literal:
        return st.sampled_from(inner)
    if annotation in (None, type(None)):
        return st.none()
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(list(annotation))
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    kind = origin or annotation
    if kind is tuple and inner and inner[-1] is not Ellipsis:
        return st.tuples(*map(_values, inner))
    if kind in _LISTS:
        container: Any = _LISTS[kind]
        return st.lists(_values(inner[0] if inner else str), max_size=5).map(container)
    if kind in (dict, Mapping):
        return st.dictionaries(*(_values(argument) for argument in (inner or (str, int))), max_size=4)
    return _described(annotation)


def _annotated(annotation: Any) -> SearchStrategy[Any]:
    """Draw values that fit a constrained type's schema, or that the type's parsers accept if it has any."""
    coercer = Coercer.of(annotation)
    if not coercer.parses:
        try:
            return _described(annotation)
        except RewardDefinitionError:
            return _values(get_args(annotation)[0])
    lists = st.lists(st.one_of(numbers(), st.sampled_from(["red", "blue", "x"])), min_size=1, max_size=4, unique=True)
    letters = st.sampled_from(["A", "B", "C", "D", "yes", "no"])
    cells = st.one_of(numbers(), letters, sentences(), lists, lists.map(json.dumps), json_values().map(json.dumps))
    return cells.filter(lambda cell: _takes(coercer, cell))


def _takes(coercer: Coercer, cell: Any) -> bool:
    try:
        coercer(cell)
    except CoercionError:
        return False
    return True


def _described(annotation: Any) -> SearchStrategy[Any]:
    """Draw values from a type's JSON schema: a pydantic model, a dataclass, a TypedDict, or a constrained type."""
    try:
        return json_values(annotation)
    except RewardDefinitionError:
        raise RewardDefinitionError(
            f"columns: cannot generate cells of type {shorten(annotation)}. Use st.sampled_from([...]) "
            "with your own cells"
        ) from None


def _strings(value: Any) -> list[str]:
    """Return the ways in which a data file may write a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool):
        return [str(value).lower(), str(value), "yes" if value else "no", str(int(value))]
    if isinstance(value, Enum):
        return _strings(value.value)
    if value is None:
        return ["null", "None"]
    if isinstance(value, float):
        return [repr(value), f" {value!r}", f"{value:.17e}"]
    if isinstance(value, (int, Decimal, UUID)):
        return [str(value), f" {value}\n"]
    if isinstance(value, (set, frozenset, tuple)):
        return [json.dumps(list(value), default=str)]
    try:
        return [TypeAdapter(type(value)).dump_json(value).decode().strip('"')]
    except Exception:
        return [str(value)]


_SCALARS: dict[Any, SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(-(10**9), 10**9),
    float: st.floats(-1e9, 1e9, allow_nan=False, allow_subnormal=False),
    str: st.one_of(sentences(), numbers(), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
    Decimal: st.decimals(-1000, 1000, places=2),
    date: st.dates(),
    datetime: st.datetimes(),
    time: st.times(),
    timedelta: st.timedeltas(timedelta(0), timedelta(days=99)),
    UUID: st.uuids(),
    bytes: st.binary(max_size=10),
}


# Wordings: texts for rewards on patterns, fences, required or forbidden words, lengths and scripts.


_REFUSALS = ("I'm sorry, but I can't help with that.", "As an AI, I cannot answer.", "I'm unable to do so.")
_JOINTS = (" ", ", ", "\n")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "CJK", "HANGUL", "ARABIC")
_LONGEST = 2_000
"""The maximum number of characters in a text. Arbitrary: a pattern may match texts of any length, and each text is
changed character by character."""


@dataclass(frozen=True)
class Contents:
    """The texts for one place in a completion.

    Attributes:
        right: a strategy for texts that a component accepts.
        wrong: a strategy for texts that violate the component's requirement in one way.
        loose: whether correct texts may be part of longer texts. More specific contents take precedence.
    """

    right: SearchStrategy[str]
    wrong: SearchStrategy[str]
    loose: bool = False


@singledispatch
def of_wording(function: object) -> Contents | None:
    """Return the contents for a reward that judges wording, or None for any other reward."""
    return None


@of_wording.register
def _(function: Regex) -> Contents | None:
    return _of_pattern(function.pattern, full=function.match == "full")


def _of_pattern(pattern: str, *, full: bool) -> Contents | None:
    try:
        compiled = re.compile(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None  # RE2 has some classes that Python does not have
    return pattern_contents(compiled, full=full)


def pattern_contents(pattern: re.Pattern[str], *, full: bool) -> Contents:
    """Return texts that match a pattern, fully or anywhere, and incorrect texts that differ in one character."""

    def matches(text: str) -> bool:
        return bool(pattern.fullmatch(text) if full else pattern.search(text)) and not text.endswith("\n")

    right = pattern_texts(pattern, full=full).filter(lambda text: text == text.strip() and bool(text) and matches(text))
    return Contents(right, _spoilt(right, matches))


@st.composite
def _spoilt(draw: DrawFn, texts: SearchStrategy[str], holds: Callable[[str], bool]) -> str:
    """Draw a text with one character missing, added, or replaced, for which `holds` returns False."""
    text = draw(texts)[:_LONGEST]
    # Arbitrary limit: a change further on shows the same.
    indices = range(min(len(text), 60))
    changed = [text[:-1], text[1:], f"{text}?", f"?{text}"]
    changed += [text[:index] + other + text[index + 1 :] for other in ("", "?", "\n") for index in indices]
    wrong = [candidate for candidate in dict.fromkeys(changed) if not holds(candidate.strip())]
    assume(wrong)
    return draw(st.sampled_from(wrong))


@of_wording.register
def _(function: FencedBlock) -> Contents:
    language = function.language
    inside = bodies().filter(lambda text: "`" not in text and "~" not in text)
    spoken = st.sampled_from(["", "So:\n"])
    right = st.builds("{}```{}\n{}\n```".format, spoken, st.just(language), inside)
    templates = [
        "```{0}\n{1}\n",
        "```{0}\n{1}```",
        "{1}\n```",
        "``{0}\n{1}\n``",
        "```{0}x\n{1}\n```",
        "```{0}\n \n```",
        "{1}",
    ]
    templates += ["```{0}\n{1}\n```\n```{0}\n{1}\n```"] * function.single
    wrong = st.builds(lambda template, body: template.format(language, body), st.sampled_from(templates), inside)
    return Contents(right, wrong)


@of_wording.register
def _(function: Contains) -> Contents:
    def holds(text: str) -> bool:
        return float(function(text)) == 1.0

    words, forbidden = list(function.wanted), [*function.forbidden, *_REFUSALS * function.refusals]
    joined = st.builds(lambda order, joint: joint.join(order), st.permutations(words), st.sampled_from(_JOINTS))
    inside = joined if words else bodies()
    parts = [st.sampled_from(edge) for edge in (function.starts, function.ends) if edge]
    parts.insert(len(parts) if function.starts else 0, inside)
    right = st.builds("{} {} {}".format if len(parts) == 3 else "{} {}".format, *parts) if parts[1:] else inside
    right = right.filter(holds)
    wrong = [st.builds("{} {}".format, right, st.sampled_from(forbidden))] if forbidden else []
    wrong += [st.just(", ".join(word for word in words if word != missing) or "so") for missing in words]
    if function.starts or function.ends:
        wrong += [bodies(), _spoilt(right, holds)]
    return Contents(right, st.one_of(wrong).filter(lambda text: not holds(text)), loose=True)


@of_wording.register
def _(function: LengthBetween) -> Contents | None:
    low, high = math.ceil(function.low), min(function.high, function.low + _LONGEST)
    if function.length.unit == "tokens" or low > _LONGEST or math.floor(high) < max(low, 1):
        return None
    joint = " " if function.length.unit == "words" else ""
    outside = [low - 1] if low > 0 else []
    outside += [math.floor(high) + 1] if function.high <= _LONGEST else []
    right = st.integers(max(low, 1), math.floor(high)).map(lambda count: joint.join("a" * count))
    return Contents(right, st.sampled_from(outside or [0]).map(lambda count: joint.join("a" * count)), loose=True)


@of_wording.register
def _(function: OverlongPenalty) -> Contents | None:
    if function.length.unit == "tokens" or function.max_length > _LONGEST:
        return None
    joint = " " if function.length.unit == "words" else ""
    long = joint.join("a" * (math.ceil(function.max_length) + 1))
    return Contents(st.just("a"), st.just(long), loose=True)


@of_wording.register
def _(function: RepetitionPenalty) -> Contents:
    repeated = st.integers(function.ngram + 2, function.ngram + 20).map(lambda count: " ".join("a" * count))
    return Contents(st.sampled_from(["a", "It is 42.", "so it is"]), repeated, loose=True)


@of_wording.register
def _(function: Script) -> Contents:
    return _in_scripts(function.scripts, shortest=1, most=5)


@of_wording.register
def _(function: FixedLanguage) -> Contents:
    # Texts with so few words are judged by their script.
    return _in_scripts(SCRIPTS[function.code], shortest=2, most=SHORTEST - 1)


def _in_scripts(scripts: tuple[str, ...], shortest: int, most: int) -> Contents:
    """Return words in the given scripts as correct, and words in another script as incorrect."""
    letters = "".join(map(_letters, scripts))
    foreign = next(_letters(script) for script in _SCRIPTS if script not in scripts)
    words = st.lists(st.text(letters, min_size=shortest, max_size=6), min_size=1, max_size=most).map(" ".join)
    return Contents(words, st.text(foreign, min_size=shortest, max_size=6), loose=True)


@lru_cache(maxsize=64)
def _letters(script: str) -> str:
    """Return a script's first letters, according to their Unicode names."""
    letters = []
    # From "A" to the last syllable of Hangul.
    for number in range(0x41, 0xD7A4):
        character = chr(number)
        if unicodedata.category(character)[0] == "L" and unicodedata.name(character, "").split(" ")[0] == script:
            # Skip the ordinal signs and the micro sign, which do not occur in words.
            if unicodedata.normalize("NFKC", character) == character and number not in (0xAA, 0xB5, 0xBA):
                letters.append(character)
            # Arbitrary: enough letters for different words.
            if len(letters) == 40:
                break
    return "".join(letters)


_PROGRAMS = ("print(0)", "print(input())", "def f(x):\n    return x", "n = int(input())\nprint(n + 1)")
_NO_PROGRAMS = ("print(", "def f(:\n    pass", "import no_such_module_here", "raise ValueError(0)")
_FORMULAS = ("0", "x", "1/2", "\\frac{1}{2}", "2\\sqrt{3}", "x^2+1", "\\pi")
_NO_ANSWERS = ("I am not sure.", "?", "...", "N/A")


@dataclass(frozen=True)
class Part:
    """The content that one component requires in a completion.

    Attributes:
        view: the component's extractor, or None for the whole text.
        contents: the correct and incorrect texts.
        rank: the precedence. If several components read the same place, the contents with the highest rank are used.
    """

    view: Any
    contents: Contents
    rank: int = 0


def part_of_leaf(binding: Binding, row: Mapping[str, Any], other_golds: Iterable[str] = ()) -> Part | None:
    """Return the content that a leaf requires, or None for user-defined functions and rewards that count tokens.

    Args:
        binding: the binding of a leaf of the tree.
        row: the columns. Without the gold answer's column, correct contents have only the required kind.
        other_golds: the gold answers of other rows.
    """
    completion_parameter = next(
        (parameter for parameter in binding.parameters if parameter.source == "completion"), None
    )
    gold = next((parameter for parameter in binding.parameters if parameter.is_column), None)
    if not binding.trusted or completion_parameter is None:
        return None
    wording = of_wording(binding.function)
    if wording is not None:
        return Part(completion_parameter.view, wording, 1 if wording.loose else 5)
    contents = contents_of(binding.function, _Gold(gold, row, tuple(other_golds)))
    if contents is not None:
        return Part(completion_parameter.view, contents, 4 if gold is not None else 3)
    return (
        Part(completion_parameter.view, _against(_Gold(gold, row, tuple(other_golds))), 2) if gold is not None else None
    )


@dataclass(frozen=True)
class _Gold:
    """The column that a component compares with, and its cell in this row."""

    parameter: Parameter | None
    row: Mapping[str, Any]
    others: tuple[str, ...]

    @property
    def cell(self) -> Any:
        return None if self.parameter is None else self.row.get(self.parameter.source)

    @property
    def _readers(self) -> list[Any]:
        metadata = getattr(self.parameter and self.parameter.annotation, "__metadata__", ())
        return [getattr(item, "func", None) for item in metadata]

    @property
    def text(self) -> str | None:
        """The gold answer as a completion would write it, or None if unknown."""
        if self.parameter is None or self.cell is None:
            return None
        cell = self.cell
        for read in self._readers:
            if isinstance(read, (AcceptedGolds, GoldTexts)) and isinstance(cell, (list, tuple)) and cell:
                cell = cell[0]
            extract = getattr(read, "extract", None)
            if extract is not None and isinstance(cell, str):
                return str(extract(cell) or "") or None
        return gold_text(cell)

    @property
    def meant(self) -> Any:
        """The cell as the component reads it. For several accepted answers, it is the first."""
        if self.parameter is None or self.cell is None:
            return None
        try:
            value = self.parameter.coercer(self.cell)
        except RewardKitError:
            return None
        several = any(isinstance(read, AcceptedGolds) for read in self._readers)
        return value[0] if several else value

    def wrong(self, *, honest: bool = False) -> SearchStrategy[str]:
        return wrong_answers(self.text or "", value=self.cell, others=self.others, honest=honest)


def gold_text(cell: Any) -> str:
    """Return a cell as a completion would write it."""
    if isinstance(cell, (list, tuple, set, frozenset)):
        items = [gold_text(item) for item in cell]
        return json.dumps(list(cell), default=str) if any("," in item for item in items) else ", ".join(items)
    return json.dumps(cell, default=str) if isinstance(cell, Mapping) else str(cell).strip()


def _against(gold: _Gold) -> Contents:
    """Return the contents for any component that compares with a column."""
    if gold.text is None:
        annotation = gold.parameter.annotation if gold.parameter is not None else Any
        try:
            right = columns(annotation).map(gold_text).filter(lambda text: bool(text.strip()))
        except RewardKitError:
            right = bodies()
        return Contents(right, st.sampled_from(_NO_ANSWERS))
    # Other wrong answers may get the full score by design: recall accepts extra items.
    return Contents(st.just(gold.text), gold.wrong(honest=True))


@singledispatch
def contents_of(function: object, gold: _Gold) -> Contents | None:
    """Return the contents that a primitive requires, or None if its column determines them."""
    return None


@contents_of.register
def _(function: JsonValid, gold: _Gold) -> Contents:
    kinds = {"object": "{", "array": "["}
    opening = kinds.get(function.kind or "", "{[")
    right = json_documents().filter(lambda text: text.lstrip()[0] in opening)
    other = [json_documents().filter(lambda text: text.lstrip()[0] not in opening)] if function.kind else []
    return Contents(right, st.one_of(json_documents(valid=False), *other))


@contents_of.register
def _(function: JsonSchema, gold: _Gold) -> Contents:
    schema = function.schema
    return Contents(json_documents(schema), json_documents(schema, valid=False))


@contents_of.register
def _(function: RowSchemaCredit, gold: _Gold) -> Contents:
    schema = gold.meant.root if isinstance(gold.meant, SchemaEngine) else True
    return Contents(json_documents(schema), json_documents(schema, valid=False))


@contents_of.register
def _(function: JsonMatch, gold: _Gold) -> Contents:
    if gold.text is None:
        return Contents(json_documents(), json_documents(valid=False))
    try:
        value = json.loads(gold.text)
    except ValueError:
        return _against(gold)
    return Contents(st.just(gold.text), unlike(value).map(json.dumps))


@contents_of.register
def _(function: Number, gold: _Gold) -> Contents:
    if gold.text is None:
        return Contents(numbers(), st.sampled_from(["seven", "1/0", "nan", "?", "12 or 13"]))
    target = gold.meant
    plain = number_text(target) if isinstance(target, Exact) else gold.text
    # With slowly falling credit, near numbers are hardly violations; these are far away.
    far = [number_text(Fraction(target) * 10 + step) for step in (7, 1000)] if isinstance(target, Exact) else []
    return Contents(st.sampled_from([plain, gold.text]), st.one_of(gold.wrong(), *map(st.just, far)))


@contents_of.register
def _(function: Choice, gold: _Gold) -> Contents:
    names = list(function.options.names)
    right = gold.meant if isinstance(gold.meant, str) else None
    right_answer = st.sampled_from(names) if right is None else st.just(right)
    several = st.permutations(names).map(lambda order: " or ".join(order))
    nothing = st.one_of(several, st.sampled_from(_NO_ANSWERS))
    wrong_names = [name for name in names if name != right]
    return Contents(right_answer, st.one_of(st.sampled_from(wrong_names), nothing) if right is not None else nothing)


@contents_of.register
def _(function: MathEqual, gold: _Gold) -> Contents | None:
    return None if gold.text else Contents(st.sampled_from(_FORMULAS), st.sampled_from(_NO_ANSWERS))


@contents_of.register(CodeRuns)
@contents_of.register(CodeTests)
def _(function: CodeRuns | CodeTests, gold: _Gold) -> Contents:
    return Contents(st.sampled_from(_PROGRAMS), st.sampled_from(_NO_PROGRAMS))


@contents_of.register
def _(function: FixedMilestones, gold: _Gold) -> Contents:
    steps = list(function.milestones)
    fewer = [steps[:index] + steps[index + 1 :] for index in range(len(steps))]
    return Contents(
        st.sampled_from(["\n", ", then "]).map(lambda joint: joint.join(steps)),
        st.sampled_from([", then ".join(subset) or "?" for subset in fewer]),
    )
