"""Functions from training scripts and notebooks, loaded without running the training.

``load_script(Path("train.py"), ["format_reward"])`` runs only the statements that `format_reward` needs: imports,
constants, helpers, and classes. Statements that train, load a dataset or a model, or read the command line never run.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dis
import importlib.util
import json
import linecache
import re
import sys
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

from rewardkit.errors import RewardDefinitionError, shorten_line

# Called in a training script, but not to define a reward. `get_ipython` runs a notebook's magic commands.
_TRAINS = re.compile(
    r"(?:^|\.)(?:\w*Trainer|train|load_dataset|load_from_disk|snapshot_download|hf_hub_download|push_to_hub|"
    r"parse_args|parse_known_args|parse_args_into_dataclasses|parse_args_and_config|notebook_login|get_ipython|LLM)$|"
    r"^(?:wandb|mlflow|swanlab|trackio)\.\w+$|^(?:subprocess\.\w+|os\.system|sys\.exit|exit|quit)$"
)
# These also occur in modules of rewards, so they alone do not make a file a script.
_LOADS = re.compile(r"(?:^|\.)(?:from_pretrained|pipeline|SentenceTransformer|CrossEncoder|load_environment)$")
# Settings that imports and functions rely on, although no name refers to them.
_SETTING = re.compile(r"^(?:sys\.path|os\.environ)\b")
# The line of a shell command (!pip), a magic command (%time), or help (?name, name?), and `files = !ls`.
_MAGIC = re.compile(r"^(\s*)(?:(\w+)\s*=\s*)?(?:[!%?].*|\w[\w.]*\?{1,2}\s*)$")
# Cell magics that run the rest of their cell as Python.
_PYTHON_CELL = re.compile(r"^%%(?:time|timeit|capture|prun)\b")
_LISTED = 4
"""The maximum number of statements to name in a message. Arbitrary: it keeps the message on two lines."""
_LONGEST_LABEL = 40
"""The maximum number of characters of a statement to show. Arbitrary."""


@dataclass(eq=False)
class _Statement:
    """A statement at the top level of a script.

    Attributes:
        node: its syntax tree.
        cell: the index of its cell, or 0 in a file.
        binds: the names that it defines.
        reads: the names that it reads when it runs.
        later: the names that its functions read when they are called.
        hints: the names in its annotations, which may be evaluated later.
        changes: the names of objects that it changes, such as ``TABLE`` in ``TABLE["a"] = 1``.
        calls: the functions that it calls when it runs, such as ``"trainer.train"``.
        later_calls: the functions that its functions call.
        reason: why it never runs, or "" if it may run.
        cause: the statement on whose result it depends, if that is the reason.
    """

    node: ast.stmt
    cell: int
    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    hints: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    later_calls: list[str] = field(default_factory=list)
    reason: str = ""
    cause: _Statement | None = None

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, (ast.Import, ast.ImportFrom))

    @property
    def is_bare_call(self) -> bool:
        return isinstance(self.node, ast.Expr) and isinstance(self.node.value, (ast.Call, ast.Await))

    @property
    def is_guard(self) -> bool:
        """Whether this is ``if __name__ == "__main__"``."""
        test = self.node.test if isinstance(self.node, ast.If) else None
        return isinstance(test, ast.Compare) and "__name__" in ast.dump(test) and "__main__" in ast.dump(test)

    @property
    def is_setting(self) -> bool:
        return isinstance(self.node, (ast.Expr, ast.Assign)) and _SETTING.match(ast.unparse(self.node)) is not None


class Script:
    """The statements of a script or notebook, and what each of them needs.

    Args:
        path: the file, ``train.py`` or ``train.ipynb``.
        is_option: a function that returns whether a name is loaded with every reward, such as ``EXAMPLES``.

    Raises:
        SyntaxError: the file is not Python.
    """

    def __init__(self, path: Path, is_option: Callable[[str], bool] = lambda name: False) -> None:
        self.path = path
        self._is_option = is_option
        self.is_notebook = path.suffix == ".ipynb"
        self.texts = _cells(path) if self.is_notebook else [_text(path)]
        nodes = [(node, cell) for cell, text in enumerate(self.texts) for node in ast.parse(text).body]
        futures = {
            alias.name
            for node, _ in nodes
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
            for alias in node.names
        }
        self.flags = 0
        for name in futures:
            self.flags |= getattr(__future__, name).compiler_flag
        self.statements = [
            _analyzed(node, cell, self.flags)
            for node, cell in nodes
            if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        ]
        self._definitions = {
            name: statement for statement in self.statements if statement.is_definition for name in statement.binds
        }
        self._left_out: dict[str, _Statement] = {}
        self._set_reasons()

    @property
    def trains(self) -> bool:
        """Whether an import of the file would do more than define rewards."""
        return self.is_notebook or any(self._does_more(statement) for statement in self.statements)

    @property
    def may_train(self) -> bool:
        """Whether the file imports a trainer, or has code under ``if __name__ == "__main__"``."""
        text = "\n".join(self.texts)
        is_trainer = re.search(r"^\s*(?:from|import)\b.*(?:Trainer|Training|GRPO|PPO)", text, re.MULTILINE)
        return is_trainer is not None or any(statement.is_guard for statement in self.statements)

    def _does_more(self, statement: _Statement) -> bool:
        if statement.is_guard:
            return False
        if any(map(_TRAINS.search, statement.calls)) or self._trains_later(statement):
            return True
        # main(), run_training(config), but not print(...), logging.basicConfig(...), or TABLE.update(...)
        name = statement.calls[0] if statement.is_bare_call and statement.calls else "."
        return "." not in name and not hasattr(builtins, name)

    def _trains_later(self, statement: _Statement) -> str:
        """Return the training call in a function that a statement calls, or "" if there is none."""
        called = {name for name in statement.calls if name in self._definitions}
        if statement.is_bare_call:  # asyncio.run(main()), fire.Fire(main)
            called |= statement.reads & set(self._definitions)
        for name in self._called_later(called):
            for call in self._definitions[name].later_calls:
                if _TRAINS.search(call):
                    return call
        return ""

    def _called_later(self, names: Iterable[str]) -> set[str]:
        """Return definitions and the definitions that their functions refer to."""
        reached: set[str] = set()
        todo = [name for name in names if name in self._definitions]
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo += [other for other in self._definitions[name].later if other in self._definitions]
        return reached

    def _set_reasons(self) -> None:
        """Find the statements that never run: those that train, and those that need their results."""
        bound: set[str] = set()
        imported = {name for statement in self.statements if statement.is_import for name in statement.binds}
        for statement in self.statements:
            call = next((call for call in statement.calls if _TRAINS.search(call) or _LOADS.search(call)), "")
            functions = self._called_later(statement.reads) if not statement.is_definition else set()
            needed = statement.reads.union(*(self._definitions[name].later for name in functions))
            missing = min(needed & set(self._left_out), default="")
            if statement.is_guard:
                statement.reason = 'it is under `if __name__ == "__main__"`'
            elif call:
                statement.reason = f"it calls `{call}`"
            elif inner := self._trains_later(statement):
                statement.reason = f"it calls a function that calls `{inner}`"
            elif any(isinstance(node, ast.Await) for node in _running(statement.node)):
                statement.reason = "it waits for a coroutine"
            elif missing:
                statement.cause = self._left_out[missing].cause or self._left_out[missing]
                statement.reason = f"it depends on {self.place(statement.cause)}: {statement.cause.reason}"
            for name in statement.binds:
                if not statement.reason:
                    self._left_out.pop(name, None)
                elif not statement.is_guard or name not in bound:
                    self._left_out[name] = statement
            bound |= statement.binds
            for name in functions:  # _fill(), which fills a table of the module
                statement.changes |= self._definitions[name].changes - imported
        for statement in self.statements:
            if statement.is_definition:
                statement.changes = set()

    def place(self, statement: _Statement) -> str:
        """Return where a statement is: ``line 12``, or ``cell 3, line 2``."""
        line = f"line {statement.node.lineno}"
        return f"cell {statement.cell + 1}, {line}" if self.is_notebook else line

    def filename(self, cell: int) -> str:
        """Return the file name for tracebacks: ``/home/me/train.py``, or ``/home/me/train.ipynb, cell 3``."""
        return f"{self.path}, cell {cell + 1}" if self.is_notebook else str(self.path)

    def rewards(self) -> list[str]:
        """Return the names that may be rewards. If the script defines none, these are imports from files beside it."""
        names: list[str] = []
        for statement in self.statements:
            node = statement.node
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
                is_decorated = any("reward" in ast.unparse(decorator).lower() for decorator in node.decorator_list)
                is_reward = is_decorated or bool(arguments & {"completions", "completion"})
            else:
                # A list of rewards, a composed reward, or an object of a class with __call__.
                is_reward = isinstance(node, (ast.Assign, ast.AnnAssign)) and (
                    bool(statement.reads & {*names, "rk", "rewardkit"})
                    or any(self._is_callable_class(name) for name in statement.calls)
                )
                is_reward = is_reward and not any(map(_TRAINS.search, statement.calls))
            names += [name for name in statement.binds if is_reward and name not in names]
        return [name for name in names or self._imported_from_beside() if not self._is_option(name)]

    def _imported_from_beside(self) -> Iterator[str]:
        """Yield the names that the script imports from modules in its folder."""
        for statement in self.statements:
            module = statement.node.module if isinstance(statement.node, ast.ImportFrom) else None
            path = self.path.parent.joinpath(*(module or "").split("."))
            if module and (path.with_suffix(".py").is_file() or path.joinpath("__init__.py").is_file()):
                yield from statement.binds

    def _is_callable_class(self, name: str) -> bool:
        definition = self._definitions.get(name)
        return definition is not None and any(getattr(n, "name", "") == "__call__" for n in ast.walk(definition.node))

    def missing(self, name: str) -> str:
        """Return why a name cannot be loaded, or "" if it can."""
        return self._needed([name])[1]

    def needed(self, names: Iterable[str]) -> tuple[list[_Statement], set[str]]:
        """Return the statements to run for some names, in order, and all names that these statements need."""
        used, _ = self._needed(names)
        run = {statement for name in used for statement in self._providers(name)}
        unresolved = used - {name for statement in self.statements for name in statement.binds} - set(dir(builtins))
        for statement in self.statements:
            if isinstance(statement.node, ast.ImportFrom) and statement.node.names[0].name == "*" and unresolved:
                run.add(statement)
        return [statement for statement in self.statements if statement in run], used

    def _providers(self, name: str) -> Iterator[_Statement]:
        """Yield the statements that define a name or change the object with this name."""
        for statement in self.statements:
            if not statement.reason and (name in statement.binds or name in statement.changes):
                yield statement

    def _needed(self, names: Iterable[str]) -> tuple[set[str], str]:
        """Return all names that some names need, and why one of them cannot be loaded ("" if all can)."""
        names = [*names]
        todo: list[tuple[str, str, bool]] = [(name, name, False) for name in names]
        for statement in self.statements:
            if not statement.reason and (statement.is_setting or any(map(self._is_option, statement.binds))):
                todo += [(name, "", True) for name in (*statement.reads, *statement.binds)]
        used: set[str] = set()
        reason = ""
        while todo:
            todo.sort(key=lambda item: item[2])  # a name that is required and optional is required
            name, requested, is_optional = todo.pop(0)
            if name in self._left_out:
                if not is_optional and not reason:
                    cause = self._left_out[name]
                    origin = "it is defined in" if name == requested else f"it needs `{name}` from"
                    reason = f"{origin} {self.place(cause)}, which is not run, because {cause.reason}"
                continue
            if name in used:
                continue
            used.add(name)
            for statement in self._providers(name):
                todo += [(other, requested, is_optional) for other in (*statement.reads, *statement.later)]
                todo += [(other, requested, True) for other in statement.hints]
        return used, reason

    def skipped(self, run: Collection[_Statement]) -> str:
        """Return a line about the statements with effects that are not run, or "" if there are none."""
        skipped = [
            statement
            for statement in self.statements
            if statement not in run and (statement.reason or statement.is_bare_call)
        ]
        # The training comes first, and its results, printing, and commands come last.
        skipped.sort(
            key=lambda statement: (
                not statement.reason or statement.cause is not None or "get_ipython" in statement.calls
            )
        )
        locations = [f"{self.place(statement)} ({self._label(statement)})" for statement in skipped]
        if not locations:
            return ""
        more = f", and {len(locations) - _LISTED} more" if len(locations) > _LISTED else ""
        count = "1 statement was" if len(locations) == 1 else f"{len(locations)} statements were"
        return f"{self.path.name}: {count} not run: {', '.join(locations[:_LISTED])}{more}"

    def _label(self, statement: _Statement) -> str:
        if statement.is_guard:
            return 'if __name__ == "__main__"'
        for node in ast.walk(statement.node):  # the comment is the magic command
            if isinstance(node, ast.Call) and _dotted(node.func) == "get_ipython":
                line = self.texts[statement.cell].split("\n")[node.lineno - 1]
                return shorten_line(line.partition("get_ipython()  #")[2].strip(), _LONGEST_LABEL)
        call = next((call for call in statement.calls if _TRAINS.search(call) or _LOADS.search(call)), "")
        return call or shorten_line(ast.unparse(statement.node).splitlines()[0], _LONGEST_LABEL)

    def text(self, cell: int, run: Collection[_Statement], used: Collection[str]) -> str:
        """Return the text of a cell with only the statements to run, each in its original lines."""
        lines = self.texts[cell].split("\n")
        output = [""] * len(lines)
        for statement in self.statements:
            if statement.cell != cell or statement not in run:
                continue
            node = statement.node
            first, last = _first_line(node) - 1, (node.end_lineno or node.lineno) - 1
            segment = lines[first : last + 1]
            segment[-1] = segment[-1].encode()[: node.end_col_offset].decode()
            if first == node.lineno - 1:  # after a semicolon, a statement may start in the middle of a line
                segment[0] = segment[0].encode()[node.col_offset :].decode()
            if isinstance(node, (ast.Import, ast.ImportFrom)) and (names := _imported(node, used)):
                segment = [ast.unparse(names)] + [""] * (last - first)
            for number, line in enumerate(segment, start=first):
                output[number] = f"{output[number]}; {line}" if output[number] and line else output[number] or line
        return "\n".join(output)


def _imported(node: ast.Import | ast.ImportFrom, used: Collection[str]) -> ast.Import | ast.ImportFrom | None:
    """Return an import of only the used names, or None if all are used."""
    names = [alias for alias in node.names if alias.name == "*" or (alias.asname or alias.name.split(".")[0]) in used]
    if len(names) == len(node.names):
        return None
    if isinstance(node, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(node.module, names, node.level)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _text(path: Path) -> str:
    with tokenize.open(path) as file:
        return file.read()


def _cells(path: Path) -> list[str]:
    """Return a notebook's code cells, with their magic commands replaced."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise RewardDefinitionError(
            f"{path} is not a notebook in the format of Jupyter 4 or later: {type(error).__name__}: {error}"
        ) from None
    return [_python(source) for source in sources]


