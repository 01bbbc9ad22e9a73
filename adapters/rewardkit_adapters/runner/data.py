"""The rows for a training run: a column ``prompt`` and the columns that the reward reads.

With ``prompt: "Q: {question}"``, ``{"question": "6*7?", "gold": {"value": 42}}`` becomes
``{"question": "6*7?", "gold": '{"value": 42}', "prompt": "Q: 6*7?"}``. Objects become JSON strings, because Arrow would
give all objects in a column the same keys.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import ConfigError, DataError, RewardKitError, near_miss, shorten
from rewardkit.scoring.files import rows_of as rows_of_file
from rewardkit_adapters.runner.config import DatasetConfig, RunConfig, is_local, located
from rewardkit_adapters.runner.rewards import named

if TYPE_CHECKING:
    from datasets import Dataset


# Load rows from files, folders of files, or the hub.


@dataclass(frozen=True)
class Rows:
    """Dataset rows with their locations in the data: ``rows.location(2)`` returns ``"line 18"``.

    Attributes:
        numbers: the position of each row in the data.
        of_files: the location of each position for data from text files, or an empty sequence for other data.
    """

    dataset: Dataset
    numbers: Sequence[int]
    of_files: Sequence[str] = ()

    def location(self, row: int) -> str:
        """Return a row's line in its file, or its row number in a dataset without lines."""
        number = self.numbers[row]
        return self.of_files[number] if self.of_files else f"row {number}"

    def select(self, rows: Sequence[int]) -> Rows:
        """Return the selected rows, in the order of `rows`."""
        return replace(self, dataset=self.dataset.select(rows), numbers=[self.numbers[row] for row in rows])


SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
_SAVED = ("dataset_info.json", "dataset_dict.json")


def _table_of(config: DatasetConfig, base: Path) -> Rows:
    """Load all rows in a dataset.

    Raises:
        ConfigError: the dataset cannot be found or read.
    """
    if config.path is None:
        return _numbered(_made_by_a_task(config))
    if not is_local(config.path, base):
        return _numbered(_objects_to_json(_from_hub(config.path, config, base)))
    for setting in ("name", "revision"):
        if getattr(config, setting) is not None:
            raise ConfigError(
                f"dataset.{setting} is only for datasets on the hub: delete it, because {config.path} is a file"
            )
    location = located(config.path, base)
    if any((location / name).is_file() for name in _SAVED):
        return _numbered(_objects_to_json(_load_saved(location, config.split)))
    return _from_files(_files(location, config.path, config.split, base))


def _numbered(dataset: Dataset) -> Rows:
    return Rows(dataset, range(len(dataset)))


def _made_by_a_task(config: DatasetConfig) -> Dataset:
    from datasets import Dataset

    from rewardkit_adapters.reasoning_gym import reasoning_gym_rows

    if config.split is not None:
        raise ConfigError(
            f"eval.split: the reasoning-gym task {config.reasoning_gym} has no splits. Write hold_out: 64 instead, or "
            "dataset: {seed: 1}"
        )
    try:
        rows = reasoning_gym_rows(
            config.reasoning_gym or "", size=config.size or 500, seed=config.seed or 0, **config.options
        )
    except (RewardKitError, TypeError) as error:
        raise ConfigError(f"dataset.reasoning_gym: {error}") from None
    return Dataset.from_list(rows)


def _files(location: Path, path: str, split_name: str | None, base: Path) -> list[Path]:
    """Return the files for a path, a folder, or a glob. With a split, return only the files named after the split."""
    if location.is_dir():
        files = sorted(file for file in location.iterdir() if file.suffix.lower() in SUFFIXES)
    elif "*" in path:
        folder = Path(path).expanduser()
        root = Path(folder.anchor) if folder.is_absolute() else base
        files = sorted(root.glob(str(folder.relative_to(root) if folder.is_absolute() else folder)))
    elif location.is_file():
        files = [location]
        if split_name is not None:
            raise ConfigError(
                f"dataset.split: {split_name} needs several files or a dataset on the hub, but {path} is a file. "
                "Delete it"
            )
    else:
        raise ConfigError(f"dataset.path: there is no {location}")
    if not files:
        raise ConfigError(f"dataset.path: {location} has no {', '.join(SUFFIXES)} file")
    split = split_name or "train"
    of_split = [
        file for file in files if file.stem == split or file.stem.startswith((f"{split}-", f"{split}_", f"{split}."))
    ]
    if split_name is not None and not of_split:
        names = [file.name for file in files]
        raise ConfigError(f"dataset.split: no file in {location} is named after {split}: {', '.join(names)}")
    return of_split or files


