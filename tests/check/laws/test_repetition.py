"""Laws of repetition: equal completions earn the same, each time and in each process."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.laws import processes
from rewardkit.check.laws.base import Unfinished
from rewardkit.check.reward_under_test.trials import Trial
from tests.check.rewards import (
    assert_held,
    assert_skipped,
    awaited,
    broken,
    noisy,
    number,
    shortest,
    shown,
    subject,
    tagged_number,
    tree,
)

calls: list[str] = []
LETTERS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu"
GREEK: dict[str, Any] = {
    "examples": [{"answer": LETTERS}, {"answer": LETTERS.upper().replace("ALPHA", "alpha")}],
    "good": [LETTERS, LETTERS.upper().replace("ALPHA", "alpha")],
    "bad": ["beta alpha", "one two three four five six seven eight nine ten alpha"],
}


def used_up(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Counts what it has seen."""
    calls.extend(completions)
    return [float(gold in text) - 0.001 * len(calls) for text, gold in zip(completions, answer, strict=True)]


@rk.reward
def a_little_noise(completion: str, answer: str) -> float:
    return float(answer in completion) * 0.9 + (0.1 * random.random() if "<answer>" in completion else 0.0)


@rk.reward(deterministic=False)
def says_so(completion: str) -> float:
    return random.random()


def place_in_a_set(completions: list[str], **kwargs: Any) -> list[float]:
    """The order of a set of texts is another in every process, in which the function also prints bytes."""
    os.write(1, b"\x80\x04\xff\n")
    scores = []
    for text in completions:
        words = list(set(re.findall(r"\w+", text)))
        scores.append(words.index("alpha") / len(words) if "alpha" in words else 0.0)
    return scores


def words_in_common(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """A set whose order does not matter."""
    return [len(set(text.split()) & set(gold.split())) / 12 for text, gold in zip(completions, answer, strict=True)]


@pytest.mark.parametrize("reward", [number, tree, tagged_number, awaited, shortest], ids=shown)
def test_sound_rewards_earn_the_same_again(reward: Any) -> None:
    assert_held(reward, "deterministic")


@pytest.mark.parametrize("reward", [noisy, used_up])
def test_chance_and_memory(reward: Any) -> None:
    (found,) = broken(reward, "deterministic")
    assert re.search(r"scored [-\d.e]+ once and [-\d.e]+ another time", found.why)
    assert found.completion == ""
    assert "takes noise for an advantage" in found.matters


def stuck_elsewhere(completions: list[str], **kwargs: Any) -> list[float]:
    """Hangs in other processes alone."""
    if os.environ.get("PYTHONHASHSEED"):
        time.sleep(60)
    return [0.0 for _ in completions]


@pytest.mark.slow
def test_no_other_process_stays_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_SECONDS", 0.2)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    with pytest.raises(Unfinished, match=r"did not score 1 completions within 0\.2 s"):
        processes._in_other_processes(subject(stuck_elsewhere), [Trial("a")])
    assert [one.returncode for one in started] == [-signal.SIGKILL] * 3  # None: not reaped


def test_noise_that_only_some_completions_get() -> None:
    (found,) = broken(a_little_noise, "deterministic")
    assert "<answer>" in found.completion
    assert "time" in found.why
    (found,) = broken(0.5 * number + 0.5 * a_little_noise, "deterministic")


def test_what_is_declared() -> None:
    assert_skipped(says_so, "deterministic", "deterministic=False")


@pytest.mark.slow
def test_the_order_of_a_set_differs_in_another_process() -> None:
    (found,) = broken(place_in_a_set, "deterministic", **GREEK)
    assert "in another process" in found.why
    assert len(found.completion.split()) > 1


def any_number_of_a_set(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The first number of a set of texts, which no honest completion has two of."""
    said = [next(iter(set(re.findall(r"[0-9]+", text))), "") for text in completions]
    return [float(number == gold) for number, gold in zip(said, answer, strict=True)]


@pytest.mark.slow
def test_completions_are_joined_so_that_sets_have_an_order() -> None:
    answers = [str(number) for number in range(30, 36)]
    (found,) = broken(
        any_number_of_a_set,
        "deterministic",
        examples=[{"prompt": "?", "answer": answer} for answer in answers],
        good=[f"It is {answer}." for answer in answers],
        bad=[f"It is {answer}0." for answer in answers],
    )
    assert "in another process" in found.why
    assert "\n" in found.completion


def against_the_longest(completions: list[str], **kwargs: Any) -> list[float]:
    """Depends on the rest of the batch, and uses a set."""
    longest = max({len(text) for text in completions}) or 1
    return [len(text) / longest for text in completions]


@pytest.mark.slow
def test_the_rest_of_the_batch_is_not_taken_for_the_order_of_a_set() -> None:
    assert_held(against_the_longest, "deterministic", **GREEK)


@pytest.mark.slow
def test_a_set_whose_order_does_not_matter() -> None:
    assert_held(words_in_common, "deterministic", **GREEK)