def _python(source: str) -> str:
    """Return a cell as Python: magic commands, and cells that are not Python, become calls of ``get_ipython()``."""
    lines = source.split("\n")
    if source.lstrip().startswith("%%"):
        if not _PYTHON_CELL.match(source.lstrip()):
            return ""
        lines = ["" if line.startswith("%%") else line for line in lines]
    while True:
        try:
            ast.parse("\n".join(lines))
            return "\n".join(lines)
        except SyntaxError as error:
            number = min(error.lineno or 1, len(lines)) - 1
            while number > 0 and lines[number - 1].endswith("\\"):
                number -= 1
            # Only at a syntax error: a line of a long string may start with % as well.
            magic = _MAGIC.match(lines[number])
            if magic is None:
                return f"get_ipython()  # not Python: {error.msg}"
            target, last = f"{magic[2]} = " if magic[2] else "", number
            while lines[last].endswith("\\") and last + 1 < len(lines):  # !pip install \
                last += 1
            command = magic[0].strip(" \\")
            lines[number] = f"{magic[1]}{target}get_ipython()  # {command}"
            lines[number + 1 : last + 1] = [""] * (last - number)


def _analyzed(node: ast.stmt, cell: int, flags: int) -> _Statement:
    statement = _Statement(node, cell)
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(ast.Module([node], []), "<script>", "exec", flags, dont_inherit=True)
    _read_code(code, statement, later=False)
    running = list(_running(node))
    statement.calls = [_dotted(call.func) for call in running if isinstance(call, ast.Call)]
    inside = list(ast.walk(node))
    statement.later_calls = [_dotted(call.func) for call in inside if isinstance(call, ast.Call)]
    for part in inside if statement.is_definition else running:
        statement.changes |= _changed(part) & (statement.reads | statement.later)
    statement.changes -= statement.binds
    for part in inside:
        for hint in (getattr(part, "annotation", None), getattr(part, "returns", None)):
            if isinstance(hint, ast.expr):
                statement.hints |= _names_in(hint)
    return statement


