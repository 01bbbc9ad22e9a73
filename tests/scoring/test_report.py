"""The report of all rows is the same, however they are cut into parts."""

from __future__ import annotations

from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.scoring.report import ReplayReport
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.tree.evaluation.scorer import Scorer

SCORER = Scorer(0.5 * rk.number("answer") + 0.5 * rk.length.between(1, 20, unit="characters"))
ROWS = st.tuples(st.sampled_from(["<answer>1</answer>", "none", None]), st.sampled_from(["1", "2", "many", "few"]))


def scored(rows: list[tuple[str | None, str]]) -> Scores:
    return score(SCORER, Work([text for text, _ in rows], None, None, {"answer": [gold for _, gold in rows]}))


def report(*parts: list[tuple[str | None, str]]) -> ReplayReport:
    found = ReplayReport()
    for part in parts:
        found.add(scored(part))
    return found


@given(st.lists(st.lists(ROWS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_reports_of_parts_extend_to_the_report_of_all_rows(parts: list[list[tuple[str | None, str]]]) -> None:
    whole, extended = report(*parts), ReplayReport()
    for part in parts:
        extended.extend(report(part))
    assert extended.text() == whole.text()
    assert (extended.rows, extended.faulty, extended.without_total) == (whole.rows, whole.faulty, whole.without_total)


def test_rates_name_the_components_that_were_scored() -> None:
    table = report([("<answer>1</answer>", "1")] * 50).rates()
    names = {line.split()[0] for line in table.splitlines()}
    assert {"number", "length_between"} <= names
