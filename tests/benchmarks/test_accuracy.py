"""What the table of verifiers counts, and how it reads the sets that are not in this repository."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import accuracy
import accuracy_sets as sets
from accuracy_counting import counted, table
from accuracy_disputed import DISPUTED
from peers import verdicts

CASES = [
    sets.Case("a", "5", "\\boxed{5}", True),
    sets.Case("b", "5", "\\boxed{6}", False),
    sets.Case("c", "x", "\\boxed{x}", True),
    sets.Case("d", "x", "\\boxed{y}", False),
]


def test_a_refused_gold_answer_also_counts_as_its_right_answer_refused() -> None:
    count = counted("set", "contestant", CASES, [True, True, None, None], 0.002)
    assert (count.wrong_accepted, count.right_refused, count.golds_refused) == (("b",), ("c",), ("x",))
    assert (count.wrong, count.right, count.golds, count.microseconds) == (2, 2, 2, 500.0)
    assert table([count]).splitlines()[-1] == "| contestant | 1 / 2 | 1 / 2 | 1 / 2 | 500 |"


def test_a_verdict_that_is_missing_is_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        counted("set", "contestant", CASES, [True], 0.0)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([True, False, None]))))
def test_each_case_is_counted_once(given: list[tuple[bool, bool | None]]) -> None:
    cases = [sets.Case(str(number), str(number), "", right) for number, (right, _) in enumerate(given)]
    count = counted("set", "contestant", cases, [verdict for _, verdict in given], 0.0)
    as_labeled = sum(bool(verdict) == right for right, verdict in given)
    assert len(count.wrong_accepted) + len(count.right_refused) + as_labeled == len(given)
    assert count.wrong + count.right == len(given)


def test_the_tests_of_math_verify_are_read_without_running_them(tmp_path: Path) -> None:
    (tmp_path / "Math-Verify" / "tests").mkdir(parents=True)
    (tmp_path / "Math-Verify" / "tests" / "test_some.py").write_text(
        "raise SystemExit\n"
        '@pytest.mark.parametrize("gold, pred, expected", [("1", "2", 0), (f"{x}", "1", 1), ("3", "3", 1)])\n'
        "def test_a(): ...\n"
        '@pytest.mark.parametrize("gold,pred,expected,precision", [("1/3", "0.33", 1, 2), ("4", "4", 1, 6)])\n'
        "def test_b(): ...\n"
        '@pytest.mark.parametrize("pred,expected", [("1", ["1"])])\n'
        "def test_c(): ...\n"
    )
    assert sets.math_verify(tmp_path) == [
        sets.Case("some.test_a[0]", "1", "2", False),
        sets.Case("some.test_a[2]", "3", "3", True),
        sets.Case("some.test_b[1]", "4", "4", True),
    ]


def test_disputed_cases_are_left_out_and_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(DISPUTED, "set", {"b": "form: ..."})
    labeled = sets.read("set", lambda _: CASES, tmp_path)
    assert ([case.name for case in labeled.cases], labeled.disputed) == (["a", "c", "d"], 1)
    with pytest.raises(ValueError, match="no case"):
        sets.read("set", lambda _: CASES[2:], tmp_path)


def test_a_set_that_is_not_at_hand_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sets, "DATA", tmp_path)
    accuracy.main(["--only", "GSM8K", "--ours", "--sets", str(tmp_path)])
    assert "GSM8K: skipped: no " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("gold", "kind"),
    [("42", "number"), ("$-1,234.5$", "number"), ("1,2", "formula"), ("(C)", "formula"), ("C", "letter"),
     ("even", "words"), ("x", "formula"), ("2\\sqrt{3}", "formula")],
)  # fmt: skip
def test_the_kind_of_a_gold_answer(gold: str, kind: str) -> None:
    assert sets.Case("", gold, "", True).kind == kind


def test_rewardkit_refuses_what_it_cannot_read_and_reads_boxes_of_solutions() -> None:
    contestant = verdicts.rewardkit('rk.number("answer", {gold})')
    golds = ["5", "5", "So \\boxed{7} it is.", "no number"]
    assert contestant(golds, ["\\boxed{5}", "\\boxed{6}", "\\boxed{7}", "\\boxed{7}"]) == [True, False, True, None]


@pytest.mark.parametrize(
    ("gold", "read"), [("2\\sqrt{3}", "\\boxed{2\\sqrt{3}}"), ("$2$", "$2$"), ("\\boxed{2}", "\\boxed{2}")]
)
def test_bare_gold_answers_are_boxed_for_contestants_that_need_marks(gold: str, read: str) -> None:
    assert accuracy.marked(gold) == read


def test_a_contestant_answers_in_its_own_process(tmp_path: Path) -> None:
    report = accuracy.asked(accuracy.OURS[1], CASES[:2], tmp_path)
    assert report["verdicts"] == [True, False]
    assert report["version"].startswith("rewardkit")
