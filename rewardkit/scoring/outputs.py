"""Our columns beside those of the data: names, types, and the scores of a chunk as Arrow arrays.

``results(scores)`` has one array each for ``total``, ``components/<name>``, ``outcomes``, ``notes`` and ``error``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.batch.score import SCORED, Outcome
from rewardkit.errors import DataError, MissingExtraError
from rewardkit.record.cells import as_json
from rewardkit.scoring.chunks import Chunk, Tabular
from rewardkit.scoring.scores import Scores

if TYPE_CHECKING:
    import pyarrow

TEXTS = ("outcomes", "notes", "error")
"""Our columns of text, after those of numbers."""

_OUTCOMES = [str(outcome) for outcome in Outcome]
_PLAIN = {str: "string", bool: "bool", int: "int64", float: "float64"}


def check_names(names: Sequence[str], data: str) -> None:
    """Raise a DataError if two columns of `data` have the same name."""
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise DataError(f"{data}: duplicate column {twice!r}. Rename one of them.")


def renamed(names: Sequence[str], components: Sequence[str]) -> dict[str, str]:
    """Map each column of the data to its name in the output."""
    ours = {"total", *TEXTS, *(f"components/{name}" for name in components)}
    found: dict[str, str] = {}
    for column in names:
        name = column
        while name in ours or (name != column and name in names):
            name = f"input/{name}"
        found[column] = name
    return found


def results_schema(components: Sequence[str]) -> pyarrow.Schema:
    """Return the names and types of our columns."""
    pa = arrow("tables")
    numbers = ["total", *(f"components/{name}" for name in components)]
    return pa.schema([(name, pa.float64()) for name in numbers] + [(name, pa.string()) for name in TEXTS])


def results(scores: Scores) -> list[pyarrow.Array]:
    """Return our columns as arrays, in the order of `results_schema`; null for missing values."""
    import pyarrow as pa

    outcomes, notes = outcomes_of(scores), notes_of(scores)
    size = len(scores.total)
    numbers = [scores.total, *scores.components.values()]
    texts = [
        {row: utf8(json_of(said)) for row, said in outcomes.items()},
        {row: utf8(json_of(said)) for row, said in notes.items()},
        {row: utf8("; ".join(reasons)) for row, reasons in scores.errors.items()},
    ]
    found = [pa.array(column, mask=np.isnan(column)) for column in numbers]
    for said in texts:
        found.append(pa.array(map(said.get, range(size)), pa.string(), size=size) if said else pa.nulls(size, "string"))
    return found


def outcomes_of(scores: Scores) -> dict[int, dict[str, str]]:
    """Return row -> component -> why it was not scored."""
    outcomes: dict[int, dict[str, str]] = {}
    for name, codes in scores.codes.items():
        for row in np.flatnonzero(codes != SCORED).tolist():
            outcomes.setdefault(row, {})[name] = _OUTCOMES[codes[row]]
    return outcomes


def notes_of(scores: Scores) -> dict[int, dict[str, str]]:
    """Return row -> component -> note."""
    notes: dict[int, dict[str, str]] = {}
    for name, said in scores.notes.items():
        for row, note in said.items():
            notes.setdefault(row, {})[name] = note
    return notes


def json_of(texts: Mapping[str, str]) -> str:
    """Return texts by name as JSON: what `json.dumps` returns, three times as fast."""
    return f"{{{', '.join([f'{_quoted(name)}: {_quoted(text)}' for name, text in texts.items()])}}}"


def arrays(chunk: Chunk, schema: pyarrow.Schema) -> Iterator[Any]:
    """Yield the columns of the data for a table; those of an Arrow table keep their types."""
    import pyarrow as pa

    for field in schema:
        if isinstance(chunk, Tabular):
            yield chunk.table[field.name]
        else:
            values = chunk.column(field.name)
            yield pa.array(map(_text, values) if pa.types.is_string(field.type) else values, field.type)


def schema_of(kinds: Mapping[str, set[type]]) -> pyarrow.Schema:
    """Return the types of columns of Python values; mixed or complex values become text, as JSON."""
    pa = arrow("writing .parquet files")
    return pa.schema([(name, pa.type_for_alias(_type(found))) for name, found in kinds.items()])


def split_schema(schema: pyarrow.Schema, names: Sequence[str]) -> pyarrow.Schema:
    """Return the types of the columns of rows whose conversations were split."""
    types = {field.name: python_type(field.type) for field in schema}
    return schema_of({name: {types.get(name, object)} for name in names})


def python_type(arrow_type: pyarrow.DataType) -> type:
    """Return the Python type of the values of an Arrow type; ``object`` if it is none of the plain ones."""
    import pyarrow as pa

    if pa.types.is_uint64(arrow_type):
        return object
    checks = {pa.types.is_boolean: bool, pa.types.is_integer: int, pa.types.is_floating: float}
    checks |= {pa.types.is_string: str, pa.types.is_large_string: str}
    return next((kind for check, kind in checks.items() if check(arrow_type)), object)


def utf8(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot encode, spelled out."""
    return text if encodes(text) else text.encode("utf-8", "backslashreplace").decode()


def encodes(text: str) -> bool:
    """Whether UTF-8 can encode it, which fails for lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def arrow(work: str) -> Any:
    """Return pyarrow.

    Raises:
        MissingExtraError: it is not installed; `work` needs it.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError.of(work, "store") from error
    return pyarrow


def _type(kinds: set[type]) -> str:
    kind = float if kinds == {int, float} else next(iter(kinds)) if len(kinds) == 1 else object
    return _PLAIN.get(kind, "string")


def _text(value: Any) -> str | None:
    return None if value is None else utf8(value if isinstance(value, str) else as_json(value))
