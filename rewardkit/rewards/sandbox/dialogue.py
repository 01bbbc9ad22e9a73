"""Let test code use a program that runs in another process: ``add(1, 2)`` in the test is computed by the program.

The tester runs the test code. The program's names are there as `Remote` objects; each call, attribute and operation on
one of them is a line of JSON to the process of the program, and the answer is another one. A value of Python's own
types is copied, so that the tester compares values by its own rules, and the program never sees the expected results.
Another object stays where it is and is referred to by a number; an instance of a class that the set-up code defines,
such as a node of a tree, is copied with its attributes. A function of the test that the program gets calls back.

The program's process is the program's: whatever it does to this code there, it can only give other answers.

This module is sent into sandboxes as source, after `values`, so it does not import rewardkit.
"""

from __future__ import annotations

import builtins
import importlib
import json
import operator
import os
import sys

TYPE_CHECKING = False  # `values` runs in the same namespace; slow imports are delayed until they are needed
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from rewardkit.rewards.sandbox.values import decode, encode

_KINDS = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, range, type(None), object)
"""The types that a program may return. A function such as `eval` would run the text of another answer."""

_CHUNK = 1 << 16
_PRINTED = 1_000_000
"""Any limit in bytes: more output is not compared, and a program may print forever."""


class Peer:
    """One end of a dialogue.

    Attributes:
        scope: the names of the program, or of the test code.
        shared: the names of the classes whose instances are copied.
    """

    def __init__(self, inbox: int, out: int, scope: dict[str, Any], shared: tuple[str, ...]) -> None:
        self._heard, self._out = inbox, out
        self._buffer = bytearray()
        self.scope = scope
        self.shared = shared
        self._copied: list[Any] = []
        self._places: dict[int, int] = {}

    def send(self, **message: Any) -> None:
        line = memoryview(json.dumps(message).encode() + b"\n")
        while line:
            line = line[os.write(self._out, line) :]

    def receive(self) -> Any:
        """Return the next message; None if the other process has ended."""
        start = 0
        while (end := self._buffer.find(b"\n", start)) < 0:
            start = len(self._buffer)
            chunk = os.read(self._heard, _CHUNK)
            if not chunk:
                return None
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return json.loads(line)

    def pack(self, value: Any, copied: list[Any]) -> list[Any]:
        """Encode `value`, with a table of the attributes of the objects that are copied, after those in `copied`."""
        self._copied, self._places = copied, {id(item): index for index, item in enumerate(copied)}
        encoded = self.encode(value)
        # The list grows meanwhile: a linked list may be of any length, but no call is nested in another one.
        return [encoded, [[type(item).__name__, self.encode(vars(item))] for item in copied]]

    def encode(self, value: Any) -> Any:
        return encode(value, self._other, self.scope["__name__"])

    def _other(self, item: Any) -> Any:
        if type(item).__name__ in self.shared and self.scope.get(type(item).__name__) is type(item):
            if id(item) not in self._places:
                self._places[id(item)] = len(self._copied)
                self._copied.append(item)
            return ["object", self._places[id(item)]]
        return self.reference(item)

    def unpack(self, packed: list[Any], copied: list[Any]) -> Any:
        """Reverse `pack`; the attributes of the objects in `copied` are set again, and further objects are added."""
        encoded, table = packed
        for name, _ in table[len(copied) :]:
            if name not in self.shared:
                raise ValueError(f"{name} is not shared")
            copied.append(object.__new__(self.scope[name]))
        self._copied = copied
        for item, (_, state) in zip(copied, table, strict=True):
            vars(item).clear()
            vars(item).update(self.decode(state))
        return self.decode(encoded)

    def decode(self, value: Any) -> Any:
        return decode(
            value, lambda name, items: self._copied[items[0]] if name == "object" else self.referred(name, items)
        )

    def reference(self, item: Any) -> Any:
        """Encode an object that is not copied; raises TypeError if that is impossible."""
        raise NotImplementedError

    def referred(self, name: str, items: list[Any]) -> Any:
        """Return the object of a reference."""
        raise NotImplementedError


