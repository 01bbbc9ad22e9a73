"""Read and write YAML 1.2: ``1e-6`` is a number, ``no`` is text, and a duplicate key is an error.

``parsed("seed: 7", "run.yaml")`` returns ``{"seed": 7}`` and the line and column of each setting.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.representer import SafeRepresenter

from rewardkit.core.errors import ConfigError
from rewardkit_runner.configuration.faults import Place, written

MOST_CHARACTERS = 1_000_000
MOST_VALUES = 100_000

_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_INT = re.compile(r"[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII)
"""The numbers of YAML 1.2's core schema. ruamel.yaml also takes ``1_000`` and ``0b1``, which may be names."""

_SPECIAL = re.compile(r"[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Control characters, and those that YAML takes for line breaks: only double quotes keep them."""

Position = tuple[int, int]
"""Line and column, both from 1."""


class _Constructor(SafeConstructor):
    """Reads dates, ``=`` and ``1_000`` as text: no setting is a date, and numbers are those of the core schema."""

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
    """Writes text with line breaks as a block, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_str(self, data: Any) -> Any:
        style = "|" if "\n" in data.strip("\n") else None
        if _SPECIAL.search(data):
            style = '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Representer.add_representer(str, _Representer.represent_str)


def parsed(text: str, source: str) -> tuple[Any, dict[Place, Position]]:
    """Return the value of `text`, and the position of every setting in it; `source` is its name in errors.

    Raises:
        ConfigError: the text is not YAML, has a duplicate key, or is too large once its aliases are expanded.
    """
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"{source} has {len(text):,} characters: a configuration has at most {MOST_CHARACTERS:,}")
    if _DIRECTIVE.search(text):
        raise ConfigError(
            f"{source}: a line starts with %. Remove it: the file is read as YAML 1.2, without directives"
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
        raise ConfigError(_described(error, text, source)) from None
    except ReaderError as error:
        before = text[: error.position]
        where = shown_position((before.count("\n") + 1, len(before) - before.rfind("\n")))
        raise ConfigError(f"{source}, {where}: invalid YAML: remove the character {_shown(error.character)}") from None
    except RecursionError:
        raise ConfigError(f"{source}: invalid YAML: nested too deeply") from None
    except (YAMLError, ValueError, KeyError) as error:  # KeyError: !!bool maybe
        raise ConfigError(f"{source}: invalid YAML: {' '.join(str(error).split())}") from None


def printed(value: Any) -> str:
    """Return `value` as YAML that `parsed` reads as the same value."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.width = 110
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue()


def _shown(character: Any) -> str:
    """Return a character, which ruamel.yaml reports as text or as a number, as ``U+0007``."""
    return f"U+{character if isinstance(character, int) else ord(character):04X}"


def shown_position(position: Position) -> str:
    """Return ``line 5, column 3``."""
    line, column = position
    return f"line {line}, column {column}"


def _start(node: Node) -> Position:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _positions(root: Node, source: str) -> Iterator[tuple[Place, Position]]:
    """Yield every place with its position. Aliases are expanded, but only up to `MOST_VALUES` values."""
    seen = 0
    stack: list[tuple[Place, Node, tuple[int, ...]]] = [((), root, ())]
    while stack:
        place, node, above = stack.pop()
        seen += 1
        if seen > MOST_VALUES or id(node) in above:
            raise ConfigError(f"{source} has too many values: its aliases (*name) repeat each other")
        if not place or isinstance(place[-1], int):  # other places begin at their key
            yield place, _start(node)
        inside = (*above, id(node))
        if isinstance(node, SequenceNode):
            stack += [((*place, index), item, inside) for index, item in enumerate(node.value)]
        elif isinstance(node, MappingNode):
            _check_keys(place, node, source)
            for key, item in node.value:
                stack.append(((*place, str(key.value)), item, inside))
                yield (*place, str(key.value)), _start(key)


def _check_keys(place: Place, node: MappingNode, source: str) -> None:
    first: dict[str, Position] = {}
    for key, _ in node.value:
        where = f"{source}, {shown_position(_start(key))}"
        if not isinstance(key, ScalarNode):
            raise ConfigError(f"{where}: expected a name before the colon, got a list or a mapping")
        if key.value in first:
            raise ConfigError(
                f"{where}: duplicate key {written((*place, key.value))}, which is also in "
                f"{shown_position(first[key.value])}. Delete one of them"
            )
        first[key.value] = _start(key)


def _described(error: MarkedYAMLError, text: str, source: str) -> str:
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
