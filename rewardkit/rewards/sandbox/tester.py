"""One test in the tester's process: an assertion, a pytest function, a unittest method, or a call.

``pytest`` need not be installed. This module provides the parts that tests for programs use (``raises``, ``approx``,
``parametrize``, fixtures, ``capsys``, ``monkeypatch``). A test passes if it runs to completion. Otherwise, it fails,
even after `SystemExit` or a skip, because the program can raise these exceptions.

This module is sent to sandboxes as source code, after `values` and `dialogue`, so it does not import rewardkit.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import marshal
import os
import sys
from types import ModuleType

TYPE_CHECKING = False  # `values` and `dialogue` run in the same namespace; slow imports are delayed
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn

    from rewardkit.rewards.sandbox.dialogue import Asking, Remote, same
    from rewardkit.rewards.sandbox.values import MAKERS, equal

_TESTED = ("solution", "program", "main", "submission")
"""The module names from which test code imports the program, as in `scripts`."""


def run(inbox: int, out: int, outcome: int, shared: dict[str, Any], packed_test: bytes) -> None:
    """Run the statements in `shared`, then the test in `packed_test`. Return if the test passes, otherwise exit."""
    scope: dict[str, Any] = {"__name__": "test", "_same": same}
    scope["_equal"] = lambda value, expected: equal(value, expected, shared["tolerance"])
    peer = Asking(inbox, out, scope, tuple(shared["classes"]), tuple(shared["makers"]))
    if peer.receive() is None:  # the program could not be loaded
        os._exit(1)
    test = marshal.loads(packed_test)
    sys.addaudithook(_guard)
    try:
        if shared["numpy"]:
            _compare_sizes(importlib.import_module("numpy"))
        objects = peer.names(shared["names"])
        _import(peer, objects)
        scope.update(objects)
        for number, code in enumerate(shared["statements"][: test["after"]]):
            if number not in shared["tests"]:
                exec(code, scope)
        for code in test["code"]:
            exec(code, scope)
        if test["path"]:
            _run_path(scope, test["path"])
        if test["call"]:
            _run_call(peer, shared["tolerance"], *test["call"])
        if peer.failure is not None:
            raise peer.failure
    except BaseException as error:
        _fail(error, peer, test["lines"] or shared["lines"], outcome)


def _guard(event: str, arguments: Any) -> None:
    """Prevent the evaluation of text that the program may have returned, as in sympy's ``simplify``."""
    if event == "pickle.find_class" and arguments[0] != "test":
        raise RuntimeError("the test code unpickles objects that the program may have created")
    if event != "compile":
        return
    # Find the code that compiles, because the hook gets only the text.
    frame: Any = sys._getframe(1)
    if frame.f_globals.get("__name__") in _COMPILING:
        return
    text = arguments[0].decode(errors="replace") if isinstance(arguments[0], bytes) else arguments[0]
    while frame is not None:
        # An imported module or a constant of the test code cannot come from the program, which cannot write files.
        if frame.f_code.co_filename.startswith("<frozen importlib") or text in frame.f_code.co_consts:
            return
        frame = frame.f_back
    raise RuntimeError(f"the test code evaluates text that the program may have returned: {repr(text)[:80]}")


_COMPILING = ("ast", "attr._make", "collections", "dataclasses", "timeit", "unittest.mock")
"""Modules that only compile code that they generate themselves, or that do not run the compiled code."""


def _compare_sizes(numpy: Any) -> None:
    """Make comparisons between empty and nonempty arrays fail, which numpy's broadcasting would consider equal."""

    def check(*arrays: Any) -> None:
        sizes = [numpy.size(array) for array in arrays if numpy.ndim(array)]
        assert all(sizes) or not any(sizes), "an empty array is compared with an array that has items"

    class Empty(numpy.ndarray):  # type: ignore[misc]
        def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
            check(*inputs)
            plain = [numpy.asarray(item) if isinstance(item, Empty) else item for item in inputs]
            return getattr(function, method)(*plain, **options)

    def compare(name: str) -> Callable[..., Any]:
        function = getattr(numpy, name)

        def comparing(left: Any, right: Any, *arguments: Any, **options: Any) -> Any:
            check(left, right)
            return function(left, right, *arguments, **options)

        return comparing

    for name in ("allclose", "isclose", "equal", "array_equiv"):
        setattr(numpy, name, compare(name))
    decoded = MAKERS["array"]
    MAKERS["array"] = lambda items: array if (array := decoded(items)).size else array.view(Empty)


