"""Loading of rewards by name, with the examples for their checks.

``load("rewards.py:closeness")`` imports the file and returns the reward with that name. ``load("my.rewards")`` returns
all public rewards in a module. The module may also define constants that contain examples for checking its rewards::

    EXAMPLES = [{"prompt": "6*7?", "answer": "42"}]     # for every reward in this module
    GOOD = ["<answer>42</answer>"]
    CLOSENESS_BAD = ["<answer>41</answer>"]             # only for `closeness`

See `CONSTANTS` for the other options of `check_reward` that a module may define. From a script that trains, or from a
notebook, only the rewards and what they need are loaded (see `scripts`).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from rewardkit.errors import RewardDefinitionError, RewardKitError, near_miss, shorten
from rewardkit.tree.conversion import is_plain
from rewardkit.tree.reward import Reward
from rewardkit.tree.scripts import Script, load_script, loader_of

# Candidates: the objects in a module that count as rewards, and the reasons why similar ones are left out.


Kind = Literal["reward", "TRL function", "function of one completion", "list of rewards", ""]

WHAT = (
    "A candidate is a Reward, a function with an argument `completions` (as for TRL) or `completion` (one at a time), "
    "or a list of these"
)
"""The definition of a candidate, shown in error messages."""

# Matched anywhere in the annotation: "float | None" returns a number.
_NUMBERS = re.compile(r"\b(?:float|int|bool|Score|Any|object|number|Number|Real|Decimal|ndarray|Tensor)\b")
# Matched only at the beginning: "list[float]" is not a single number, although "float" is in it.
_CONTAINERS = re.compile(r"(?:typing\.)?(?:list|tuple|dict|set|frozenset|Mapping|Iterator|Iterable)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A variable in a module that is or may be a reward.

    Attributes:
        name: the variable's name.
        value: the reward, function, or list.
        kind: the kind of object.
        left_out: the reason why the candidate is not checked, or an empty string if it is checked.
    """

    name: str
    value: Any
    kind: Kind
    left_out: str = ""

    @property
    def certain(self) -> bool:
        """Whether the candidate is certainly a reward; an undecorated function with one completion may be a helper."""
        return self.kind != "function of one completion"


def candidates(module: ModuleType) -> list[Candidate]:
    """Return a module's candidates in the order of their definition.

    A module without public rewards may import them: then functions from files in the same project count as its own.
    """
    own = _candidates(module, allow_imported=False)
    return own if any(not candidate.left_out for candidate in own) else _candidates(module, allow_imported=True)


def _candidates(module: ModuleType, *, allow_imported: bool) -> list[Candidate]:
    listed = getattr(module, "__all__", None)
    names = list(vars(module)) if listed is None else [*listed, *(name for name in vars(module) if name not in listed)]
    module_candidates: list[Candidate] = []
    for name in names:
        value = getattr(module, name, None)
        kind = "" if name.startswith("__") or _is_constant(name) else kind_of(value)
        if kind:
            first = next(
                (earlier.name for earlier in module_candidates if earlier.value is value and not earlier.left_out), ""
            )
            reason = _left_out(name, value, kind, module, first, allow_imported)
            module_candidates.append(Candidate(name, value, kind, reason))
    return module_candidates


def kind_of(value: Any) -> Kind:
    """Return the reward kind of `value`, or an empty string if it is not a reward."""
    if isinstance(value, Reward):
        return "reward"
    if isinstance(value, (list, tuple)):
        return "list of rewards" if value and all(map(kind_of, value)) else ""
    if not is_plain(value):
        return ""
    return kind_of_function(value)


def kind_of_function(function: Callable[..., Any]) -> Kind:
    """Return the reward kind of a function, determined from its argument names."""
    if str(getattr(function, "__module__", "")).partition(".")[0] == "rewardkit":
        return ""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ""
    if "completions" in parameters:
        return "TRL function"
    from rewardkit.tree.trl_function import takes_one_completion

    return "function of one completion" if takes_one_completion(function) else ""