def _from_files(paths: Sequence[Path]) -> Rows:
    from datasets import concatenate_datasets

    kinds = sorted({path.suffix.lower() == ".parquet" for path in paths})
    if len(kinds) > 1:
        raise ConfigError(f"dataset.path: do not mix .parquet files with others: {', '.join(map(str, paths))}")
    if not kinds[0]:
        located_rows = [(_short(location, paths), row) for path in paths for location, row in _records(path)]
        locations = [location for location, _ in located_rows]
        rows = [row for _, row in located_rows]
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: _cells(name, [row.get(name) for row in rows], locations) for name in names}
        return Rows(_make_dataset(columns, locations), range(len(rows)), locations)
    try:
        return _numbered(_objects_to_json(concatenate_datasets([_parquet(path) for path in paths])))
    except ValueError as error:
        raise ConfigError(f"dataset.path: {paths[0]} and the other files have different columns: {error}") from None


def _short(location: str, paths: Sequence[Path]) -> str:
    """Return ``line 3`` for ``/data/a.jsonl, line 3``, or ``a.jsonl, line 3`` if there are several files."""
    path, _, position = location.rpartition(", ")
    return position if len(paths) == 1 else f"{Path(path).name}, {position}"


def _records(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        return list(rows_of_file(path))
    except DataError as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None


def _parquet(path: Path) -> Dataset:
    from datasets import Dataset
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    try:
        return Dataset(read_table(path))
    except (ArrowException, OSError) as error:
        raise ConfigError(f"cannot read {path} as Parquet: {' '.join(str(error).split())}") from None
    except ValueError as error:
        raise ConfigError(f"{path} has a column that the datasets library does not support: {error}") from None


def _load_saved(folder: Path, split: str | None) -> Dataset:
    from datasets import Dataset, load_from_disk

    data = load_from_disk(str(folder))
    if isinstance(data, Dataset):
        return data
    name = split or "train"
    if name not in data:
        raise ConfigError(
            f"dataset.split: {folder} has no split {name!r}. Its splits: {', '.join(data)}.{near_miss(name, data)}"
        )
    return data[name]


def _from_hub(path: str, config: DatasetConfig, base: Path) -> Dataset:
    from datasets import load_dataset

    split = config.split or "train"
    try:
        return load_dataset(path, config.name, split=split, revision=config.revision)
    except Exception as error:  # raised by any of several libraries
        raise ConfigError(
            f"dataset.path: there is no file or folder {path} in {base}, and loading it from the hub (split "
            f"{split}) failed: {type(error).__name__}: {shorten(' '.join(str(error).split()), 600)}"
        ) from error


def _objects_to_json(rows: Dataset) -> Dataset:
    """Convert the objects in a dataset to JSON strings."""
    nested = [name for name, feature in rows.features.items() if _holds_objects(feature)]
    if not nested:
        return rows
    return _make_dataset(
        {name: _cells(name, rows[name][:]) if name in nested else rows[name][:] for name in rows.column_names}
    )


def _make_dataset(columns: dict[str, list[Any]], locations: Sequence[str] = ()) -> Dataset:
    from datasets import Dataset
    from pyarrow import ArrowException

    try:
        return Dataset.from_dict(columns)
    except (ArrowException, UnicodeEncodeError, OverflowError) as error:
        for name, values in columns.items():
            if (row := _first_unlike(values)) is not None:
                raise ConfigError(
                    f"column {name!r}, {_location(row, locations)}: {shorten(values[row])} is invalid Unicode, or has "
                    f"a different type from {_location(0, locations)} ({error}). Fix the cell"
                ) from None
        raise


def _location(row: int, locations: Sequence[str]) -> str:
    return locations[row] if locations else f"row {row}"


def _first_unlike(values: list[Any]) -> int | None:
    """Return the first row that Arrow cannot store in the same column as row 0, or None if there is none."""
    from pyarrow import ArrowException, array

    for row, value in enumerate(values):
        try:
            array([values[0], value])
        except (ArrowException, UnicodeEncodeError, OverflowError):
            return row
    return None


def _holds_objects(feature: Any) -> bool:
    if isinstance(feature, Mapping):
        return True
    if isinstance(feature, list):
        return any(map(_holds_objects, feature))
    return _holds_objects(feature.feature) if hasattr(feature, "feature") else False


def _cells(name: str, values: list[Any], locations: Sequence[str] = ()) -> list[Any]:
    """Return the cells in a column in a form that Arrow stores unchanged."""
    if name == "prompt" and any(map(_is_conversation, values)):
        texts = (row for row, value in enumerate(values) if value is not None and not _is_conversation(value))
        text = next(texts, None)
        if text is None:
            return values
        raise ConfigError(
            f"column 'prompt', {_location(text, locations)}: {shorten(values[text])} is not a list of messages, but "
            "other rows are. Write all prompts as text, or all as messages"
        )
    if any(map(_has_objects, values)) or not _has_one_type(values):
        return [value if value is None or isinstance(value, str) else _json(value) for value in values]
    return values


def _has_one_type(values: list[Any]) -> bool:
    """Return whether Arrow can store the values in one column and return them unchanged."""
    from pyarrow import ArrowException, array

    try:
        return bool(array(values).to_pylist() == values)
    except UnicodeEncodeError:  # reported with the row when the table is built
        return True
    except (ArrowException, OverflowError):
        return False


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(message, Mapping) and "role" in message for message in value)


