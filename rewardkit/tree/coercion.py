"""Conversion of dataset cells to the types in a reward's annotations.

``coerce("1e3", float)`` is ``1000.0``, ``coerce("[1, 2]", set[int])`` is ``{1, 2}``, and ``coerce("maybe", bool)``
raises. Values that already have the correct type according to pydantic's strict mode are returned unchanged. Each type
has an explicit grammar for text, because Python's parsers are too lenient (``bool("False")`` is True, ``int("1_000")``
is 1000). Text is parsed as JSON first, then as a Python literal. Both parsers limit size and depth, because the data
may contain anything. A class that pydantic does not recognize, such as ``PIL.Image.Image``, accepts its instances.
"""

from __future__ import annotations

import collections.abc
import inspect
import json
import math
import re
import types
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, ForwardRef, Literal, NewType, Union, final, get_args, get_origin
from uuid import UUID

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, TypeAdapter, ValidationError, WrapValidator
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import to_json

from rewardkit.errors import CoercionError, RewardDefinitionError, near_miss, shorten
from rewardkit.text.literals import NUMBER_CHARACTERS, LiteralError, check_json, check_number, read_literal

# Convert the items of a container, and arrays: ``["1", 2.0]`` becomes ``[1, 2]`` for ``list[int]``.


Convert = Callable[[object], Any]

SET_IN_ORDER = "a set has no order. Store a list, or annotate the column as a set."
"""The order of a set of strings differs between Python processes, so the reward would not be reproducible."""

_SETS = (set, frozenset, collections.abc.Set, collections.abc.Collection)
_LISTS = (list, collections.deque, collections.abc.Sequence, *_SETS)
_DICTS = (dict, collections.abc.Mapping)


def items_converter(base: Any, converter: Callable[[Any], Convert]) -> Convert | None:
    """Return a function that converts the items of a container of type `base`, or None if `base` is not a container.

    Args:
        converter: accepts an item type, and returns the function that converts an item to that type.
    """
    origin, arguments = get_origin(base), get_args(base)
    if origin in _LISTS and len(arguments) == 1:
        item = converter(arguments[0])
        return lambda value: [item(element) for element in _listed(value, unordered=origin in _SETS)]
    if origin is tuple and arguments[1:] == (...,):
        item = converter(arguments[0])
        return lambda value: [item(element) for element in _listed(value)]
    if origin is tuple and arguments and not any(map(_is_unpacked, arguments)):
        each = [converter(argument) for argument in arguments]
        return lambda value: [item(element) for item, element in zip(each, _listed(value), strict=True)]
    if origin in _DICTS and len(arguments) == 2:
        return _dict_converter(*map(converter, arguments))
    return None


def _dict_converter(key: Convert, item: Convert) -> Convert:
    def convert(value: object) -> Any:
        if not isinstance(value, dict):
            raise LiteralError("it is not a mapping.")
        converted = {key(name): item(element) for name, element in value.items()}
        if len(converted) < len(value):
            raise LiteralError("two of its keys are the same.")
        return converted

    return convert


def _listed(value: object, *, unordered: bool = False) -> Any:
    if isinstance(value, (set, frozenset)) and not unordered:
        raise LiteralError(SET_IN_ORDER)
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise LiteralError("it is not a list.")
    return value


def _is_unpacked(argument: Any) -> bool:
    return getattr(argument, "__unpacked__", False) or type(argument).__name__ == "_UnpackGenericAlias"


def is_array(base: Any) -> bool:
    """Return whether `base` is ``np.ndarray`` or ``NDArray[...]``."""
    return base is np.ndarray or get_origin(base) is np.ndarray


def array_converter(base: Any) -> Convert:
    """Return a function that turns a list of numbers into an array with the dtype of ``NDArray[...]``."""
    dtype: Any = None
    for argument in get_args(base)[1:]:
        scalar = (get_args(argument) or (None,))[0]
        dtype = scalar if isinstance(scalar, type) and issubclass(scalar, np.generic) else None

    def convert(value: object) -> Any:
        if not isinstance(value, (list, tuple, int, float)):
            raise LiteralError("an array must be created from a list of numbers, such as [1, 2.5].")
        try:
            array = np.array(value)
        except ValueError:
            raise LiteralError("its rows have different lengths.") from None
        if array.dtype.kind not in "biuf" and array.size:
            raise LiteralError("an array must contain numbers.")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise LiteralError("it contains a number that is not finite.")
        return _cast(array, dtype)

    return convert


