"""The cache is written at once, shared by processes, and never the reason for a failed sample."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.judges.cache import Cache, key_of

apsw = pytest.importorskip("apsw")


def test_a_saved_verdict_is_found(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path / "new" / "judged.sqlite"))
    assert kept.get("a") is None
    kept.put("a", '{"score": 7}')
    assert kept.get("a") == '{"score": 7}'
    assert kept.many(["a", "b"]) == {"a": '{"score": 7}'}


def test_the_first_writer_wins(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path / "judged.sqlite"))
    kept.put("a", "first")
    kept.put("a", "second")
    assert kept.get("a") == "first"


def test_many_keys_at_once(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path / "judged.sqlite"))
    for number in range(1200):
        kept.put(f"{number}", f"verdict {number}")
    assert len(kept.many([f"{number}" for number in range(0, 2400, 2)])) == 600


def test_it_is_a_value(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path / "judged.sqlite"))
    kept.put("a", "b")
    again = pickle.loads(pickle.dumps(kept))
    assert again == kept
    assert hash(again) == hash(kept)
    assert again.get("a") == "b"


@given(st.text(st.characters(), max_size=50))
def test_every_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    kept = Cache(str(tmp_path_factory.getbasetemp() / "texts.sqlite"))
    kept.put(key_of(text=text), text)
    assert kept.get(key_of(text=text)) == text


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.floats() | st.text(max_size=5)), st.text(max_size=3))
def test_a_key_is_of_the_values_not_of_their_order(parts: dict[str, Any], more: str) -> None:
    key = key_of(parts=parts)
    assert key == key_of(parts=dict(reversed(parts.items())))
    assert key != key_of(parts={**parts, "another": more})


def test_no_two_parts_share_a_key() -> None:
    keys = [key_of(a="1"), key_of(a=1), key_of(b="1"), key_of(a=["1"]), key_of(a="1", b=None), key_of(a=1.5)]
    assert len(set(keys)) == len(keys)


def test_a_replay_saves_nothing_and_names_what_it_missed(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    Cache(path).put("a", "b")
    replayed = Cache(path, replay=True)
    replayed.put("c", "d")
    assert replayed.get("a") == "b"
    assert replayed.get("c") is None
    assert "replay" in replayed.missed("c")
    assert path in replayed.missed("c")


def test_a_file_that_is_not_a_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Buy milk. " * 500)
    with pytest.raises(rk.RewardFailure, match=r"notes\.txt cannot be opened"):
        Cache(str(tmp_path / "notes.txt")).get("a")
    assert (tmp_path / "notes.txt").read_text().startswith("Buy milk.")


@pytest.mark.parametrize("replay", [False, True])
def test_a_file_of_another_program_is_left_as_it_is(tmp_path: Path, replay: bool) -> None:
    path = tmp_path / "people.sqlite"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE people (name)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(rk.RewardFailure, match=r"belongs to another program.*'people'"):
        Cache(str(path), replay=replay).get("a")
    assert path.read_bytes() == before


def test_a_value_that_cannot_be_read_is_a_miss(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path / "judged.sqlite"))
    kept.put("a", "b")
    other = apsw.Connection(kept.path)
    for number, value in enumerate((b"\xff\xfe", 7, 0.5, "text")):
        other.execute("INSERT INTO verdicts_1 VALUES (?, ?)", (str(number), value))
    other.close()
    keys = ["0", "1", "2", "3"]
    assert kept.many([*keys, "a"]) == {"a": "b"}
    for key in keys:
        kept.put(key, "anew")
    assert set(kept.many(keys).values()) == {"anew"}


@pytest.mark.parametrize("writable", [True, False])
def test_a_replay_only_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool) -> None:
    filled = subprocess.run([sys.executable, "-c", FILL, str(tmp_path / "judged.sqlite"), "0"], stdout=subprocess.PIPE)
    assert filled.returncode == 0
    before = (tmp_path / "judged.sqlite").read_bytes()
    if not writable:
        (tmp_path / "judged.sqlite").chmod(0o400)
        tmp_path.chmod(0o500)
        monkeypatch.setattr(os, "access", lambda path, mode: False)  # as on a disc that is mounted so, even for root
    replayed = Cache(str(tmp_path / "judged.sqlite"), replay=True)
    assert replayed.get("0/7") == "0"
    replayed.put("a", "b")
    assert replayed.get("a") is None
    tmp_path.chmod(0o700)
    assert (tmp_path / "judged.sqlite").read_bytes() == before
    assert writable or os.listdir(tmp_path) == ["judged.sqlite"]


def test_a_replay_of_nothing_says_so_and_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(rk.RewardFailure, match="nothing to replay"):
        Cache(str(tmp_path / "judgd.sqlite"), replay=True).get("a")
    assert not os.listdir(tmp_path)


def test_invalid_paths() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="path"):
        Cache("")
    with pytest.raises(rk.RewardDefinitionError, match="path"):
        Cache(None)  # type: ignore[arg-type]


def test_a_locked_file_is_a_miss_and_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("rewardkit.workers.shared_file.PATIENCE", 20)
    kept = Cache(str(tmp_path / "judged.sqlite"))
    kept.put("a", "b")
    other = apsw.Connection(kept.path)
    other.execute("BEGIN EXCLUSIVE")
    kept.put("c", "d")
    monkeypatch.setattr("rewardkit.workers.shared_file.PATIENCE", 5_000)
    started = time.monotonic()
    kept.put("e", "f")  # is not waited for again
    assert kept.get("a") == "b"  # readers do not wait for a writer
    kept.put("g", "h")  # and know nothing of it
    assert time.monotonic() - started < 2.0
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    other.execute("ROLLBACK")
    kept.put("c", "d")
    assert kept.get("c") == "d"
    other.close()


def test_a_file_that_goes_bad_is_a_miss_but_not_in_a_replay(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    kept = Cache(str(tmp_path / "judged.sqlite"))
    kept.put("a", "b")
    other = apsw.Connection(kept.path)
    other.execute("DROP TABLE verdicts_1")
    other.close()
    assert kept.get("a") is None
    assert "the judge is called instead" in caplog.text
    with pytest.raises(rk.RewardFailure, match="cannot be read"):
        Cache(kept.path, replay=True).get("a")


def test_threads_share_it(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path / "judged.sqlite"))

    def fill(thread: int) -> None:
        for number in range(100):
            kept.put(f"{number}", f"{thread}")
            assert kept.get(f"{number}") is not None

    threads = [threading.Thread(target=fill, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept.many([f"{number}" for number in range(100)])) == 100


FILL = """
import sys
from rewardkit.rewards.judges.cache import Cache
path, rank = sys.argv[1:]
kept = Cache(path)
for number in range(500):
    kept.put(f"{rank}/{number}", rank)
    kept.put(f"both/{number}", rank)
