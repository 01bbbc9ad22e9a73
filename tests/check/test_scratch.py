"""A check runs the user's functions in a copy of the folder, and reports what they do outside their process."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reports import Report
from rewardkit.check.run.isolation import can_isolate
from rewardkit.cli.main import main
from rewardkit.testing import check_reward

pytestmark = pytest.mark.skipif(not can_isolate(), reason="needs fork")

EXAMPLES = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
REMOTE = ("203.0.113.5", 80)
"""An address that no machine has (RFC 5737)."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with files of all kinds, which must be the same after the test."""
    here = tmp_path / "project"
    (here / "data").mkdir(parents=True)
    (tmp_path / "beside.txt").write_text("beside")
    (here / "data" / "words.txt").write_text("words")
    (here / "old.txt").write_text("old")
    (here / "log.txt").write_bytes(bytes(2_000_000))  # too large to be copied at the start
    with closing(sqlite3.connect(here / "runs.db")) as database:
        database.execute("CREATE TABLE runs (text TEXT)")
        database.execute("CREATE TABLE kept (text TEXT)")
        database.execute("INSERT INTO kept VALUES (?)", ["x" * 2_000_000])
        database.commit()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    yield here
    assert {path: path.read_bytes() for path in before} == before
    assert not list((tmp_path / "temporary").glob("rewardkit-check-*"))
    assert Path.cwd() == here


def checked(reward: Any, **options: Any) -> Report:
    return check_reward(reward, examples=EXAMPLES, laws=["total", "deterministic"], budget=6.0, **options)


@pytest.mark.parametrize("isolate", [True, False])
def test_files_are_written_in_a_copy_of_the_folder(folder: Path, isolate: bool) -> None:
    def writes(completion: str) -> float:
        assert Path("data/words.txt").read_text() == "words"
        assert Path("old.txt").exists() or Path("new.txt").exists()
        for name in ("log.txt", "data/more.txt", "data/words.log", "../beside.txt"):
            with open(name, "a") as file:
                file.write("x")
        os.makedirs("out/1", exist_ok=True)
        Path("out/1/result.json").write_text("{}")
        if os.path.exists("old.txt"):
            os.rename("old.txt", "new.txt")
        if os.path.exists("data/words.txt"):
            shutil.copy("data/words.txt", "data/again.txt")
        with closing(sqlite3.connect("runs.db")) as database:
            database.execute("DROP TABLE IF EXISTS runs")
            database.execute("CREATE TABLE IF NOT EXISTS others (text TEXT)")
        return 1.0

    report = checked(writes, isolate=isolate)
    assert report["total"].outcome == "held", report
    written = {file.name: file for file in report.effects.written}
    assert set(written) == {
        "log.txt", "data/more.txt", "data/words.log", "../beside.txt", "out/1/result.json", "new.txt", "old.txt",
        "data/again.txt", "runs.db",
    }  # fmt: skip
    assert written["log.txt"].size > 2_000_000
    assert written["old.txt"].size == -1
    assert written["runs.db"].tables == ("runs",)
    assert not report.effects.outside
    text = " ".join(str(report).split())
    assert "wrote 9 files (" in text
    assert "runs.db (2.0 MB, without its tables runs), log.txt (2.0 MB), " in text
    assert "6 more, in a copy of the folder, which was deleted" in text


def test_a_reward_without_effects_has_no_facts(folder: Path) -> None:
    report = checked(rk.number("answer"))
    assert list(report.effects.rows()) == []
    assert report.to_dict()["effects"]["written"] == ()


@rk.reward(timeout=20.0)
def in_worker(completion: str) -> float:
    with open(os.environ["FILE_OF_WORKER"], "a") as file:
        file.write("x")
    Path("relative.txt").write_text("x")
    return 1.0


def test_files_outside_are_noticed_also_in_workers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, from_worker = folder.parent / "outside.log", folder.parent / "worker.log"
    monkeypatch.setenv("FILE_OF_WORKER", str(from_worker))

    def absolute(completion: str) -> float:
        outside.open("a").close()
        with open(outside, "a") as file:
            file.write("x")
        return 1.0

    report = checked(0.5 * rk.from_trl(absolute) + 0.5 * in_worker)
    assert {file.name for file in report.effects.outside} == {str(outside), str(from_worker)}
    assert [file.name for file in report.effects.written] == ["relative.txt"]
    assert "outside the copy of the folder, so the changes stay" in " ".join(str(report).split())
    assert not report.findings, report


