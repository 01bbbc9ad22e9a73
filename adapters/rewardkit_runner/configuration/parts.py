"""What the parts of a configuration share: ``Part``, and numbers and texts with limits."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")
    return value


def short(key: str, type_: Any) -> BeforeValidator:
    """Accept text as short for a mapping in which only `key` is set."""
    return BeforeValidator(
        lambda value: {key: value} if isinstance(value, str) else value, json_schema_input_type=str | type_
    )


Count = Annotated[int, Field(ge=1), BeforeValidator(_no_bool)]
CountFromZero = Annotated[int, Field(ge=0), BeforeValidator(_no_bool)]
Share = Annotated[FiniteFloat, Field(ge=0.0, le=1.0), BeforeValidator(_no_bool)]
Text = Annotated[str, Field(min_length=1)]


class Part(BaseModel):
    """A part of the configuration: frozen; unknown settings are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False, use_attribute_docstrings=True
    )