def _run_call(
    peer: Asking, tolerance: float | None, name: str | None, arguments: list[Any], expected: list[Any]
) -> None:
    function = peer.ask("pick", name, len(arguments))
    if type(function) is Remote:
        function._rk.label = name or function.__name__
    value = function(*arguments)
    assert any(equal(value, candidate, tolerance) for candidate in expected)


def _fail(error: BaseException, peer: Asking, lines: list[str], outcome: int) -> NoReturn:
    """Report the program's exception, or its last result and the statement that failed, and exit."""
    text = str(vars(error).get("_rk_shown", ""))
    if not text and peer.last is None and not isinstance(error, AssertionError):
        text = f"{type(error).__name__}: {str(error)[:200]}"  # such as a NameError
    if not text:
        line, trace = 0, error.__traceback__
        while trace is not None:
            line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<test>" else line
            trace = trace.tb_next
        text = repr(lines[line - 1].strip()[:120]) if 0 < line <= len(lines) else ""
        if not isinstance(error, AssertionError) or str(error):
            text = f"{type(error).__name__}: {str(error)[:200]}{f': {text}' if text else ''}"
        if peer.last is not None:
            text = f"{peer.last[0][:80]} is {_described(peer.last[1])}{f': {text}' if text else ''}"
    # Arbitrary: the note of a verdict is even shorter.
    os.write(outcome, b"-" + text.encode(errors="replace")[:4_000])
    os._exit(1)


def _described(value: Any) -> str:
    try:
        return f"of type {value._rk.kind}" if type(value) is Remote else repr(value)[:80]
    except Exception:  # the value is nested too deeply
        return f"of type {type(value).__name__}"


# --- Test functions -----------------------------------------------------------------------------------------------


def _run_path(scope: dict[str, Any], path: tuple[str, ...]) -> None:
    """Run a test function, or a method of a test class."""
    fixtures = {name: item for name, item in scope.items() if hasattr(item, "_fixture")}
    if len(path) == 1:
        for case in _cases(scope[path[0]]):
            _run_function(scope[path[0]], {**fixtures}, case, scope)
        return
    kind, method = scope[path[0]], path[1]
    unittest = sys.modules.get("unittest")
    if unittest is not None and issubclass(kind, unittest.TestCase):
        _run_case(unittest, kind, method)
        return
    members = {name: getattr(kind, name) for name in dir(kind)}
    fixtures |= {name: item for name, item in members.items() if hasattr(item, "_fixture")}
    for case in _cases(getattr(kind, method)):
        _call_first(kind, "setup_class")
        owner = kind()
        bound = {name: getattr(owner, name) if name in members else item for name, item in fixtures.items()}
        _call_first(owner, "setup_method", "setup")
        _run_function(getattr(owner, method), bound, case, scope)
        _call_first(owner, "teardown_method", "teardown")


def _call_first(owner: Any, *names: str) -> None:
    function = next((getattr(owner, name) for name in names if hasattr(owner, name)), None)
    if function is not None:
        function(*[None for needed in _parameters(function).values() if needed])


def _run_function(function: Any, fixtures: dict[str, Any], case: dict[str, Any], scope: dict[str, Any]) -> None:
    for setup in ("setup_module", "setup_function"):
        if setup in scope:
            scope[setup](*[None for needed in _parameters(scope[setup]).values() if needed])
    fixture_values: dict[str, Any] = dict(case)
    with contextlib.ExitStack() as cleanup:

        def get(name: str) -> Any:
            if name not in fixture_values:
                fixture = fixtures.get(name) or _BUILT_IN.get(name)
                if fixture is None:
                    raise LookupError(f"there is no fixture {name!r}")
                value = fixture(**{key: get(key) for key, needed in _parameters(fixture).items() if needed})
                if type(value).__name__ == "generator":
                    fixture_values[name] = next(value)
                    cleanup.callback(next, value, None)
                else:
                    fixture_values[name] = value
            return fixture_values[name]

        for name, fixture in fixtures.items():
            if fixture._fixture["autouse"]:
                get(name)
        names = [name for name, needed in _parameters(function).items() if needed or name in fixture_values]
        result = function(**{name: get(name) for name in names})
        if hasattr(result, "__await__"):
            importlib.import_module("asyncio").run(result)


