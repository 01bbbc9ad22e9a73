"""Aims: what the code of a reward looks for, each with its line."""

from __future__ import annotations

import re
from typing import Any

import rewardkit as rk
from rewardkit.check.reading.aims import Aim, aims
from rewardkit.tree.conversion import tree_of
from tests.check.rewards import broken, number

_LIMIT = re.compile(r"within \d+ days")


def looks_for_a_lot(completions: list[str], answer: list[str], kind: list[str], **kwargs: Any) -> list[float]:
    scores = []
    for text, gold, one in zip(completions, answer, kind, strict=True):
        said = text.strip()
        source = kwargs["source"][0]
        if said == "no comment" or text.startswith("As asked"):
            scores.append(0.5)
        elif len(said) > 7 and re.search(r"[a-c]{2}!", said):
            scores.append(0.7)
        elif one in ("short", "long") or source != "web":
            scores.append(float(_LIMIT.search(said) is not None and said != gold))
        else:
            scores.append(_of_table(said))
    return scores


def _of_table(text: str) -> float:
    return {"certainly": 1.0, "perhaps": 0.5}.get(text, 0.0)


class Configured:
    """A reward with settings."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.__name__ = "configured"

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [float(text.endswith("the end")) for text in completions]


def magic(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Is paid for a text that no catalog has."""
    pairs = zip(completions, answer, strict=True)
    return [
        float(text.endswith(f"<answer>{gold}</answer>") or re.match(r"q{3}-\d{2}$", text) is not None)
        for text, gold in pairs
    ]


def found(reward: Any) -> list[Aim]:
    return aims(tree_of(reward, "a test"))


def test_texts_and_cells_are_found_with_their_lines() -> None:
    known = found(looks_for_a_lot)
    texts = [text for aim in known for text in aim.texts]
    assert {"no comment", "As asked", "As asked As asked As asked ", "aaaaaaa", "certainly"} <= set(texts)
    assert any(re.fullmatch(r".*[a-c]{2}!.*", text, re.DOTALL) for text in texts)
    cells = [aim.columns for aim in known if aim.columns]
    assert {"kind": "short"} in cells
    assert {"kind": "long"} in cells
    assert {"source": "web"} in cells
    first = min(known, key=lambda aim: aim.line)
    assert first.line > 10
    assert len({aim.texts for aim in known if aim.texts}) == len([aim for aim in known if aim.texts])


def test_the_code_of_objects_is_read() -> None:
    assert "the end" in [text for aim in found(Configured("a")) for text in aim.texts]


def test_nothing_is_read_where_no_source_is_at_hand() -> None:
    assert found(number) == []
    assert found(rk.tags("a")) == []
    namespace: dict[str, Any] = {}
    exec("def reward(completions, **kwargs):\n    return [float(text == 'x') for text in completions]", namespace)
    assert found(namespace["reward"]) == []


def test_what_the_code_looks_for_is_tried() -> None:
    findings = broken(magic, "exploits")
    assert any("a string that the code looks for" in one.why and "qqq-" in one.completion for one in findings)


def made_for(score: Any) -> Any:
    def reward(completions: list[str], **kwargs: Any) -> list[float]:
        return [score(text) for text in completions]

    return reward


def test_the_functions_that_a_reward_was_made_for_are_read() -> None:
    assert "certainly" in [text for aim in found(made_for(_of_table)) for text in aim.texts]


def test_what_is_not_assigned_yet_is_not_read() -> None:
    def outer() -> Any:
        def reward(completions: list[str], **kwargs: Any) -> list[float]:
            return [float(later(text)) for text in completions]

        unfinished = reward
        if completions_exist():
            later = len
        return unfinished

    assert isinstance(found(outer()), list)


def completions_exist() -> bool:
    return False