def _cast(array: Any, dtype: Any) -> Any:
    if dtype is None or (isinstance(dtype, type) and array.dtype == dtype):
        return array
    if dtype in (np.number, np.generic, np.floating, np.integer):  # an abstract dtype accepts any dtype of its kind
        kinds = {np.floating: "f", np.integer: "iu"}.get(dtype, "biuf")
        return array if array.dtype.kind in kinds else _cast(array, np.float64 if dtype is np.floating else np.int64)
    cast = array.astype(dtype)
    if np.issubdtype(dtype, np.integer) and not np.array_equal(cast, array):
        raise LiteralError("it contains numbers that are not whole.")
    return cast


# Convert text and numbers to one scalar type, each with an explicit grammar: ``scalar("42.0", int)`` is 42.


WHITESPACE = " \t\n\r\f\v"
# "42.0" is an integer: tables with missing values store integers as floats. "42.5" is not an integer.
_INTEGER = re.compile(r"([+-]?[0-9]+)(?:\.0+)?")
# At most four digits in the exponent: more cannot be a finite float, and may be slow as a Decimal.
DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_TRUE, _FALSE = ("true", "yes", "on", "t", "y", "1"), ("false", "no", "off", "f", "n", "0")
# A bytes literal such as b"...": bytes that were saved as text with repr.
BYTES_LITERAL = re.compile(r"""\s*(?:[bB][rR]?|[rR][bB])['"].*['"]\s*\Z""", re.DOTALL)


