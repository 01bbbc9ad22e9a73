"""Environments that record: what their tools did, whose fault it was, and what the trainer sees."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import pickle
import sys
import threading
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.batch.environments import (
    Watch,
    journal_of,
    journals,
    own_reward,
    record_environment,
    recording_class,
    tools_of,
)
from rewardkit.batch.transcripts import CallRecord

PLAIN = Watch()


class Shop:
    """Sells things."""

    def __init__(self) -> None:
        self.sold: list[str] = []

    def reset(self, item: str = "", **row: Any) -> str:
        self.sold.clear()
        self.look()
        return f"Buy {item}."

    def buy(self, item: str, count: int = 1) -> str:
        """Buys something.

        Args:
            item: what.
            count: how many.
        """
        self.look()
        if item == "gold":
            raise ValueError("sold out")
        self.sold += [item] * count
        return "bought"

    def look(self) -> dict[str, int]:
        """Looks around."""
        return {"sold": len(self.sold)}

    def sort(self, items: list[str]) -> None:
        """Sorts and forgets."""
        items.sort()
        items.clear()

    async def ask(self, question: str) -> str:
        """Asks."""
        await asyncio.sleep(0)
        self.look()
        if not question:
            raise ValueError("no question")
        return question.upper()

    @staticmethod
    def add(one: int, two: int) -> int:
        """Adds."""
        return one + two

    @property
    def price(self) -> float:
        raise AssertionError("not asked")

    def _hidden(self) -> None:
        raise AssertionError("not a tool")

    def get_reward(self) -> float:
        self.look()
        return float(len(self.sold))


class Down:
    """Each part of it may be out of order."""

    fails: typing.ClassVar[dict[str, BaseException]] = {}

    def _meet(self, part: str) -> None:
        if part in self.fails:
            raise self.fails[part]

    def reset(self, **row: Any) -> None:
        self._meet("reset")

    def work(self) -> str:
        """Works."""
        self._meet("work")
        return "done"

    async def wait(self) -> str:
        """Waits."""
        self._meet("wait")
        return "waited"

    def get_reward(self) -> float | None:
        self._meet("get_reward")
        return 0.5


@pytest.fixture(autouse=True)
def _all_works() -> Iterator[None]:
    yield
    Down.fails = {}


def made(kind: type = Shop, watch: Watch = PLAIN, **row: Any) -> Any:
    environment = recording_class(kind, watch)()
    environment.reset(**row)
    return environment


def records(environment: Any) -> list[CallRecord]:
    journal = journal_of(environment)
    assert journal is not None
    return journal.records


def broken(environment: Any) -> str:
    journal = journal_of(environment)
    assert journal is not None
    return journal.broken


def attempt(call: Callable[[], Any]) -> Any:
    """Call a tool as TRL does: an exception becomes an error."""
    try:
        result = call()
        return asyncio.run(result) if inspect.iscoroutine(result) else result
    except Exception as error:
        return {"error": str(error)}


def test_calls_are_recorded_in_order_with_what_came_of_them() -> None:
    shop = made()
    attempt(lambda: shop.buy(item="tea", count=2))
    attempt(lambda: shop.ask(question="how much?"))
    attempt(lambda: shop.buy(item="gold"))
    attempt(lambda: shop.look())
    attempt(lambda: shop.buy(thing="tea"))
    attempt(lambda: shop.add(one=1, two=2))
    assert records(shop)[:4] == [
        CallRecord("buy", {"item": "tea", "count": 2}, "bought"),
        CallRecord("ask", {"question": "how much?"}, "HOW MUCH?"),
        CallRecord("buy", {"item": "gold"}, "{'error': 'sold out'}", "sold out"),
        CallRecord("look", {}, "{'sold': 2}"),
    ]
    assert "unexpected keyword argument 'thing'" in str(records(shop)[4].error)
    assert records(shop)[5] == CallRecord("add", {"one": 1, "two": 2}, "3")
    assert broken(shop) == ""


def test_reset_begins_another_rollout() -> None:
    shop = made()
    attempt(lambda: shop.look())
    before = records(shop)
    assert shop.reset(item="tea") == "Buy tea."
    assert (records(shop), len(before)) == ([], 1)


def test_a_tool_that_another_method_uses_is_no_call_of_the_policy() -> None:
    shop = made()  # reset looks around
    attempt(lambda: shop.buy(item="tea"))
    attempt(lambda: shop.ask(question="?"))
    assert own_reward(shop) == 1.0
    assert [record.name for record in records(shop)] == ["buy", "ask"]
    slow = made(watch=Watch(timeout=60))
    attempt(lambda: slow.buy(item="tea"))
    attempt(lambda: slow.ask(question="?"))
    assert [record.name for record in records(slow)] == ["buy", "ask"]


def test_arguments_are_those_from_before_the_tool_and_the_trainers_stay_as_they_were() -> None:
    shop, items = made(), ["b", "a"]
    attempt(lambda: shop.sort(items=items))
    assert records(shop) == [CallRecord("sort", {"items": ["b", "a"]}, "None")]
    assert items == ["b", "a"]


def test_the_class_looks_as_it_did() -> None:
    kind = recording_class(Shop, PLAIN)
    assert (kind.__name__, kind.__doc__, kind.__module__, kind.__qualname__) == (
        ("Shop", "Sells things.", __name__, "Shop")
    )
    assert issubclass(kind, Shop)
    names = [name for name, _ in tools_of(kind)]
    assert names == [name for name, _ in tools_of(Shop)] == ["add", "ask", "buy", "look", "sort"]
    shop, plain = kind(), Shop()
    for name in [*names, "reset", "get_reward"]:
        ours, theirs = getattr(shop, name), getattr(plain, name)
        assert inspect.signature(ours) == inspect.signature(theirs), name
        assert ours.__doc__ == theirs.__doc__
        assert ours.__name__ == theirs.__name__
        assert inspect.iscoroutinefunction(ours) == inspect.iscoroutinefunction(theirs)
        assert typing.get_type_hints(ours) == typing.get_type_hints(theirs)


def test_the_schemas_of_the_trainer_stay_the_same() -> None:
    utils = pytest.importorskip("transformers.utils")
    shop, plain = recording_class(Shop, PLAIN)(), Shop()
    assert utils.get_json_schema(shop.buy) == utils.get_json_schema(plain.buy)
    assert utils.get_json_schema(shop.buy)["function"]["parameters"]["required"] == ["item"]


def test_one_class_for_the_same_options() -> None:
    assert recording_class(Shop, Watch(timeout=2.0)) is recording_class(Shop, Watch(timeout=2.0))
    assert recording_class(Shop, Watch(timeout=2.0)) is not recording_class(Shop, Watch(timeout=3.0))


class Abstract(ABC):
    @abstractmethod
    def reset(self, **row: Any) -> None: ...

    def base(self) -> str:
        """Base."""
        return "base"


class Slotted(Abstract):
    __slots__ = ("count",)

    def reset(self, **row: Any) -> None:
        self.count = 0

    def more(self, *, by: int = 1) -> str:
        """More."""
        self.count += by
        return f"{super().base()} {self.count}"


@dataclass
class Data:
    seen: list[str] = field(default_factory=list)

    def reset(self, **row: Any) -> None:
        self.seen = []

    def see(self, what: str) -> str:
        """See."""
        self.seen.append(what)
        return what


def test_classes_of_all_kinds() -> None:
    slotted = made(Slotted)
    assert (slotted.more(by=2), slotted.base()) == ("base 2", "base")
    assert [record.name for record in records(slotted)] == ["more", "base"]
    one, other = made(Data), made(Data)
    one.see(what="a")
    assert (one.seen, other.seen, one == other) == (["a"], [], False)
    assert (len(records(one)), len(records(other))) == (1, 0)


def test_an_environment_that_copies_itself() -> None:
    class Searching(Data):
        def plan(self, what: str) -> str:
            """Plan."""
            other = copy.deepcopy(self)
            return other.see(what)

    searching = made(Searching, Watch(timeout=60))
    assert searching.plan(what="a") == "a"
    assert (searching.seen, [record.name for record in records(searching)]) == ([], ["plan"])
    assert records(copy.deepcopy(searching)) == records(searching)


def test_an_environment_that_was_made_elsewhere() -> None:
    shop = record_environment(Shop(), PLAIN)
    shop.buy(item="tea")
    assert [record.name for record in records(record_environment(shop, PLAIN))] == ["buy"]
    shop.buy(item="tea")
    assert [record.name for record in records(shop)] == ["buy", "buy"]
    with pytest.raises(rk.RewardDefinitionError, match="Pass its class"):
        record_environment(Fixed(), PLAIN)


def test_a_class_without_subclasses_cannot_record() -> None:
    class Registered:
        def __init_subclass__(cls, *, kind: str) -> None: ...

    class Own(Registered, kind="own"):
        def work(self) -> None:
            """Works."""

    with pytest.raises(rk.RewardDefinitionError, match=r"Own cannot record.*'kind'"):
        recording_class(Own, PLAIN)


class Fixed:
    __slots__ = ()

    def reset(self, **row: Any) -> None: ...

    def work(self) -> None:
        """Works."""


def test_what_is_no_environment_has_no_journal() -> None:
    for value in (None, 7, Shop(), object()):
        assert journal_of(value) is None
    assert journals(None) == {}
    assert journals([Shop(), None])["records"] is None


# Whose fault it was


@pytest.mark.parametrize("part", ["work", "wait"])
@pytest.mark.parametrize(
    ("error", "outage"),
    [
        (ConnectionError("down"), True),
        (ConnectionResetError("down"), True),
        (TimeoutError("slow"), True),
        (asyncio.TimeoutError("slow"), True),
        (rk.RewardFailure("gone"), True),
        (ValueError("bad"), False),
        (OSError("disk"), False),
        (MemoryError("much"), False),
        (SystemExit(3), False),
    ],
)
def test_outages_break_the_environment(part: str, error: BaseException, outage: bool) -> None:
    environment = made(Down)
    Down.fails = {part: error}
    said = attempt(getattr(environment, part))
    (record,) = records(environment)
    assert record.error is not None
    assert record.text == str(said)
    assert bool(broken(environment)) is outage
    if outage:
        assert broken(environment) == f"the tool {part!r}: {type(error).__name__}: {error}"
    environment.reset()
    assert broken(environment) == ""


def test_a_tool_that_exits_has_an_error() -> None:
    environment = made(Down)
    Down.fails = {"work": SystemExit(3)}
    assert attempt(environment.work) == {"error": "the environment called sys.exit(3)"}


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_an_asynchronous_tool_that_exits_leaves_the_loop_running(timeout: float | None) -> None:
    environment = made(Down, Watch(timeout=timeout))
    Down.fails = {"wait": SystemExit(3)}

    async def both() -> Any:
        return await asyncio.gather(environment.wait(), asyncio.sleep(0, "other"), return_exceptions=True)

    error, other = asyncio.run(both())
    assert (str(error), other) == ("the environment called sys.exit(3)", "other")


def test_a_stop_by_the_operator_is_none_of_our_business() -> None:
    environment = made(Down)
    Down.fails = {"work": KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        environment.work()


def test_exceptions_of_other_libraries_are_known_by_name() -> None:
    class URLError(OSError):
        __module__ = "urllib.error"
        __qualname__ = "URLError"

    class Deeper(URLError): ...

    assert PLAIN.is_outage(Deeper("down"))
    assert not PLAIN.is_outage(LookupError("x"))
    assert Watch(outages=(LookupError,)).is_outage(KeyError("x"))


def test_an_exception_that_cannot_say_what_happened_is_an_error() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    environment = made(Down)
    Down.fails = {"work": Mute()}
    assert attempt(environment.work) == {"error": "Mute without a message"}
    assert records(environment)[0].error == "Mute without a message"


def test_a_result_that_cannot_be_written_is_an_error_in_both_places() -> None:
    class Mute:
        def __str__(self) -> str:
            raise ValueError("mute")

    class Odd(Data):
        def work(self) -> Any:
            """Works."""
            return Mute()

    environment = made(Odd)
    assert attempt(environment.work) == {"error": "mute"}
    assert records(environment)[0].error == "mute"


@pytest.mark.parametrize("error", [ConnectionError("down"), rk.RewardFailure("gone")])
def test_a_reset_that_meets_an_outage(error: Exception) -> None:
    environment = recording_class(Down, PLAIN)()
    Down.fails = {"reset": error}
    assert environment.reset() is None
    assert broken(environment) == f"reset: {type(error).__name__}: {error}"
    assert attempt(environment.work) == "done"
    Down.fails = {}
    environment.reset()
    assert broken(environment) == ""


def test_a_bug_in_reset_is_raised() -> None:
    Down.fails = {"reset": KeyError("item")}
    with pytest.raises(KeyError):
        recording_class(Down, PLAIN)().reset()


def test_a_reset_that_does_not_take_the_row() -> None:
    class Bare(Shop):
        def reset(self) -> None:  # type: ignore[override]
            pass

    class Misspelled(Shop):
        def reset(self, itm: str, **row: Any) -> None:  # type: ignore[override]
            pass

    with pytest.raises(
        rk.errors.BindingError, match=r"Bare\.reset does not accept a row .*Columns: item\. Add \*\*row"
    ):
        recording_class(Bare, PLAIN)().reset(item="tea")
    with pytest.raises(rk.errors.BindingError, match=r"Misspelled\.reset .*Columns: item\. Did you mean 'item'\?"):
        recording_class(Misspelled, PLAIN)().reset(item="tea")


def test_a_tool_that_hangs_breaks_the_environment_until_it_returns() -> None:
    freed = threading.Event()

    class Slow(Down):
        def hang(self) -> str:
            """Hangs."""
            freed.wait(60)
            return "late"

    environment = made(Slow, Watch(timeout=0.05))
    assert attempt(environment.hang) == {"error": "no result within 0.05 s"}
    assert attempt(environment.hang) == {"error": "an earlier call has not returned yet"}
    assert broken(environment).startswith("the tool 'hang': TimeoutError")
    environment.reset()
    assert broken(environment) == "a tool from an earlier rollout has not returned yet"
    (thread,) = journal_of(environment).hanging  # type: ignore[union-attr]
    freed.set()
    thread.join(60)
    environment.reset()
    assert (broken(environment), records(environment)) == ("", [])


def test_an_asynchronous_tool_that_hangs() -> None:
    class Slow(Down):
        async def hang(self) -> str:
            """Hangs."""
            await asyncio.sleep(60)
            return "late"

    environment = made(Slow, Watch(timeout=0.05))
    assert attempt(environment.hang) == {"error": "no result within 0.05 s"}
    assert "no result within" in broken(environment)


def test_with_a_time_limit_results_and_errors_are_the_same() -> None:
    for watch in (PLAIN, Watch(timeout=60)):
        shop = made(watch=watch)
        calls = (functools.partial(shop.buy, item="tea"), functools.partial(shop.buy, item="gold"))
        assert [attempt(call) for call in calls] == ["bought", {"error": "sold out"}]
        assert broken(shop) == ""


# The environment's own reward


def test_it_is_asked_once_per_rollout() -> None:
    asked = []

    class Paying(Data):
        def get_reward(self) -> float:
            asked.append(1)
            return 0.25

    environment = made(Paying)
    journals([environment])
    journals([environment])
    assert (environment.get_reward(), own_reward(environment), len(asked)) == (0.25, 0.25, 1)
    environment.reset()
    assert (environment.get_reward(), len(asked)) == (0.25, 2)


def test_hidden_it_is_for_us_alone() -> None:
    environment = made(Shop, Watch(hide_reward=True))
    assert environment.get_reward is None
    environment.buy(item="tea")
    assert own_reward(environment) == 1.0
    assert "get_reward" not in dict(inspect.getmembers(type(environment), inspect.isfunction))


class Asynchronous(Down):
    async def get_reward(self) -> float:  # type: ignore[override]
        await asyncio.sleep(0)
        self._meet("get_reward")
        return 0.5


@pytest.mark.parametrize("kind", [Down, Asynchronous])
@pytest.mark.parametrize("hide", [True, False])
def test_an_outage_in_it_breaks_the_environment(kind: type, hide: bool) -> None:
    environment = made(kind, Watch(hide_reward=hide))
    Down.fails = {"get_reward": ConnectionError("judge is down")}
    assert journals([environment])["broken"] == {0: "get_reward: ConnectionError: judge is down"}
    assert own_reward(environment) is None
    if not hide:
        assert attempt(environment.get_reward) is None


@pytest.mark.parametrize("kind", [Down, Asynchronous])
def test_after_an_outage_no_number_is_told(kind: type) -> None:
    environment = made(kind)
    Down.fails = {"work": ConnectionError("down")}
    attempt(environment.work)
    assert journals([environment])["broken"] == {0: "the tool 'work': ConnectionError: down"}
    assert attempt(environment.get_reward) is None


@pytest.mark.parametrize("kind", [Down, Asynchronous])
def test_a_bug_in_it_is_raised_where_it_is_asked(kind: type) -> None:
    environment = made(kind)
    Down.fails = {"get_reward": KeyError("stock")}
    assert journals([environment])["broken"] == {}
    with pytest.raises(KeyError):
        own_reward(environment)
    assert attempt(environment.get_reward) == {"error": "'stock'"}


def test_it_runs_in_the_loop_of_the_tools() -> None:
    """A session that a tool opened belongs to its loop."""
    loops = []

    class Session(Data):
        async def work(self) -> str:
            """Works."""
            loops.append(asyncio.get_running_loop())
            return "done"

        async def get_reward(self) -> float:
            loops.append(asyncio.get_running_loop())
            return 1.0

    environment = made(Session)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(environment.work(), loop).result(60)
        journals([environment])
        assert own_reward(environment) == 1.0
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()
    assert loops == [loop, loop]


def test_journals_of_a_batch() -> None:
    one, other = made(), made(Down)
    one.buy(item="tea")
    Down.fails = {"work": TimeoutError("slow")}
    attempt(other.work)
    known = journals([one, other, Shop()])
    assert [found and len(found) for found in known["records"]] == [1, 1, None]
    assert known["broken"] == {1: "the tool 'work': TimeoutError: slow"}


def test_the_watch_pickles() -> None:
    watch = Watch(2.0, (LookupError,), True)
    assert pickle.loads(pickle.dumps(watch)) == watch


def test_a_broken_row_fails_in_every_component() -> None:
    """Also under a policy for failures: no number may stand for an outage."""

    @rk.reward(on_failure=0.7)
    def lenient(completion: str) -> float:
        return 1.0

    @rk.reward(scope="group")
    def relative(completion: list[str]) -> list[float]:
        return [1.0] * len(completion)

    one, other = made(Down), made(Down)
    Down.fails = {"work": ConnectionError("down")}
    attempt(one.work)
    tree = rk.exact("answer") + lenient + relative + 0.5 * rk.agents.tool_errors() + rk.agents.turns_between(1, 2)
    table = rk.score(tree, ["42", "42"], answer=["42", "42"], prompts=["p", "p"], environments=[one, other])
    assert all(list(outcomes) == ["failed", "scored"] for outcomes in table.outcomes.values())
    assert [str(total) for total in table.total] == ["nan", "4.0"]
    assert {fault.reason for fault in table.faults} == {"the tool 'work': ConnectionError: down"}


def test_one_environment_per_completion() -> None:
    with pytest.raises(rk.errors.BindingError, match="environments has 1 values for 2 completions"):
        rk.score(rk.agents.finished(), ["a", "b"], environments=[made()])
    with pytest.raises(rk.errors.BindingError, match="must be a list with one environment per completion"):
        rk.score(rk.agents.finished(), ["a"], environments=made())
    with pytest.raises(rk.errors.BindingError, match="got the class 'Shop'"):
        rk.score(rk.agents.finished(), ["a"], environments=[Shop])


def test_nothing_is_left_behind() -> None:
    before = sys.getrefcount(Shop)
    for _ in range(50):
        made()
    assert sys.getrefcount(Shop) - before < 20
