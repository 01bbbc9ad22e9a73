"""The mailbox: numbers are given once, files are whole, and what is answered is not asked again."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit_adapters.live.mailbox import Answer, Mailbox
from rewardkit_adapters.live.sources import Code


def test_many_senders_get_numbers_of_their_own(tmp_path: Path) -> None:
    mailbox = Mailbox(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda weight: mailbox.send("numbers", numbers={"weights": {"a": weight}}), range(40)))
    assert sorted(request.update for request in sent) == list(range(1, 41))
    assert mailbox.requests() == sorted(sent, key=lambda request: request.update)


def test_a_request_is_pending_until_it_is_answered(tmp_path: Path) -> None:
    mailbox, known = Mailbox(tmp_path), set[int]()
    first = mailbox.send("rollback")
    second = mailbox.send("reward", target="a.py:a", code=Code("a", "a", {"a.py": "x = 'ü'\n", "b/c.py": ""}))
    assert mailbox.pending(known) == [first, second]
    mailbox.put_answer(Answer(1, "refused", "no"))
    assert mailbox.pending(known) == [second]
    assert (tmp_path / "updates/0002/a.py").read_text(encoding="utf-8") == "x = 'ü'\n"
    assert (tmp_path / "updates/0002/b/c.py").is_file()
    assert mailbox.answer(1) is not None
    assert mailbox.answer(2) is None
    assert mailbox.wait(2, 0.05) is mailbox.wait(2, float("nan")) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("{", "not a request that this version"),
        ("[]", "not a request that this version"),
        ("7", "not a request that this version"),
        ('{"update": 2, "kind": "pause"}', "at kind"),
        ('{"update": 2, "kind": "rollback", "until": 7}', "at until"),
        ('{"update": 2, "kind": "reward", "code": {"no": 1}}', "at code.module"),
        ('{"update": 1, "kind": "rollback"}', "is a copy"),
    ],
)
def test_what_is_no_request_is_never_taken_for_one(tmp_path: Path, text: str, said: str) -> None:
    mailbox = Mailbox(tmp_path)
    mailbox.send("rollback")
    (tmp_path / "updates/0002.json").write_text(text)
    (tmp_path / "updates/notes.json").write_text(text)
    (tmp_path / "updates/0001.answer.json").write_text(text)
    assert [request.update for request in mailbox.pending(set())] == [1]
    assert [(update, said in reason) for update, reason in mailbox.unreadable(set()).items()] == [(2, True)] * bool(
        text
    )
    assert mailbox.send("rollback").update == 3


def test_unreadable_requests_differ_from_missing_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit_adapters.live.mailbox.MOST_BYTES", 300)
    mailbox = Mailbox(tmp_path)
    mailbox.send("rollback")
    mailbox.send("numbers", numbers={"weights": {"a": "x" * 300}})
    (tmp_path / "updates/0003.json").mkdir()
    unreadable = mailbox.unreadable(set())
    assert unreadable.keys() == {2, 3}
    assert "larger than 300 bytes" in unreadable[2]
    assert "not a file" in unreadable[3]


def test_what_was_answered_cannot_be_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = Mailbox(tmp_path)
    (request,) = [mailbox.send("rollback")]
    monkeypatch.setattr(Mailbox, "pending", lambda *_: [request])  # as it was a moment ago
    mailbox.put_answer(Answer(1, "applied", step=3))
    assert mailbox.cancel() == []
    answer = mailbox.answer(1)
    assert answer is not None
    assert answer.status == "applied"


def test_what_was_taken_back_is_not_taken(tmp_path: Path) -> None:
    mailbox = Mailbox(tmp_path)
    mailbox.send("rollback")
    assert [request.update for request in mailbox.cancel()] == [1]
    assert mailbox.pending(set()) == []
    assert mailbox.cancel() == []


def config(run: Path, **current: Any) -> None:
    given = {"version": 0, "weights": {"a": 1.0, "gate/b": 0.5}, "thresholds": {}, "schedules": {}}
    Mailbox(run).publish({**given, **current})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "only one kind of change"),
        ({"rollback": True, "weights": {"a": 1.0}}, "only one kind of change"),
        ({"weights": {}}, "only one kind of change"),
        ({"weights": {"aa": 1.0}}, "Did you mean 'a'"),
        ({"weights": {"a": "linear("}}, "not a number or schedule"),
        ({"thresholds": {"gate": 1.0}}, "Choose from: none"),
        ({"reward": "nothing.py:reward"}, "there is no file"),
    ],
)
def test_what_cannot_be_meant_is_not_sent(tmp_path: Path, asked: dict[str, Any], said: str) -> None:
    config(tmp_path)
    with pytest.raises(rk.RewardDefinitionError, match=said):
        rk.update_config(tmp_path, **asked)
    assert Mailbox(tmp_path).requests() == []


def test_without_waiting_a_request_is_pending(tmp_path: Path) -> None:
    config(tmp_path)
    assert rk.update_config(tmp_path, weights={"b": "linear(0, 1)"}) == {"update": 1, "status": "pending"}
    assert rk.update_config(str(tmp_path), rollback=0) == {"update": 2, "status": "pending"}
    assert [request.to for request in Mailbox(tmp_path).requests()] == [None, 0]


def test_a_folder_without_a_training_is_said(tmp_path: Path) -> None:
    with pytest.raises(rk.RewardKitError, match="accepts updates"):
        rk.get_config(tmp_path)
    with pytest.raises(rk.RewardKitError, match="accepts updates"):
        rk.update_config(tmp_path / "no", rollback=True)
    assert not (tmp_path / "no").exists()
    (tmp_path / "updates").mkdir()
    (tmp_path / "updates/current.json").write_text(json.dumps([1]))
    with pytest.raises(rk.RewardKitError, match="accepts updates"):
        rk.get_config(tmp_path)
