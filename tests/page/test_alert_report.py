"""The alerts of a recorded run as text and as JSON."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.errors import NotARun
from rewardkit.page.alert_report import LEAST_STEPS, AlertReport, alert_report
from rewardkit.page.alerts import alerts_of
from rewardkit.rewards.judges.judge import task_judge
from tests.page.recorded import conversations, ordinary
from tests.page.test_rescoring import anywhere, recorded
from tests.rewards.judges.server import JudgeServer, Request, no_quota, verdict


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("report") / "run", 40)


@pytest.fixture(scope="module")
def report(run: Path) -> AlertReport:
    return alert_report(run, reward=anywhere)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    def judged(request: Request) -> object:
        return {"reason": "it names \x1b[2J all", "score": 0 if "0 1 2 3" in request.text else 2}

    with JudgeServer(verdict(judged)) as running:
        yield running


def test_the_report_has_the_alerts_of_the_page_in_their_order(run: Path, report: AlertReport) -> None:
    alerts = alerts_of(run, reward=anywhere)
    assert list(report.alerts) == alerts
    assert report.strength == alerts[0].strength >= 0.8
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert (values["steps"], values["completions"]) == (40, 960)
    assert [one["title"] for one in values["alerts"] + values["observations"]] == [alert.title for alert in alerts]
    assert values["observations"]
    assert values["alerts"][0]["kind"] == "foreign"
    assert values["alerts"][0]["examples"][0]["completion"].startswith("0 1 2 3")
    assert values["alerts"][0]["examples"][0]["prompt"].startswith("question")
    assert "verdict" not in values["alerts"][0]["examples"][0]


def test_the_text_has_alerts_then_observations_with_some_completions_each(report: AlertReport) -> None:
    text = report.text(examples=3)
    assert f"{report.strength:.2f}  foreign, steps" in text
    assert text.index("foreign, steps") < text.index("Observations about this run") < text.index("observation  ")
    assert text.count(", total ") == 3 * len(report.alerts)
    assert ", total " not in report.text(examples=0)
    assert max(map(len, text.splitlines())) < 200


@pytest.mark.slow
def test_a_judge_gives_its_verdict_beside_the_alerts_and_reads_no_observations(run: Path, server: JudgeServer) -> None:
    plain = alert_report(run, reward=anywhere)
    found = alert_report(run, reward=anywhere, judge=task_judge(rk.Endpoint("m", server.base_url)))
    assert found.alerts == plain.alerts
    values = found.to_dict()
    first = values["alerts"][0]
    assert first["second_opinion"] == {"does": 0, "does_not": len(first["examples"]), "undecided": 0}
    assert {one["verdict"] for one in first["examples"]} == {"does_not"}
    assert all("second_opinion" in alert for alert in values["alerts"])
    assert not any("second_opinion" in observation for observation in values["observations"])
    text = found.text()
    assert re.search(r"judge +does not do the task: it names \\", text)
    assert "\x1b" not in text
    assert len(server.requests) <= 8 * len(values["alerts"])


def test_a_judge_that_refuses_costs_no_alert(run: Path, server: JudgeServer) -> None:
    server.answer = no_quota()
    found = alert_report(run, reward=anywhere, judge=task_judge(rk.Endpoint("m", server.base_url)))
    assert found.opinions[0] is not None
    assert found.opinions[0].counts["undecided"] == len(found.alerts[0].rows)
    assert "quota" in found.text()


def test_the_judge_gets_the_columns_of_the_data(run: Path) -> None:
    opinion = alert_report(run, reward=anywhere, judge=rk.exact("answer")).opinions[0]
    assert opinion is not None
    assert opinion.counts["undecided"] == 0


def test_the_report_says_if_no_completion_was_scored_again(run: Path, report: AlertReport) -> None:
    assert "--reward" in alert_report(run).text()
    assert "reads no column" in alert_report(run, reward=rk.tags("answer")).text()
    assert report.remark == ""


def test_a_short_run_says_so(tmp_path: Path) -> None:
    found = alert_report(ordinary(tmp_path / "run", steps=LEAST_STEPS - 1))
    assert f"{LEAST_STEPS - 1} training steps" in found.too_short
    assert "No alerts" not in found.text()
    assert found.to_dict()["remark"]
    assert alert_report(ordinary(tmp_path / "long", steps=LEAST_STEPS)).too_short == ""


@pytest.mark.slow
def test_completions_that_call_tools_are_shown_with_all_turns(tmp_path: Path) -> None:
    examples = [one for own in alert_report(conversations(tmp_path / "run", 20)).examples for one in own]
    called = [one.completion for one in examples if "calls open(" in one.completion]
    assert called
    assert all(text.startswith("ASSISTANT, turn 1") for text in called)


@pytest.mark.parametrize("lost", ["completions", "prompts"])
def test_texts_that_the_record_has_lost_cost_no_alert(run: Path, lost: str, tmp_path: Path) -> None:
    path = shutil.copytree(run, tmp_path / "run")
    for file in (path / lost).rglob("*.parquet"):
        file.unlink()
    found = alert_report(path, judge=rk.exact("answer"))
    assert found.alerts
    assert "(empty)" in found.text() or lost == "prompts"


def test_no_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotARun):
        alert_report(tmp_path / "nowhere")
