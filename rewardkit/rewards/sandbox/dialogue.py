"""A dialogue between test code and a program in another process: the program computes ``add(1, 2)`` for the test.

The tester runs the test code, in which the program's names are `Remote` objects. For each call, attribute, and
operation on a `Remote` object, the tester sends a line of JSON to the program's process and receives another line with
the answer. Values of built-in types are copied, so the tester compares them by its own rules, and the program never
sees the expected results. Other objects stay in the program's process and are identified by number. Instances of
classes that the setup code defines, such as tree nodes, are copied with their attributes. If the test passes a function
to the program, calls to this function are sent back to the tester.

The program controls its own process. Even if it manipulates this code in its process, it can only change its own
answers.

This module is sent to sandboxes as source code, after `values`, so it does not import rewardkit.
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
"""The types that a program may return. Functions are excluded, because `eval` could run the text of another answer."""

# Arbitrary: the number of bytes read at a time.
_CHUNK = 1 << 16
_PRINTED = 1_000_000
"""The maximum number of printed bytes per answer. The limit is arbitrary: a program may print forever, and output
beyond the limit is not compared."""


class Peer:
    """One side of a dialogue.

    Attributes:
        scope: the namespace of the program or of the test code.
        shared: the names of classes with instances that are copied.
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
        """Return the next message; None if the other process has exited."""
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
        """Encode `value` with a table of copied objects (those in `copied`, then new ones) and their attributes."""
        self._copied, self._places = copied, {id(item): index for index, item in enumerate(copied)}
        encoded = self.encode(value)
        # `copied` grows during the loop, so that linked lists of any length need no recursion.
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
        """Decode the result of `pack`: update the attributes of the objects in `copied`, and append new objects."""
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
        """Encode a reference to an object that is not copied; raise TypeError if that is impossible."""
        raise NotImplementedError

    def referred(self, name: str, items: list[Any]) -> Any:
        """Return the object for an encoded reference."""
        raise NotImplementedError


def _classes(kind: type) -> list[list[str]]:
    """Return the (module, name) pairs of an exception class and its base exceptions; [] for other classes."""
    return [[base.__module__, base.__name__] for base in kind.__mro__ if issubclass(base, BaseException)]


def _error(error: BaseException, peer: Peer) -> dict[str, Any]:
    """Describe an exception: its classes, arguments and attributes (as text if not plain), text, and line."""

    def plain(value: Any) -> Any:
        try:
            encode(value)
            return value
        except Exception:
            return str(value)

    try:
        # Arbitrary: the message comes from the program, and may be very long.
        text = str(error)[:1_000]
    except BaseException:  # __str__ may be the program's code
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
    """The program's side of a dialogue, which performs operations on the program's objects."""

    def __init__(self, inbox: int, out: int, scope: dict[str, Any], shared: tuple[str, ...]) -> None:
        super().__init__(inbox, out, scope, shared)
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._kept: dict[int, Any] = {}
        self._stdout: Any = sys.stdout
        builtins.input = lambda prompt="": self._ask("input", prompt)  # tests may replace it

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
        except Exception:  # the program has closed or replaced it
            return ""
        return str(text)

    def _ask(self, number: Any, /, *arguments: Any, **options: Any) -> Any:
        """Call a function in the test code, and answer requests from the tester until the function returns."""
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
        """Return a map from the names that the program defines to exception classes, or to [] for other objects."""
        present = {name: self.scope[name] for name in names if name in self.scope}
        return {name: _classes(item) if isinstance(item, type) else [] for name, item in present.items()}

    def _pick(self, name: str | None, count: int) -> Any:
        """Return the function to test: the function called `name`, or the last function that accepts `count` arguments.

        If the program has a class `Solution`, the result is a method of this class, else a function in the program.
        """
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
        # Helpers are called by other functions, and usually come first.
        free = [key for key in functions if not any(key in called[other] for other in functions if other != key)]
        fitting = [key for key in free or functions if _takes(functions[key], count)]
        if not fitting:
            raise NameError(f"no function accepts the test's {count} arguments")
        return functions[fitting[-1]]


def _call(function: Any, /, *arguments: Any, **options: Any) -> Any:
    return function(*arguments, **options)


def _await(awaitable: Any) -> Any:
    async def result() -> Any:
        return await awaitable

    return importlib.import_module("asyncio").run(result())


