"""Mutants: copies of a reward's source, each with one ordinary bug.

::

    for mutant in mutants(Path("rewards.py").read_text()):
        print(mutant)  # line 12: dropped_flag: re.DOTALL -> 0
"""

from __future__ import annotations

import inspect
import linecache
import sys
import types
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from rewardkit.check.mutants.operators import ALL, OF_REWARDS
from rewardkit.check.mutants.sites import Source, sites_of
from rewardkit.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.tree.fingerprints import NO_SOURCE

_SHOWN = 50
"""The maximum number of characters of code to show in a table. Arbitrary: it keeps a mutant on one line."""


@dataclass(frozen=True)
class Mutant:
    """The source code of a module with one bug.

    Attributes:
        operator: the kind of bug: ``"dropped_flag"``.
        line: the line number, starting at 1.
        before: the code before the change.
        after: the code after the change.
        source: the source of the whole mutated module.
        path: the module's path, or "" if there is none.
    """

    operator: str
    line: int
    before: str
    after: str
    source: str
    path: str = ""

    @property
    def fault(self) -> str:
        """A description of the bug: ``A flag is missing: ...``."""
        return (ALL[self.operator].__doc__ or "").split("\n")[0]

    def load(self, name: str) -> Any:
        """Run the mutated module and return the object called `name`.

        Raises:
            Exception: any error that the module raises.
            AttributeError: the module does not define `name`.
        """
        number = crc32(self.source.encode())
        filename = f"<mutant {self.operator}, line {self.line}, of {self.path or 'a module'}, {number:x}>"
        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(keepends=True), filename)
        module = types.ModuleType(f"{Path(self.path).stem}_mutant_{number:x}")
        module.__package__ = _package_of(Path(self.path)) if self.path else ""
        if self.path:  # inspect.getmodule() raises for every object while any module has an empty path
            module.__file__ = self.path
        sys.modules[module.__name__] = module  # dataclasses look up their module there
        exec(compile(self.source, filename, "exec"), module.__dict__)
        return getattr(module, name)

    def __str__(self) -> str:
        return f"line {self.line}: {self.operator}: {_short(self.before)} -> {_short(self.after)}"


def mutants(
    reward: str | Callable[..., Any], *, of: str = "", operators: Collection[str] | None = None, path: str = ""
) -> list[Mutant]:
    """Return the mutants of a reward: copies of its source, each with one ordinary bug.

    Args:
        reward: a module's source, or a function, whose source is read from its file.
        of: the name of the function or variable to mutate, together with the code that it uses. By default, the given
            function is mutated, or the whole module except imports, tests, and examples.
        operators: the kinds of bugs. The default is all kinds for reward functions. See
            `rewardkit.check.mutants.operators`.
        path: the module's path, for tracebacks.

    Returns:
        The mutants in source order. Each can be compiled, and no two are equal.

    Raises:
        RewardDefinitionError: there is no source, the source is not Python, or an operator is unknown.

    Example:
        >>> source = "def reward(completions, answer):\\n    return [c == a for c, a in zip(completions, answer)]"
        >>> print(mutants(source, operators=["contained"])[0])
        line 2: contained: c == a -> (a in c)
    """
    chosen = list(OF_REWARDS) if operators is None else list(operators)
    for name in chosen:
        if name not in ALL:
            raise RewardDefinitionError(
                f"no operator is called {name!r}.{near_miss(name, ALL)} Operators: {', '.join(ALL)}"
            )
    if not isinstance(reward, str):
        function = inspect.unwrap(reward)
        of = of or function.__name__
        reward, path = _source_of(function)
    try:
        source = Source(reward)
    except SyntaxError as error:
        raise RewardDefinitionError(f"the source is not valid Python: {error}") from None
    by_source: dict[str, Mutant] = {}
    for site in sites_of(source, of):
        for name in chosen:
            for after in ALL[name](site):
                changed = source.replaced(site.node, after)
                if changed not in by_source and after != site.text and _compiles(changed):
                    line = getattr(site.node, "lineno", 1)
                    by_source[changed] = Mutant(name, line, site.text, after, changed, path)
    return sorted(by_source.values(), key=lambda mutant: mutant.line)


def _source_of(function: Callable[..., Any]) -> tuple[str, str]:
    """Return the source and the path of a function's module."""
    try:
        path = inspect.getsourcefile(function) or ""
        text = "".join(linecache.getlines(path)) or inspect.getsource(sys.modules[function.__module__])
    except (*NO_SOURCE, KeyError):
        raise RewardDefinitionError(
            f"{shorten(function)} has no source. Pass the source text of its module, or a function that is defined in "
            "a file"
        ) from None
    return text, path


def _package_of(path: Path) -> str:
    """Return the package that a file belongs to, so that relative imports work."""
    names: list[str] = []
    folder = path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return ".".join(names)


def _compiles(text: str) -> bool:
    try:
        compile(text, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."
