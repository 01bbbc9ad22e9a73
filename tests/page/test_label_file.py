"""The file of labels: what it keeps, for whom, and through what."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import RewardKitError
from rewardkit.page.label_file import LABELS, Label, LabelFile, Line

KEY = (1, 0, 2, 3)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)


def line(key: tuple[int, int, int, int] = KEY, label: str = "good", note: str = "", text: str = "It is 42") -> Line:
    return Line.of(
        "a run", key, Label(label, note), {"step": 7}, {"prompt": "6*7?", "completion": text, "answer": "42"}
    )


def test_a_line_says_everything(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "labels.jsonl")
    file.put(line(label="exploit", note="begs"))
    read = LabelFile(tmp_path / "labels.jsonl")
    assert read.of("a run") == {KEY: Label("exploit", "begs")}
    assert read.of("another run") == {}
    [found] = read.lines
    assert found.record["prompt"] == "6*7?"
    assert found.record["answer"] == "42"
    assert found.record["is_good"] is False
    assert found.record["rewardkit"]["step"] == 7


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([*LABELS, None]), TEXTS, TEXTS, st.booleans()), max_size=12)
)
def test_two_pages_see_the_last_label_of_each_completion(
    changes: list[tuple[int, str | None, str, str, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        pages = LabelFile(path), LabelFile(path)
        expected: dict[tuple[int, int, int, int], Label] = {}
        for row, label, note, text, other in changes:
            key = (1, 0, 0, row)
            if label is None:
                pages[other].remove("a run", key)
                expected.pop(key, None)
            else:
                pages[other].put(line(key, label, note, text))
                expected[key] = Label(label, note)
            assert pages[other].of("a run") == expected
        for page in (*pages, LabelFile(path)):
            page.refresh()
            assert page.of("a run") == expected
        assert [one.name for one in Path(folder).iterdir() if one.name != path.name] == []


def test_labels_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"

    def work(part: int) -> None:
        own = LabelFile(path)
        for row in range(15):
            own.put(line((1, 0, part, row)))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(LabelFile(path).of("a run")) == 60


def test_a_crash_leaves_the_labels_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = LabelFile(tmp_path / "labels.jsonl")
    file.put(line())
    before = file.path.read_bytes()

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(RewardKitError, match="No space left"):
            file.put(line((1, 0, 2, 4)))
    assert file.path.read_bytes() == before
    assert file.of("a run") == {KEY: Label("good")}
    (tmp_path / ".labels.jsonl.1.partial").write_text('{"half')
    assert LabelFile(file.path).of("a run") == {KEY: Label("good")}


def test_lines_of_others_stay_as_they_are(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "labels.jsonl")
    file.put(line(text="中 \u2028 \ud800"))
    file.path.write_text(file.path.read_text().replace('"step": 7', '"step":  7, "mine": 1'))
    before = file.path.read_text()
    file.refresh()
    file.put(line((1, 0, 2, 4)))
    assert file.path.read_text().startswith(before)
    assert file.lines[0].record["completion"] == "中 \u2028 \ud800"


def test_other_files_are_refused(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"prompt": "6*7?", "answer": "42"}\n')
    with pytest.raises(RewardKitError, match="line 1 is not a label"):
        LabelFile(data)
    assert data.read_text() == '{"prompt": "6*7?", "answer": "42"}\n'
    for wrong in (tmp_path / "labels.csv", tmp_path / "nowhere" / "labels.jsonl", tmp_path):
        with pytest.raises(RewardKitError, match="--labels"):
            LabelFile(wrong)


def test_a_file_that_breaks_later_keeps_the_labels_and_says_so(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "labels.jsonl")
    file.put(line())
    file.path.write_text("{}\n")
    with pytest.raises(RewardKitError, match="line 1"):
        file.refresh()
    assert "line 1" in file.problem
    assert file.of("a run") == {KEY: Label("good")}
    with pytest.raises(RewardKitError, match="line 1"):
        file.put(line((1, 0, 2, 4)))
    assert file.path.read_text() == "{}\n"
