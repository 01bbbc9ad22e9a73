"""Execution: laws run one by one, also if the reward kills its process."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.check import subject_of
from rewardkit.check.laws import Law
from rewardkit.check.laws.base import Skip
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.run.execution import _loss_finding
from rewardkit.check.run.isolation import Lost, can_isolate
from rewardkit.check.run.output import Output
from rewardkit.check.variants.wild_texts import TEXTS
from rewardkit.testing import Declarations, check_reward
from tests.check.clock import Clock, check_goes_by
from tests.check.rewards import (
    EXAMPLES,
    QUICK,
    broken_laws,
    check,
    form,
    naive,
    number,
    raises_on_empty,
    shown,
    timeless,
)

forks = pytest.mark.skipif(not can_isolate(), reason="this system cannot fork")


def on_text(text: str, does: Callable[[], Any]) -> Callable[..., list[float]]:
    """A trainer's function that does something dreadful where a completion is that text."""

    def dreadful(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        if text in completions:
            does()
        return [float(f"<answer>{gold}</answer>" in one) for one, gold in zip(completions, answer, strict=True)]

    return dreadful


def for_ever() -> None:
    while True:
        pass


@rk.reward
def hangs_on_a_word(completion: str, answer: str) -> float:
    if completion == "word":
        for_ever()
    return float(f"<answer>{answer}</answer>" in completion)


@forks
@pytest.mark.parametrize(
    ("does", "said"),
    [
        (for_ever, "took more than 0.4 s"),
        (lambda: time.sleep(60), "took more than 0.4 s"),
        (lambda: os._exit(3), "it exited"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "SIGKILL"),
    ],
    ids=["loop", "sleep", "exit", "killed"],
)
def test_a_reward_that_hangs_or_ends_the_process(does: Callable[[], Any], said: str) -> None:
    report = check(
        on_text("word", does), laws=["total", "separates_good_from_bad"], seconds_per_completion=0.4, budget=10.0
    )
    (found,) = report["total"].findings
    assert (found.completion, found.columns, found.score) == ("word", EXAMPLES[0], None)
    assert said in found.why
    assert found.matters
    assert report["separates_good_from_bad"].outcome == "held"  # looks at given completions alone
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


STALLING = {TEXTS[name] for name in ("a tower", "a factorial", "a huge range")}


def stalls_on_many(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Hang on several completions, as `eval` does."""
    if STALLING & set(completions):
        for_ever()
    return [float(f"<answer>{gold}</answer>" in one) for one, gold in zip(completions, answer, strict=True)]


@pytest.mark.slow
@forks
def test_stalls_cost_no_other_law_its_time() -> None:
    laws = ["total", "finite", "separates_good_from_bad", "informative", "gold_gets_the_maximum", "permutation"]
    report = check(stalls_on_many, laws=laws, seconds_per_completion=0.3, budget=3.0)
    (found,) = report["total"].findings
    assert found.completion in STALLING
    assert found.law == "time_linear"
    assert "as did 2 more" in found.why
    assert {result.outcome for result in report.results if result.law != "total"} == {"held"}


@pytest.mark.slow
@forks
def test_a_reward_that_always_hangs_is_one_finding() -> None:
    def always(completions: list[str], **kwargs: Any) -> list[float]:
        while True:
            pass

    report = check(always, seconds_per_completion=0.3, budget=1.0)
    (found,) = report.findings
    assert found.law == "time_linear"
    assert {result.outcome for result in report.results if not result.findings} == {"unfinished"}


@pytest.fixture
def clock() -> Iterator[Clock]:
    """The clock that a check goes by."""
    made = Clock()
    with check_goes_by(made):
        yield made


def test_a_slow_reward_is_tried_on_fewer_completions(clock: Clock) -> None:
    def slow(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        clock.now += 0.02 * len(completions)
        return [float(f"<answer>{gold}</answer>" in one) for one, gold in zip(completions, answer, strict=True)]

    report = check(slow, laws=["total", "separates_good_from_bad"], budget=2.0, isolate=False)
    assert [result.outcome for result in report.results] == ["held", "held"]
    assert 0 < report["total"].tries < 60
    assert report.seconds == pytest.approx(clock.now)


@pytest.mark.parametrize("isolate", [True, False])
def test_a_law_that_takes_too_long_is_cut_short_alone(clock: Clock, isolate: bool) -> None:
    def endless(subject: Any) -> Any:
        """Never done."""
        while True:
            clock.now += 0.01
            subject.see([Trial("word")], fresh=True)
        yield

    report = check(number, laws=[Law("endless", endless), "total"], budget=1.0, isolate=isolate)
    assert report["endless"].outcome == "unfinished"
    assert "out of time" in report["endless"].reason
    assert report["total"].outcome == "held"


@pytest.mark.slow
@forks
def test_a_law_that_waits_without_scoring_is_cut_short_alone() -> None:
    def waits(subject: Any) -> Any:
        """Wait for a thread that never ends, say."""
        time.sleep(60)
        yield

    report = check(number, laws=[Law("waits", waits), "total"], budget=2.0, seconds_per_completion=0.2)
    assert (report["waits"].outcome, report["waits"].reason) == ("unfinished", "ran out of time")
    assert report["total"].outcome == "held"


@pytest.mark.slow
@forks
def test_the_completion_of_a_batch_that_hangs_is_named() -> None:
    report = check(hangs_on_a_word, laws=["total"], seconds_per_completion=0.2, budget=15.0)
    (found,) = report.findings
    assert found.completion == "word"
    assert "took more than 0.2 s" in found.why


@pytest.mark.slow
@forks
def test_only_the_completions_that_hang_lose_their_scores() -> None:
    hanging = [f"word{number}" for number in range(2)]

    @rk.reward
    def hangs_on_words(completion: str, answer: str) -> float:
        if completion in hanging:
            for_ever()
        return len(completion) / 10

    def batch(subject: Any) -> Any:
        """Score a batch."""
        scores = subject.see([Trial(text) for text in ("a", *hanging, "abc", "ab")])
        raise Skip(str([score.value for score in scores if score.tried]))
        yield

    laws = [Law("batch", batch)]
    report = check(hangs_on_words, laws=laws, seconds_per_completion=0.3, budget=15.0)
    (found,) = report.findings
    assert (found.completion, found.law) == ("word0", "time_linear")
    assert "as did 1 more" in found.why
    assert report["batch"].reason == "[0.1, 0.3, 0.2]"


@forks
def test_a_completion_whose_calls_hang_is_shown_as_given() -> None:
    def sell(item: str) -> None:
        """Sell an item.

        Args:
            item: its name.
        """
        for_ever()

    good = [[{"calls": [("sell", {"item": "rice"})], "answer": "42"}]]
    declared = Declarations(tools=[sell])
    checked = subject_of(number, [{"answer": "42"}], good=good, declarations=declared)
    trial = Trial(checked.examples[0].good[0])
    fault = _loss_finding(checked, trial, Lost((trial,), "took more than 1 s"), 0.2, Output())
    assert (fault.law, fault.completion) == ("time_linear", trial.completion)


@pytest.mark.slow
@forks
def test_an_environment_never_runs_in_this_process(tmp_path: Path) -> None:
    journal = tmp_path / "processes"

    class Shop:
        def reset(self, **row: Any) -> None:
            self.sell("reset")

        def sell(self, item: str) -> str:
            """Sell an item.

            Args:
                item: its name.
            """
            with journal.open("a") as file:
                file.write(f"{os.getpid()}\n")
            self.sold = item
            return item

    def hangs_on_rice(environment: Any) -> bool:
        if environment.sold == "rice":
            for_ever()
        return True

    report = check_reward(
        rk.agents.final_state(hangs_on_rice),
        examples=[{"prompt": [{"role": "user", "content": "Sell tea."}]}],
        good=[[{"calls": [("sell", {"item": "tea"})], "answer": "Sold."}]],
        bad=[[{"calls": [("sell", {"item": "rice"})], "answer": "Sold."}]],
        laws=["separates_good_from_bad"],
        declarations=Declarations(environment=Shop, seconds_per_completion=0.5),
        budget=10.0,
    )
    (found,) = report.findings
    assert [message["content"] for message in found.completion if message["role"] == "tool"] == ["rice"]
    assert str(os.getpid()) not in journal.read_text().split()


def test_unlimited_memory() -> None:
    report = check(on_text("word", lambda: b"x" * (1 << 42)), laws=["total"])
    (found,) = report.findings
    assert found.completion == "word"
    assert "MemoryError" in found.why


def test_a_reward_that_raises() -> None:
    report = check(raises_on_empty, laws=["total", "finite", "permutation", "thread_safe"])
    assert broken_laws(report) == {"total"}
    assert report.findings[0].completion == ""


@forks
def test_the_reward_changes_nothing_in_this_process() -> None:
    done: list[str] = []
    state = random.getstate()
    directory = Path.cwd()

    def messy(completions: list[str], **kwargs: Any) -> list[float]:
        done.extend(completions)
        random.seed(1)
        os.chdir("/")
        os.environ["REWARDKIT_MESSY"] = "1"
        return [float("4" in text) for text in completions]

    check(messy, laws=["total", "informative"])
    assert done == []
    assert random.getstate() == state
    assert Path.cwd() == directory
    assert "REWARDKIT_MESSY" not in os.environ


@pytest.mark.slow
@pytest.mark.parametrize("reward", [naive, number, raises_on_empty, [form, naive]], ids=shown)
def test_isolation_does_not_change_findings(reward: Any) -> None:
    laws = [*QUICK, "batch_equals_singles", "permutation", "inputs_not_mutated"]
    isolated, here = (check(reward, laws=laws, isolate=isolate, budget=600.0) for isolate in (True, False))
    assert timeless(isolated) == timeless(here)  # the budget is so large that a busy machine tries as many completions


def test_a_bug_of_the_harness_is_not_blamed_on_the_reward() -> None:
    def buggy(subject: Any) -> Any:
        """Never."""
        raise KeyError("of the law")
        yield

    report = check(number, laws=[Law("buggy", buggy), "total"])
    assert report.ok is None
    assert report["buggy"].outcome == "unfinished"
    assert "KeyError" in report["buggy"].reason
    assert "some laws were not finished" in str(report)
    assert report["total"].outcome == "held"


@pytest.mark.slow
@pytest.mark.parametrize("isolate", [True, False])
def test_the_budget(isolate: bool) -> None:
    def slow(completions: list[str], **kwargs: Any) -> list[float]:
        time.sleep(0.03 * len(completions))
        return [float("4" in text) for text in completions]

    report = check(slow, laws=None, budget=4.0, isolate=isolate)
    late = [result for result in report.results if "out of time" in result.reason]
    assert len(late) > 5
    assert all(result.outcome in ("unfinished", "broken") for result in late)
    assert {"held", "broken"} & {result.outcome for result in report.results}  # some had time


def test_the_callback_gets_each_law_as_it_starts() -> None:
    told: list[tuple[str, int, int]] = []
    check(number, laws=QUICK, on_progress=lambda *said: told.append(said))
    assert told == [(law, place, len(QUICK)) for place, law in enumerate(QUICK)]


def test_the_first_finding_says_how_many_tries_it_took() -> None:
    report = check(naive, laws=["exploits", "total"])
    found = report["exploits"]
    assert found.findings
    assert 0 < found.first <= found.tries
    assert report["total"].first == 0
