"""Types that users annotate columns with, for the tests of coercion; and a value that refuses everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Generic, NamedTuple, NewType, NoReturn, Protocol, TypeVar, runtime_checkable

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from typing_extensions import TypeAliasType, TypedDict

T = TypeVar("T")


class Color(Enum):
    RED = "red"
    SEVEN = 7


class Level(IntEnum):
    LOW = 1


class Word(str, Enum):
    NONE = "None"


class Invoice(BaseModel):
    total: Decimal
    tags: set[str] = set()


@dataclass
class Point:
    x: float
    seen: frozenset[int] = frozenset()


class Pair(NamedTuple):
    left: int
    right: str


class Movie(TypedDict):
    name: str
    year: int


class Molecule:
    """A class that pydantic does not know."""

    def __init__(self, formula: str = "C6H6") -> None:
        self.formula = formula


class Benzene(Molecule):
    pass


class Box(Generic[T]):
    pass


@runtime_checkable
class Checked(Protocol):
    formula: str


class Unchecked(Protocol):
    formula: str


@dataclass
class Holder:
    molecule: Molecule


class Unfinished(BaseModel):
    other: NotYetThere  # type: ignore[name-defined]  # noqa: F821


class Fraction(BaseModel):
    """A model that parses its own text."""

    numerator: int
    denominator: int

    @model_validator(mode="before")
    @classmethod
    def split(cls, data: Any) -> Any:
        if isinstance(data, str) and "/" in data:
            numerator, denominator = data.split("/")
            return {"numerator": int(numerator), "denominator": int(denominator)}
        return data


def after_hashes(text: str) -> str:
    return text.split("####")[-1].strip().replace(",", "")


def doubled(value: int) -> int:
    return value * 2


def wrapped(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    return handler(value.removeprefix("$"))


class Percent:
    """Foreign metadata that builds its own schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        def parse(value: Any) -> Any:
            return float(value.removesuffix("%")) / 100 if isinstance(value, str) else value

        return core_schema.no_info_before_validator_function(parse, handler(source))


Hashed = Annotated[float, BeforeValidator(after_hashes)]
Money = NewType("Money", Decimal)
Alias = TypeAliasType("Alias", Annotated[int, Field(gt=0)])


class Hostile:
    """A value that fights back."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RecursionError
