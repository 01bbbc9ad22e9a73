"""Check ``grpo``, ``lora``, and ``vllm`` in a configuration against the installed versions of TRL and peft.

``checked_grpo({"max_stepz": 5})`` raises an error that suggests ``max_steps``.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from rewardkit.errors import near_miss, shorten

# The fields of TRL's GRPOConfig and peft's LoraConfig, read from the source code of the installed versions.


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
    """A field: its type, which is Any unless it consists of plain types, and its help text."""

    type: Any
    help: str = ""


@cache
def grpo_fields() -> dict[str, Field]:
    """Return the fields of TRL's GRPOConfig by name, or an empty mapping if TRL is not installed."""
    return _fields(_GRPO, "trl", "GRPOConfig")


@cache
def lora_fields() -> dict[str, Field]:
    """Return the fields of peft's LoraConfig by name, or an empty mapping if peft is not installed."""
    return _fields(_LORA, "peft", "LoraConfig")


@cache
def trackers() -> frozenset[str]:
    """Return the trackers that transformers supports, or an empty set if transformers is not installed."""
    path = _source("transformers", "integrations/integration_utils.py")
    for node in ast.walk(_parsed(path)) if path is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if names == ["INTEGRATION_TO_CALLBACK"]:
                return frozenset(key.value for key in node.value.keys if isinstance(key, ast.Constant))  # type: ignore[misc]
    return frozenset()


def _fields(classes: tuple[tuple[str, str, str], ...], package: str, name: str) -> dict[str, Field]:
    """Return the fields of a dataclass. In `classes`, the class comes after its bases."""
    if find_spec(package) is None:
        return {}
    fields: dict[str, Field] = {}
    declared: dict[str, Field] = {}
    for library, file, class_name in classes:
        path = _source(library, file)
        declared = dict(_declared(path, class_name)) if path is not None else {}
        fields |= declared
    # If the library has another layout than `classes`, import it.
    return fields if declared else _imported(package, name)


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
    """Return the type for an annotation, or Any if it does not consist of plain types."""
    if isinstance(node, ast.Constant):
        return type(None) if node.value is None else _type(ast.parse(str(node.value), mode="eval").body)
    if isinstance(node, ast.Name):
        return _PLAIN.get(node.id) or _choices().get(node.id, Any)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right])
    if not isinstance(node, ast.Subscript):
        return Any
    name = ast.unparse(node.value).rpartition(".")[2]
    type_arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return _union([*type_arguments, ast.Constant(None)])
    if name == "Union":
        return _union(type_arguments)
    if name == "Literal" and all(isinstance(element, ast.Constant) for element in type_arguments):
        # Some libraries list patterns among the allowed values: "pissa_niter_[number of iters]".
        values = tuple(_literal(element) for element in type_arguments)
        return str if any("[" in str(value) for value in values) else Literal[values]
    return {"list": list, "List": list, "dict": dict, "Dict": dict}.get(name, Any)


def _union(nodes: list[ast.expr]) -> Any:
    types = [_type(node) for node in nodes]
    if any(get_origin(type_) is Literal for type_ in types):
        types = [type_ for type_ in types if type_ is not str]  # allow only the values of the enumeration
    return Any if Any in types else reduce(lambda left, right: left | right, types)


@cache
def _choices() -> dict[str, Any]:
    """Return transformers' enumerations as types, by name. SchedulerType is ``Literal["linear", "cosine", ...]``."""
    paths = [path for enum_source in _ENUMS if (path := _source(*enum_source)) is not None]
    enumerations = {}
    for node in (node for path in paths for node in _parsed(path).body):
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            values = [_literal(line.value) for line in node.body if isinstance(line, ast.Assign)]
            if values and all(isinstance(value, str) for value in values):
                enumerations[node.name] = Literal[tuple(values)]
    return enumerations


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


# Reword pydantic's errors for people who write YAML.


_KINDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list",
    dict: "a mapping",
    type(None): "null",
}
_BY_ERROR = {
    "int": int,
    "float": float,
    "finite": float,
    "bool": bool,
    "string": str,
    "list": list,
    "dict": dict,
    "model": dict,
    "mapping": dict,
}
_LISTED = 4
"""The maximum number of choices that are joined by "or". The limit is arbitrary, but low because longer lists are hard
to read in this form."""
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("above", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("below", "lt"),
}