print(len(kept.many([f"both/{number}" for number in range(500)])))
"""


def test_two_ranks_share_it(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    ranks = [
        subprocess.Popen([sys.executable, "-c", FILL, path, str(rank)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for rank in range(2)
    ]
    for rank in ranks:
        said, complaint = rank.communicate()
        assert (said, complaint.decode()) == (b"500\n", "")
    kept = Cache(path)
    for whose in ("0", "1", "both"):
        assert len(kept.many([f"{whose}/{number}" for number in range(500)])) == 500


ENDLESS = """
import itertools, sys
from rewardkit.rewards.judges.cache import Cache
kept = Cache(sys.argv[1])
for number in itertools.count():
    kept.put(str(number), "verdict")
    print(number, flush=True)
"""


def test_saved_verdicts_survive_a_kill(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    run = subprocess.Popen([sys.executable, "-c", ENDLESS, path], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    for line in run.stdout:
        if int(line) >= 200:
            os.kill(run.pid, signal.SIGKILL)
            break
    said = [line, *run.stdout.read().split()]
    run.wait()
    run.stdout.close()
    seen = [str(number) for number in range(max(map(int, said)) + 1)]
    assert len(Cache(path).many(seen)) == len(seen)


def test_another_process_opens_its_own(tmp_path: Path) -> None:
    kept = Cache(str(tmp_path / "judged.sqlite"))
    kept.put("a", "b")
    forking = multiprocessing.get_context("forkserver")
    with forking.Pool(1) as pool:
        assert pool.apply(kept.get, ("a",)) == "b"
