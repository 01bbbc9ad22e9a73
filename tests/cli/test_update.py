"""``rewardkit update``: its requests, its output and its exit codes."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
from rewardkit.cli import update as cli
from rewardkit.cli.main import main
from rewardkit_adapters.live.mailbox import Answer, Mailbox

TRIAL = {
    "rows": 8,
    "components": {"exact": [0.25, 0.25], "late": [None, 0.5]},
    "total": [0.25, 0.5],
    "advantages": {"changed_sign": 3, "largest_change": 0.75},
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose training has published its current reward."""
    Mailbox(tmp_path).publish(
        {
            "version": 0,
            "fingerprint": "abc",
            "reward": "exact + gate(tags, style)",
            "said": "the script's own",
            "since": 0,
            "weights": {"exact": 1.0, "tags_gate": "linear(0.0, 1.0)"},
            "thresholds": {"tags_gate": 1.0},
            "schedules": {},
        }
    )
    return tmp_path


def training(run: Path, answer: Callable[[int], Answer]) -> threading.Thread:
    """Answer the first request, as a training does."""

    def take() -> None:
        mailbox = Mailbox(run)
        for _ in range(200):
            for request in mailbox.pending(set()):
                mailbox.put_answer(answer(request.update))
                return
            threading.Event().wait(0.05)

    thread = threading.Thread(target=take)
    thread.start()
    return thread