def _parameters(function: Any) -> dict[str, bool]:
    """Return a map from each parameter name to whether the parameter is required."""
    parameters = importlib.import_module("inspect").signature(function).parameters.items()
    return {name: item.default is item.empty and item.kind.name[:3] != "VAR" for name, item in parameters}


def _cases(function: Any) -> Iterator[dict[str, Any]]:
    """Yield the arguments for each case in a parametrized test."""
    for chosen in itertools.product(*getattr(function, "_cases", ())):
        case: dict[str, Any] = {}
        for part in chosen:
            case.update(part)
        yield case


def _run_case(unittest: ModuleType, kind: Any, method: str) -> None:
    errors: list[BaseException] = []

    class Result(unittest.TestResult):  # type: ignore[name-defined, misc]
        def addError(self, test: Any, error: Any) -> None:  # noqa: N802 (unittest's names)
            errors.append(error[1])

        def addFailure(self, test: Any, error: Any) -> None:  # noqa: N802
            errors.append(error[1])

        def addSubTest(self, test: Any, part: Any, error: Any) -> None:  # noqa: N802
            errors.extend([error[1]] if error is not None else [])

        def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
            errors.append(AssertionError(f"skipped: {reason}"))

        def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
            errors.append(AssertionError("unexpected success"))

    def assert_same(self: Any, left: Any, right: Any, text: Any = None) -> None:
        self.assertTrue(same(left, right), text)  # noqa: PT009 (it raises the test's own kind of exception)

    def assert_different(self: Any, left: Any, right: Any, text: Any = None) -> None:
        self.assertFalse(same(left, right), text)  # noqa: PT009

    kind.assertIs, kind.assertIsNot = assert_same, assert_different
    unittest.TestSuite([kind(method)]).run(Result())
    if errors:
        raise errors[0]


# --- The program as a module, and pytest ---------------------------------------------------------------------------


def _import(peer: Asking, objects: dict[str, Any]) -> None:
    """Make the program, with the names in `objects`, and this module's ``pytest`` available for import."""

    def get(name: str) -> Any:
        lookup = {} if name.startswith("__") else peer.names([name])
        if name not in lookup:
            raise AttributeError(name)
        return lookup[name]

    for name in _TESTED:
        module: Any = ModuleType(name)
        module.__getattr__ = get
        module.__all__ = [*objects]
        sys.modules[name] = module
    pytest: Any = ModuleType("pytest")
    helpers = {"raises": raises, "approx": approx, "fixture": fixture, "param": param, "fail": fail, "skip": skip}
    vars(pytest).update(helpers, mark=_Mark(), importorskip=importlib.import_module, main=lambda *_, **__: 0)
    sys.modules["pytest"] = pytest


class raises:  # noqa: N801 (pytest's name)
    def __init__(self, expected: Any, *call: Any, match: Any = None, **options: Any) -> None:
        self._expected, self._match = expected, match
        self.value: Any = None
        if call:
            with self:
                call[0](*call[1:], **options)

    def __enter__(self) -> raises:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        assert kind is not None, "DID NOT RAISE"
        if not issubclass(kind, self._expected):
            return False
        self.value, self.type = error, kind
        if self._match is not None:
            self.match(self._match)
        return True

    def match(self, pattern: str) -> bool:
        hit = importlib.import_module("re").search(pattern, str(self.value))
        assert hit, f"{str(self.value)[:100]!r} does not match {pattern!r}"
        return True


