"""Faults of ms-swift's reward functions (swift/rewards/orm.py)."""

from __future__ import annotations

from importlib import import_module

from subjects import ms_swift

next(ms_swift.subjects())  # loads the file
orm = import_module("orm")


def react_orm_one_word() -> None:
    """One word of the right query earns what the query earns."""
    gold = "Action: search\nAction Input: author of Middlemarch"
    assert orm.ReactORM()(["Action: search\nAction Input: of"], [gold]) == [1.0]