def _classes(kind: type) -> list[list[str]]:
    """Return the names of a class of exceptions and of those above it; empty for other classes."""
    return [[base.__module__, base.__name__] for base in kind.__mro__ if issubclass(base, BaseException)]


def _error(error: BaseException, peer: Peer) -> dict[str, Any]:
    """Describe an exception: its classes, its arguments and attributes as far as they are plain, its text and line."""

    def plain(value: Any) -> Any:
        try:
            encode(value)
            return value
        except Exception:
            return str(value)

    try:
        # Any limit: the message is the program's, and may be endless.
        text = str(error)[:1_000]
    except BaseException:  # its __str__ is the program's
        text = ""
    line, trace = 0, error.__traceback__
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<program>" else line
        trace = trace.tb_next
    state = {name: plain(value) for name, value in vars(error).items()}
    packed = peer.pack([[plain(value) for value in error.args], state], [])
    return {"raised": _classes(type(error)), "state": packed, "text": text, "line": line}


# --- The program's process ----------------------------------------------------------------------------------------


class Answering(Peer):
    """The program's end: performs operations on the program's objects."""

    def __init__(self, inbox: int, out: int, scope: dict[str, Any], shared: tuple[str, ...]) -> None:
        super().__init__(inbox, out, scope, shared)
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._kept: dict[int, Any] = {}
        self._stdout: Any = sys.stdout
        builtins.input = lambda prompt="": self._ask("input", prompt)  # tests replace it by one that types something

    def serve(self) -> None:
        self.send(ready=True)
        while (message := self.receive()) is not None:
            self._answer(message)

    def _answer(self, message: Any) -> None:
        copied: list[Any] = []
        answer: dict[str, Any] = {}
        try:
            name, *packed = message["ask"]
            arguments, options = self.unpack(packed, copied)
            if name == "plain":
                answer["value"] = [encode(arguments[0]), []]
            else:
                value = self._function(name)(*arguments, **options)
                answer["value"] = self.pack(value, [])
                if name == "call" and value is None:  # a function that returns nothing may change its arguments
                    answer["changed"] = self.pack([arguments[1:], options], copied)
        except BaseException as error:
            answer = _error(error, self)
        self.send(**answer, printed=self._printed())

    def _function(self, name: str) -> Callable[..., Any]:
        functions: dict[str, Any] = {"call": _call, "await": _await, "names": self._names, "pick": self._pick}
        if name in ("copy", "deepcopy"):
            return getattr(importlib.import_module("copy"), name)  # type: ignore[no-any-return]
        return functions.get(name) or getattr(operator, name, None) or getattr(builtins, name)  # type: ignore[no-any-return]

    def _printed(self) -> str:
        try:
            stream = self._stdout.buffer
            text = stream.getvalue()[:_PRINTED].decode(errors="replace")
            stream.seek(0)
            stream.truncate()
        except Exception:  # the program has closed it
            return ""
        return str(text)

    def _ask(self, number: Any, /, *arguments: Any, **options: Any) -> Any:
        """Call a function of the test code."""
        self.send(call=number, given=self.pack([arguments, options], []), printed=self._printed())
        while (message := self.receive()) is not None and "ask" in message:
            self._answer(message)
        if message is None:
            os._exit(1)
        if "raised" in message:
            kinds = (getattr(builtins, name, None) for _, name in message["raised"])
            raise next(kind for kind in kinds if isinstance(kind, type))(*self.unpack(message["state"], [])[0])
        return self.unpack(message["value"], [])

    def reference(self, item: Any) -> list[Any]:
        if any(item is kind for kind in _KINDS):
            return ["type", item.__name__]
        number = self._numbers.setdefault(id(item), len(self._objects))
        if number == len(self._objects):
            self._objects.append(item)
        try:
            encode(item)
        except Exception:
            return ["remote", number, False, type(item).__name__]
        return ["remote", number, True, type(item).__name__]

    def referred(self, name: str, items: list[Any]) -> Any:
        key = items[0]
        if name == "keep":
            self._kept[key] = self.decode(items[1])
            return self._kept[key]
        if name == "builtin":
            return getattr(builtins, key)
        if name == "callback":
            return lambda *arguments, **options: self._ask(key, *arguments, **options)
        if name == "name":
            return self.scope[key]
        return self._kept[key] if name == "kept" else self._objects[key]

    def _names(self, names: list[str]) -> dict[str, Any]:
        """Return which of these names the program has; with the classes above it, if it is a class of exceptions."""
        present = {name: self.scope[name] for name in names if name in self.scope}
        return {name: _classes(item) if isinstance(item, type) else [] for name, item in present.items()}

    def _pick(self, name: str | None, count: int) -> Any:
        """Return the function for `count` arguments: a method of `Solution`, else a function of the program."""
        solution = self.scope.get("Solution")
        owner: Any = solution() if isinstance(solution, type) else None
        if name is not None:
            return getattr(owner, name) if hasattr(owner, name) else self.scope[name]
        names = vars(solution) if owner is not None else self.scope
        functions = {key: getattr(owner, key) if owner is not None else self.scope[key] for key in names}
        functions = {
            key: item
            for key, item in functions.items()
            if not key.startswith("_") and hasattr(item, "__code__") and item.__module__ == "program"
        }
        called = {key: _called(item.__code__) for key, item in functions.items()}
        # Helpers are called by others, and usually come first.
        free = [key for key in functions if not any(key in called[other] for other in functions if other != key)]
        fitting = [key for key in free or functions if _takes(functions[key], count)]
        if not fitting:
            raise NameError(f"no function takes the {count} arguments of the test")
        return functions[fitting[-1]]


