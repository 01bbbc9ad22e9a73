"""``rewardkit score``: its output, its files and its exit codes; the real solutions of GSM8K."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rewardkit.cli.main import main
from rewardkit.scoring.files import rows_of
from rewardkit.scoring.sources import saved
from tests.scoring import replayed

DATA = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "gsm8k"

Captured = pytest.CaptureFixture[str]

ROWS = [
    {"prompt": "6*7?", "completion": "<answer>42</answer>", "answer": "42"},
    {"prompt": "6*7?", "completion": "<answer>41</answer>", "answer": "42"},
]


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def test_scores_are_written_and_summarized(data: str, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "scored.parquet"
    assert main(["score", data, "--reward", f"{replayed.TARGET}both", "--out", str(out)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"2 completions of {data} scored by")
    assert [line.split() for line in said[2:6]] == [
        ["component", "mean", "lowest", "highest", "scored"],
        ["number", "0.5", "0", "1", "2"],
        ["short", "1", "1", "1", "2"],
        ["total", "0.75", "0.5", "1"],
    ]
    assert said[-1] == f"Written to {out}"
    assert [row["total"] for _, row in rows_of(out)] == [1.0, 0.5]
    assert [row["components/number"] for _, row in rows_of(out)] == [1.0, 0.0]


def test_rows_that_cannot_be_scored_are_listed_and_the_exit_code_is_1(data: str, capsys: Captured) -> None:
    path = Path(data)
    path.write_text(path.read_text() + json.dumps({"prompt": "p", "completion": "1", "answer": "\x1b[2Jx"}) + "\n")
    assert main(["score", data, "--reward", f"{replayed.TARGET}number"]) == 1
    out = capsys.readouterr().out
    assert "1 of 3 rows have no total" in out
    assert "  1 row: number: column 'answer': '\\x1b[2Jx' " in out
    assert " (row 2)" in out
    assert "\x1b" not in out


def test_rows_with_the_same_fault_are_one_line_with_a_count(tmp_path: Path, capsys: Captured) -> None:
    price = "{row} euros, a price with an explanation that goes on about the tax, the shipping and the discount"
    rows = [
        {"completion": "<answer>1</answer>", "answer": price.format(row=row) if row % 2 else "1"} for row in range(600)
    ]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["score", str(data), "--reward", f"{replayed.TARGET}number", "--out", str(tmp_path / "out.jsonl")]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "300 rows have errors (rows are numbered from 0): 300 rows: number: column 'answer': '1 euros, " in out
    assert "Fix the data, or pass gold= with an extractor" in out  # nothing is cut in the middle
    assert "(first: row 1; the other rows have different values)" in out
    assert out.count("euros") == 2  # the value and its part that cannot be read, of one row
    errors = [row.get("error") for _, row in rows_of(tmp_path / "out.jsonl")]
    assert errors[0] is None
    assert str(errors[599]).startswith("number: column 'answer': '599 euros, ")


def test_columns_completions_and_rows_can_be_chosen(data: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text("".join(json.dumps({"text": row["completion"], "gold": row["answer"]}) + "\n" for row in ROWS))
    chosen = ["--columns", "answer=gold", "--completion", "text", "--limit", "1", "--batch", "1"]
    assert main(["score", str(path), "--reward", f"{replayed.TARGET}number", *chosen]) == 0
    assert capsys.readouterr().out.startswith("1 completions of")


@pytest.mark.parametrize("column", ["stop_reason", "finish_reason"])
@pytest.mark.parametrize("processes", ["1", "2"])
def test_stop_reasons_say_which_completions_were_cut(tmp_path: Path, column: str, processes: str) -> None:
    reasons = ["stop", "length", None, "max_tokens"]
    path, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps({"completion": "So", column: reason}) + "\n" for reason in reasons))
    options = ["--reward", f"{replayed.TARGET}whole", "--processes", processes, "--batch", "3", "--out", str(out)]
    assert main(["score", str(path), *options]) == 0
    assert [row["total"] for _, row in rows_of(out)] == [1.0, 0.0, 1.0, 0.0]


def test_a_column_of_conversations_may_have_any_name(tmp_path: Path, capsys: Captured) -> None:
    said = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "<answer>42</answer>"}]
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"said": said, "answer": "42"}) + "\n")
    for option in (["--completion", "said"], ["--columns", "completion=said"]):
        assert main(["score", str(path), "--reward", f"{replayed.TARGET}number", *option]) == 0
        assert "    total     1" in capsys.readouterr().out
    assert main(["score", str(path), "--reward", f"{replayed.TARGET}number"]) == 2


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_conversations_that_were_written_are_read_again(tmp_path: Path, ending: str, capsys: Captured) -> None:
    said = [{"role": "user", "content": "6*7?"}, {"role": "assistant", "content": "<answer>42</answer>"}]
    path, out = tmp_path / "data.jsonl", tmp_path / f"out.{ending}"
    path.write_text(json.dumps({"messages": said, "answer": "42"}) + "\n")
    assert main(["score", str(path), "--reward", f"{replayed.TARGET}number", "--out", str(out)]) == 0
    assert "    total     1" in capsys.readouterr().out
    (chunk,) = saved(out).chunks(2)
    assert (chunk.column("prompt"), chunk.column("completion")) == ([said[:1]], [said[1:]])


def test_several_files_and_patterns_are_scored_in_order(data: str, tmp_path: Path, capsys: Captured) -> None:
    other = tmp_path / "other.csv"
    other.write_text("completion,answer\n<answer>7</answer>,7\n")
    out = tmp_path / "out.jsonl"
    given = [str(other), str(tmp_path / "d*.jsonl")]
    assert main(["score", *given, "--reward", f"{replayed.TARGET}number", "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"3 completions of {other} and 1 more scored by")
    assert [row["total"] for _, row in rows_of(out)] == [1.0, 1.0, 0.0]
    assert main(["score", *given, "--reward", f"{replayed.TARGET}number", "--out", str(other)]) == 2
    assert "is the data file" in capsys.readouterr().err


def test_an_interrupted_command_says_how_to_continue(
    data: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(data).write_text("".join(json.dumps({"completion": said}) + "\n" for said in [*["go"] * 599, "stop"]))
    out = tmp_path / "out.jsonl"
    given = ["score", data, "--reward", f"{replayed.TARGET}quota", "--out", str(out), "--resume"]
    monkeypatch.setenv("REPLAYED_STOPS", "1")
    assert main(given) == 2
    assert "512 completions have been scored: add --resume to score the others" in capsys.readouterr().err
    monkeypatch.delenv("REPLAYED_STOPS")
    assert main(given) == 0
    assert len(out.read_text().splitlines()) == 600
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_without_a_terminal_each_tenth_is_printed(data: str, capsys: Captured) -> None:
    assert main(["score", data, "--reward", f"{replayed.TARGET}number", "--batch", "1"]) == 0
    assert capsys.readouterr().err == f"scoring {data}: 1 of 2\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl cannot be read: No such file"),
        (["{data}", "--out", "{data}"], "is the data file"),
        (["{data}", "--out", "scored.txt"], ".jsonl, .csv, or .parquet"),
        (["{data}", "--columns", "answer=gold"], "no column 'gold'"),
    ],
)
def test_misuse_exits_with_2_and_explains_the_fix(
    data: str, capsys: Captured, arguments: list[str], message: str
) -> None:
    given = [argument.format(data=data) for argument in arguments]
    assert main(["score", *given, "--reward", f"{replayed.TARGET}number"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--columns", "gold"], "NAME=COLUMN"), (["--limit", "0"], "at least 1"), (["--batch", "x"], "invalid")],
)
def test_malformed_options_are_explained(data: str, capsys: Captured, options: list[str], message: str) -> None:
    with pytest.raises(SystemExit):
        main(["score", data, "--reward", "a:b", *options])
    assert message in capsys.readouterr().err


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no GSM8K data in {DATA}; set REWARDKIT_DATA")
def test_real_solutions_agree_with_every_published_label(tmp_path: Path, capsys: Captured) -> None:
    reward = tmp_path / "gsm8k_solutions.py"
    reward.write_text(
        "import rewardkit as rk\n"
        "last = rk.extract.after('A:')\n"
        "reward = rk.number('reference', thousands=True, extract=last, gold=last)\n"
    )
    out = tmp_path / "scored.jsonl"
    source = DATA / "model_solutions.jsonl"
    assert main(["score", str(source), "--reward", f"{reward}:reward", "--processes", "2", "--out", str(out)]) == 0
    scored = [row for _, row in rows_of(out)]
    assert len(scored) == 2638
    assert [row["total"] == 1.0 for row in scored] == [row["is_correct"] for row in scored]
    assert capsys.readouterr().out.startswith("2,638 completions")


def test_a_terminated_command_leaves_no_partial_file(tmp_path: Path) -> None:
    reward = "import os, signal\nimport rewardkit as rk\n\n@rk.reward\ndef ends(completion: str) -> float:\n"
    reward += "    os.kill(os.getpid(), signal.SIGTERM)\n    return 1.0\n"
    (tmp_path / "ends.py").write_text(reward)
    (tmp_path / "data.jsonl").write_text('{"completion": "a"}\n')
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "score",
                str(tmp_path / "data.jsonl"),
                "--reward",
                f"{tmp_path / 'ends.py'}:ends",
                "--out",
                str(tmp_path / "out.jsonl"),
            ]
        )
    assert ended.value.code == 143
    assert sorted(path.name for path in tmp_path.glob("*.jsonl*")) == ["data.jsonl"]
    assert not list(tmp_path.glob(".*"))
