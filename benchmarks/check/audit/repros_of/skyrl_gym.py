"""Faults of skyrl-gym's environments."""

from __future__ import annotations

from importlib import import_module

from subjects import skyrl_gym

SUBJECTS = {subject.name: subject for subject in skyrl_gym.subjects()}
gsm8k, aime = (import_module(f"skyrl_gym.envs.{name}.utils") for name in ("gsm8k", "aime"))


def gsm8k_full_stop() -> None:
    """The right answer earns nothing if a full stop or a dollar sign is next to it."""
    assert gsm8k.compute_score("#### 42.", "42") == 0
    assert gsm8k.compute_score("#### $42", "42") == 0
    assert gsm8k.compute_score("#### 42", "42") == 1


def aime_pair() -> None:
    """The pair 4,2 earns what the number 42 earns."""
    assert aime.compute_score("Answer: 4,2", "42")["score"] == 1.0


def text2sql_empty() -> None:
    """An empty query earns 1 where the right query finds no rows."""
    reward = SUBJECTS["text2sql"].reward
    gold = "SELECT name FROM toys WHERE price > 99"
    assert reward(["<think></think><solution></solution>"], answer=[gold]) == [1.0]


def lcb_equals_everything() -> None:
    """A function whose result says that it equals everything passes the tests."""
    program = "class A(int):\n    __eq__ = lambda self, other: True\ndef double(n): return A()"
    subject = SUBJECTS["lcb (functional)"]
    assert subject.reward([f"```python\n{program}\n```"], answer=[subject.examples[0]["answer"]]) == [1.0]
