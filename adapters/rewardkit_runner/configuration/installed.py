"""The fields of TRL's GRPOConfig and peft's LoraConfig in the installed versions, read from their source.

``grpo_fields()["max_steps"].type`` is ``int``. Importing the classes loads torch: 6 s of CPU instead of 0.2 s for every
typo, ``--print-config`` and ``--schema``; and they declare ``str`` where the source lists the choices
(lr_scheduler_type, optim). If a release moves its files, the classes are imported after all.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import typing
from collections.abc import Iterator
from functools import cache, reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_origin

_GRPO = (
    ("transformers", "training_args.py", "TrainingArguments"),
    ("trl", "trainer/base_config.py", "_BaseConfig"),
    ("trl", "trainer/grpo_config.py", "GRPOConfig"),
)
_LORA = (
    ("peft", "config.py", "PeftConfigMixin"),
    ("peft", "config.py", "PeftConfig"),
    ("peft", "tuners/lora/config.py", "LoraConfig"),
)
_ENUMS = (("transformers", "trainer_utils.py"), ("transformers", "training_args.py"))
_PLAIN: dict[str, Any] = {"int": int, "float": float, "bool": bool, "str": str, "dict": dict, "list": list}


@dataclasses.dataclass(frozen=True)
class Field:
    """One field: its type if it is made of plain types (else Any), and its help text."""

    type: Any
    help: str = ""


@cache
def grpo_fields() -> dict[str, Field]:
    """Return the fields of TRL's GRPOConfig by name; empty if TRL is not installed."""
    return _fields(_GRPO, "trl", "GRPOConfig")


@cache
def lora_fields() -> dict[str, Field]:
    """Return the fields of peft's LoraConfig by name; empty if peft is not installed."""
    return _fields(_LORA, "peft", "LoraConfig")


@cache
def trackers() -> frozenset[str]:
    """Return the trackers that transformers can report to; empty if it is not installed."""
    path = _source("transformers", "integrations/integration_utils.py")
    for node in ast.walk(_parsed(path)) if path is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if names == ["INTEGRATION_TO_CALLBACK"]:
                return frozenset(key.value for key in node.value.keys if isinstance(key, ast.Constant))  # type: ignore[misc]
    return frozenset()


def _fields(classes: tuple[tuple[str, str, str], ...], package: str, name: str) -> dict[str, Field]:
    """Return the fields of a dataclass; `classes` lists its bases first."""
    if find_spec(package) is None:
        return {}
    found: dict[str, Field] = {}
    own: dict[str, Field] = {}
    for library, file, class_name in classes:
        path = _source(library, file)
        own = dict(_declared(path, class_name)) if path is not None else {}
        found |= own
    # The library has another layout than `classes` says: import it.
    return found if own else _imported(package, name)


def _imported(package: str, name: str) -> dict[str, Field]:
    class_ = getattr(importlib.import_module(package), name)
    types = typing.get_type_hints(class_)
    return {
        field.name: Field(types[field.name], str(field.metadata.get("help", "")))
        for field in dataclasses.fields(class_)
        if field.init
    }


def _source(package: str, file: str) -> Path | None:
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    paths = [Path(folder) / file for folder in folders or []]
    return next((path for path in paths if path.is_file()), None)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _declared(path: Path, class_name: str) -> Iterator[tuple[str, Field]]:
    for node in _parsed(path).body:
        if not isinstance(node, ast.ClassDef) or node.name != class_name:
            continue
        for line in node.body:
            if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
                continue
            if not line.target.id.startswith("_") and "ClassVar" not in ast.unparse(line.annotation):
                options = {option.arg: option.value for option in getattr(line.value, "keywords", [])}
                if _literal(options.get("init")) is not False:
                    yield line.target.id, Field(_type(line.annotation), _help(options.get("metadata")))


def _type(node: ast.expr) -> Any:
    """Return the type of an annotation; Any if it is not made of plain types."""
    if isinstance(node, ast.Constant):
        return type(None) if node.value is None else _type(ast.parse(str(node.value), mode="eval").body)
    if isinstance(node, ast.Name):
        return _PLAIN.get(node.id) or _choices().get(node.id, Any)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right])
    if not isinstance(node, ast.Subscript):
        return Any
    name = ast.unparse(node.value).rpartition(".")[2]
    inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return _union([*inside, ast.Constant(None)])
    if name == "Union":
        return _union(inside)
    if name == "Literal" and all(isinstance(one, ast.Constant) for one in inside):
        # Some libraries list patterns among the values: "pissa_niter_[number of iters]".
        values = tuple(_literal(one) for one in inside)
        return str if any("[" in str(value) for value in values) else Literal[values]
    return {"list": list, "List": list, "dict": dict, "Dict": dict}.get(name, Any)


def _union(nodes: list[ast.expr]) -> Any:
    types = [_type(node) for node in nodes]
    if any(get_origin(type_) is Literal for type_ in types):
        types = [type_ for type_ in types if type_ is not str]  # only the values of the enumeration
    return Any if Any in types else reduce(lambda left, right: left | right, types)


@cache
def _choices() -> dict[str, Any]:
    """Return the enumerations of transformers as types: SchedulerType is ``Literal["linear", "cosine", ...]``."""
    paths = [path for place in _ENUMS if (path := _source(*place)) is not None]
    found = {}
    for node in (node for path in paths for node in _parsed(path).body):
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            values = [_literal(line.value) for line in node.body if isinstance(line, ast.Assign)]
            if values and all(isinstance(value, str) for value in values):
                found[node.name] = Literal[tuple(values)]
    return found


def _help(metadata: ast.expr | None) -> str:
    value = _literal(metadata)
    return " ".join(str(value.get("help", "")).replace("%%", "%").split()) if isinstance(value, dict) else ""


def _literal(node: ast.expr | None) -> Any:
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
