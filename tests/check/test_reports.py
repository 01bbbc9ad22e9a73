"""Reports as text, JSON and a page: each fault once, everything escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.laws.base import NO_GOOD
from rewardkit.check.reports import Section, json_of, law_as_text, page_of, text_of
from rewardkit.check.reports.measured import measured
from rewardkit.report.values import middle_cut
from rewardkit.testing import Finding, LawResult, Report
from rewardkit.tree.conversion import tree_of

NASTY = (
    "\x1b]52;c;ZXZpbA==\x07<script>alert(1)</script>\u202egnp.exe\u2066\ud800\x00\n</pre><img src=x onerror=alert(2)>"
)
VOID = {"meta", "rect", "img", "br"}


def a_finding(**changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "law": "finite",
        "component": "closeness",
        "completion": "<answer>1e999</answer>",
        "columns": {"prompt": "6*7?", "answer": "42"},
        "score": None,
        "why": "closeness returned inf",
        "matters": "One infinite score is too many.",
    }
    return Finding(**{**fields, **changes})


def a_report(*findings: Finding, unfinished: Mapping[str, str] | None = None, **results: str) -> Report:
    laws = {finding.law: tuple(one for one in findings if one.law == finding.law) for finding in findings}
    broken = [LawResult(law, "broken", 3, found, seconds=0.1) for law, found in laws.items()]
    others = [LawResult(law, "skipped", reason=reason) for law, reason in results.items()]
    others += [LawResult(law, "unfinished", reason=reason) for law, reason in (unfinished or {}).items()]
    return Report("number('answer')", (LawResult("total", "held", 461), *broken, *others), seed=7, seconds=1.25)


class Structure(HTMLParser):
    """Collect the tags of a page, and check that they are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_sound_reward_takes_a_few_lines() -> None:
    text = str(a_report(gate_dominance="it has no gate"))
    assert text.splitlines() == [
        "number('answer')",
        "  held      total",
        "  n/a       gate_dominance",
        "",
        "  sound: 1 held; 1.2 s, seed 7",
    ]


def test_a_reward_without_right_completions_is_not_called_sound() -> None:
    text = str(a_report(exploits=NO_GOOD, separates_good_from_bad=NO_GOOD, gate_dominance="it has no gate"))
    assert "Not tried, because no correct completions are known: exploits, separates_good_from_bad." in text
    assert text.endswith("  no fault found, but no correct completions were given: 1 held; 1.2 s, seed 7")


def test_a_reward_that_rejected_nothing_is_not_called_sound() -> None:
    report = replace(a_report(), unjudged="pass bad=[...]")
    assert Section(report).verdict.startswith("no fault found, but little was judged (pass bad=[...]): 1 held")
    assert report.ok
    assert report.to_dict()["unjudged"] == "pass bad=[...]"


def test_many_laws_that_were_not_tried_are_counted_in_text_and_listed_elsewhere() -> None:
    skipped = {f"law_{number}": "it has no gate" for number in range(40)}
    missing = {f"good_{number}": NO_GOOD for number in range(20)}
    results = [LawResult(law, "skipped", reason=reason) for law, reason in (skipped | missing).items()]
    report = Report("number('answer')", (LawResult("total", "held", 461), *results))
    text = str(report)
    assert "n/a       60 laws: 40 about other code, 20 without correct completions\n" in text
    assert "no correct completions are known: 20 laws." in text
    assert "law_" not in text
    listed = {law["law"] for law in report.to_dict()["laws"]}
    assert {*skipped, *missing} <= listed
    assert all(law in page_of([Section(report)]) for law in skipped)


def test_a_finding_has_everything_to_reproduce_it() -> None:
    text = str(a_report(a_finding(note="off by 3", source="arXiv:2106.09898")))
    for part in (
        "BROKEN    finite  1 finding",
        "One infinite score is too many.",
        "completion  '<answer>1e999</answer>'",
        "answer      '42'",
        "closeness   no score   off by 3",
        "seen in     arXiv:2106.09898",
        "rk.score(reward, ['<answer>1e999</answer>'], prompts=['6*7?'], answer=['42'])",
        "BROKEN: 1 finding in 1 law, 1 held",
    ):
        assert part in text