def _left_out(name: str, value: Any, kind: Kind, module: ModuleType, first: str, allow_imported: bool) -> str:
    """Return the reason why a candidate is not checked, or an empty string if it is checked."""
    listed = getattr(module, "__all__", None)
    if listed is not None and name not in listed:
        return "not in __all__"
    if first:
        return f"the same as {first}"
    if listed is not None:
        return ""
    if name.startswith("_"):
        return "its name starts with _"
    home = getattr(value, "__module__", module.__name__)
    is_imported = inspect.isroutine(value) and home != module.__name__
    if is_imported and not (allow_imported and _is_of_project(home, module)):
        return f"imported from {home}"
    return _returns_text(value, kind)


def _is_of_project(home: str, module: ModuleType) -> bool:
    """Return whether the module `home` is a file in the folder from which `module` is imported, and not installed."""
    path, home_path = (_file_of(loaded) if loaded is not None else None for loaded in (module, sys.modules.get(home)))
    if path is None or home_path is None or is_installed(home_path):
        return False
    return place_of(path)[1] in home_path.parents


def _returns_text(value: Any, kind: Kind) -> str:
    """Return the reason why a function's annotation rules out scores, or an empty string if it does not."""
    if "function" not in kind:
        return ""
    annotations = getattr(value, "__annotations__", {})
    if not isinstance(annotations, Mapping) or "return" not in annotations:
        return ""
    annotation = annotations["return"]
    text = (
        annotation
        if isinstance(annotation, str)
        else "None"
        if annotation is None
        else inspect.formatannotation(annotation)
    )
    text = text.strip("\"'")
    scores = "scores" if kind == "TRL function" else "a score"
    if not _NUMBERS.search(text) and text not in ("list", "typing.List", "List"):
        return f"it returns {text}, not {scores}"
    if kind == "function of one completion" and _CONTAINERS.match(text):
        return f"it returns {text}, not {scores}"
    return ""


CONSTANTS = (
    "EXAMPLES", "GOOD", "BAD", "LAWS", "WITHOUT",
    "IS_CORRECT", "DISTRACTORS", "RANKINGS", "INVARIANT_TO", "MARGIN", "OTHER_REWARDS", "ENVIRONMENT", "TOOLS",
    "NOOP_EXAMPLES", "SECONDS_PER_COMPLETION",
)  # fmt: skip
"""Constants that a module may define: ``GOOD`` for all its rewards, or ``CLOSENESS_GOOD`` for the reward
`closeness`."""


_LISTS = ("EXAMPLES", "GOOD", "BAD")


def _is_constant(name: str) -> bool:
    """Return whether a name is a check option, such as ``OTHER_REWARDS`` or ``CLOSENESS_IS_CORRECT``."""
    return name.isupper() and (name in CONSTANTS or name.endswith(tuple(f"_{constant}" for constant in CONSTANTS)))


@dataclass(frozen=True)
class Loaded:
    """A loaded reward.

    Attributes:
        name: the name of its variable.
        reward: a reward, a trainer's function, or a list of them.
        constants: the options that its module defines, by their names in `check_reward`: ``{"examples": [...]}``.
        kind: the kind of object; empty if the reward was requested by name.
        left_out: the reason why it is not a public reward, or an empty string if it is one.
        misnamed: variables that would be check constants if their names were in capitals: ``("examples",)``.
        skipped: a line about the statements of a script that were not run, or "".
    """

    name: str
    reward: Any
    constants: dict[str, Any]
    kind: Kind = ""
    left_out: str = ""
    misnamed: tuple[str, ...] = ()
    skipped: str = ""


def load(target: str) -> list[Loaded]:
    """Load the reward ``module:reward`` or ``file.py:reward``; without a name, all public rewards in the module.

    Undecorated functions with one completion count only if the module has no other reward, because they may be helpers.

    Raises:
        RewardDefinitionError: the module, file, or reward does not exist or cannot be imported.
    """
    loaded = [candidate for candidate in survey(target) if not candidate.left_out]
    return [candidate for candidate in loaded if candidate.kind != "function of one completion"] or loaded