def _read_code(code: CodeType, statement: _Statement, *, later: bool) -> None:
    """Read from compiled code which names it defines and which it reads, now or when its functions are called."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_NAME", "STORE_GLOBAL") and code.co_name == "<module>":
            statement.binds.add(instruction.argval)
        elif instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS", "DELETE_NAME"):
            (statement.later if later else statement.reads).add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            # Comprehensions and the bodies of classes run at once.
            is_function = bool(constant.co_flags & 0x2) and not constant.co_name.endswith(("comp>", "<genexpr>"))
            _read_code(constant, statement, later=later or is_function)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when a statement runs, without the bodies of functions."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        children: Iterable[ast.AST] = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
    else:
        children = () if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node)
    for child in children:
        yield from _running(child)


def _dotted(node: ast.AST) -> str:
    """Return the name of a called function, such as ``"datasets.load_dataset"``."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "()"


def _changed(node: ast.AST) -> set[str]:
    """Return the names of the objects that a node changes: ``X[0] = 1``, ``X.name = 1``, ``X.append(1)``."""
    targets: list[ast.AST] = []
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = [*node.targets]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        targets = [node.value.func]
        if _dotted(node.value.func) == "exec":  # exec(code, namespace)
            return {_root(argument) for argument in node.value.args} - {""}
    return {_root(target) for target in targets if isinstance(target, (ast.Attribute, ast.Subscript))} - {""}


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_in(hint: ast.expr) -> set[str]:
    """Return the names in an annotation, also in one that is written as a string."""
    names: set[str] = set()
    for node in ast.walk(hint):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= set(re.findall(r"\w+", node.value))
    return names


