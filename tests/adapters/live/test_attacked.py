"""Trainings under attack: whatever lies in the mailbox, they end with the very weights that they would have had."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk

pytest.importorskip("trl")
import torch

from rewardkit_adapters.live import trial
from rewardkit_adapters.live.mailbox import Answer, Mailbox, Request
from rewardkit_adapters.live.sources import MODULES
from tests.adapters.live.rewards import BROKEN, HEAD, OTHERS
from tests.adapters.live.updated import At, asked
from tests.adapters.trl import tiny
from tests.adapters.trl.test_training import early, echo, generations

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _imports_of_its_own() -> Iterator[None]:
    yield
    MODULES.keep(())


def train(out: Path, functions: Any, plan: Any, **options: Any) -> Any:
    trainer = tiny.trainer(out, functions, callbacks=[functions.callback(), At(plan)], **options)
    trainer.train()
    functions.flush()
    return trainer


def answer(out: Path, update: int) -> Answer:
    found = Mailbox(out / "run").answer(update)
    assert found is not None, update
    return found


def weights(trainer: Any) -> list[Any]:
    return [one.detach().clone() for one in trainer.model.parameters()]


def same(first: list[Any], second: list[Any]) -> bool:
    return all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def put(run: Path, name: str, value: Any) -> Callable[[], Any]:
    def write() -> None:
        (run / "updates" / name).write_text(value if isinstance(value, str) else json.dumps(value))

    return write


def test_a_mailbox_full_of_rubbish_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied files, other versions of the program, half-written and huge ones, a full disk, a lost answer."""
    run = tmp_path / "run"
    numbers = asdict(Request(1, "numbers", numbers={"weights": {"early": 3.0}}))
    mailbox = Mailbox(run)

    def full_disk() -> None:
        put(run, "0009.json", {**numbers, "update": 9, "kind": "rollback", "to": 5})()

        def raising(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Mailbox, "_put", raising)

    def free_disk() -> None:
        monkeypatch.undo()

    plan: dict[int, Callable[[], Any]] = {
        1: put(run, "0001.json", {**numbers, "update": 7}),  # a copied file
        2: put(run, "0002.json", {**numbers, "update": 2, "kind": "pause"}),  # of another version
        3: put(run, "0003.json", {**numbers, "update": 3, "numbers": [1]}),
        4: put(run, "0004.json", '{"update": 4, "kind": "rollb'),
        5: put(run, "0005.json", "[" * 100_000),
        6: put(run, "0006.json", {**numbers, "update": "six"}),
        7: lambda: (run / "updates/0007.json").symlink_to("/dev/zero"),
        8: put(run, "0008.json", {**numbers, "update": 8, "numbers": {"weights": {"early": 10**400}}}),
        9: full_disk,
        11: free_disk,
    }  # fmt: skip
    found = []
    for name, wanted in (("plain", {}), ("run", plan)):
        functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / name)
        found.append(train(tmp_path, functions, wanted, max_steps=13))
    without, rubbish = found
    assert {entry["reward_version"] for entry in generations(rubbish)} == {0.0}
    assert same(weights(without), weights(rubbish))
    assert [answer(tmp_path, update).status for update in range(1, 10)] == ["refused"] * 9
    assert "version" in answer(tmp_path, 2).reason
    assert mailbox.pending(set()) == []


def test_code_that_can_only_do_harm_is_not_even_sent(tmp_path: Path) -> None:
    known = sys.modules["json"]

    def ask() -> None:
        with pytest.raises(rk.RewardDefinitionError, match=r"json\.py.*Rename"):
            asked(tmp_path, "json", OTHERS)()
        with pytest.raises(rk.RewardDefinitionError, match=r"syntax\.py, line 1"):
            asked(tmp_path, "syntax", BROKEN["syntax"][0])()

    train(tmp_path, rk.to_trl(early, record=tmp_path / "run"), {1: ask}, max_steps=2)
    assert Mailbox(tmp_path / "run").requests() == []
    assert sys.modules["json"] is known