def _call(function: Any, /, *arguments: Any, **options: Any) -> Any:
    return function(*arguments, **options)


def _await(awaitable: Any) -> Any:
    async def result() -> Any:
        return await awaitable

    return importlib.import_module("asyncio").run(result())


def _called(code: Any) -> set[str]:
    """Return the names in a function and in the functions inside it."""
    inner = [_called(constant) for constant in code.co_consts if hasattr(constant, "co_names")]
    return set(code.co_names).union(*inner)


def _takes(function: Any, count: int) -> bool:
    try:
        importlib.import_module("inspect").signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


# --- The tester's process -----------------------------------------------------------------------------------------


class Asking(Peer):
    """The tester's end: performs operations on the program's objects by asking for them.

    Attributes:
        makers: the names of the program's classes.
        last: the last call of the program, and its result.
        failure: an assertion that failed where the program could catch it: in a function that it calls back, or in a
            ``with`` of its object.
    """

    def __init__(
        self, inbox: int, out: int, scope: dict[str, Any], shared: tuple[str, ...], makers: tuple[str, ...]
    ) -> None:
        super().__init__(inbox, out, scope, shared)
        self.makers = makers
        self._callbacks: list[Any] = []
        self._remotes: dict[tuple[int, bool], Remote] = {}
        self._classes: dict[tuple[str, str], type[BaseException]] = {}
        self._imported: dict[type, str] = {}
        self._sent: dict[int, tuple[int, Any, Any]] = {}
        self.last: tuple[str, Any] | None = None
        self.failure: AssertionError | None = None

    def ask(self, name: str, /, *arguments: Any, **options: Any) -> Any:
        copied: list[Any] = []
        keeping = _Kept if name == "call" else lambda item: item
        payload = [[*map(keeping, arguments)], {key: keeping(item) for key, item in options.items()}]
        if name not in _READING:
            for item in (*arguments, *options.values()):
                if type(item) is Remote:
                    item._rk.read.clear()
        self.send(ask=[name, *self.pack(payload, copied)])
        while "call" in (message := self._heard_message()):
            self._call_back(message)
        if "raised" in message:
            error = self._exception(message)
            # Raised by a function, it would end the loops of the test, as in all(map(f, cases)).
            if isinstance(error, StopIteration) and name != "next":
                raise RuntimeError(f"the program raised {error!r}")
            raise error
        if name == "plain":
            return decode(message["value"][0])
        value = self.unpack(message["value"], [])
        if value is None and "changed" in message:
            changed, named = self.unpack(message["changed"], copied)
            for item, other in zip((*arguments[1:], *options.values()), (*changed, *named.values()), strict=True):
                _change(item, other)
        return value

    def _heard_message(self) -> Any:
        message = self.receive()
        if message is None:
            os._exit(1)  # the test code must not take it for an exception of the program
        if message.get("printed"):
            sys.stdout.write(message["printed"])
        return message

    def names(self, names: list[str]) -> dict[str, Any]:
        """Return the program's objects by name, those that it has."""
        objects: dict[str, Any] = {}
        answer = self.ask("names", names)
        for name in names:  # no others: the program could pass its own `abs` to the test
            if answer.get(name):
                objects[name] = self._class(answer[name])
                self._imported[objects[name]] = name
            elif name in answer:
                objects[name] = Remote(self, ["name", name], label=name)
        return objects

    def _call_back(self, message: Any) -> None:
        try:
            function = builtins.input if message["call"] == "input" else self._callbacks[message["call"]]
            arguments, options = self.unpack(message["given"], [])
            answer = {"value": self.pack(function(*arguments, **options), [])}
        except Exception as error:
            if isinstance(error, AssertionError):
                self.failure = error
            answer = _error(error, self)
        self.send(**answer)

    def reference(self, item: Any) -> Any:
        if type(item) is Remote:
            return item._rk.reference[:2]
        if type(item) is _Kept:
            return self._keep(item.item)
        name = getattr(item, "__name__", "")
        if isinstance(name, str) and getattr(builtins, name, None) is item:
            return ["builtin", name]
        if isinstance(item, type) and item in self._imported:
            return ["name", self._imported[item]]
        if not callable(item):
            raise TypeError(f"the test cannot pass a {type(item).__name__} to the program")
        self._callbacks.append(item)
        return ["callback", len(self._callbacks) - 1]

    def _keep(self, item: Any) -> Any:
        """Encode an argument. If the program has already received this very list, it gets its own list, with its
        changes.

        So a test may call ``dequeue(queue)`` twice. The test itself does not see what a call that returns something
        does to its arguments: otherwise, a program could return nonsense and change an argument so that the test
        expects it, as in ``assert f(x) == sorted(x)``.
        """
        count = len(self._copied)
        encoded = self.encode(item)
        if type(item) not in (list, dict, set, bytearray) or len(self._copied) > count:
            return encoded
        number, _, before = self._sent.get(id(item), (len(self._sent), None, None))
        self._sent[id(item)] = number, item, encoded
        return ["kept", number] if before == encoded else ["keep", number, encoded]

    def referred(self, name: str, items: list[Any]) -> Any:
        if name == "type":
            return {kind.__name__: kind for kind in _KINDS}[items[0]]
        number, plain, kind = items
        remote = self._remote(number, False, plain=bool(plain), kind=str(kind))
        remote._rk.read.clear()
        return remote

    def _remote(self, number: int, constructed: bool, **facts: Any) -> Remote:
        if (number, constructed) not in self._remotes:
            self._remotes[number, constructed] = Remote(self, ["remote", number], made=constructed, **facts)
        return self._remotes[number, constructed]

    def made(self, value: Any, label: str) -> Any:
        """Return the object, if it is one, as one that the test code has made; see `Remote`."""
        if type(value) is not Remote or value._rk.reference[0] != "remote":
            return value
        state = value._rk
        return self._remote(state.reference[1], True, plain=state.plain, kind=state.kind, label=label)

    def _exception(self, message: Any) -> BaseException:
        """Return an exception of the program as one of the tester's; a test may catch it by its class."""
        kind = self._class(message["raised"])
        arguments, state = self.unpack(message["state"], [])
        try:
            error = kind(*arguments)
        except Exception:
            error = BaseException.__new__(kind)
            error.args = tuple(arguments)
        vars(error).update(state)
        text, line = str(message["text"]), int(message["line"])
        vars(error)["_rk_text"] = text
        name = f"{kind.__name__}{f': {text[:200]}' if text else ''}{f' (line {line})' if line else ''}"
        vars(error)["_rk_shown"] = name
        return error

    def _class(self, classes: list[list[str]]) -> type[BaseException]:
        """Return the class of exceptions with these names, from the narrowest up: Python's own, or one like it."""
        exception_class: type[BaseException] = Exception
        missing: list[tuple[str, str]] = []
        for module, name in classes:
            known_class = self._classes.get((module, name)) or _known_class(module, name)
            if known_class is not None:
                exception_class = known_class
                break
            missing.append((module, name))
        for module, name in reversed(missing):
            exception_class = type(
                str(name), (exception_class,), {"__str__": lambda self: vars(self).get("_rk_text", "")}
            )
            self._classes[module, name] = exception_class
        return exception_class