class approx:  # noqa: N801 (pytest's name)
    """A value that equals numbers within 1e-6 (relative) or 1e-12 (absolute) of the expected number, as in pytest."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: Any, rel: Any = None, abs: Any = None, nan_ok: bool = False) -> None:  # noqa: A002
        self._expected, self._relative, self._absolute, self._nan_ok = expected, rel, abs, nan_ok

    def __repr__(self) -> str:
        return f"approx({self._expected!r})"

    def __eq__(self, other: Any) -> bool:
        return self._holds(other, self._expected)

    def _holds(self, value: Any, expected: Any) -> bool:
        if isinstance(expected, dict):
            return (
                isinstance(value, dict)
                and value.keys() == expected.keys()
                and all(self._holds(value[key], expected[key]) for key in expected)
            )
        if isinstance(expected, (list, tuple)) or type(expected).__name__ == "ndarray":
            pairs = zip(value, expected, strict=False)
            return len(value) == len(expected) and all(self._holds(*pair) for pair in pairs)
        if value is True or value is False or expected is True or expected is False:
            return value is expected
        if self._nan_ok and value != value and expected != expected:
            return True
        if bool(value == expected):
            return True
        try:
            target = float(expected) if not isinstance(expected, complex) else expected
            # The defaults of pytest.approx.
            least = 1e-12 if self._absolute is None else self._absolute
            share = (0.0 if self._absolute is not None else 1e-6) if self._relative is None else self._relative
            return bool(abs(value - target) <= max(least, share * abs(target)) < float("inf"))
        except (TypeError, ValueError, OverflowError):
            return False


def fixture(function: Any = None, *, autouse: bool = False, **_: Any) -> Any:
    def mark(function: Any) -> Any:
        function._fixture = {"autouse": autouse}
        return function

    return mark if function is None else mark(function)


class _Parameters(tuple):  # type: ignore[type-arg]
    """One case in a parametrized test."""


def param(*values: Any, **_: Any) -> _Parameters:
    return _Parameters(values)


def fail(reason: str = "", **_: Any) -> NoReturn:
    raise AssertionError(reason)


def skip(reason: str = "", **_: Any) -> NoReturn:
    raise AssertionError(f"skipped: {reason}")


class _Mark:
    """A substitute for ``pytest.mark``: ``parametrize`` works, and other marks have no effect."""

    @staticmethod
    def parametrize(names: Any, values: Any, **_: Any) -> Callable[[Any], Any]:
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        rows = [value if len(names) > 1 or isinstance(value, _Parameters) else (value,) for value in values]
        cases = [dict(zip(names, row, strict=True)) for row in rows]

        def mark(function: Any) -> Any:
            function._cases = [cases, *getattr(function, "_cases", ())]
            return function

        return mark

    def __getattr__(self, name: str) -> Any:
        def mark(*arguments: Any, **_: Any) -> Any:
            return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else lambda function: function

        return mark


class _Capture:
    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()

    def readouterr(self) -> Any:
        kind = importlib.import_module("collections").namedtuple("CaptureResult", "out err")
        pair = kind(self.out.getvalue(), self.err.getvalue())
        for stream in (self.out, self.err):
            stream.seek(0)
            stream.truncate()
        return pair


def _capsys() -> Iterator[_Capture]:
    capture = _Capture()
    with contextlib.redirect_stdout(capture.out), contextlib.redirect_stderr(capture.err):
        yield capture


class _Patches:
    def __init__(self) -> None:
        self._undo = contextlib.ExitStack()

    def setattr(self, target: Any, *value: Any, **_: Any) -> None:
        patch = importlib.import_module("unittest.mock").patch
        patcher = patch(target, value[0]) if isinstance(target, str) else patch.object(target, *value)
        self._undo.enter_context(patcher)

    def setitem(self, mapping: Any, key: Any, value: Any) -> None:
        self._undo.enter_context(importlib.import_module("unittest.mock").patch.dict(mapping, {key: value}))

    def undo(self) -> None:
        self._undo.close()


def _monkeypatch() -> Iterator[_Patches]:
    patches = _Patches()
    yield patches
    patches.undo()


_BUILT_IN: dict[str, Any] = {"capsys": _capsys, "monkeypatch": _monkeypatch}