def explained(error: Mapping[str, Any], type_: Any = None) -> str:
    """Return the message for a pydantic error. `type_` is the expected type, if known."""
    kind, value, context = str(error["type"]), error.get("input"), error.get("ctx", {})
    if kind == "missing":
        return "is missing: add it"
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    if kind in _BOUNDS and type_ is None:
        words, bound = _BOUNDS[kind]
        return f"must be {words} {context[bound]}, not {shown(value)}"
    if kind in ("too_short", "string_too_short"):
        return "must not be empty"
    if kind == "literal_error" and type_ is None:
        return f"must be {context['expected']}, not {shown(value)}.{_suggestion(value, context['expected'])}"
    expected = _described(type_) if type_ is not None else _KINDS.get(_BY_ERROR.get(kind.partition("_")[0]), "")
    hint = near_miss(value, _texts(type_)) or _quoted(expected, value)
    return (
        f"must be {expected}, not {shown(value)}.{hint}".rstrip(".") if expected else f"{error['msg']}: {shown(value)}"
    )


def shown(value: Any) -> str:
    """Return a value as a string in YAML's notation: ``true``, ``null (empty)``, ``'ten'``."""
    if value is None:
        return "null (empty)"
    return str(value).lower() if isinstance(value, bool) else shorten(value)


def _described(type_: Any) -> str:
    """Describe a type in words, such as ``a whole number or null``."""
    if get_origin(type_) is Annotated:
        return _described(get_args(type_)[0])
    if get_origin(type_) in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_described(member) for member in get_args(type_)))
    if get_origin(type_) is Literal:
        values = get_args(type_)
        return " or ".join(map(repr, values)) if len(values) <= _LISTED else f"one of {', '.join(map(str, values))}"
    return _KINDS.get(get_origin(type_) or type_, "")


def _texts(type_: Any) -> list[str]:
    """Return the strings that the Literals in a type allow."""
    if get_origin(type_) is Literal:
        return [value for value in get_args(type_) if isinstance(value, str)]
    return [text for member in get_args(type_) for text in _texts(member)] if type_ is not None else []


def _quoted(expected: str, value: Any) -> str:
    if expected == "text" and isinstance(value, (int, float)):
        return f' Write it in quotes: "{shown(value)}"'
    return ""


def _suggestion(value: Any, expected: str) -> str:
    return near_miss(value, expected.replace(" or ", ",").replace("'", "").replace(" ", "").split(","))


# Faults of a configuration: each has the path of its setting. The message lists all of them with their lines.


Place = tuple[str | int, ...]
"""The path of a setting, such as ``("grpo", "max_steps")`` or ``("guards", 0, "above")``."""


@dataclass(frozen=True)
class Fault:
    """A fault: the path of the invalid setting and a description."""

    place: Place
    what: str

    def __str__(self) -> str:
        return f"{path_text(self.place)}: {self.what}" if self.place else self.what


class Faults(ValueError):
    """Several faults in one setting. Their paths are relative to this setting."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = list(faults)


def path_text(key_path: Place) -> str:
    """Return the path of a setting as a string, such as ``grpo.max_steps`` or ``guards[0].above``."""
    text = ""
    for part in key_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


GRPO_DEFAULTS: dict[str, Any] = {
    "temperature": 1.0,
    "logging_steps": 1,
    "log_completions": False,
    "save_steps": 50,
    "save_total_limit": 2,
}
"""The runner's defaults: log every step, keep completions in the record instead of printing them, and keep two
checkpoints. The defaults for precision and gradient checkpointing depend on the device."""

LARGE = 100_000_000
"""The number of parameters above which a model recomputes activations on a GPU. The limit is arbitrary. In smaller
models, activations are small, and recomputing them takes time."""

# Arbitrary: a small adapter in all linear layers, with an alpha of twice the rank.
LORA_DEFAULTS: dict[str, Any] = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}

OWN_KEYS = {
    "output_dir": "output",
    "seed": "seed",
    "report_to": "report_to",
    "use_vllm": "vllm",
    "model_init_kwargs": "model.arguments",
    "trust_remote_code": "model.trust_remote_code",
    "eval_strategy": "eval.every",
    "eval_steps": "eval.every",
    "eval_on_start": "eval",
    "do_eval": "eval",
}
"""A mapping from GRPOConfig fields that are set through another setting to the name of this setting."""

NOT_SET = {
    "resume_from_checkpoint": "cannot be set here: use rewardkit train --resume",
    "remove_unused_columns": "must stay false, or the reward would not get its columns: delete it",
    "do_train": "cannot be set here: use rewardkit train --evaluate to evaluate a model",
    "do_predict": "cannot be set here: use rewardkit train --evaluate to evaluate a model",
    "local_rank": "cannot be set here: the launcher sets it",
}


_MODELS: dict[str, type[BaseModel]] = {}


def checked_grpo(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runner's defaults updated with `options`, converted to the types in GRPOConfig.

    Raises:
        Faults: a field does not exist in GRPOConfig, belongs in another setting, or has an invalid value.
    """
    faults = [Fault((name,), problem) for name in options if (problem := _not_here(str(name)))]
    trl_options = {name: value for name, value in options.items() if not _not_here(str(name))}
    return _checked(trl_options, grpo_fields(), "GRPOConfig", faults, GRPO_DEFAULTS)