def test_of_many_requests_one_with_code_is_tried_in_a_step(tmp_path: Path) -> None:
    """Or ranks would wait for each other for longer than their limits allow."""
    run = tmp_path / "run"

    def many() -> None:
        for name in ("first", "second"):
            asked(tmp_path, name, "raise ValueError('a bug')\n")()
        for number in range(20):
            rk.update_config(run, weights={"early": 1.0 + number})

    functions = rk.to_trl(early + 0.5 * echo, record=run)
    trainer = train(tmp_path, functions, {1: many}, max_steps=6)
    assert [answer(tmp_path, update).status for update in (1, 2)] == ["refused"] * 2
    assert {answer(tmp_path, update).step for update in range(3, 23)} == {3}
    assert generations(trainer)[-1]["weights/early"] == 20.0
    assert answer(tmp_path, 22).status == "applied"
    assert generations(trainer)[1]["reward_version"] == 0.0  # one with code at this step, no more


def test_a_request_that_was_taken_back_while_it_is_tried_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    tried = trial.run_trial

    def meanwhile(*given: Any, **options: Any) -> Any:
        Mailbox(run).cancel()
        return tried(*given, **options)

    monkeypatch.setattr("rewardkit_adapters.live.updates.run_trial", meanwhile)
    functions = rk.to_trl(early + 0.5 * echo, record=run)
    trainer = train(tmp_path, functions, {1: lambda: rk.update_config(run, weights={"early": 3.0})}, max_steps=3)
    assert answer(tmp_path, 1).status == "canceled"
    assert {entry["reward_version"] for entry in generations(trainer)} == {0.0}


def test_requests_after_the_end_are_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    functions = rk.to_trl(early + 0.5 * echo, record=run)
    trainer = train(tmp_path, functions, {3: lambda: rk.update_config(run, weights={"early": 3.0})}, max_steps=3)
    assert "finished" in answer(tmp_path, 1).reason
    Mailbox(run).send("numbers", numbers={"weights": {"early": 5.0}})
    trainer.train()  # anew, with the script's own reward
    assert "sent before this training run started" in answer(tmp_path, 2).reason
    assert {entry["reward_version"] for entry in generations(trainer)} == {0.0}


def test_what_importing_it_does_to_the_process_is_undone(tmp_path: Path) -> None:
    hostile = (
        "import os, signal, random, sys\nimport numpy\n"
        "os.chdir('/')\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nrandom.seed(0)\n"
        "numpy.seterr(all='raise')\ntorch = sys.modules.get('torch')\n"  # the trial does without, and is faster
        "if torch is not None:\n    torch.manual_seed(0)\n"
        "    torch.set_default_dtype(torch.float64)\n    torch.set_grad_enabled(False)\n"
        "print('hello')\n" + OTHERS
    )
    found = {}
    for name, text in (("plain", OTHERS), ("hostile", hostile)):
        functions = rk.to_trl(early + 0.5 * echo, record=tmp_path / name / "run")
        plan = {1: asked(tmp_path / name, "others", text)}
        (tmp_path / name).mkdir()
        before = (os.getcwd(), signal.getsignal(signal.SIGTERM), torch.get_default_dtype(), torch.is_grad_enabled())
        found[name] = weights(train(tmp_path / name, functions, plan, max_steps=4))
        now = (os.getcwd(), signal.getsignal(signal.SIGTERM), torch.get_default_dtype(), torch.is_grad_enabled())
        assert now == before
        assert answer(tmp_path / name, 1).status == "applied"
    assert same(found["plain"], found["hostile"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = bytearray(3_000_000_000)\n", "MemoryError"),
        ("input('what? ')\n", "EOFError"),
        ("import os\nwhile True:\n    os.write(1, b'spam' * 100_000)\n", "killed"),
    ],
)
def test_a_trial_is_held_in_bounds(tmp_path: Path, text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if said == "killed":
        monkeypatch.setattr(trial, "SECONDS", 2.0)
    monkeypatch.setattr(trial, "MEMORY", 1_000_000_000)
    functions = rk.to_trl(early, record=tmp_path / "run")
    train(tmp_path, functions, {1: asked(tmp_path, "bad", text + HEAD + "reward = early\n")}, max_steps=3)
    assert said in answer(tmp_path, 1).reason