def update(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    code = main(["update", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_an_answer_is_printed_as_a_table(run: Path, capsys: Any) -> None:
    replaced: dict[str, dict[str, Any]] = {
        "weights": {"exact": "linear(0.0, 1.0, end=0.5)"},
        "thresholds": {"tags_gate": 1.0},
    }
    thread = training(
        run,
        lambda number: Answer(number, "applied", step=7, trial=TRIAL, warnings=("a \x1b[2J trap",), replaced=replaced),
    )
    code, out, err = update(
        capsys, str(run), "--set", "weights.exact=0.5", "--set", "thresholds.tags_gate=linear(0.5, 1)"
    )
    thread.join()
    assert code == 0
    assert "update 1: weights.exact=0.5, thresholds.tags_gate=linear(0.5, 1)" in err
    change = "weights.exact: 0.5 replaces linear(0.0, 1.0, end=0.5), thresholds.tags_gate: linear(0.5, 1) replaces 1.0"
    assert f"{change}\napplied: version 1 starting at step 7" in out
    assert change in update(capsys, str(run), "--history")[1]
    assert [line.split() for line in out.splitlines() if line.strip().startswith(("late", "total"))] == [
        ["late", "-", "0.5"],
        ["total", "0.25", "0.5"],
    ]
    assert "3 of 8 change sign, the largest change is 0.75" in out
    assert "\x1b" not in out
    assert "trap" in out
    request = Mailbox(run).request(1)
    assert request is not None
    assert request.numbers == {"weights": {"exact": 0.5}, "thresholds": {"tags_gate": "linear(0.5, 1)"}}


def test_a_refusal_gives_the_reason(run: Path, capsys: Any) -> None:
    (run / "new.py").write_text("reward = 1\n")
    thread = training(run, lambda number: Answer(number, "refused", "it hangs"))
    code, out, _ = update(capsys, str(run), f"{run}/new.py:reward")
    thread.join()
    assert (code, out) == (1, "refused: it hangs\n")


def test_without_an_answer_the_request_stays(run: Path, capsys: Any) -> None:
    code, out, _ = update(capsys, str(run), "--rollback", "--wait", "0")
    assert code == 3
    assert "no answer within 0 s" in out
    assert update(capsys, str(run), "--rollback", "0", "--wait", "0")[0] == 3
    code, out, _ = update(capsys, str(run), "--history")
    assert code == 0
    assert [line.split()[3] for line in out.splitlines()[1:] if line.split()[:1] in (["1"], ["2"])] == ["pending"] * 2
    code, out, _ = update(capsys, str(run), "--cancel")
    assert code == 0
    assert out == "canceled update 1: rollback\ncanceled update 2: rollback to version 0\n"
    assert update(capsys, str(run), "--cancel")[1] == "no update is waiting\n"


def test_a_run_without_a_training_is_reported(run: Path, capsys: Any) -> None:
    """After a crash the request stays for the resumed run. After the end of the training it is refused."""
    import rewardkit as rk
    from tests.adapters.trl.stand_ins import call, short

    functions = rk.to_trl(short, record=run)
    call(functions, ["", "a"], prompts=["p", "p"], answer=["0", "1"])
    functions.flush()
    info = json.loads((run / "run.json").read_text())
    for ending in ("finished", "stopped"):
        info.pop(ending, None)
    (run / "run.json").write_text(json.dumps(info | {"stopped": "2026-01-01T00:00:00+00:00"}))
    for folder in ("updates", "scores", "metrics", "attempts"):
        if (run / folder).is_dir():
            os.utime(run / folder, (time.time() - 7300, time.time() - 7300))
    assert cli._alive(Mailbox(run)) == "The training run does not seem to be active: it last wrote 2 hours ago. "
    (run / "run.json").write_text(json.dumps(info | {"finished": "2026-01-01T00:00:00+00:00"}))
    code, out, err = update(capsys, str(run), "--rollback")
    assert (code, out) == (2, "")
    assert "has finished" in err
    assert f"(rewardkit update {run} reward.py:reward --dry-run)" in err
    assert f"(rewardkit score {run} --reward reward.py:reward)" in err
    assert Mailbox(run).requests() == []


def test_the_current_reward_is_shown_in_the_syntax_of_set(run: Path, capsys: Any) -> None:
    code, out, _ = update(capsys, str(run), "--show")
    assert code == 0
    assert out.splitlines() == [
        "version 0 (abc), since step 0: the script's own",
        "exact + gate(tags, style)",
        "weights.exact=1.0",
        "weights.tags_gate=linear(0.0, 1.0)",
        "thresholds.tags_gate=1.0",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "only one kind of change"),
        (["a.py:b", "--rollback"], "only one kind of change"),
        (["--show", "--rollback"], "cannot be combined with a change"),
        (["--set", "weights.exact"], "KIND.NAME=VALUE"),
        (["--set", "wieghts.exact=1"], "Did you mean 'weights'"),
        (["--set", "weights.exatc=1"], "Did you mean 'exact'"),
        (["--set", "weights.exact=lots"], "not allowed in a schedule"),
        (["--set", "weights.exact=nan"], "finite"),
        (["nothing.py:reward"], "there is no file nothing.py"),
        (["--dry-run", "--set", "weights.exact=1"], "--dry-run needs a new reward"),
    ],
)
def test_impossible_requests_are_refused_and_not_sent(run: Path, capsys: Any, arguments: list[str], said: str) -> None:
    code, out, err = update(capsys, str(run), *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert Mailbox(run).requests() == []


def test_a_folder_without_a_training_is_refused(tmp_path: Path, capsys: Any) -> None:
    code, _, err = update(capsys, str(tmp_path / "no"), "--rollback")
    assert code == 2
    assert "accepts updates" in err
    assert not (tmp_path / "no").exists()


def test_a_dry_run_uses_the_recorded_batch_and_sends_nothing(tmp_path: Path, capsys: Any) -> None:
    import rewardkit as rk
    from tests.adapters.trl.stand_ins import call, close, short

    functions = rk.to_trl(short + 0.5 * close, record=tmp_path / "run")
    call(functions, ["", "a", "bb", "ccc"], answer=["0", "1", "1", "3"], prompts=["p", "p", "q", "q"])
    functions.flush()
    (tmp_path / "dry_new.py").write_text(
        "import rewardkit as rk\n@rk.reward\ndef close(completion: str, answer: float) -> float:\n"
        "    return float(len(completion) == answer)\nreward = 2 * close\n"
    )
    code, out, _ = update(capsys, str(tmp_path / "run"), f"{tmp_path}/dry_new.py:reward", "--dry-run")
    assert code == 0
    cells = {line.split()[0]: line.split()[1:] for line in out.splitlines() if len(line.split()) == 3}
    assert cells["close"] == ["0.875", "0.75"]
    assert cells["short"][1] == "-"
    assert cells["total"][1] == "1.5"
    assert "of 4 change sign" in out
    assert not (tmp_path / "run/updates").exists()


def test_a_dry_run_covers_recorded_steps_without_expensive_components(tmp_path: Path, capsys: Any) -> None:
    import rewardkit as rk
    from tests.adapters.trl.stand_ins import call, close, short

    @rk.reward(expensive=True)
    def judged(completion: str) -> float:
        return 1.0

    functions = rk.to_trl(short + 0.5 * close + 0.25 * judged, record=tmp_path / "run")
    for answers in (["0", "1", "1", "3"], ["1", "0", "2", "3"], ["0", "0", "0", "0"]):
        call(functions, ["", "a", "bb", "ccc"], answer=answers, prompts=["p", "p", "q", "q"])
    functions.flush()
    (tmp_path / "dry_more.py").write_text(
        "import rewardkit as rk\n"
        "from tests.adapters.trl.stand_ins import close, short\n"
        "@rk.reward(expensive=True)\ndef judged(completion: str) -> float:\n    raise AssertionError('was asked')\n"
        "@rk.reward\ndef long(completion: str) -> float:\n    return float(len(completion) > 1)\n"
        "same = short + 0.5 * close + 0.25 * judged\n"
        "other = long + 0.5 * close + 0.25 * judged\n"
    )
    dry = [str(tmp_path / "run"), f"{tmp_path}/dry_more.py:same", "--dry-run", "--on-recorded"]
    code, out, _ = update(capsys, *dry, "2")
    assert code == 0
    assert out.startswith("No completion's score changes.")
    assert "the last 2 steps" in out
    assert "8 completions, 2 groups" in out
    assert "Excluded: judged" in out
    code, out, _ = update(capsys, dry[0], f"{tmp_path}/dry_more.py:other", *dry[2:], "9")
    assert "short (removed)" in out
    assert "long (added)" in out
    assert update(capsys, *dry[:2], "--on-recorded", "2")[0] == 2
