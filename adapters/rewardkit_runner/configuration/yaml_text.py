"""YAML as it is meant: ``1e-6`` is a number, ``no`` is a text, and a key that stands twice is an error.

PyYAML reads YAML 1.1, where ``1e-6`` is a text, ``no`` is false, ``010`` is 8 and ``12:30`` is 750. Here the rules of
YAML 1.2 hold; what is written is quoted so that both read the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import yaml

from rewardkit_runner.configuration.faults import ConfigError, Place, written

MOST_CHARACTERS = 1_000_000
MOST_VALUES = 100_000
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_RULES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE"), "tTfF"),
    ("int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+"), "-+0123456789"),
    ("float", _FLOAT, "-+0123456789."),
    ("null", re.compile(r"~|null|Null|NULL|"), "~nN"),
    ("merge", re.compile(r"<<"), "<"),
)


class _Loader(yaml.SafeLoader):
    """With the scalars of YAML 1.2."""

    yaml_implicit_resolvers: ClassVar[Any] = {}


class _Dumper(yaml.SafeDumper):
    """Quotes what YAML 1.1 or 1.2 would take for something else than a text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _pattern, _firsts in _RULES:
    _whole = re.compile(f"(?:{_pattern.pattern})$")
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _whole, [*_firsts, *([""] if _tag == "null" else [])])
    if _tag == "float":
        _Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _whole, list(_firsts))


def _whole_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0 if text[:2] in ("0o", "0x") else 10)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # YAML 1.1 takes these for line breaks; only between double quotes they stay what they are. Where a literal block
    # cannot hold a text, PyYAML takes quotes by itself.
    style = '"' if re.search("[\x85\u2028\u2029]", value) else "|" if "\n" in value.strip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
_Dumper.add_representer(str, _text)


def parsed(text: str, source: str) -> tuple[Any, dict[Place, int]]:
    """The value that `text` stands for, and the line of every setting in it; `source` names it in errors.

    Raises:
        ConfigError: it is no YAML, has a key twice, or is too large once its aliases are written out.
    """
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(
            f"{source} has {len(text):,} characters, which is no configuration ({MOST_CHARACTERS:,} at most)"
        )
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None, {}
            lines = dict(_lines(node, source))
            return loader.construct_document(node), lines
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise ConfigError(_described(error, text, source)) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{source} is no YAML: {' '.join(str(error).split())}") from None
    except (RecursionError, ValueError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigError(f"{source} is no YAML: {why}") from None


def printed(value: Any) -> str:
    """`value` as YAML that `parsed` reads as the same."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110))


def _lines(root: yaml.Node, source: str) -> Iterator[tuple[Place, int]]:
    """Every place with its line. Aliases are followed, so that a few lines cannot stand for millions of values."""
    seen = 0
    stack: list[tuple[Place, yaml.Node, tuple[int, ...]]] = [((), root, ())]
    while stack:
        place, node, above = stack.pop()
        seen += 1
        if seen > MOST_VALUES or id(node) in above:
            raise ConfigError(f"{source} stands for too many values: its aliases (*name) repeat each other")
        yield place, node.start_mark.line + 1
        inside = (*above, id(node))
        if isinstance(node, yaml.SequenceNode):
            stack += [((*place, index), item, inside) for index, item in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            _check_twice(place, node, source)
            for key, item in node.value:
                stack.append(((*place, str(key.value)), item, inside))
                yield (*place, str(key.value)), key.start_mark.line + 1


def _check_twice(place: Place, node: yaml.MappingNode, source: str) -> None:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ConfigError(f"{source}, line {line}: a name is due before the colon, not a list or a mapping")
        if key.value in lines:
            raise ConfigError(
                f"{source}, line {line}: {written((*place, key.value))} stands there twice, in line "
                f"{lines[key.value]} as well: only one of them can hold"
            )
        lines[key.value] = line


def _described(error: yaml.MarkedYAMLError, text: str, source: str) -> str:
    mark = error.problem_mark or error.context_mark
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    line = text.split("\n")[mark.line] if mark is not None and mark.line < text.count("\n") + 1 else ""
    if "\t" in line[: len(line) - len(line.lstrip())] or "'\\t'" in str(error.problem):
        return f"{source}{where}: a tab stands at the beginning of the line; YAML is indented with spaces"
    hint = ""
    if "mapping values are not allowed" in str(error.problem):
        hint = ". A text with a colon and a space in it needs quotes"
    elif "could not determine a constructor" in str(error.problem):
        hint = ". Tags (!name) are not read"
    return f"{source}{where}: no YAML: {error.problem}{hint}"