def _called(code: Any) -> set[str]:
    """Return the names used in a function's code and in its nested functions."""
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
    """The tester's side of a dialogue, which requests operations on the program's objects.

    Attributes:
        makers: the names of the program's classes.
        last: the last call to the program, with its result.
        failure: an assertion that failed in code in which the program could catch the error: in a callback, or in a
            ``with`` block for one of the program's objects.
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
            # If a function raised StopIteration, it would end loops of the test, as in all(map(f, cases)).
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
            os._exit(1)  # raise nothing, which the test code could mistake for an exception of the program
        if message.get("printed"):
            sys.stdout.write(message["printed"])
        return message

    def names(self, names: list[str]) -> dict[str, Any]:
        """Return the program's objects by name, without names that the program does not define."""
        objects: dict[str, Any] = {}
        answer = self.ask("names", names)
        for name in names:  # only requested names, or the program could pass its own `abs` to the test
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
        """Encode an argument. If the program has already received the same list, refer to the program's copy of it.

        This copy includes the program's changes, so a test can call ``dequeue(queue)`` twice. If a call returns a
        value, the test does not see changes to the arguments. Otherwise, a program could return nonsense and change an
        argument to match the result, as in ``assert f(x) == sorted(x)``.
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
        """Mark a remote object as created by the test code (see `Remote`); return other values unchanged."""
        if type(value) is not Remote or value._rk.reference[0] != "remote":
            return value
        state = value._rk
        return self._remote(state.reference[1], True, plain=state.plain, kind=state.kind, label=label)

    def _exception(self, message: Any) -> BaseException:
        """Return the tester's version of an exception from the program, so that a test can catch it by class."""
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
        """Return the exception class with these (module, name) pairs. The most derived class comes first.

        The result is a built-in or standard library class, or a new class derived from the closest such class.
        """
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
    """Return an exception class in the standard library; None for classes in `unittest`, which control the tester."""
    package = module.partition(".")[0]
    if package not in sys.stdlib_module_names or package == "unittest" or module not in sys.modules:
        return None
    candidate = getattr(sys.modules[module], name, None)
    return candidate if isinstance(candidate, type) and issubclass(candidate, BaseException) else None


def _change(item: Any, other: Any) -> None:
    """Replace the contents of a list, dict, set, or other container with the contents of `other`."""
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
    """A wrapper that marks a call's argument, so that `Asking` encodes it with `_keep`."""

    def __init__(self, item: Any) -> None:
        self.item = item


class Remote:
    """One of the program's objects, as seen by the test code.

    This proxy keeps its own attributes in ``_rk``, because all other names belong to the program:

    - ``plain``: whether the object's class is derived from a built-in type, so that the object has a plain value;
    - ``made``: whether the test code created the object with one of the program's classes that `scripts` finds, as in
      ``Vector(1, 2)``. If so, the test works with an object and may pass values to its operators. Otherwise, the test
      expects a value. For example, the program must not compute ``abs(f(2) - 3.5) < 0.1``, because it would see the 3.5
      and could return an object that has a difference of 0 from it;
    - ``read``: the properties that the test has read since the program last received the object. Without this cache,
      the object could have two items in ``len(f(2)) == 2``, but none in ``all(map(math.isclose, f(2), [0.5, 1.5]))``.
    """

    __slots__ = ("_rk",)
    _rk: _State

    def __init__(self, peer: Asking, reference: list[Any], **facts: Any) -> None:
        object.__setattr__(self, "_rk", _State(peer, reference, **facts))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__array"):  # numpy would read memory at an address chosen by the program
            raise AttributeError(name)
        # Tuples are excluded, because a named tuple may have an item called count.
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
        if isinstance(other, Remote):  # an object that equals everything would pass the test
            raise TypeError("cannot compare two program objects. Compare plain values, such as attributes")
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
        raise TypeError(f"the test subclasses the program's {self._rk.label}, which is in another process")

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
    """An iterator in the program. Items are computed on demand, because the iterator may be infinite."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> _Items:
        return self

    def __next__(self) -> Any:
        return _asked("next", self._iterator)


def same(left: Any, right: Any) -> bool:
    """Return whether two values are the same object, even if the test obtained it in two different ways."""
    remote = type(left) is Remote and type(right) is Remote
    return left._rk.reference == right._rk.reference if remote else left is right


def _is_raised(trace: Any) -> bool:
    """Return whether a ``raise`` statement in the test code raised an exception, which the program may then catch.

    The program may have caused any other exception in order to skip the assertions after it.
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
    """Request an object's property from the program, with a cache for objects that the test code did not create.

    `Remote` explains why the cache is necessary.
    """
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
    """Read an object's length and items. Both are None if the object has no length, as for an iterator."""
    contents = remote._rk.read
    if "len" not in contents:
        contents["len"] = contents["items"] = None
        try:
            contents["len"] = _asked("len", remote)
            contents["items"] = _asked("list", remote)
        except Exception:  # using a value that stays None is an error in the test
            return contents
        if type(contents["items"]) is not list or len(contents["items"]) != contents["len"]:
            raise TypeError(f"the length of the {remote._rk.kind} differs from the number of its items")
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
        if remote._rk.is_value and name not in _TEXT:  # the program defines the text of a named tuple
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
