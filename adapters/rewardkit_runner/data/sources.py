"""Load rows from files, folders of files, or the hub.

Cells keep their types from JSON and Parquet files, and are text from CSV files: rewards coerce them. Objects, and
columns of several types, become JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import ConfigError, DataError, RewardKitError, near_miss, shorten
from rewardkit.data.files import rows_of
from rewardkit_runner.configuration.places import is_local, located
from rewardkit_runner.configuration.rows import DatasetConfig

if TYPE_CHECKING:
    from datasets import Dataset

SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
_SAVED = ("dataset_info.json", "dataset_dict.json")


def table_of(config: DatasetConfig, base: Path) -> Dataset:
    """Load all rows of a dataset.

    Raises:
        ConfigError: it cannot be found or read.
    """
    if config.path is None:
        return _made_by_a_task(config)
    if not is_local(config.path, base):
        return _flat(_from_hub(config.path, config, base))
    for setting in ("name", "revision"):
        if getattr(config, setting) is not None:
            raise ConfigError(
                f"dataset.{setting} is only for datasets on the hub: delete it, because {config.path} is a file"
            )
    place = located(config.path, base)
    if any((place / name).is_file() for name in _SAVED):
        return _flat(_saved(place, config.split))
    return _from_files(_files(place, config.path, config.split, base))


def _made_by_a_task(config: DatasetConfig) -> Dataset:
    from datasets import Dataset

    from rewardkit_reasoning_gym import reasoning_gym_rows

    if config.split is not None:
        raise ConfigError(
            f"eval.split: {config.reasoning_gym} of reasoning-gym has no splits. Write hold_out: 64 instead, or "
            "dataset: {seed: 1}"
        )
    try:
        rows = reasoning_gym_rows(
            config.reasoning_gym or "", size=config.size or 500, seed=config.seed or 0, **config.options
        )
    except (RewardKitError, TypeError) as error:
        raise ConfigError(f"dataset.reasoning_gym: {error}") from None
    return Dataset.from_list(rows)


def _files(place: Path, path: str, given: str | None, base: Path) -> list[Path]:
    """Return the files of a path, a folder or a glob; with a split, only the files named after it."""
    if place.is_dir():
        found = sorted(one for one in place.iterdir() if one.suffix.lower() in SUFFIXES)
    elif "*" in path:
        folder = Path(path).expanduser()
        root = Path(folder.anchor) if folder.is_absolute() else base
        found = sorted(root.glob(str(folder.relative_to(root) if folder.is_absolute() else folder)))
    elif place.is_file():
        found = [place]
        if given is not None:
            raise ConfigError(
                f"dataset.split: {given} needs several files or a dataset on the hub; {path} is a file. Delete it"
            )
    else:
        raise ConfigError(f"dataset.path: there is no {place}")
    if not found:
        raise ConfigError(f"dataset.path: {place} has no {', '.join(SUFFIXES)} file")
    split = given or "train"
    of_split = [
        one for one in found if one.stem == split or one.stem.startswith((f"{split}-", f"{split}_", f"{split}."))
    ]
    if given is not None and not of_split:
        names = [one.name for one in found]
        raise ConfigError(f"dataset.split: no file in {place} is named after {split}: {', '.join(names)}")
    return of_split or found


def _from_files(paths: Sequence[Path]) -> Dataset:
    from datasets import concatenate_datasets

    kinds = sorted({path.suffix.lower() == ".parquet" for path in paths})
    if len(kinds) > 1:
        raise ConfigError(f"dataset.path: do not mix .parquet files with others: {', '.join(map(str, paths))}")
    if not kinds[0]:
        rows = [row for path in paths for row in _records(path)]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return _made({name: _cells(name, [row.get(name) for row in rows]) for name in names})
    try:
        return _flat(concatenate_datasets([_parquet(path) for path in paths]))
    except ValueError as error:
        raise ConfigError(f"dataset.path: {paths[0]} and the other files have different columns: {error}") from None


def _records(path: Path) -> list[Mapping[str, Any]]:
    try:
        return [row for _, row in rows_of(path)]
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


def _saved(folder: Path, split: str | None) -> Dataset:
    from datasets import Dataset, load_from_disk

    found = load_from_disk(str(folder))
    if isinstance(found, Dataset):
        return found
    name = split or "train"
    if name not in found:
        raise ConfigError(
            f"dataset.split: {folder} has no split {name!r}. Its splits: {', '.join(found)}.{near_miss(name, found)}"
        )
    return found[name]


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


def _flat(rows: Dataset) -> Dataset:
    """Turn objects into JSON text."""
    nested = [name for name, feature in rows.features.items() if _holds_objects(feature)]
    if not nested:
        return rows
    return _made({name: _cells(name, rows[name][:]) if name in nested else rows[name][:] for name in rows.column_names})


def _made(columns: dict[str, list[Any]]) -> Dataset:
    from datasets import Dataset
    from pyarrow import ArrowException

    try:
        return Dataset.from_dict(columns)
    except (ArrowException, UnicodeEncodeError, OverflowError) as error:
        for name, values in columns.items():
            if (row := _first_unlike(values)) is not None:
                raise ConfigError(
                    f"column {name!r}, row {row}: {shorten(values[row])} is invalid Unicode, or has another type "
                    f"than row 0 ({error}). Fix the cell"
                ) from None
        raise


def _first_unlike(values: list[Any]) -> int | None:
    """Return the first row that Arrow cannot put into one column with row 0."""
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


def _cells(name: str, values: list[Any]) -> list[Any]:
    """Return the cells of a column in a form that Arrow stores unchanged."""
    if name == "prompt" and any(map(_is_conversation, values)):
        texts = (row for row, value in enumerate(values) if value is not None and not _is_conversation(value))
        text = next(texts, None)
        if text is None:
            return values
        raise ConfigError(
            f"column 'prompt', row {text}: {shorten(values[text])} is not a list of messages, but other rows are. "
            "Write all prompts as text, or all as messages"
        )
    if any(map(_has_objects, values)) or not _has_one_type(values):
        return [value if value is None or isinstance(value, str) else _json(value) for value in values]
    return values


def _has_one_type(values: list[Any]) -> bool:
    """Return whether Arrow can store the values in one column and return them unchanged."""
    from pyarrow import ArrowException, array

    try:
        return bool(array(values).to_pylist() == values)
    except UnicodeEncodeError:  # reported with its row when the table is made
        return True
    except (ArrowException, OverflowError):
        return False


def _is_conversation(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) and "role" in one for one in value)


def _has_objects(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(map(_has_objects, value)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