def checked_lora(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runner's defaults updated with `options`, converted to the types in peft's LoraConfig.

    Raises:
        Faults: a field does not exist in LoraConfig, or has an invalid value.
    """
    return _checked(options, lora_fields(), "peft's LoraConfig", [], LORA_DEFAULTS)


def checked_vllm(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default ``mode`` updated with `options`, converted to the types in GRPOConfig.

    ``port`` is GRPOConfig's ``vllm_server_port``. Other options are named ``vllm_<name>`` in GRPOConfig.

    Raises:
        Faults: a field does not exist in GRPOConfig, or has an invalid value.
    """
    mode = options.get("mode", "colocate")
    faults = []
    if mode not in ("colocate", "server"):
        faults.append(Fault(("mode",), f"must be colocate or server, not {mode!r}"))
    return _checked(options, vllm_fields(), "vllm", faults, {"mode": "colocate"})


def vllm_arguments(vllm: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return ``vllm`` as arguments for GRPOConfig.

    ``{"mode": "server", "port": 8}`` becomes ``use_vllm``, ``vllm_mode``, and ``vllm_server_port``."""
    if vllm is None:
        return {}
    known_fields = grpo_fields()
    return {"use_vllm": True} | {_of_trl(name, known_fields): value for name, value in vllm.items()}


def _of_trl(name: str, known_fields: Mapping[str, Field]) -> str:
    return (
        f"vllm_{name}"
        if f"vllm_{name}" in known_fields or f"vllm_server_{name}" not in known_fields
        else f"vllm_server_{name}"
    )


def _not_here(name: str) -> str:
    if name in NOT_SET:
        return NOT_SET[name]
    if name.startswith("vllm_"):
        return f"cannot be set here: write vllm: {{{name.removeprefix('vllm_').removeprefix('server_')}: ...}}"
    return f"cannot be set here: use the setting {OWN_KEYS[name]}" if name in OWN_KEYS else ""


def settable_grpo_fields() -> dict[str, Field]:
    """Return the GRPOConfig fields that can be set under ``grpo``."""
    return {name: field for name, field in grpo_fields().items() if not _not_here(name)}


@cache
def vllm_fields() -> dict[str, Field]:
    """Return the GRPOConfig fields that can be set under ``vllm``, without their prefix."""
    prefixed = {name: field for name, field in grpo_fields().items() if name.startswith("vllm_")}
    unprefixed = {name.removeprefix("vllm_").removeprefix("server_"): field for name, field in prefixed.items()}
    return {name.removeprefix("vllm_"): field for name, field in prefixed.items()} | unprefixed


def _checked(
    options: Mapping[str, Any],
    known_fields: dict[str, Field],
    owner: str,
    faults: list[Fault],
    defaults: dict[str, Any],
) -> dict[str, Any]:
    checked = dict(options)
    if known_fields:  # empty if the library is not installed, which the run reports
        unknown = [name for name in options if name not in known_fields]
        faults = faults + [
            Fault((str(name),), f"{owner} has no such field.{near_miss(name, known_fields)}") for name in unknown
        ]
        faults += [
            Fault((name,), explained({"type": "bool", "input": value}, known_fields[name].type))
            for name, value in options.items()
            if name in known_fields and isinstance(value, bool) and not _takes_bool(known_fields[name])
        ]
        known_options = {name: value for name, value in options.items() if name in known_fields}
        try:
            checked = _model(owner, known_fields)(**known_options).model_dump(exclude_unset=True)
        except ValidationError as error:
            # If several types are possible, each has its own error; show the first.
            first_errors = {str(detail["loc"][0]): detail for detail in reversed(error.errors())}
            faults = faults + [
                Fault((name,), explained(first_errors[name], known_fields[name].type))
                for name in known_options
                if name in first_errors
            ]
    if faults:
        raise Faults(faults)
    return defaults | checked


def _takes_bool(field: Field) -> bool:
    """Return whether the field accepts true and false as booleans rather than as 1 and 0."""
    try:
        TypeAdapter(field.type).validate_python(True, strict=True)
    except ValidationError:
        return False
    return True


def _model(owner: str, known_fields: Mapping[str, Field]) -> type[BaseModel]:
    if owner not in _MODELS:
        config = ConfigDict(protected_namespaces=(), allow_inf_nan=False)
        fields: dict[str, Any] = {name: (field.type, None) for name, field in known_fields.items()}
        _MODELS[owner] = create_model(owner, __config__=config, **fields)
    return _MODELS[owner]
