"""Logs of inspect_ai as rows: both kinds of files, the order, the columns, and the errors."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.cli.main import main
from rewardkit.errors import DataError
from rewardkit.scoring.files import rows_of
from rewardkit_adapters.inspect.logs import is_log
from tests.adapters.inspect.written import ANSWER, CALL, RESULT, SYSTEM, USER, header, sample, written

REWARD = """
import rewardkit as rk

@rk.reward
def added(trajectory: rk.Trajectory, target: str) -> float:
    return float(trajectory.answer.rstrip(".").endswith(target) and all(call.ok for call in trajectory.calls))

@rk.reward
def finished(trajectory: rk.Trajectory) -> float:
    return float(trajectory.stop == "answered")
"""


@pytest.mark.parametrize("name", ["run.eval", "run.json"])
def test_a_sample_is_a_row(tmp_path: Path, name: str) -> None:
    (row,) = rk.from_inspect_log(written(tmp_path / name, [sample()]))
    assert row == {
        "id": "a",
        "epoch": 1,
        "prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 1 + 2?"}],
        "completion": [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1, "y": 2}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "name": "add", "content": "3"},
            {"role": "assistant", "content": "It is 3."},
        ],
        "target": "3",
        "choices": None,
        "stop_reason": "stop",
        "limit": None,
        "scores": {"match": "C"},
        "error": None,
        "metadata": {"level": 1},
    }
    read = rk.Trajectory.of(row["completion"])
    assert (read.answer, [call.ok for call in read.calls]) == ("It is 3.", [True])


@pytest.mark.parametrize("name", ["run.eval", "run.json"])
def test_rows_come_in_the_order_of_the_data_with_epochs_together(tmp_path: Path, name: str) -> None:
    samples = [sample(one, epoch=epoch) for one in ("b", 10, 9, "a_epoch_3") for epoch in (1, 2, 10)]
    rows = rk.from_inspect_log(written(tmp_path / name, samples))
    assert [(row["id"], row["epoch"]) for row in rows] == [(one["id"], one["epoch"]) for one in samples]


def test_a_log_of_a_run_that_was_stopped_has_no_header(tmp_path: Path) -> None:
    path = tmp_path / "run.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("_journal/start.json", json.dumps(header([sample("b"), sample("a")])))
        for one in (sample("a"), sample("b")):
            file.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
    assert [row["id"] for row in rk.from_inspect_log(path)] == ["b", "a"]


def test_failed_and_limited_samples_say_so(tmp_path: Path) -> None:
    cut = {"choices": [{"message": ANSWER, "stop_reason": "max_tokens"}]}
    samples = [
        sample("a", error={"message": "ConnectionError()", "traceback": "..."}, output={}, scores=None),
        sample("b", limit={"type": "message", "limit": 5.0}, output=cut),
        sample("c", [], input=[USER], output={}),
        sample("d", [USER]),
    ]
    rows = rk.from_inspect_log(written(tmp_path / "run.json", samples))
    assert [(row["error"], row["limit"], row["stop_reason"]) for row in rows[:2]] == [
        ("ConnectionError()", None, None),
        (None, "message", "max_tokens"),
    ]
    assert rows[0]["scores"] == {}
    assert (rows[2]["prompt"], rows[2]["completion"]) == ([{"role": "user", "content": "What is 1 + 2?"}], [])
    assert rows[3]["completion"] == [{"role": "assistant", "content": "It is 3."}]  # a solver that keeps no messages


def test_examples_in_the_prompt_stay_there(tmp_path: Path) -> None:
    shown = [USER, {**ANSWER, "source": "input"}, USER]
    (row,) = rk.from_inspect_log(written(tmp_path / "run.json", [sample(messages=[*shown, CALL, RESULT, ANSWER])]))
    assert [message["role"] for message in row["prompt"]] == ["user", "assistant", "user"]
    assert len(row["completion"]) == 3


@pytest.mark.parametrize("scheme", ["attachment://", "tc://"])
def test_attachments_are_put_back(tmp_path: Path, scheme: str) -> None:
    image = {"type": "image", "image": f"{scheme}f00"}
    asked = {**USER, "content": [{"type": "text", "text": "attachment://unknown"}, image]}
    one = sample(messages=[SYSTEM, asked, ANSWER], attachments={"f00": "data:image/png;base64,AA=="})
    (row,) = rk.from_inspect_log(written(tmp_path / "run.eval", [one]))
    assert row["prompt"][1]["content"] == [
        {"type": "text", "text": "attachment://unknown"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ]


@pytest.mark.parametrize("name", ["run.eval", "run.json"])
def test_the_score_command_reads_logs(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    cut = {"choices": [{"message": ANSWER, "stop_reason": "max_tokens"}]}
    path = written(tmp_path / name, [sample("a"), sample("b", target="4"), sample("c", output=cut)])
    (tmp_path / "reward.py").write_text(REWARD)
    for reward, totals in (("added", [1.0, 0.0, 0.0]), ("finished", [1.0, 1.0, 0.0])):
        out = tmp_path / f"{reward}.jsonl"
        target = f"{tmp_path / 'reward.py'}:{reward}"
        assert main(["score", str(path), "--reward", target, "--out", str(out)]) == 0
        assert [row["total"] for _, row in rows_of(out)] == totals
    assert f"3 completions of {path} scored" in capsys.readouterr().out


def test_logs_are_told_from_other_files(tmp_path: Path) -> None:
    assert is_log(written(tmp_path / "run.json", [sample()]))
    assert is_log(written(tmp_path / "run.eval", [sample()]))
    (tmp_path / "data.json").write_text('[{"completion": "42"}]')
    (tmp_path / "data.jsonl").write_text('{"completion": "42"}')
    for other in (tmp_path / "data.json", tmp_path / "data.jsonl", tmp_path / "no.json", "s3://a/b.eval"):
        assert not is_log(other)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"header.json": "{}"}, "the log has no samples"),
        ({"samples/a_epoch_1.json": "{"}, "samples/a_epoch_1.json is not JSON"),
        ({"samples/a_epoch_1.json": "[]"}, "instead of an object"),
        (None, r"not an inspect_ai log \(File is not a zip file\)"),
    ],
)
def test_what_is_no_log_is_an_error(tmp_path: Path, content: dict[str, str] | None, message: str) -> None:
    path = tmp_path / "run.eval"
    if content is None:
        path.write_text("no archive")
    else:
        with zipfile.ZipFile(path, "w") as file:
            for name, text in content.items():
                file.writestr(name, text)
    with pytest.raises(DataError, match=message):
        rk.from_inspect_log(path)
    with pytest.raises(FileNotFoundError):
        rk.from_inspect_log(tmp_path / "nowhere.eval")