def _has_objects(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(map(_has_objects, value)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


# Prompts from columns: ``Template("Q: {question}\nA:", ...)`` turns ``{"question": "6*7?"}`` into ``Q: 6*7?\nA:``.


class Template:
    """A string with column names in braces. The names are checked when the template is created."""

    def __init__(self, text: str, where: str, columns: Sequence[str]) -> None:
        self._where = where
        try:
            parts = [
                (literal, name, f"{spec or ''}{conversion or ''}") for literal, name, spec, conversion in _parts(text)
            ]
        except ValueError as error:
            raise ConfigError(
                f"{where}: invalid template: {error}. Write {{{{ and }}}} for literal braces: {shorten(text)}"
            ) from None
        for _, name, formatting in parts:
            if name is None:
                continue
            if formatting or name not in columns:
                raise ConfigError(_fault(name, formatting, where, columns))
        self._parts = [(literal, name) for literal, name, _ in parts]

    def of(self, rows: Rows) -> list[str]:
        """Return the text for each row, shape (n,).

        Raises:
            ConfigError: a cell that the template uses is empty.
        """
        names = list(dict.fromkeys(name for _, name in self._parts if name is not None))
        if not names:
            return ["".join(literal for literal, _ in self._parts)] * len(rows.dataset)
        cells = enumerate(rows.dataset.select_columns(names))
        return [self._text(row, rows.location(number)) for number, row in cells]

    def _text(self, row: Mapping[str, Any], location: str) -> str:
        for name, value in row.items():
            if value is None:
                raise ConfigError(
                    f"{self._where}: the column {name!r} is null in {location}. Fill the cell, or exclude such rows "
                    "with dataset.filter"
                )
        return "".join(literal + ("" if name is None else str(row[name])) for literal, name in self._parts)


def _parts(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    return list(string.Formatter().parse(text))


def _fault(name: str, formatting: str, where: str, columns: Sequence[str]) -> str:
    plain = name.isidentifier() and not formatting
    hint = near_miss(name, columns)
    braces = "" if plain else " Braces may contain only column names. Write {{ and }} for literal braces."
    columns_hint = f"The columns are {', '.join(columns)}."
    placeholder = f"{{{name}{':' if formatting else ''}{formatting}}}"
    return f"{where}: there is no column for {placeholder}.{hint} {columns_hint}{braces}"


def training_and_held_out(config: RunConfig) -> tuple[Dataset, Dataset | None]:
    """Return the training rows and the evaluation rows (None without ``eval``).

    Raises:
        ConfigError: as in `located_rows`.
    """
    training, held_out = located_rows(config)
    return training.dataset, None if held_out is None else held_out.dataset


def located_rows(config: RunConfig) -> tuple[Rows, Rows | None]:
    """Return the same rows as `training_and_held_out`, with their locations in the data.

    Raises:
        ConfigError: the data cannot be loaded or does not match the configuration.
    """
    modules = config.modules_path()
    training = rows_of(config.dataset, config.base, config.seed, modules)
    if config.eval is None:
        return training, None
    held_out_config = config.held_out_dataset()
    if held_out_config is not None:
        held_out = rows_of(held_out_config, config.base, config.seed, modules)
    else:
        training, held_out = _hold_out_rows(training, config.eval.hold_out or 0, config.seed)
    return training, sampled(held_out, config.eval.prompts, f"{config.seed}/evaluated")


def rows_of(config: DatasetConfig, base: Path, seed: int, modules: Path | None = None) -> Rows:
    """Load the rows in a dataset: rename columns, filter, create prompts, and sample. The order stays the same.

    Args:
        config: the dataset.
        base: the folder to which the paths in `config` are relative.
        seed: the seed for sampling.
        modules: the folder that is searched for a filter's module, or None for `base`.

    Raises:
        ConfigError: the data cannot be loaded or does not match the configuration.
    """
    table = _table_of(config, base)
    if not len(table.dataset):
        raise ConfigError(f"dataset.path: {config.path} has no rows")
    rows = replace(table, dataset=_renamed(table.dataset, config.columns))
    rows = _filtered(rows, config.filter, base, modules or base)
    rows = replace(rows, dataset=_with_prompts(rows, config))
    return sampled(rows, config.sample, f"{seed}/sample")


def _renamed(rows: Dataset, columns: Mapping[str, str]) -> Dataset:
    duplicates = [source for source in columns.values() if list(columns.values()).count(source) > 1]
    if duplicates:
        raise ConfigError(
            f"dataset.columns: {duplicates[0]!r} has several new names ({', '.join(columns)}). Keep one of them"
        )
    for target, source in columns.items():
        if source not in rows.column_names:
            raise ConfigError(_no_column(source, f"which dataset.columns ({target}: {source}) renames", rows))
        if target in rows.column_names and target not in columns.values() and target != source:
            raise ConfigError(
                f"dataset.columns: {source!r} cannot be renamed to {target!r}: the dataset already has a column "
                f"with that name. Rename that column as well: {{{target}: {source}, other: {target}}}"
            )
    names = {source: target for target, source in columns.items()}
    return rows.rename_columns(names) if names else rows


def _filtered(rows: Rows, filter_: dict[str, Any] | str | None, base: Path, modules: Path) -> Rows:
    if filter_ is None:
        return rows
    if isinstance(filter_, str):
        keep = _row_filter(named(_target(filter_, base), modules), filter_)
    else:
        for name in filter_:
            if name not in rows.dataset.column_names:
                raise ConfigError(_no_column(name, "which dataset.filter reads", rows.dataset))
        keep = _allowed(filter_)
    indices = [number for number, row in enumerate(rows.dataset) if keep(rows.location(number), row)]
    if not indices:
        raise ConfigError(
            f"dataset.filter: none of the {len(rows.dataset):,} rows passes: {shorten(filter_)}. Change the filter"
        )
    return rows.select(indices)


def _allowed(filter_: Mapping[str, Any]) -> Callable[[str, Mapping[str, Any]], bool]:
    allowed = {name: _as_set(value if isinstance(value, list) else [value]) for name, value in filter_.items()}
    return lambda location, row: all(_as_set([row[name]]) <= values for name, values in allowed.items())


def _as_set(values: Sequence[Any]) -> set[str]:
    """Return the values as strings for comparison, so that a CSV cell ``"1"`` equals a ``1`` in the filter."""
    return {value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str) for value in values}


def _row_filter(keep: Any, target: str) -> Callable[[str, Mapping[str, Any]], bool]:
    if not callable(keep):
        raise ConfigError(f"dataset.filter: expected a function that takes a row, but {target} is {shorten(keep)}")

    def asked(location: str, row: Mapping[str, Any]) -> bool:
        try:
            answer = keep(dict(row))
        except Exception as error:
            raise ConfigError(
                f"dataset.filter: {target} raised {type(error).__name__} for {location} in "
                f"the data: {shorten(str(error))}. The row: {shorten(dict(row))}"
            ) from error
        if answer is None:
            raise ConfigError(
                f"dataset.filter: {target} returned None for {location} in the data. Return True to keep the "
                "row, or False to skip it"
            )
        return bool(answer)

    return asked


def _target(target: str, base: Path) -> str:
    source, _, name = target.rpartition(":")
    return f"{(base / source).absolute()}:{name}" if source.endswith(".py") else target


def _with_prompts(rows: Rows, config: DatasetConfig) -> Dataset:
    if config.prompt is None and config.messages is None:
        return _own_prompts(rows.dataset)
    columns = rows.dataset.column_names
    prompts: list[Any]
    if config.prompt is not None:
        prompts = Template(config.prompt, "dataset.prompt", columns).of(rows)
    else:
        messages = config.messages or []
        contents = [
            Template(message.content, f"dataset.messages[{index}].content", columns).of(rows)
            for index, message in enumerate(messages)
        ]
        roles = [message.role for message in messages]
        prompts = [
            [{"role": role, "content": content} for role, content in zip(roles, texts, strict=True)]
            for texts in zip(*contents, strict=True)
        ]
    other_columns = rows.dataset.remove_columns("prompt") if "prompt" in columns else rows.dataset
    return other_columns.add_column("prompt", prompts)


def _own_prompts(rows: Dataset) -> Dataset:
    if "prompt" not in rows.column_names:
        raise ConfigError(
            _no_column("prompt", "which the model needs", rows)
            + ' Rename a column (columns: {prompt: question}), or write a template (prompt: "Q: {question}\\nA:")'
        )
    return rows


def sampled(rows: Rows, count: int | None, seed: str) -> Rows:
    """Return at most `count` rows in their original order. The same seed gives the same rows."""
    if count is None or count >= len(rows.dataset):
        return rows
    return rows.select(sorted(random.Random(seed).sample(range(len(rows.dataset)), count)))


def _hold_out_rows(rows: Rows, count: int, seed: int) -> tuple[Rows, Rows]:
    """Split `rows` into training rows and at least `count` held-out rows. Rows with equal prompts stay together."""
    by_prompt: dict[str, list[int]] = {}
    for number, prompt in enumerate(rows.dataset["prompt"]):
        by_prompt.setdefault(json.dumps(prompt, sort_keys=True), []).append(number)
    groups = list(by_prompt.values())
    random.Random(f"{seed}/held-out").shuffle(groups)
    held_out: list[int] = []
    while groups and len(held_out) < count:
        held_out += groups.pop()
    if not groups:
        raise ConfigError(
            f"eval.hold_out: {count} held-out rows would leave no rows for training, because the dataset has "
            f"{len(rows.dataset)} rows with {len(by_prompt)} different prompts. Lower hold_out"
        )
    return rows.select(sorted(number for group in groups for number in group)), rows.select(sorted(held_out))


def _no_column(name: str, purpose: str, rows: Dataset) -> str:
    column_names = rows.column_names
    hint = near_miss(name, column_names)
    return f"the dataset has no column {name!r}, {purpose}. Its columns: {', '.join(column_names)}.{hint}"