def test_connections_are_refused_unless_they_are_allowed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def connects(completion: str) -> float:
        try:
            socket.create_connection(REMOTE, timeout=0.01)
        except ConnectionRefusedError as error:
            print(error)
            return 0.0
        except OSError:
            return 1.0
        return 1.0

    report = check_reward(connects, examples=EXAMPLES, laws=["total"])
    assert report.effects.network == ("203.0.113.5:80",)
    assert report.effects.refused
    assert report.printed is not None
    assert "To allow them, pass network=True or --network" in report.printed.sample[0]
    assert "network 203.0.113.5:80: refused." in " ".join(str(report).split())
    allowed = check_reward(connects, examples=EXAMPLES, laws=["total"], network=True, budget=3.0)
    assert allowed.effects.network == ("203.0.113.5:80",)
    assert allowed.printed is None
    assert "203.0.113.5:80: allowed" in str(allowed)


@pytest.mark.parametrize("expensive", [True, False])
def test_expensive_rewards_may_connect(folder: Path, expensive: bool) -> None:
    @rk.reward(expensive=expensive)
    def looks_up(completion: str) -> float:
        try:
            socket.getaddrinfo("no-such-host.invalid", 443)
        except ConnectionRefusedError:
            return 0.0
        except OSError:
            return 1.0
        return 1.0

    assert check_reward(looks_up, examples=EXAMPLES, laws=["total"], budget=2.0).effects.refused is not expensive


def test_this_machine_can_be_reached(folder: Path) -> None:
    async def local(completions: list[str], **kwargs: Any) -> list[float]:
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        _, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
        writer.close()
        server.close()
        return [1.0 for _ in completions]

    report = checked(local)
    assert not report.findings, report
    assert report.effects.network == ()


def test_programs_are_named(folder: Path) -> None:
    def starts(completion: str) -> float:
        subprocess.run(["true"], check=True)
        return 1.0

    assert checked(starts).effects.programs == ("true",)
    sandboxed = check_reward(
        rk.code_tests("tests", timeout=5.0), examples=[{"tests": "assert f() == 1"}], laws=["total"]
    )
    assert sandboxed.effects.programs == ()


def test_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "effect_rewards.py").write_text(
        "import socket\n\n"
        "def connects(completion):\n"
        "    open('written.txt', 'w').close()\n"
        f"    socket.create_connection({REMOTE}, timeout=0.01)\n"
        "    return 1.0\n"
    )
    assert main(["check", "effect_rewards.py:connects", "--laws", "total", "--json", "report.json"]) == 1
    report = capsys.readouterr().out
    assert "1. connects raised ConnectionRefusedError: [Errno 111] 203.0.113.5:80: The check refuses" in report
    assert "effects.py" not in report
    assert (folder / "report.json").exists()
    assert not (folder / "written.txt").exists()
    main(["check", "effect_rewards.py:connects", "--laws", "total", "--network", "--budget", "3"])
    assert "203.0.113.5:80: allowed" in capsys.readouterr().out


def test_files_that_a_module_opens_when_it_is_imported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "opening_rewards.py").write_text(
        "import sqlite3\n\n"
        "LOG = open('calls.log', 'a', buffering=1)\n"
        "RUNS = sqlite3.connect('runs.db', check_same_thread=False)\n"
        "RUNS.execute('DROP TABLE runs')\n"
        "with open('data/words.txt') as file:\n"
        "    WORDS = file.read()\n\n"
        "def logs(completion):\n"
        "    LOG.write(WORDS)\n"
        "    return 1.0\n"
    )
    assert main(["check", "opening_rewards.py:logs", "--laws", "total", "--budget", "5"]) == 0
    module = sys.modules.pop("opening_rewards")
    module.LOG.close()
    module.RUNS.close()
    report = " ".join(capsys.readouterr().out.split())
    assert "wrote 2 files (" in report
    assert "runs.db (2.0 MB, without its tables runs), calls.log (" in report
    assert not (folder / "calls.log").exists()