def test_a_chat_prompt_is_shown_by_its_messages() -> None:
    prompt = [{"role": "system", "content": "Think. " * 100}, {"role": "user", "content": "What is 6*7?"}]
    text = str(a_report(a_finding(columns={"prompt": prompt, "answer": "42"})))
    (line,) = [line for line in text.splitlines() if line.split()[:1] == ["prompt"]]
    assert line.endswith("user: 'What is 6*7?'")
    assert "system: 'Think. " in line
    assert len(line) < 330
    odd: Any
    for odd in ([], [{}], ["a"], [{"content": [{"type": "text", "text": "a"}]}], "text", None):
        assert "prompt" in str(a_report(a_finding(columns={"prompt": odd})))


def test_one_fault_is_shown_once() -> None:
    report = a_report(a_finding(), a_finding(why="said in other words"), a_finding(completion="another"))
    assert str(report).count("reproduce ") == 1
    assert str(report).count("also ") == 1
    assert page_of([Section(report)]).count('class="finding"') == 2
    assert "2 findings in 1 law" in Section(report).verdict


def test_leads_are_shown_apart_and_break_nothing() -> None:
    leads = tuple(
        a_finding(lead=True, completion=f"<b>{n}</b>", score=1.0, correct="42", correct_score=0.75, why=f"lead {n}")
        for n in range(7)
    )
    report = Report("number('answer')", (LawResult("bounded", "held", 3, leads=leads),))
    text, page = str(report), page_of([Section(report)])
    assert report.findings == []
    assert Section(report).verdict.startswith("sound: 1 held")
    assert "1. finite: lead 0" in text
    assert re.search(r"correct +'42'\n +its score +0.75\n +closeness +1\n", text)
    for shown in (text, page):
        assert "lead 4" in shown
        assert "lead 5" not in shown
        assert "2 more are in report.leads" in shown
    assert len(report.to_dict()["laws"][0]["leads"]) == 7


def test_findings_are_in_the_order_of_the_laws() -> None:
    text = str(a_report(a_finding(), a_finding(law="bounded", why="too much")))
    assert text.index("closeness returned inf") < text.index("too much")


def test_the_worst_faults_come_first() -> None:
    raises = a_finding(law="total", why="raises", trace="ValueError: x")
    refused = a_finding(law="right_however_written", why="a correct one scores 0")
    paid = a_finding(law="exploits", family="leak", why="a leak scores 1", score=1.0)
    report = a_report(a_finding(law="picklable", why="not picklable"), raises, refused, paid)
    text, page = str(report), page_of([Section(report)])
    order = ["a leak scores 1", "a correct one scores 0", "raises", "not picklable"]
    for shown in (text, page):
        assert order == sorted(order, key=shown.index)


def test_one_cause_is_one_card() -> None:
    same: dict[str, Any] = {"component": "total", "completion": "", "score": 1.0}
    silence = a_finding(law="lazy_answers_score_low", why="silence scores 1", **same)
    exploit = a_finding(law="exploits", family="empty", why="no text: scores 1", **same)
    at_line = {**same, "completion": "41", "line": "rewards.py:3: if a in b:"}
    wrong = a_finding(law="gold_above_perturbed_gold", why="a wrong answer scores 1", **at_line)
    leak = a_finding(law="exploits", family="leak", why="a leak scores 1", **{**at_line, "completion": "x"})
    other_row = a_finding(law="exploits", family="leak", why="another row", **{**at_line, "columns": {"answer": "7"}})
    report = a_report(silence, wrong, exploit, leak, other_row)
    text, page = str(report), page_of([Section(report)])
    for shown in (text, page):
        assert shown.count("ncorrect completions score like correct ones. ") == 2
        assert "Silence scores 1" in shown
    assert "also        exploits: no text: scores 1: ''" in text
    assert "also        exploits: a leak scores 1: 'x'" in text
    assert page.count('class="finding"') == 3
    assert "5 findings in 3 laws" in Section(report).verdict
    for target in re.findall(r'href="#([^"]*)"', page):
        assert page.count(f'id="{target}"') == 1


