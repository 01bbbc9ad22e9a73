"""The demo's reward: a slope from the sloppiest answer to the right one."""

from __future__ import annotations

import json

import pytest

import rewardkit as rk
from rewardkit_runner.demo.reward import reward

GOLD = {"name": "Mia", "qty": 31, "item": "toy", "color": "red"}
LADDER = [
    "Sure, here it is: {'name':'Mia'",
    "Sure, here it is: {'name':'Mia'}",
    "{'name':'Mia','qty':'31'}",
    '{"name":"Mia","qty":"31"}',
    '{"name":"Mia","qty":"31","item":"toy","color":"red"}',
    '{"name":"Mia","qty":31,"item":"toy","color":"blue"}',
    json.dumps(GOLD),
]


def test_every_step_towards_the_order_earns_more() -> None:
    totals = rk.score(reward, LADDER, order=[json.dumps(GOLD)] * len(LADDER)).total.tolist()
    assert totals == sorted(set(totals))
    assert totals[0] == 0.0
    assert totals[-1] == pytest.approx(1.0)


def test_it_has_the_parts_it_is_meant_to_show() -> None:
    functions = rk.to_trl(reward)
    assert len(functions) >= 4
    start, end = (
        rk.score(reward, LADDER, order=[json.dumps(GOLD)] * len(LADDER), progress=rk.Progress(step, 100))
        for step in (0, 100)
    )
    assert start.weights["exact_order"] == 0.0
    assert end.weights["exact_order"] == pytest.approx(0.3)
    assert 0.0 < start.gates["bare_json_gate"] < 1.0


def test_spam_and_placeholders_earn_little() -> None:
    spam = ["{}", '{"a":1,"b":2}', json.dumps([GOLD]), json.dumps(GOLD) * 2, "}{" * 50, "\x00", ""]
    totals = rk.score(reward, spam, order=[json.dumps(GOLD)] * len(spam)).total
    assert totals.max() <= 0.2 + 1e-9