def survey(target: str, within: AbstractContextManager[object] | None = None) -> list[Loaded]:
    """Load the reward that `target` names; without a name, all candidates in the module, including excluded ones.

    Args:
        target: the target, as for `load`.
        within: the context in which the module is imported.

    Raises:
        RewardDefinitionError: the module, file, or reward does not exist or cannot be imported, or all candidates are
            excluded.
    """
    source, name = split(target)
    module = load_module(source, name, within)
    loader = loader_of(module)
    skipped = loader.skipped if loader is not None else ""
    misnamed = _misnamed(module)
    if name:
        value, constants = _named(module, name, source), constants_of(module, name)
        return [Loaded(name, value, constants, misnamed=misnamed, skipped=skipped)]
    module_candidates = candidates(module)
    missing = {} if loader is None else {reward: loader.script.missing(reward) for reward in loader.script.rewards()}
    module_candidates += [Candidate(reward, None, "TRL function", why) for reward, why in missing.items() if why]
    if all(candidate.left_out for candidate in module_candidates):
        listed = "; ".join(f"{candidate.name}: {candidate.left_out}" for candidate in module_candidates)
        reason = (
            f"all candidates are excluded ({listed})" if module_candidates else f"no variable is a candidate. {WHAT}"
        )
        raise RewardDefinitionError(f"{source} has no public rewards: {reason}. Name the reward: {source}:reward")
    return [
        Loaded(
            candidate.name,
            candidate.value,
            _constants_with_home(module, candidate),
            candidate.kind,
            candidate.left_out,
            misnamed,
            skipped,
        )
        for candidate in module_candidates
    ]


def split(target: str) -> tuple[str, str]:
    """Split ``"rewards.py:closeness"`` into ``("rewards.py", "closeness")``; the name may be missing."""
    source, colon, name = target.rpartition(":")
    if not colon or (len(source) == 1 and name[:1] in ("\\", "/")):  # C:\rewards.py
        return target, ""
    if not source or not name:
        raise RewardDefinitionError(f"cannot read {target!r}. Write module:reward or path/to/file.py:reward")
    return source, name


def is_file(source: str) -> bool:
    """Return whether `source` is the path of a file rather than the name of a module."""
    return source.endswith((".py", ".ipynb")) or "/" in source or "\\" in source


def load_module(source: str, name: str = "", within: AbstractContextManager[object] | None = None) -> ModuleType:
    """Import a module by its name or the path of its file.

    Args:
        source: the module or file. From a script that trains, or from a notebook, only the rewards are loaded.
        name: the only reward to load from a script.
        within: the context in which the module is imported.

    Raises:
        RewardDefinitionError: the module does not exist, its import raised an error, or the reward needs a statement of
            a script that is not run; the message shows where.
    """
    path = path_of(source)
    with within or nullcontext():
        if is_file(source):
            return _imported(source, lambda: _from_file(path, name))
        return _imported(source, lambda: _from_name(source, path, name))


def path_of(source: str) -> Path:
    """Return the path of a module's code without importing the module. Its parent packages are imported.

    Raises:
        RewardDefinitionError: the file or module does not exist.
    """
    if is_file(source):
        path = Path(source).resolve()
        if not path.is_file():
            raise RewardDefinitionError(f"there is no file {source}")
        return path
    _look_in(Path.cwd())
    try:
        spec = importlib.util.find_spec(source)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        example = f"{source}.py" if Path(f"{source}.py").is_file() else "path/to/file.py"
        raise RewardDefinitionError(
            f"there is no module {source!r}, neither in this folder nor installed. For a file, pass its path: {example}"
        )
    return Path(spec.origin).resolve()


def is_installed(path: Path) -> bool:
    """Return whether a file belongs to Python, an installed package, or rewardkit."""
    paths = sysconfig.get_paths()
    folders = [Path(paths[name]).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    package_folder = Path(sys.modules["rewardkit"].__file__ or "").resolve().parent
    return any(folder in path.parents for folder in [*folders, package_folder])


def _imported(source: str, load: Callable[[], ModuleType]) -> ModuleType:
    try:
        return load()
    except (Exception, SystemExit) as error:
        user_frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "importlib" not in frame.filename and not is_installed(Path(frame.filename))
        ]
        if isinstance(error, RewardDefinitionError) and not user_frames:
            raise
        where = f" ({user_frames[-1].filename}, line {user_frames[-1].lineno})" if user_frames else ""
        raise RewardDefinitionError(
            f"{source} cannot be imported: {type(error).__name__}: {shorten(str(error))}{where}"
        ) from error