def _known_class(module: str, name: str) -> type[BaseException] | None:
    """Return a class of Python's own; not those that mean something to the tester, such as `unittest.SkipTest`."""
    room = module.partition(".")[0]
    if room not in sys.stdlib_module_names or room == "unittest" or module not in sys.modules:
        return None
    candidate = getattr(sys.modules[module], name, None)
    return candidate if isinstance(candidate, type) and issubclass(candidate, BaseException) else None


def _change(item: Any, other: Any) -> None:
    """Give a list, dict, set or the like the contents of another one."""
    if type(item) is not type(other):
        return
    if isinstance(item, (list, bytearray)):
        item[:] = other
    elif isinstance(item, (dict, set)):
        item.clear()
        item.update(other)
    elif hasattr(item, "extend"):
        item.clear()
        item.extend(other)
    elif type(item).__name__ == "ndarray":
        item[...] = other


class _Kept:
    """An argument of a call, in the list of all arguments."""

    def __init__(self, item: Any) -> None:
        self.item = item


class Remote:
    """An object of the program, in the test code.

    Its own attributes are in ``_rk``, since all other names are the program's:

    - ``plain``: whether its class derives from one of Python's own types, so that it has a plain value;
    - ``made``: whether the test code has made it with one of the classes that `scripts` finds in it, as in
      ``Vector(1, 2)``. The test then works with an object, and may pass values to its operators. Otherwise it expects a
      value: for ``abs(f(2) - 3.5) < 0.1`` the program must not be asked, since it would see the 3.5, and could return
      an object whose difference to it is 0;
    - ``read``: the part of a value that was seen so far, until the program gets it again. Otherwise it could have two
      items in ``len(f(2)) == 2``, and none in ``all(map(math.isclose, f(2), [0.5, 1.5]))``.
    """

    __slots__ = ("_rk",)
    _rk: _State

    def __init__(self, peer: Asking, reference: list[Any], **facts: Any) -> None:
        object.__setattr__(self, "_rk", _State(peer, reference, **facts))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__array"):  # numpy would read the memory at an address that the program names
            raise AttributeError(name)
        # Named tuples may have an item called count.
        if self._rk.is_value and not isinstance(value := _value(self), tuple) and hasattr(value, name):
            return getattr(value, name)
        attribute = _asked("getattr", self, name)
        if isinstance(attribute, Remote) and not attribute._rk.label:
            attribute._rk.label = f"{self._rk.label}.{name}"
        return attribute

    def __setattr__(self, name: str, value: Any) -> None:
        _asked("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        _asked("delattr", self, name)

    def __call__(self, /, *arguments: Any, **options: Any) -> Any:
        state = self._rk
        value = _asked("call", self, *arguments, **options)
        argument_texts = [_shown(item) for item in arguments] + [
            f"{name}={_shown(item)}" for name, item in options.items()
        ]
        label = f"{state.label or state.kind}({', '.join(argument_texts)})"
        if state.reference[0] == "name" and state.reference[1] in state.peer.makers:
            value = state.peer.made(value, label)
        elif isinstance(value, Remote):
            value._rk.label = value._rk.label or label
        state.peer.last = (label, value)
        return value

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Remote):  # an object that equals everything would pass
            raise TypeError("two objects of the program are compared; compare plain values, such as their attributes")
        return _value(self) == other if self._rk.plain else NotImplemented

    def __hash__(self) -> int:
        return hash(_value(self)) if self._rk.plain else hash(str(self._rk.reference))

    def __contains__(self, item: Any) -> bool:
        if self._rk.made:
            return bool(_asked("contains", self, item))
        return item in (_value(self) if self._rk.plain else iter(self))

    def __len__(self) -> int:
        state = self._rk
        size = _asked("len", self) if state.made else len(_value(self)) if state.plain else _measured(self)["len"]
        if size is None:
            raise TypeError(f"the {state.kind} has no length")
        return int(size)

    def __bool__(self) -> bool:
        return bool(_value(self) if self._rk.plain else _read("bool", self))

    def __iter__(self) -> Any:
        state = self._rk
        if state.is_value:
            return iter(_value(self))
        contents: Any = {"len": None} if state.made else _measured(self)
        return _Items(_asked("iter", self)) if contents["len"] is None else iter(contents["items"])

    def __reversed__(self) -> Any:
        return _Items(_asked("reversed", self)) if self._rk.made else reversed([*self])

    def __instancecheck__(self, value: Any) -> bool:
        return bool(_asked("isinstance", value, self))

    def __subclasscheck__(self, kind: Any) -> bool:
        return bool(_asked("issubclass", kind, self))

    def __mro_entries__(self, bases: Any) -> Any:
        raise TypeError(f"the test derives a class from the program's {self._rk.label}, which is in another process")

    def __await__(self) -> Any:
        yield from ()
        return _asked("await", self)

    def __enter__(self) -> Any:
        return self.__getattr__("__enter__")()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if isinstance(error, AssertionError):
            self._rk.peer.failure = error
        error_type = kind if kind is None or getattr(builtins, kind.__name__, None) is kind else Exception
        return bool(_asked("call", self.__getattr__("__exit__"), error_type, None, None)) and _is_raised(trace)

    def __copy__(self) -> Any:
        return _asked("copy", self)

    def __deepcopy__(self, memo: Any) -> Any:
        return _asked("deepcopy", self)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(_value(self)) if self._rk.plain else Remote


