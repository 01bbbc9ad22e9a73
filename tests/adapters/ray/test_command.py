"""``rewardkit score --engine ray`` on two local workers: the table is that of one process, whatever is killed."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as arrow_dataset
import pyarrow.parquet as parquet
import pytest

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit.scoring.datasets import TableScorer
from tests.rewards.judges.server import JudgeServer, verdict

# Ray warns of its own options, and of sockets and files that it leaves to its daemons.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ray = pytest.importorskip("ray")

REWARDS = """
import os, time
import rewardkit as rk

HERE = os.path.dirname(os.path.abspath(__file__))

@rk.reward(scope="group")
def best(completion: list[str]) -> list[float]:
    longest = max(map(len, completion))
    return [float(len(text) == longest) for text in completion]

@rk.reward
def slow(completion: str) -> float:
    time.sleep(0.002)
    if "dies here" in completion:
        os._exit(9)
    with open(f"{HERE}/called", "a") as file:
        file.write(f"{os.getpid()}\\n")
    return len(completion) / 100

cheap = 0.5 * rk.number("answer") + 0.5 * rk.length.between(1, 60, unit="characters")
compare = 0.8 * cheap + 0.2 * best
pooled = rk.gate(when=rk.contains(all="<answer>"), then=0.5 * rk.math_equal("answer") + 0.5 * rk.code_runs())
judged = rk.gate(
    when=rk.contains(all="<answer>"),
    then=rk.judge(rubric="Is it polite?", model=rk.Endpoint("m", os.environ.get("JUDGE", "http://127.0.0.1:1/v1"))),
)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Ray with two workers; the sockets of Ray need a short path."""
    folder = tempfile.mkdtemp(dir="/tmp")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(
        "local", num_cpus=2, include_dashboard=False, object_store_memory=200_000_000, _temp_dir=folder,
        log_to_driver=False,
    )  # fmt: skip
    yield
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def rewards(tmp_path: Path) -> Path:
    path = tmp_path / "rewards.py"
    path.write_text(REWARDS)
    return path


def rows(count: int = 3000) -> list[dict[str, Any]]:
    """Return rows in groups of seven: right and wrong, some without a completion, some with a broken gold answer."""
    made = []
    for row in range(count):
        gold = "many" if row // 7 % 71 == 70 else str(row // 7 % 5)
        text = f"row {row} " + "x" * (row % 40) + (f"<answer>{row % 5}</answer>" if row % 3 else str(row % 5))
        made.append(
            {
                "completion": None if row % 333 == 332 else text,
                "prompt": f"{row // 7}",
                "answer": gold,
                "total": row,
            }
        )
    return made


def scored(data: Path | str, reward: str, out: Path, *options: str) -> int:
    return main(["score", str(data), "--reward", reward, "--engine", "ray", "--out", str(out), *options])


def read(out: Path) -> pa.Table:
    """Return the rows of all parts, in the order of their names."""
    return pa.concat_tables([parquet.read_table(path) for path in sorted(out.glob("*.parquet"))])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cheap", "jsonl"),
        ("compare", "parquet"),
        *(
            pytest.param(*one, marks=pytest.mark.proof)
            for one in (("cheap", "csv"), ("cheap", "parquet"), ("compare", "jsonl"))
        ),
    ],
)
def test_the_table_is_that_of_one_process(cluster: None, rewards: Path, tmp_path: Path, name: str, kind: str) -> None:
    data = tmp_path / f"data.{kind}"
    if kind == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows()), data, row_group_size=100)
    elif kind == "csv":
        lines = [",".join('"' + str(cell or "") + '"' for cell in row.values()) for row in rows()]
        data.write_text("completion,prompt,answer,total\n" + "\n".join(lines) + "\n")
    else:
        data.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    reward, out = f"{rewards}:{name}", tmp_path / "scored"
    assert scored(data, reward, out) == 1, "some rows have errors"
    assert len(list(out.glob("*.parquet"))) > 3
    assert main(["score", str(data), "--reward", reward, "--processes", "1", "--out", f"{tmp_path}/one.parquet"]) == 1
    one = parquet.read_table(tmp_path / "one.parquet")
    assert read(out).equals(one)
    assert arrow_dataset.dataset(out, format="parquet").count_rows() == one.num_rows, "readers skip what is not rows"


def test_lists_of_files_and_patterns(cluster: None, rewards: Path, tmp_path: Path) -> None:
    for number in range(3):
        part = pa.Table.from_pylist(rows(300)).slice(100 * number, 100)
        parquet.write_table(part, tmp_path / f"data-{number}.parquet")
    assert scored(f"file://{tmp_path}/data-*.parquet", f"{rewards}:cheap", tmp_path / "scored", "--limit", "250") == 0
    assert read(tmp_path / "scored")["input/total"].to_pylist() == list(range(250))


def test_pools_and_gates(
    cluster: None, rewards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows(120)))
    assert scored(data, f"{rewards}:pooled", tmp_path / "pooled", "--pools", "mathematics=2") == 0
    assert "math_equal" in capsys.readouterr().out
    namespace: dict[str, Any] = {"__file__": str(rewards)}
    exec(REWARDS, namespace)
    table = pa.Table.from_pylist(rows(120))
    assert read(tmp_path / "pooled").equals(TableScorer(namespace["pooled"])(table))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with JudgeServer(verdict(8)) as server:
        rewards.write_text(f"import os\nos.environ['JUDGE'] = {server.base_url!r}\n{REWARDS}")
        assert scored(data, f"{rewards}:judged", tmp_path / "judged") == 0
        assert len(server.requests) == sum("<answer>" in row["completion"] for row in rows(120)), "gates are lazy"
    totals = read(tmp_path / "judged")["total"].to_pylist()
    assert totals == [0.8 if "<answer>" in row["completion"] else 0.0 for row in rows(120)]


def test_a_killed_worker_changes_nothing(cluster: None, rewards: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    parquet.write_table(pa.Table.from_pylist(rows()), data, row_group_size=100)
    called = tmp_path / "called"

    def kill() -> None:
        while not called.exists() or len(called.read_text().split()) < 500:
            time.sleep(0.05)
        os.kill(int(called.read_text().split()[-2]), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    assert scored(data, f"{rewards}:slow", tmp_path / "scored") == 1
    thread.join()
    want = [None if row["completion"] is None else len(row["completion"]) / 100 for row in rows()]
    assert read(tmp_path / "scored")["total"].to_pylist() == want


def test_a_row_that_kills_its_worker_loses_only_its_own_score(cluster: None, rewards: Path, tmp_path: Path) -> None:
    given = rows(400)
    given[111]["completion"] = "it dies here"
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in given))
    assert scored(data, f"{rewards}:slow", tmp_path / "scored") == 1
    found = read(tmp_path / "scored")
    assert [row for row, total in enumerate(found["total"].to_pylist()) if total is None] == [111, 332]
    assert "crashed" in found["error"][111].as_py()


def test_a_killed_command_loses_and_doubles_nothing(rewards: Path, tmp_path: Path) -> None:
    data, out, called = tmp_path / "data.jsonl", tmp_path / "scored", tmp_path / "called"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    folder = tempfile.mkdtemp(dir="/tmp")
    command = [
        sys.executable, "-m", "rewardkit.cli.main", "score", str(data), "--reward", f"{rewards}:slow",
        "--engine", "ray", "--out", str(out), "--resume",
    ]  # fmt: skip
    environment = {**os.environ, "RAY_TMPDIR": folder}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    while len(list(out.glob("*.parquet"))) < 3:
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.wait()
    done = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    called.unlink()
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 1, finished.stderr
    want = [None if row["completion"] is None else len(row["completion"]) / 100 for row in rows()]
    assert read(out)["total"].to_pylist() == want
    kept = [path for path, time_written in done.items() if path.stat().st_mtime_ns == time_written]
    assert len(kept) >= 1, "finished parts are not scored again"
    assert len(called.read_text().split()) < len(want)
    data.write_text("".join(json.dumps(row) + "\n" for row in rows(2000)))
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert other.returncode == 2
    assert "data" in other.stderr
    shutil.rmtree(folder, ignore_errors=True)


def test_a_wrong_key_stops_the_run(
    cluster: None, rewards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    rewards.write_text("import rewardkit as rk\njudged = rk.judge(rubric='Is it polite?', model='m')\n")
    data = tmp_path / "data.jsonl"
    data.write_text('{"completion": "thanks"}\n')
    assert scored(data, f"{rewards}:judged", tmp_path / "scored") == 2


def test_a_ray_data_set_is_scored_lazily(cluster: None) -> None:
    table = pa.Table.from_pylist(rows(1000))
    reward = 0.5 * rk.number("answer") + 0.5 * rk.length.between(1, 60, unit="characters")
    given = ray.data.from_arrow([table.slice(0, 303), table.slice(303)])
    found = pa.concat_tables(ray.get(rk.score_dataset(given, reward).to_arrow_refs())).sort_by("input/total")
    assert found.replace_schema_metadata(None).equals(rk.score_dataset(table, reward))


def test_groups_of_a_ray_data_set_stay_whole(cluster: None) -> None:
    table = pa.Table.from_pylist(rows(500)).filter(pa.compute.is_valid(pa.compute.field("completion")))
    reward = rk.rank_in_group(rk.length.between(1, 60, unit="characters"))
    given = ray.data.from_arrow([table.slice(0, 303), table.slice(303)])
    found = pa.concat_tables(ray.get(rk.score_dataset(given, reward).to_arrow_refs())).sort_by("input/total")
    assert found.replace_schema_metadata(None).equals(rk.score_dataset(table, reward))


def test_a_cluster_at_an_address_gets_the_modules_of_the_reward(rewards: Path, tmp_path: Path) -> None:
    folder = tempfile.mkdtemp(dir="/tmp")
    environment = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--node-ip-address=127.0.0.1"]
    start += [f"--port={address.rpartition(':')[2]}", "--num-cpus=2", "--include-dashboard=false"]
    start += [f"--temp-dir={folder}", "--object-store-memory=200000000", "--disable-usage-stats"]
    (tmp_path / "beside.py").write_text("LOW = 1\n")
    rewards.write_text(f"from beside import LOW\n{REWARDS}")
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows(300)))
    with subprocess.Popen(start, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True) as head:
        try:
            assert head.stdout is not None
            assert any("runtime started" in line for line in head.stdout)
            command = [sys.executable, "-m", "rewardkit.cli.main", "score", str(data), "--reward", f"{rewards}:cheap"]
            command += ["--engine", "ray", "--address", address, "--out", str(tmp_path / "scored")]
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stderr
            assert read(tmp_path / "scored").num_rows == 300
            sent = {path.name for path in Path(folder).glob("session_2*/runtime_resources/working_dir_files/*/*")}
            assert sent - {"__pycache__"} == {"rewards.py", "beside.py"}, "and none of the data beside it"
        finally:
            os.killpg(head.pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)