def test_findings_that_silence_explains_share_a_card() -> None:
    families = ("empty", "length", "injection", "leak")
    found = [a_finding(law="exploits", family=one, completion=one, why=f"{one}: 1", score=1.0) for one in families]
    text = str(a_report(*found))
    assert text.count("reproduce ") == 2
    assert text.count("also ") == 2


def test_a_shared_reason_is_shown_once() -> None:
    report = a_report(a_finding(), a_finding(completion="b"))
    assert str(report).count("One infinite score is too many.") == 1
    both = a_report(a_finding(), a_finding(completion="b", matters="Another reason."))
    assert str(both).count("matters ") == 2


def test_unfinished_laws_are_not_called_sound() -> None:
    over = {"time_linear": "out of time", "bounded": "the law itself failed (KeyError: 'a')"}
    report = a_report(unfinished=over, gate_dominance="it has no gate")
    section = Section(report)
    assert report.ok is None
    with pytest.raises(AssertionError, match="no fault found, but some laws were not finished"):
        assert report.ok, report
    sections = [section, Section(a_report())]
    assert json.loads(json_of(sections))["ok"] is None
    assert json.loads(json_of([*sections, Section(a_report(a_finding()))]))["ok"] is False
    assert section.verdict.startswith(
        "INCOMPLETE: no fault found, but some laws were not finished (time_linear, bounded): 1 held, 2 not done"
    )
    assert "  not done  time_linear: out of time" in text_of([section])
    assert "  not done  bounded: the law itself failed (KeyError: 'a')" in text_of([section])
    assert "  n/a       gate_dominance" in text_of([section])
    assert "not done" in page_of([section])


def test_a_completion_that_kills_the_process_is_shown_once() -> None:
    ends = a_finding(law="total", why="scoring ended the whole process")
    results = tuple(LawResult(law, "broken", findings=(ends,)) for law in ("total", "finite", "bounded"))
    section = Section(Report("dies", results))
    assert text_of([section]).count("reproduce ") == 1
    assert "  not done  finite, bounded: the process crashed again" in text_of([section])
    assert section.verdict.startswith("BROKEN: 1 finding in 1 law, 0 held, 2 not done")
    assert page_of([section]).count("the process crashed again") == 2


def test_a_finding_is_shown_under_the_law_that_it_breaks() -> None:
    hangs = a_finding(law="time_linear", why="took more than 8 s")
    results = (LawResult("total", "broken", findings=(hangs,)), LawResult("time_linear", "broken", findings=(hangs,)))
    section = Section(Report("hangs", results))
    assert [result.law for result in section.broken] == ["time_linear"]
    assert [result.law for result in section.unfinished] == ["total"]


def test_the_middle_of_long_completions_is_cut() -> None:
    text = str(a_report(a_finding(completion="a" * 5_000 + "".join(map(str, range(2_000))))))
    assert "characters ...]" in text
    assert max(len(line) for line in text.splitlines()) < 420
    assert "rk.score(" not in text
    assert "finding.reproduce" in text


@pytest.mark.parametrize("limit", [10, 299, 300])
def test_a_cut_text_says_how_much_is_missing(limit: int) -> None:
    text = "".join(str(number % 10) for number in range(300))
    shown = middle_cut(text, limit)
    missing = re.search(r"\[\.\.\. ([\d,]+) characters", shown)
    kept = re.sub(r" \[.*\] ", "", shown)
    assert len(kept) + (int(missing[1]) if missing else 0) == 300


def test_control_characters_are_spelled_out() -> None:
    nasty = a_finding(
        completion=NASTY,
        columns={"prompt": NASTY, NASTY: NASTY},
        component=NASTY,
        why=NASTY,
        note=NASTY,
        matters=NASTY,
        source=NASTY,
        family=NASTY,
        trace=f'Traceback\n  File "{NASTY}"\n{NASTY}',
    )
    section = Section(a_report(nasty).shown_as(NASTY), data=NASTY, remarks=(NASTY,))
    text, page = text_of([section]), page_of([section])
    for shown in (text, page):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2066-\u2069\u202a-\u202e\ud800-\udfff]", shown)
        shown.encode()
    structure = Structure(page)
    assert structure.open == []
    assert not structure.seen & {"script", "img", "link", "iframe", "object"}
    assert not {name for name in structure.attributes if name.startswith("on") or name in ("style", "src")}
    assert "<script>alert(1)</script>" in structure.text
    assert json.loads(json_of([section]))["rewards"][0]["laws"][1]["findings"][0]["completion"] == NASTY
    assert json_of([section]).isascii()


