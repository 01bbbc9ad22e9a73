"""Read a configuration: ``read(Path("run.yaml"), ["grpo.max_steps=5"])`` returns a RunConfig.

A single error lists all mistakes with their line numbers and with suggestions.
"""

from __future__ import annotations

import io
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from rewardkit.errors import ConfigError, MissingExtraError, near_miss, shorten
from rewardkit_adapters.runner.config import Rows, RunConfig, is_local, located
from rewardkit_adapters.runner.trl_arguments import (
    Fault,
    Faults,
    Field,
    Place,
    explained,
    lora_fields,
    path_text,
    settable_grpo_fields,
    shown,
    trackers,
    vllm_fields,
)

# Read and write YAML 1.2: ``1e-6`` is a number, ``no`` is text, and a duplicate key is an error.


try:
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import SafeConstructor
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
    from ruamel.yaml.reader import ReaderError
    from ruamel.yaml.representer import SafeRepresenter
except ModuleNotFoundError as missing:
    if missing.name not in ("ruamel", "ruamel.yaml"):
        raise
    raise MissingExtraError.of("training", "train") from None

# Arbitrary limits: a configuration has a few hundred lines, but a few aliases can expand to billions of values.
MOST_CHARACTERS = 1_000_000
MOST_VALUES = 100_000