def is_missing(value: object) -> bool:
    """Return whether `value` represents a missing table cell: NaN, NaT, or pandas' NA."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.generic)) and bool(value != value)


def without_numpy(value: object) -> object:
    """Convert numpy and torch scalars to Python scalars, and arrays to lists, without importing either library."""
    if type(value) is not str and hasattr(value, "dtype") and hasattr(value, "tolist"):
        # A float32 of 5.1 means 5.1, not 5.099999904632568.
        return float(str(value)) if type(value).__name__ in ("float16", "float32") else value.tolist()
    return value


def scalar(value: object, base: type) -> object:
    """Prepare `value` for strict validation as `base`; values that do not fit are rejected there."""
    if base is str:
        if not isinstance(value, str):
            kind = type(value).__name__
            raise LiteralError(f"its type is {kind}, not text. Annotate `{kind}`, or store the column as text.")
    elif isinstance(value, str):
        return scalar_from_text(value.strip(WHITESPACE), base)
    elif base is int and isinstance(value, (float, Decimal)):  # Arrow turns int columns with gaps into floats
        if not math.isfinite(value) or value != int(value):
            raise LiteralError("it is not a whole number. Annotate `float`.")
        return int(value)
    elif base is float and isinstance(value, Decimal):
        return float(value)
    elif base is Decimal and type(value) in (int, float):
        return Decimal(repr(value))  # Decimal(0.1) would be 0.1000000000000000055...
    elif base is bool and type(value) in (int, float) and value in (0, 1):
        return bool(value)
    return value


def scalar_from_text(text: str, base: type) -> object:
    if base is bool:
        if text.lower() in _TRUE + _FALSE:
            return text.lower() in _TRUE
        raise LiteralError("write true/false, yes/no, on/off, t/f, y/n, or 1/0.")
    if len(text) > NUMBER_CHARACTERS:
        raise LiteralError(f"a number cannot have {len(text):,} characters.")
    if base is int:
        if match := _INTEGER.fullmatch(text):
            return int(match[1])
        raise LiteralError("a whole number has only ASCII digits, such as 42 or -7. For 3.5, annotate `float`.")
    if not DECIMAL.fullmatch(text):
        raise LiteralError("write a plain number such as 42, -0.5, or 1e-3, without units, commas, or nan.")
    check_number(text)
    return base(text)


GAPS = (
    "Arrow (datasets, Parquet) gives every dict in a column the keys from all rows, with None for missing values. "
    "Store the column as JSON text when you create the dataset: json.dumps(value)."
)


def without_none(value: Any) -> Any:
    """Return `value` without the dict keys whose values are None, at any depth."""
    if isinstance(value, dict):
        return {name: without_none(item) for name, item in value.items() if item is not None}
    return type(value)(map(without_none, value)) if type(value) in (list, tuple) else value


_ISO_TYPES = (date, datetime, time, timedelta, UUID)
_Items = Callable[[object], Any] | None
_UNIONS = (Union, types.UnionType)
_ANY_CLASS = ConfigDict(arbitrary_types_allowed=True)
_READ_ONCE = (collections.abc.Iterable, collections.abc.Iterator, collections.abc.Generator)


def coerce(value: object, type_: Any) -> Any:
    """Return `value` converted to `type_`: ``coerce("yes", bool)`` is True.

    Raises CoercionError if the value does not fit, and RewardDefinitionError if `type_` cannot be used as an
    annotation.
    """
    return Coercer.of(type_)(value)


@final
@dataclass(frozen=True, eq=False)
class Coercer:
    """An annotation, compiled once: ``Coercer.of(int)("7")`` is 7."""

    annotation: Any
    target: str  # the type's name in messages, such as "list[int]"
    optional: bool  # whether the annotation allows None
    passes: bool  # whether every value passes untouched (no annotation, Any, object)
    parses: bool  # whether the annotation has a validator, which explains its own errors
    untouched: frozenset[type]  # values of exactly these types pass untouched; includes None, which columns keep
    classes: tuple[type, ...]  # the classes in the annotation that pydantic does not know, such as torch.Tensor
    convert: Callable[[object], Any]  # may raise any exception: call the Coercer instead
    remembered: dict[str, Any] = field(default_factory=dict, repr=False)  # short text -> value, for `coerce_column`

    @classmethod
    def of(cls, annotation: Any) -> Coercer:
        """Return the cached Coercer for `annotation`; raise RewardDefinitionError if pydantic cannot check the type."""
        try:
            return _cached(annotation)
        except TypeError:  # unhashable, such as Annotated[int, {"unit": "m"}]
            return _compiled(annotation)

    def __call__(self, value: object) -> Any:
        """Return `value` as the annotation's type; if it does not fit, raise CoercionError and no other exception."""
        if self.optional if value is None else self.passes or type(value) in self.untouched:
            return value
        try:
            if value is None:
                raise LiteralError(f"to allow it, annotate `{self.target} | None`.")
            return self.convert(value if isinstance(value, self.classes) else without_numpy(value))
        except Exception as error:
            # Keep the traceback of a user's validator; for anything else the message is enough.
            cause = None if isinstance(error, (LiteralError, ValidationError)) else error
            article = "an" if self.target[0] in "aeiouAEIOU" else "a"
            problem = "cannot be parsed" if self.parses and value is not None else f"is not {article} {self.target}"
            message = f"{shorten(value)} {problem}: {_reason(error)}"
            raise CoercionError(message) from cause

    def fits_without_gaps(self, value: object) -> bool:
        """Return whether a value that does not fit would fit without its dict keys whose values are None."""
        with suppress(Exception):
            if (shorter := without_none(value)) != value:
                self.convert(shorter)
                return True
        return False

    def __reduce__(self) -> tuple[Callable[[Any], Coercer], tuple[Any]]:
        return Coercer.of, (self.annotation,)


def _compiled(annotation: Any) -> Coercer:
    try:
        if isinstance(annotation, (str, ForwardRef)):
            raise LiteralError("the name is unknown. Import it at the top of the module, not only under TYPE_CHECKING.")
        base, metadata = _unwrapped(annotation)
        passes = base in (Any, object, inspect.Parameter.empty) and not metadata
        scalar = base if len(_alternatives(base)) != 1 else _alternatives(base)[0]
        plain = not metadata and scalar in (str, int, float, bool, *_ISO_TYPES)
        return Coercer(
            annotation=annotation,
            target=_name(base),
            optional=_takes_none(base),
            passes=passes,
            parses=any(isinstance(marker, (BeforeValidator, PlainValidator, WrapValidator)) for marker in metadata),
            untouched=frozenset({type(None), scalar} if plain or scalar is np.ndarray else {type(None)}),
            classes=tuple(filter(_is_unknown, _alternatives(base) or [base])),
            convert=(lambda value: value) if passes else _converter(annotation, base, metadata),
        )
    except RewardDefinitionError:
        raise
    except Exception as error:
        raise RewardDefinitionError(
            f"the annotation {shorten(annotation)} cannot be used for a column: {_reason(error)} Use a class or a type "
            "that pydantic supports, Annotated[..., pydantic.PlainValidator(parse)] to parse the value yourself, or "
            "no annotation to get the value unchanged"
        ) from error