def place_of(path: Path) -> tuple[str, Path]:
    """Return a file's import name, and the folder that must be on ``sys.path`` to import it."""
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    if path.stem == "__init__":
        names.pop()
    return ".".join(names), folder


def _from_file(path: Path, reward: str) -> ModuleType:
    """Import a file under its full module name, so that its functions can be pickled."""
    name, folder = place_of(path)
    if path.suffix == ".ipynb":
        name = f"{name}_notebook"
    loaded_module = sys.modules.get(name)
    is_loaded = loaded_module is not None and _file_of(loaded_module) == path
    if loaded_module is not None and is_loaded and loader_of(loaded_module) is None:
        return loaded_module
    _look_in(folder)
    if loaded_module is None and all(part.isidentifier() for part in name.split(".")):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path:
            return _without_training(path, reward, name, lambda: importlib.import_module(name))
    if not is_loaded:
        name = re.sub(r"\W", "_", f"rewardkit_loaded_{path.stem}")
    return _without_training(path, reward, name, lambda: _under_another_name(path, name))


def _from_name(source: str, path: Path, reward: str) -> ModuleType:
    if (source in sys.modules and loader_of(sys.modules[source]) is None) or is_installed(path):
        return importlib.import_module(source)
    return _without_training(path, reward, source, lambda: importlib.import_module(source))


def _without_training(path: Path, reward: str, name: str, load: Callable[[], ModuleType]) -> ModuleType:
    """Import a module, but from a script that trains or lacks a package, only the reward (or all rewards)."""
    try:
        is_script = path.suffix in (".py", ".ipynb") and path.stem != "__init__"
        script = Script(path, _is_constant) if is_script else None
    except SyntaxError:  # the import reports it
        script = None
    rewards = [reward] if reward else []
    if script is not None and not reward:
        rewards = [name for name in script.rewards() if not script.missing(name)]
    if script is None or not script.trains:
        try:
            return load()
        except ImportError as error:
            # The package may be needed for the training only.
            if script is None or not script.may_train or not rewards or isinstance(error, RewardKitError):
                raise
    return load_script(script, rewards, name)


def _under_another_name(path: Path, name: str) -> ModuleType:
    """Import a file whose name is already taken by another module."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RewardDefinitionError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None


def _look_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _named(module: ModuleType, name: str, source: str) -> Any:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            reward_names = [candidate.name for candidate in candidates(module) if not candidate.left_out]
            hint = f" Its rewards: {', '.join(reward_names)}" if reward_names else ""
            loader = loader_of(module)
            names = (
                vars(module) if loader is None else {name for item in loader.script.statements for name in item.binds}
            )
            raise RewardDefinitionError(f"{source} has no {part!r}.{near_miss(part, names)}{hint}")
        value = getattr(value, part)
    return value


def _misnamed(module: ModuleType) -> tuple[str, ...]:
    """Return the names of a module's lists that match EXAMPLES, GOOD, or BAD except for capitalization."""
    return tuple(
        name
        for name, value in vars(module).items()
        if isinstance(value, (list, tuple))
        and not hasattr(module, name.upper())
        and name.upper().endswith(_LISTS)
        and _is_constant(name.upper())
    )


def _constants_with_home(module: ModuleType, candidate: Candidate) -> dict[str, Any]:
    """Return a module's constants for a candidate. An imported function also has the constants of its own module."""
    is_function = inspect.isroutine(candidate.value) and not candidate.left_out
    home = sys.modules.get(candidate.value.__module__, module) if is_function else module
    return constants_of(home, getattr(candidate.value, "__name__", candidate.name)) | constants_of(
        module, candidate.name
    )


def constants_of(module: ModuleType, name: str) -> dict[str, Any]:
    """Return a module's constants for its reward `name`, keyed by the argument names of `check_reward`."""
    prefix = name.rpartition(".")[2].upper()
    constants = {}
    for constant in CONSTANTS:
        for candidate in (f"{prefix}_{constant}", constant):
            if hasattr(module, candidate):
                constants[constant.lower()] = getattr(module, candidate)
                break
    return constants