# "%YAML 1.1" would turn "no" into a boolean and "010" into 8.
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
# The integers of YAML 1.2's core schema.
_INT = re.compile(r"[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII)
"""Floats in YAML 1.2's core schema. ruamel.yaml also accepts ``1_000`` and ``0b1`` as numbers, but they may be
names."""

_SPECIAL = re.compile(r"[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Control characters, and characters that YAML treats as line breaks. Only double-quoted strings preserve them."""

Position = tuple[int, int]
"""A line number and a column number, both starting at 1."""


class _Constructor(SafeConstructor):
    """A constructor that reads dates, ``=``, and ``1_000`` as strings.

    No setting is a date, and only numbers in the core schema are read as numbers."""

    def construct_yaml_int(self, node: Any) -> Any:
        plain = _INT.fullmatch(node.value)
        return super().construct_yaml_int(node) if plain else self.construct_yaml_str(node)

    def construct_yaml_float(self, node: Any) -> Any:
        plain = _FLOAT.fullmatch(node.value)
        return super().construct_yaml_float(node) if plain else self.construct_yaml_str(node)


for _tag in ("timestamp", "value"):
    _Constructor.add_constructor(f"tag:yaml.org,2002:{_tag}", SafeConstructor.construct_yaml_str)
_Constructor.add_constructor("tag:yaml.org,2002:int", _Constructor.construct_yaml_int)
_Constructor.add_constructor("tag:yaml.org,2002:float", _Constructor.construct_yaml_float)


class _Representer(SafeRepresenter):
    """A representer that writes strings with line breaks as blocks, and never writes aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: Any) -> Any:
        style = "|" if "\n" in data.strip("\n") else None
        if _SPECIAL.search(data):
            style = '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Representer.add_representer(str, _Representer.represent_str)


def parsed(text: str, source: str) -> tuple[Any, dict[Place, Position]]:
    """Parse `text`. Return its value and the position of every setting. Errors refer to the text as `source`.

    Raises:
        ConfigError: the text is not YAML, has a duplicate key, or is too large after its aliases are expanded.
    """
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(
            f"{source} has {len(text):,} characters, but a configuration can have at most {MOST_CHARACTERS:,}"
        )
    if _DIRECTIVE.search(text):
        raise ConfigError(
            f"{source}: a line starts with %. Remove the line: the file is read as YAML 1.2, without directives"
        )
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    try:
        node = yaml.compose(text)
        if node is None:
            return None, {}
        positions = dict(_positions(node, source))
        return yaml.constructor.construct_document(node), positions
    except MarkedYAMLError as error:
        raise ConfigError(_yaml_error_text(error, text, source)) from None
    except ReaderError as error:
        before = text[: error.position]
        where = shown_position((before.count("\n") + 1, len(before) - before.rfind("\n")))
        raise ConfigError(f"{source}, {where}: invalid YAML: remove the character {_shown(error.character)}") from None
    except RecursionError:
        raise ConfigError(f"{source}: invalid YAML: nested too deeply") from None
    except (YAMLError, ValueError, KeyError) as error:  # KeyError: !!bool maybe
        raise ConfigError(f"{source}: invalid YAML: {' '.join(str(error).split())}") from None


def printed_yaml(value: Any) -> str:
    """Return `value` as a YAML string that `parsed` converts back to the same value."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    # A line width that fits a text file; longer texts are folded.
    yaml.width = 110
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue()


def _shown(character: Any) -> str:
    """Return a character in the form ``U+0007``. ruamel.yaml reports it as a string or a number."""
    return f"U+{character if isinstance(character, int) else ord(character):04X}"


def shown_position(position: Position) -> str:
    """Return the position as ``line 5, column 3``."""
    line, column = position
    return f"line {line}, column {column}"


def _start(node: Node) -> Position:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _positions(root: Node, source: str) -> Iterator[tuple[Place, Position]]:
    """Yield the path of every setting with its position. Aliases are expanded, but only up to `MOST_VALUES` values."""
    value_count = 0
    stack: list[tuple[Place, Node, tuple[int, ...]]] = [((), root, ())]
    while stack:
        key_path, node, ancestors = stack.pop()
        value_count += 1
        if value_count > MOST_VALUES or id(node) in ancestors:
            raise ConfigError(f"{source} has too many values: its aliases (*name) repeat each other")
        if not key_path or isinstance(key_path[-1], int):  # other settings start at their key
            yield key_path, _start(node)
        path_nodes = (*ancestors, id(node))
        if isinstance(node, SequenceNode):
            stack += [((*key_path, index), item, path_nodes) for index, item in enumerate(node.value)]
        elif isinstance(node, MappingNode):
            _check_keys(key_path, node, source)
            for key, item in node.value:
                stack.append(((*key_path, str(key.value)), item, path_nodes))
                yield (*key_path, str(key.value)), _start(key)


def _check_keys(key_path: Place, node: MappingNode, source: str) -> None:
    first_positions: dict[str, Position] = {}
    for key, _ in node.value:
        where = f"{source}, {shown_position(_start(key))}"
        if not isinstance(key, ScalarNode):
            raise ConfigError(f"{where}: expected a name before the colon, got a list or a mapping")
        if key.value in first_positions:
            raise ConfigError(
                f"{where}: duplicate key {path_text((*key_path, key.value))}, which is also in "
                f"{shown_position(first_positions[key.value])}. Delete one of them"
            )
        first_positions[key.value] = _start(key)


def _yaml_error_text(error: MarkedYAMLError, text: str, source: str) -> str:
    mark = error.problem_mark or error.context_mark
    where = f", {shown_position((mark.line + 1, mark.column + 1))}" if mark is not None else ""
    line = text.split("\n")[mark.line] if mark is not None and mark.line < text.count("\n") + 1 else ""
    if "\t" in line[: len(line) - len(line.lstrip())] or "'\\t'" in str(error.problem):
        return f"{source}{where}: the line starts with a tab. Indent YAML with spaces"
    hint = ""
    if "mapping values are not allowed" in str(error.problem):
        hint = ". Put text with a colon and a space in quotes"
    elif "could not determine a constructor" in str(error.problem):
        hint = ". Delete the tag (!name): tags are not supported"
    return f"{source}{where}: invalid YAML: {error.problem}{hint}"


_HEADING = """\
# The whole configuration: the file's settings, and defaults. Fields of GRPOConfig that are not under grpo have
# TRL's defaults, except bf16, use_cpu, and gradient_checkpointing, which depend on the device and the model size.
"""
# The setting that a bare string sets, if the file has a string instead of a mapping.
_SHORT: dict[Place, str] = {("model",): "name", ("dataset",): "path", ("vllm",): "mode", ("eval", "dataset"): "path"}


def read(path: Path, sets: Sequence[str] = (), *, needs_reward: bool = True) -> RunConfig:
    """Read a YAML file. `sets` override its settings: ``["grpo.max_steps=5", "model=tiny"]``.

    Values after ``=`` are parsed as YAML. Paths are relative to the folder that contains the file. With
    ``needs_reward=False``, the file does not have to name a reward (the default is then ``reward.py:reward``), and the
    reward's file does not have to exist.

    Raises:
        ConfigError: the file or a setting is invalid. The message lists all mistakes with their line numbers.
    """
    path = Path(path)
    source = str(path)
    data, positions = parsed(_content(path), source)
    if not isinstance(data, dict):
        problem = "is empty" if data is None else f"contains {shorten(data)}"
        raise ConfigError(f"{source} {problem}. Write settings, one per line, such as `reward: reward.py:reward`")
    position_texts = {key_path: shown_position(position) for key_path, position in positions.items()}
    for text in sets:
        key_path = _set_value(data, text)
        position_texts = {
            other_path: where for other_path, where in position_texts.items() if other_path[: len(key_path)] != key_path
        }
        position_texts[key_path] = f"--set {text}"
    if "output" not in data:
        folder = path.absolute().parent.name
        data["output"] = f"runs/{folder if path.stem == 'run' and folder else path.stem}"
    if not needs_reward:
        data.setdefault("reward", "reward.py:reward")
    return _build_config(data, path.absolute().parent, source, position_texts, needs_reward=needs_reward)


def printed(config: RunConfig) -> str:
    """Return the complete configuration as YAML. In the same folder, `read` restores the same configuration from it."""
    return _HEADING + printed_yaml(config.model_dump(mode="json"))


def schema() -> dict[str, Any]:
    """Return the file's JSON schema for editors, with the fields of the installed GRPOConfig and LoraConfig.

    Refer to the schema in the first line of the file: ``# yaml-language-server: $schema=run.schema.json``.
    """
    json_schema = RunConfig.model_json_schema()
    properties = json_schema["properties"]
    del properties["base"]
    lora, vllm = (_mapping_in(properties[name]) for name in ("lora", "vllm"))
    for part, fields in ((properties["grpo"], settable_grpo_fields()), (lora, lora_fields()), (vllm, vllm_fields())):
        if fields:  # empty if the library is not installed
            part |= {"properties": dict(_properties(fields)), "additionalProperties": False}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **json_schema, "title": "rewardkit train"}


def _mapping_in(part: dict[str, Any]) -> dict[str, Any]:
    return next(alternative for alternative in part["anyOf"] if alternative.get("type") == "object")


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        siblings = [str(sibling) for sibling in sorted(path.parent.glob("*.y*ml"))] if path.parent.is_dir() else []
        hint = near_miss(str(path), siblings) or (f" Files in that folder: {', '.join(siblings)}" if siblings else "")
        raise ConfigError(f"there is no file {path}.{hint or ' Run rewardkit init DIR to get an example.'}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}). Save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None


def _set_value(data: dict[str, Any], text: str) -> Place:
    """Set one value in `data`, and return the path of the setting."""
    name, equals, value = text.partition("=")
    parts = tuple(int(part) if part.isdigit() else part for part in name.strip().split("."))
    if not equals or not all(part != "" for part in parts):
        raise ConfigError(f"--set {text}: expected NAME=VALUE, such as --set grpo.max_steps=5")
    container: Any = data
    for length, part in enumerate(parts[:-1], start=1):
        _unfold(container, part, _SHORT.get(parts[:length]))
        container = _entry(container, part, parts[:length], text)
    last = parts[-1]
    if isinstance(container, list):
        _entry(container, last, parts, text)
    elif not isinstance(container, dict):
        raise ConfigError(f"--set {text}: {path_text(parts[:-1])} is {shown(container)}, which has no settings")
    container[last], _ = parsed(value, f"--set {text}")
    return parts


def _unfold(container: Any, part: str | int, key: str | None) -> None:
    """Replace an entry with a mapping if it is missing, a boolean, or a string that is a short form for `key`."""
    if isinstance(container, dict):
        value = container.get(part)
        if value is None or isinstance(value, bool):
            container[part] = {}
        elif isinstance(value, str) and key is not None:
            container[part] = {key: value}


def _entry(container: Any, part: str | int, key_path: Place, text: str) -> Any:
    if isinstance(container, dict) and part in container:
        return container[part]
    if isinstance(container, list) and isinstance(part, int) and part < len(container):
        return container[part]
    size = f"a list of {len(container)}" if isinstance(container, list) else shown(container)
    raise ConfigError(f"--set {text}: there is no {path_text(key_path)}, because {path_text(key_path[:-1])} is {size}")


def _build_config(
    data: dict[str, Any], base: Path, source: str, position_texts: Mapping[Place, str], *, needs_reward: bool
) -> RunConfig:
    faults = [Fault(("base",), "unknown setting")] if "base" in data else []
    config = None
    try:
        config = RunConfig.model_validate({**data, "base": base})
    except ValidationError as error:
        faults += [fault for detail in error.errors() for fault in _faults_of(detail)]
    if config is not None:
        faults += _missing_files(config, needs_reward=needs_reward) + _unknown_trackers(config)
    if config is None or faults:
        raise ConfigError(_faults_text(faults, source, position_texts))
    return config


def _faults_of(error: Mapping[str, Any]) -> Iterator[Fault]:
    key_path: Place = tuple(error["loc"])
    inner = error.get("ctx", {}).get("error")
    if isinstance(inner, Faults):
        yield from (Fault((*key_path, *fault.place), fault.what) for fault in inner.faults)
    elif error["type"] == "extra_forbidden":
        known_names = _known_at(key_path[:-1])
        hint = near_miss(key_path[-1], known_names) or f" Known settings: {', '.join(known_names)}"
        yield Fault(key_path, f"unknown setting.{hint}")
    else:
        key_path, choice = _choice_at(key_path)
        yield Fault(key_path, explained(error, choice))


def _known_at(key_path: Place) -> list[str]:
    """Return the names of the settings in the mapping at `key_path`."""
    model: Any = RunConfig
    for part in key_path:
        model = _model_in(model.model_fields[part].annotation) if isinstance(part, str) else model
    return [name for name in model.model_fields if name != "base"]


def _choice_at(key_path: Place) -> tuple[Place, Any]:
    """Return the prefix of `key_path` up to a setting with several types, and return these types.

    Pydantic appends the names of the types to the path."""
    model: Any = RunConfig
    for length, part in enumerate(key_path, start=1):
        field = model.model_fields.get(part) if model is not None else None
        if field is not None and len(key_path) > length and _is_choice(field.annotation):
            return key_path[:length], field.annotation
        model = _model_in(field.annotation) if field is not None else model if isinstance(part, int) else None
    return key_path, None


def _is_choice(annotation: Any) -> bool:
    union = get_origin(annotation) in (Union, types.UnionType)
    return union and len([member for member in get_args(annotation) if member is not type(None)]) > 1


def _model_in(annotation: Any) -> Any:
    """Return the pydantic model in an annotation: GuardConfig for ``list[GuardConfig] | None``."""
    if get_origin(annotation) in (Union, types.UnionType, Annotated, list):
        models = [_model_in(member) for member in get_args(annotation)]
        return next((member for member in models if member is not None), None)
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _missing_files(config: RunConfig, *, needs_reward: bool) -> list[Fault]:
    """Return a fault for each file that does not exist. Names in Python files are checked later, on import."""
    references: list[tuple[Place, str]] = [
        (("reward",), config.reward.path.rpartition(":")[0] if needs_reward else ""),
        (("environment",), (config.environment or "").rpartition(":")[0]),
        (("model", "name"), config.model.name or ""),
        (("model", "gguf"), config.model.gguf or ""),
        (("accelerate",), config.accelerate or ""),
    ]
    held_out = config.eval.dataset if config.eval is not None else None
    datasets: list[tuple[Place, Rows | None]] = [(("dataset",), config.dataset), (("eval", "dataset"), held_out)]
    for key_path, rows in datasets:
        if rows is not None:
            filter_ = rows.filter.rpartition(":")[0] if isinstance(rows.filter, str) else ""
            references += [((*key_path, "path"), rows.path or ""), ((*key_path, "filter"), filter_)]
    return [
        Fault(key_path, f"there is no {located(text, config.base)}{_nearby_files(located(text, config.base))}")
        for key_path, text in references
        if is_local(text) and "*" not in text and not located(text, config.base).exists()
    ]


def _nearby_files(path: Path) -> str:
    sibling_names = [sibling.name for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
    return f".{near_miss(path.name, sibling_names)}" if near_miss(path.name, sibling_names) else ""


def _unknown_trackers(config: RunConfig) -> list[Fault]:
    tracker_names = trackers() | {"none", "all"}
    return [
        Fault(("report_to",), f"transformers has no tracker {name!r}.{near_miss(name, tracker_names)}")
        for name in config.report_to
        if trackers() and name not in tracker_names
    ]


def _faults_text(faults: Sequence[Fault], source: str, position_texts: Mapping[Place, str]) -> str:
    def where(key_path: Place) -> str:
        """Return the position of the setting, or of the mapping that should contain it if it is missing."""
        shortened = [tuple(map(str, key_path[:length])) for length in range(len(key_path), 0, -1)]
        texts = {tuple(map(str, other_path)): position_text for other_path, position_text in position_texts.items()}
        return next((texts[candidate] for candidate in shortened if candidate in texts), "")

    messages = [", ".join(filter(None, (source, where(fault.place)))) + f": {fault}" for fault in dict.fromkeys(faults)]
    return (
        messages[0]
        if len(messages) == 1
        else f"{len(messages)} settings are invalid\n" + "\n".join(f"  {message}" for message in messages)
    )


def _properties(fields: Mapping[str, Field]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in fields.items():
        described = {"description": field.help} if field.help else {}
        yield name, TypeAdapter(field.type).json_schema() | described
