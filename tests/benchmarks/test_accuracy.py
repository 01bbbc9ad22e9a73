"""What the table of verifiers counts, and how it reads the sets that are not in this repository."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from benchmarks.accuracy import accuracy, formats as accuracy_formats, sets
from benchmarks.accuracy.counting import counted, table
from benchmarks.accuracy.disputed import CORRECTED, DISPUTED
from benchmarks.peers import verdicts

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


def test_disputed_cases_are_left_out_others_corrected_and_both_must_exist(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(DISPUTED, "set", {"b": "form: ..."})
    monkeypatch.setitem(CORRECTED, "set", {"c": (False, "extraction: ...")})
    labeled = sets.read("set", lambda _: CASES, tmp_path)
    assert [(case.name, case.right) for case in labeled.cases] == [("a", True), ("c", False), ("d", False)]
    assert labeled.disputed == 1
    with pytest.raises(ValueError, match=r"no case \['c'\]"):
        sets.read("set", lambda _: CASES[:2], tmp_path)
    with pytest.raises(ValueError, match=r"no case \['b'\]"):
        sets.read("set", lambda _: CASES[2:], tmp_path)


@given(st.sets(st.text("ab/", min_size=1)))
def test_each_case_is_in_one_half_with_the_others_for_its_problem(names: set[str]) -> None:
    cases = [sets.Case(name, "", "", True) for name in sorted(names)]
    halves = [
        {case.name for case in sets.read("set", lambda _: cases, Path(), part).cases} for part in ("dev", "held-out")
    ]
    assert halves[0] | halves[1] == names
    problems = [{name.partition("/")[0] for name in part} for part in halves]
    assert not problems[0] & problems[1]


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


def test_published_outputs_are_read_with_their_options_and_corrected_extractions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    question, answer = "Q: first\n(D) d\nQ: Which?\n(A) a\n(B) b\n(C) c", "So the answer is (B)."
    entry = "{}st data\n1_th_sampling\nQ: ...\nA: {}\npred_before : {}\npred_after : A\npred_list : ...\nGT : A\n"
    files = {
        "BIG-Bench-Hard/code-davinci-002-outputs/code-davinci-002-cot/snarks_few_shot_255000.json": json.dumps(
            {"outputs": [{"input": text, "prediction": answer, "target": "(B)"} for text in (question, "Q: none")]}
        ),
        "mCoT/outputs/mcot_ft_mgsm_de.json": "".join(
            json.dumps({"answer": 1500.0, "response": f"Die Antwort ist {text}."}) + "\n" for text in ("1.500", "1,5")
        ),
        "zero_shot_cot/log/aqua_zero_shot.log": f"{'*' * 25}\n".join(
            entry.format(number, text, text) for number, text in enumerate(("It is A.", "A or B."))
        ),
        "zero_shot_cot/log/aqua_zero_shot_cot.log": "stopped",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert sets.bbh(tmp_path) == [sets.Case("snarks 0", "B", answer, True, "letter", "ABC")]
    assert sets.mgsm(tmp_path) == [
        sets.Case("de 0", "1500", "Die Antwort ist 1.500.", True, "number"),
        sets.Case("de 1", "1500", "Die Antwort ist 1,5.", False, "number"),
    ]
    with pytest.raises(sets.NotAtHand, match=r"no log/gsm8k_zero_shot\.log"):
        sets.zero_shot_cot(tmp_path)
    monkeypatch.setattr(sets, "_ZERO_SHOT_TASKS", {"aqua": "ABCDE"})
    outputs = {(case.completion, case.right, case.options) for case in sets.zero_shot_cot(tmp_path)}
    assert outputs == {("It is A.", True, "ABCDE"), ("A or B.", False, "ABCDE")}


@pytest.mark.parametrize(
    ("text", "language", "number"),
    [("Antwort: 1.234,50 Euro.", "de", "1234.50"), ("57 500.", "fr", "57500"), ("It is 1,234.5.", "en", "1234.5"),
     ("450 22", "fr", "22"), ("-3", "en", "-3"), ("none", "en", "")],
)  # fmt: skip
def test_the_last_number_of_a_language(text: str, language: str, number: str) -> None:
    assert sets.last_number(text, language) == number


@pytest.mark.parametrize(
    "turn", ["\nQ: Next?\nA: 2", "\n\nQuestion: Next?", "\nHuman: Next?", "\n\n\nQuestions follow"]
)
def test_a_made_up_turn_is_cut_off(turn: str) -> None:
    assert sets.first_turn(f"Q: Is it?\nThe answer is 1.{turn}").rstrip() == "Q: Is it?\nThe answer is 1."


@pytest.mark.parametrize(
    ("contestant", "gold", "right", "wrong"),
    [(verdicts.mmlu_pro("ABCDEF"), "F", ["The answer is (F).", "Answer: F", "A, then F"], ["F, then A", "H"]),
     (verdicts.flexible_extract(), "1,234", ["so 1 then $1,234.", "1234"], ["1,234 of 5", "none"]),
     (verdicts.strict_match(), "yes", ["The answer is Yes.", "So the answer is yes.."], ["yes", "The answer is yes"])],
    ids=["mmlu_pro", "flexible_extract", "strict_match"],
)  # fmt: skip
def test_public_patterns_read_as_published(
    contestant: verdicts.Contestant, gold: str, right: Sequence[str], wrong: Sequence[str]
) -> None:
    given = contestant([gold] * len([*right, *wrong]), [*right, *wrong])
    assert given == [True] * len(right) + [False] * len(wrong)


@pytest.mark.slow
def test_options_reach_the_contestants(tmp_path: Path) -> None:
    cases = [sets.Case(letters, "E", "The answer is E.", True, "letter", letters) for letters in ("ABCD", "ABCDE")]
    choice, math_verify = (
        next(one for one in (*accuracy.OURS, *accuracy.HERE) if one.name == name)
        for name in ("rk.choice", "math-verify")
    )
    assert accuracy.asked(choice, cases, tmp_path, bare=True)["verdicts"] == [None, True]
    assert accuracy.asked(math_verify, cases, tmp_path, bare=True)["verdicts"] == [None, True]


def test_a_contestant_for_formulas_gets_all_where_no_task_is_named() -> None:
    word, letter = sets.Case("", "even", "", True), sets.Case("", "B", "", True, "letter", "ABCD")
    assert [one.name for one in accuracy.OURS if one.is_for(word)] == ["rk.math_equal", "rk.exact"]
    assert [one.name for one in accuracy.OURS if one.is_for(letter)] == ["rk.choice"]


def test_each_format_states_its_answer_and_the_made_up_turn_another_one() -> None:
    cases = {case.name: case for case in accuracy_formats.formats(Path())}
    assert len(cases) == len(accuracy_formats.formats(Path())) > 3_000
    for name, case in cases.items():
        if case.right:
            wrong = cases[name.removesuffix("right") + "wrong"]
            assert (wrong.completion, wrong.right) == (case.completion, False)
            assert wrong.gold != case.gold
            assert case.gold in case.completion
            assert not {"@", "&"} & set(case.completion)
            assert "/turn/" not in name or case.completion.index(case.gold) < case.completion.rindex(wrong.gold)
    assert {sets.half("formats", name) for name in cases} == {"dev", "held-out"}
    assert not any(case.right for case in accuracy_formats.traps(Path()))