class _State:
    def __init__(
        self,
        peer: Asking,
        reference: list[Any],
        plain: bool = False,
        made: bool = False,
        kind: str = "function",
        label: str = "",
    ) -> None:
        self.peer, self.reference, self.plain, self.made, self.kind = peer, reference, plain, made, kind
        self.label = label
        self.read: dict[str, Any] = {}

    @property
    def is_value(self) -> bool:
        return self.plain and not self.made


class _Items:
    """An iterator of the program. Its next item is computed when it is asked for: there may be no end of them."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> _Items:
        return self

    def __next__(self) -> Any:
        return _asked("next", self._iterator)


def same(left: Any, right: Any) -> bool:
    """Return whether two names are of one object: the test may have got it in two ways."""
    remote = type(left) is Remote and type(right) is Remote
    return left._rk.reference == right._rk.reference if remote else left is right


def _is_raised(trace: Any) -> bool:
    """Return whether test code raised an exception by ``raise``, so that the program may catch it.

    Others may be due to the program, which would skip the assertions that follow.
    """
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code.co_filename != "<test>":
        return False
    operation = trace.tb_frame.f_code.co_code[trace.tb_lasti]
    return bool(operation == importlib.import_module("opcode").opmap["RAISE_VARARGS"])


def _asked(name: str, /, *arguments: Any, **options: Any) -> Any:
    peer: Asking = next(item._rk.peer for item in arguments if type(item) is Remote)
    return peer.ask(name, *arguments, **options)


def _read(name: str, remote: Remote, *arguments: Any) -> Any:
    """Ask what an object looks like; see `Remote`."""
    state, key = remote._rk, f"{name}{arguments!r}"
    if state.made:
        return _asked(name, remote, *arguments)
    if key not in state.read:
        state.read[key] = _asked(name, remote, *arguments)
    return state.read[key]


def _value(remote: Remote) -> Any:
    if not remote._rk.plain:
        raise TypeError(f"got a {remote._rk.kind}, expected a plain value")
    return _read("plain", remote)


def _measured(remote: Remote) -> dict[str, Any]:
    """Read the length of an object and its items, None if it has none, as iterators have no length."""
    contents = remote._rk.read
    if "len" not in contents:
        contents["len"] = contents["items"] = None
        try:
            contents["len"] = _asked("len", remote)
            contents["items"] = _asked("list", remote)
        except Exception:  # what remains None is an error if the test uses it
            return contents
        if type(contents["items"]) is not list or len(contents["items"]) != contents["len"]:
            raise TypeError(f"the length of the {remote._rk.kind} is not that of its items")
    return contents


def _shown(item: Any) -> str:
    return item._rk.label if type(item) is Remote else repr(item)[:80]


def _operator(name: str, reflected: bool) -> Callable[[Any, Any], Any]:
    def operate(remote: Any, other: Any) -> Any:
        left, right = (other, remote) if reflected else (remote, other)
        objects = type(other) is Remote and name not in _ORDER
        if remote._rk.made or objects or (type(other) is Remote and other._rk.made):
            value = _asked(name, left, right)
            same = type(value) is Remote and value._rk.reference == remote._rk.reference and name.startswith("i")
            return remote if same else value
        left, right = (_value(side) if type(side) is Remote else side for side in (left, right))
        return getattr(operator, name)(left, right)

    return operate


def _query(name: str) -> Callable[..., Any]:
    def query(remote: Any, *arguments: Any) -> Any:
        if remote._rk.is_value and name not in _TEXT:  # the text of a named tuple is the program's
            return (getattr(operator, name, None) or getattr(builtins, name))(_value(remote), *arguments)
        return _read(name, remote, *arguments)

    return query


_ARITHMETIC = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift")
_ORDER = ("lt", "le", "gt", "ge")
_TEXT = ("str", "repr", "format", "dir")
_QUERIES = ("neg", "pos", "invert", "abs", "index", "getitem", "int", "float", "complex", "round", "divmod")
_READING = (*_TEXT, *_QUERIES, "plain", "len", "list", "iter", "bool", "contains", "isinstance")
for _name in (*_ARITHMETIC, "rshift"):
    setattr(Remote, f"__{_name.rstrip('_')}__", _operator(_name, reflected=False))
    setattr(Remote, f"__r{_name.rstrip('_')}__", _operator(_name, reflected=True))
for _name in (*_ORDER, "iadd", "isub", "imul", "ior", "iand"):
    setattr(Remote, f"__{_name}__", _operator(_name, reflected=False))
for _name in (*_TEXT, *_QUERIES):
    setattr(Remote, f"__{_name}__", _query(_name))
for _name in ("next", "setitem", "delitem"):
    setattr(Remote, f"__{_name}__", lambda *arguments, _name=_name: _asked(_name, *arguments))