class ScriptLoader(Loader):
    """An import loader that runs only the statements of a script that some names need."""

    def __init__(self, script: Script, names: Collection[str]) -> None:
        self.script = script
        self.names = set(names)
        self._run: set[_Statement] = set()

    @property
    def source(self) -> str:
        """The text of the statements that are run, in their original lines."""
        run, used = self.script.needed(self.names)
        return "\n".join(self.script.text(cell, run, used) for cell in range(len(self.script.texts)))

    @property
    def skipped(self) -> str:
        """A line about the statements that were not run, or ""."""
        return self.script.skipped(self.script.needed(self.names)[0])

    def exec_module(self, module: ModuleType) -> None:
        """Run the statements that have not run yet."""
        run, used = self.script.needed(self.names)
        # An import may have run for other names.
        new = [statement for statement in run if statement not in self._run or statement.is_import]
        for cell in dict.fromkeys(statement.cell for statement in new):
            filename = self.script.filename(cell)
            if self.script.is_notebook:
                text = self.script.texts[cell]
                linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
            code = compile(self.script.text(cell, new, used), filename, "exec", self.script.flags, dont_inherit=True)
            exec(code, vars(module))
        self._run |= set(new)


def loader_of(module: ModuleType | None) -> ScriptLoader | None:
    """Return the loader of a module that was loaded from a script, or None for other modules."""
    loader = getattr(module, "__loader__", None)
    return loader if isinstance(loader, ScriptLoader) else None


def load_script(script: Script, names: Iterable[str], module_name: str) -> ModuleType:
    """Load names from a script into the module `module_name`, without running what they do not need.

    Raises:
        RewardDefinitionError: a name needs the result of a statement that is not run.
    """
    names = [name.partition(".")[0] for name in names]
    for name in names:
        if reason := script.missing(name):
            raise RewardDefinitionError(
                f"{script.path.name}:{name} cannot be loaded: {reason}. Move it and its helpers to a module that does "
                "not train, and import it from there"
            )
    module = sys.modules.get(module_name)
    loader = loader_of(module)
    if module is not None and loader is not None and loader.script.texts == script.texts:
        loader.names |= set(names)
        loader.exec_module(module)
        return module
    from rewardkit.workers.pickled_by_value import BY_VALUE

    loader = ScriptLoader(script, names)
    spec = ModuleSpec(module_name, loader, origin=str(script.path))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    BY_VALUE.add(module_name)
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module