def test_the_page_allows_its_own_style_and_nothing_else() -> None:
    page = page_of([Section(a_report(a_finding())), Section(a_report().shown_as("another"))])
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "prefers-color-scheme: dark" in page
    for target in re.findall(r'href="#([^"]*)"', page):
        assert page.count(f'id="{target}"') == 1


def test_several_rewards_end_with_all_verdicts() -> None:
    text = text_of([Section(a_report(a_finding()).shown_as("one")), Section(a_report().shown_as("second"))])
    assert [line.split(":")[0] for line in text.splitlines()[-2:]] == ["one     BROKEN", "second  sound"]


def test_json_is_strict_and_complete() -> None:
    report = a_report(a_finding(score=math.inf, columns={"answer": math.nan}))
    found = json.loads(json_of([Section(report)]), parse_constant=lambda name: pytest.fail(name))
    assert found["ok"] is False
    (reward,) = found["rewards"]
    assert (reward["seed"], reward["reward"]) == (7, "number('answer')")
    assert [law["outcome"] for law in reward["laws"]] == ["held", "broken"]
    assert reward["laws"][1]["findings"][0]["score"] == "inf"


def test_the_output_of_a_failing_test() -> None:
    result = LawResult("finite", "broken", 3, (a_finding(), a_finding(completion="b")))
    text = law_as_text(result, "closeness")
    assert text.startswith("closeness breaks finite in 2 ways\n  One infinite score")
    assert text.count("reproduce") == 1
    assert text.count("also ") == 1


ROWS = [
    {"prompt": "6*7?", "answer": "42", "completion": "42", "label": "True"},
    {"prompt": "6*7?", "answer": "42", "completion": "41", "label": "False"},
    {"prompt": "3+4?", "answer": "7", "completion": "8 <b>", "label": "False"},
    {"prompt": "3+4?", "answer": "7", "completion": "7", "label": "True"},
]


def the_data(tmp_path: Any, rows: list[dict[str, str]]) -> str:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_labels_and_samples_are_shown_with_the_laws(tmp_path: Any) -> None:
    section = measured(a_report(), rk.number("answer"), the_data(tmp_path, ROWS))
    assert section.calibration is not None
    assert section.signal is not None
    assert section.calibration.total.within.right == 2
    text, page = text_of([section]), page_of([section])
    assert "Agreement with the labels" in text
    assert "Learning signal" in text
    structure = Structure(page)
    assert structure.open == []
    assert {"svg", "rect"} <= structure.seen
    reward = json.loads(json_of([section]))["rewards"][0]
    assert reward["calibration"]["good"] == 2
    assert reward["signal"]["groups"] == 2


def test_data_without_labels_or_groups(tmp_path: Any) -> None:
    unlabeled = [{name: row[name] for name in ("prompt", "answer", "completion")} for row in ROWS]
    section = measured(a_report(), rk.number("answer"), the_data(tmp_path, unlabeled))
    assert (section.calibration, section.signal is None) == (None, False)
    section = measured(a_report(), rk.number("answer"), the_data(tmp_path, ROWS[::2]))
    assert (section.calibration is None, section.signal) == (False, None)


def test_a_reward_that_cannot_score_the_data_leaves_a_remark(tmp_path: Any) -> None:
    def raises(completions: list[str], **kwargs: Any) -> list[float]:
        raise ZeroDivisionError("of the reward")

    section = measured(a_report(), raises, the_data(tmp_path, ROWS))
    assert section.calibration is None
    assert "agreement with 'label' not measured" in section.remarks[0]
    assert "of the reward" in text_of([section])


def test_lists_and_functions_become_rewards() -> None:
    def one(completions: list[str], **kwargs: Any) -> list[float]:
        return [1.0] * len(completions)

    assert repr(tree_of(one, "x")) == "from_trl(one)"
    assert repr(tree_of([one, rk.exact("answer")], "x")) == "from_trl(one) + exact('answer')"
    with pytest.raises(rk.RewardDefinitionError, match="at least one"):
        tree_of([], "x")