# Arbitrary size: more annotations than a project has.
_cached = lru_cache(maxsize=1024)(_compiled)


def _unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type inside Annotated, NewType, and ``type X = ...``, and their metadata, innermost first."""
    metadata: tuple[Any, ...] = ()
    while True:
        if get_origin(annotation) is Annotated:
            annotation, metadata = annotation.__origin__, annotation.__metadata__ + metadata
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":  # typing's from 3.12 on, or typing_extensions'
            annotation = annotation.__value__
        else:
            return annotation, metadata


def _name(base: Any) -> str:
    if get_origin(base) in _UNIONS:
        return " | ".join(_name(_unwrapped(member)[0]) for member in get_args(base))
    if base in (None, type(None)):
        return "None"
    if isinstance(base, type) and not get_args(base):
        return base.__name__
    # "typing.Literal" and "f.<locals>.Color" as a user would write them.
    return re.sub(r"\btyping\.|[\w.]+\.<locals>\.", "", str(base))


def _takes_none(base: Any) -> bool:
    if get_origin(base) in _UNIONS:
        return any(_takes_none(_unwrapped(member)[0]) for member in get_args(base))
    if get_origin(base) is Literal:
        return None in get_args(base)
    return base in (None, type(None), Any, object, inspect.Parameter.empty)


def _alternatives(base: Any) -> list[Any]:
    """Return the members of a union except None. For any other type, return an empty list."""
    members = get_args(base) if get_origin(base) in _UNIONS else ()
    return [member for member in members if member is not type(None)]


def _converter(annotation: Any, base: Any, metadata: tuple[Any, ...]) -> Callable[[object], Any]:
    if base in _READ_ONCE or get_origin(base) in _READ_ONCE:
        raise LiteralError("it can be iterated only once, but rows may share a value. Annotate the column as a list.")
    if any(map(_parses_by_itself, metadata)):
        return _custom_converter(annotation, base, metadata)
    if is_array(base) and not metadata:
        return _array(base)
    alternatives = _alternatives(base)
    if len(alternatives) == 1:
        return _optional_converter(Coercer.of(alternatives[0]), _adapter(annotation) if metadata else None)
    adapter = _adapter(annotation)
    if _is_unknown(base):
        return lambda value: adapter.validate_python(value, strict=True)
    if base in (str, int, float, Decimal, bool):
        return lambda value: adapter.validate_python(scalar(value, base), strict=True)

    items = items_converter(base, Coercer.of)

    def convert(value: object) -> Any:
        if not isinstance(value, str):
            return _from_value(value, adapter, items)
        if base in _ISO_TYPES:
            return _from_iso(value.strip(WHITESPACE), adapter)
        if base in (bytes, bytearray) and BYTES_LITERAL.match(value):
            raise LiteralError(
                "it is a Python bytes literal that was saved as text. Store the text itself in the column."
            )
        return _finite(_from_text(value, adapter, items, is_union=bool(alternatives)))

    return convert


def _array(base: Any) -> Callable[[object], Any]:
    to_array, numbers = array_converter(base), Coercer.of(list[Any])
    return lambda value: to_array(numbers.convert(value) if isinstance(value, str) else value)


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    adapter: TypeAdapter[Any]
    try:
        adapter = TypeAdapter(annotation)
    except PydanticSchemaGenerationError as unknown:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # pydantic accepts an instance, such as `answer: 5`, with a warning
                adapter = TypeAdapter(annotation, config=_ANY_CLASS)
        except Exception:
            raise unknown from None
    adapter.rebuild(raise_errors=True)  # report an unknown name now, not at the first row
    return adapter


def _is_unknown(base: Any) -> bool:
    """Return whether `base` is a class whose values pydantic can check only with isinstance."""
    if not isinstance(base, type) or is_array(base):
        return False
    try:
        TypeAdapter(base)
    except PydanticSchemaGenerationError:
        isinstance(None, base)  # raises for a protocol without @runtime_checkable
        return True
    except Exception:  # `_adapter` reports it
        return False
    return False


def _parses_by_itself(item: Any) -> bool:
    # A class with its own pydantic schema may also see the raw value.
    if type(item).__module__.partition(".")[0] == "pydantic":
        return isinstance(item, (BeforeValidator, WrapValidator, PlainValidator))
    return hasattr(item, "__get_pydantic_core_schema__")


def _custom_converter(annotation: Any, base: Any, metadata: tuple[Any, ...]) -> Callable[[object], Any]:
    without_parsing: Coercer | None = None
    if any(isinstance(item, PlainValidator) for item in metadata):
        adapter = _adapter(annotation)
    else:
        plain = Coercer.of(base)
        # Pydantic runs the first validator last: text that the user's validator returns is read as a `base`.
        leftover = BeforeValidator(lambda value: plain.convert(value) if isinstance(value, str) else value)
        adapter = _adapter(_annotated(base, leftover, *metadata))
        without_parsing = Coercer.of(_annotated(base, *(m for m in metadata if not _parses_by_itself(m))))

    def convert(value: object) -> Any:
        try:
            return _finite(adapter.validate_python(value))
        except (AttributeError, TypeError):
            # The validator expects text but got a value, such as the number itself, that needs no parsing.
            if isinstance(value, str) or without_parsing is None:
                raise
        return _finite(without_parsing.convert(value))

    return convert


def _annotated(base: Any, *metadata: Any) -> Any:
    annotated: Any = Annotated
    parts = (base, *metadata)
    return annotated[parts] if metadata else base


def _optional_converter(inner: Coercer, constraints: TypeAdapter[Any] | None) -> Callable[[object], Any]:
    def convert(value: object) -> Any:
        says_none = isinstance(value, str) and value.strip(WHITESPACE) in ("null", "None")
        try:
            result = inner.convert(value)
        except Exception:
            if not says_none:
                raise
            return None
        if says_none and not isinstance(result, (str, Enum)):  # Optional[str] keeps the text "None"
            return None
        return constraints.validate_python(result, strict=True) if constraints else result

    return convert


def _from_iso(text: str, adapter: TypeAdapter[Any]) -> Any:
    result = adapter.validate_json(json.dumps(text), strict=True)
    if isinstance(result, datetime) and text[4:5] != "-":  # pydantic reads a number as seconds since 1970
        raise LiteralError("a bare number is not an ISO date.")
    return result


def _from_text(text: str, adapter: TypeAdapter[Any], items: _Items, is_union: bool) -> Any:
    with suppress(Exception):  # a Literal's option, a union with str, a model that parses text by itself
        return adapter.validate_python(text, strict=True)
    try:  # an Enum's value, a path, bytes; but for `datetime | int`, a number is not seconds since 1970
        if is_union and DECIMAL.fullmatch(text.strip(WHITESPACE)):
            raise LiteralError("it does not fit any member of the union.")
        return adapter.validate_json(json.dumps(text), strict=True)
    except Exception as error:
        misfit = _reason(error).rstrip(".")
    try:
        check_json(text)
    except json.JSONDecodeError as error:
        not_json = f"{error.msg} at character {error.pos}"
    else:
        try:
            return adapter.validate_json(text, strict=True)
        except ValidationError as error:
            return _by_items(json.loads(text), adapter, items, error)
    try:
        literal = read_literal(text.strip(WHITESPACE))
    except Exception as error:
        if _SIMILAR in misfit:  # it is a misspelled option, not JSON
            raise LiteralError(misfit) from None
        reason = f"{misfit}. It is neither JSON ({not_json}) nor a Python literal ({_reason(error).rstrip('.')})"
        raise LiteralError(reason) from None
    return _from_value(literal, adapter, items)


def _by_items(value: object, adapter: TypeAdapter[Any], items: _Items, error: ValidationError) -> Any:
    """Convert a container item by item; raise `error` if that fails."""
    broken = error.error_count() == 1 and error.errors(include_url=False)[0]["type"] == "json_invalid"
    try:
        converted = None if items is None or broken else items(value)
    except Exception:
        converted = None
    if converted is None:
        raise error
    return _from_value(converted, adapter, None)


def _from_value(value: object, adapter: TypeAdapter[Any], items: _Items) -> Any:
    """Validate a parsed value as it is. If that fails, validate it as JSON, because Arrow stores sets as lists."""
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError:
        text = b""
        with suppress(Exception):
            text = to_json(value)
        if not text:
            raise
    try:
        result = adapter.validate_json(text, strict=True)
    except ValidationError as error:
        return _by_items(value, adapter, items, error)
    if _orders_a_set(value, result):
        raise LiteralError(SET_IN_ORDER)
    return result


def _orders_a_set(value: object, result: object) -> bool:
    """Return whether the conversion through JSON turned a set in `value` into a list or tuple."""
    if isinstance(value, (set, frozenset)):
        return not isinstance(result, (set, frozenset))
    if isinstance(value, dict):
        contents = result if isinstance(result, dict) else getattr(result, "__dict__", {})
        pairs = [(item, contents.get(name)) for name, item in value.items() if name in contents]
    elif isinstance(value, (list, tuple)) and isinstance(result, (list, tuple)):
        pairs = list(zip(value, result, strict=False))
    else:
        return False
    return any(_orders_a_set(*pair) for pair in pairs if isinstance(pair[0], _CONTAINERS))


_CONTAINERS = (dict, list, tuple, set, frozenset)
_HARMLESS = {str, int, bool, type(None)}
"""Types whose values are neither infinite nor containers."""


def _finite(result: Any) -> Any:
    """Return `result` unchanged; raise if it contains a NaN, an infinity, or a Decimal too large for a float."""
    if type(result) in _HARMLESS:
        return result
    pending, visited = [result], set()
    while pending:
        item = pending.pop()
        if isinstance(item, (float, complex, Decimal)):
            if not math.isfinite(abs(complex(item))):
                raise LiteralError(f"it contains {shorten(item, 40)}, which is not finite or is too large.")
            continue
        if id(item) in visited or isinstance(item, type):
            continue
        if isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            pending += () if _HARMLESS.issuperset(map(type, item)) else item  # fast for the words of a long text
        elif isinstance(item, BaseModel) or is_dataclass(item):
            pending += getattr(item, "__dict__", {}).values()
        visited.add(id(item))
    return result


_SIMILAR = ". Did you mean"


def _similar_option(item: Mapping[str, Any]) -> str:
    """Return a suggestion if a string resembles an option in a Literal or Enum: 'Yes' for Literal["yes", "no"]."""
    if item["type"] not in ("literal_error", "enum") or not isinstance(item["input"], str):
        return ""
    options = re.findall(r"'([^']+)'", item["msg"])
    text = item["input"].strip(WHITESPACE)
    equal = [option for option in options if option.casefold() == text.casefold()]
    hint = near_miss(equal[0] if equal else text, options)
    return hint and f".{hint}"


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        count = error.error_count()  # a long list may hold a million errors, and each would become a dict
        details = error.errors(include_url=False, include_context=False) if count < 1_000 else []
        paths = [".".join(map(str, item["loc"])) for item in details[:3]]
        messages = [
            "it must be an instance of the class"
            if item["type"] == "needs_python_object"  # pydantic's advice is about its own validators
            else item["msg"].removeprefix("Value error, ") + _similar_option(item)
            for item in details[:3]
        ]
        parts = [f"{path}: {words}".removeprefix(": ") for path, words in zip(paths, messages, strict=True)]
        reason = "; ".join(parts + [f"{count - len(parts):,} more problems"] * (count > len(parts)))
    elif isinstance(error, (LiteralError, SyntaxError, PydanticUserError, PydanticUndefinedAnnotation)):
        reason = (getattr(error, "message", "") or getattr(error, "msg", "") or str(error)).partition("\n")[0]
        reason = reason.partition(" Set `arbitrary_types_allowed")[0]  # not an option of ours
    else:
        reason = shorten(error)
    # Arbitrary limit: pydantic lists every alternative of a union.
    reason = reason[:400].rstrip(".")
    return reason if reason.endswith("?") else f"{reason}."
