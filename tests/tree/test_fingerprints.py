"""Fingerprints: rewards that score differently have different ones, in every process."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.testing import check_reward
from rewardkit.text.thinking import visible_text
from rewardkit.tree.fingerprints import described, fingerprint, source


class Cut:
    """Two of these cut differently."""

    def __init__(self, length: int) -> None:
        self.length = length

    def cut(self, text: str) -> str:
        return text[: self.length]

    def __call__(self, text: str) -> str:
        return text[: self.length]

    def __repr__(self) -> str:
        return "Cut"


first, second = lambda text: text[:1], lambda text: text[:2]


def prints(*extractors: object) -> set[str]:
    return {rk.exact("a", extract=extract).fingerprint for extract in extractors}


def test_extractors_with_different_state_have_different_fingerprints() -> None:
    assert len(prints(Cut(1).cut, Cut(2).cut, Cut(1), Cut(2), first, second)) == 6


def test_equal_extractors_have_equal_fingerprints() -> None:
    assert prints(Cut(1).cut) == prints(Cut(1).cut)
    assert prints(Cut(1)) == prints(Cut(1))
    assert fingerprint(first) == fingerprint(first)
    assert "0x" not in repr(prints(Cut(1)))


def leaf(name: str, value: float | None = 0.5) -> rk.Reward:
    def function(completion: str) -> float | None:
        return value

    return rk.reward(name=name)(function)


A, B = leaf("a", 0.5), leaf("b", 0.25)


def my_extractor(text: str) -> str | None:
    return text.upper()


def other_extractor(text: str) -> str | None:
    return text.lower()


class Settings:
    def __init__(self) -> None:
        self.words = frozenset(f"word{number}" for number in range(50))


SETTINGS = Settings()


@rk.reward
def module_level(completion: str) -> float:
    return 1.0


def example_tree() -> rk.Reward:
    def enclosing(completion: str) -> float:
        return 1.0 if [SETTINGS.words, my_extractor(completion), words, enclosing] else 0.0

    words = Settings().words
    own = rk.reward(name="own")(enclosing)
    return (
        rk.exact("answer", extract=my_extractor, gold=other_extractor)
        + rk.number("answer", extract=partial(my_extractor))
        + own
        + 0.5 * module_level
    )


DIFFERENT = [
    rk.exact("a"),
    rk.exact("b"),
    rk.exact("a", ignore_case=True),
    rk.exact("a", gold=rk.extract.after("####")),
    rk.exact("a", gold=rk.extract.boxed()),
    rk.exact("a", gold=my_extractor),
    rk.exact("a", gold=other_extractor),
    rk.exact("a", extract=my_extractor),
    rk.exact("a", extract=other_extractor),
    rk.number("a"),
    rk.number("a", thousands=False),
    rk.number("a", gold=rk.extract.after("####")),
    A,
    B,
    2 * A,
    A.clip(0, 1),
    A.named("x"),
    rk.gate(A, B),
    rk.gate(A, B, soft=True),
    A * rk.schedules.linear(0, 1),
    A * rk.schedules.linear(0, 1, end=0.5),
]


def test_different_rewards_differ_and_have_different_fingerprints() -> None:
    assert len(set(DIFFERENT)) == len(DIFFERENT)
    assert len({reward.fingerprint for reward in DIFFERENT}) == len(DIFFERENT)


def test_two_gold_extractors_are_two_rewards_with_two_scores() -> None:
    tree = rk.exact("answer").named("raw") + rk.exact("answer", gold=rk.extract.after("####")).named("marked")
    table = rk.score(tree, ["72"], answer=["so #### 72"])
    assert (table["raw"].tolist(), table["marked"].tolist()) == ([0.0], [1.0])


@pytest.mark.slow
def test_a_fingerprint_is_16_hexadecimal_digits_and_the_same_in_every_process() -> None:
    here = example_tree().fingerprint
    assert len(here) == 16
    assert int(here, 16) >= 0
    code = "from tests.tree.test_fingerprints import example_tree; print(example_tree().fingerprint)"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == here


def test_descriptions_hold_no_addresses() -> None:
    assert " at 0x" not in described(example_tree())


def test_the_source_of_a_user_function_is_part_of_the_fingerprint() -> None:
    def made(changed: bool) -> rk.Reward:
        if changed:

            def function(completion: str) -> float:
                return 0.25

        else:

            def function(completion: str) -> float:
                return 0.5

        return rk.reward(function)

    assert made(changed=True).fingerprint != made(changed=False).fingerprint
    assert made(changed=True).fingerprint == made(changed=True).fingerprint


def test_functions_of_rewardkit_are_identified_by_name() -> None:
    assert source(visible_text) == "rewardkit visible_text"  # a new comment makes no new version


def test_an_object_that_refers_to_itself_has_a_fingerprint() -> None:
    class Dataset:
        def __init__(self, name: str) -> None:
            self.name = name
            self.owner = self

    def reward_of(dataset: Dataset) -> rk.Reward:
        def right(completion: str, answer: str) -> float:
            return float(completion == answer and bool(dataset.owner))

        return rk.from_trl(right)

    assert reward_of(Dataset("a")).fingerprint == reward_of(Dataset("a")).fingerprint
    assert reward_of(Dataset("a")).fingerprint != reward_of(Dataset("b")).fingerprint


def test_a_function_may_refer_to_its_own_tree() -> None:
    held: dict[str, Any] = {}

    @rk.reward
    def looks_around(completion: str) -> float:
        return float("tree" in held)

    before = looks_around.fingerprint
    held["tree"] = 0.5 * looks_around + rk.exact("answer")
    assert looks_around.fingerprint != before
    assert described(held["tree"])


@pytest.mark.parametrize(
    "edited", ["x = (\n\n\ndef f(:\n", 'x = """\n\n\nnever closed\n', "", "# A page\n    that's\n"]
)
def test_a_function_whose_file_was_edited_after_the_import_is_still_scored_and_checked(
    tmp_path: Path, edited: str
) -> None:
    file = tmp_path / "edited.py"
    file.write_text("x = 1\n\n\ndef contains(completions, answer, **kwargs):\n    return [1.0 for _ in completions]\n")
    names = runpy.run_path(str(file))
    file.write_text(edited)
    (function,) = rk.to_trl([names["contains"]], record=str(tmp_path / "record"))
    assert function(prompts=["?"], completions=["42"], answer=["42"]) == [1.0]
    assert (
        check_reward(names["contains"], examples=[{"prompt": "?", "answer": "42"}], good=["42"], bad=["1"]).ok is False
    )
