"""Laws of judges: judges that favor a position or length, and one that favors neither."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check import laws
from rewardkit.testing import check_reward
from tests.rewards.judges.server import JudgeServer, Request, endpoint, verdict

SHOWN = re.compile(r"(?:^(\w+):\n)?<completion-(\w+)>\n(.*?)\n</completion-\2>", re.MULTILINE | re.DOTALL)
EXAMPLES = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
GOOD = ["42", "7"]
BAD = ["41", "no idea"]
QUALITY = {"42": 4, "7": 3, "41": 2, "no idea": 1}


def shown(request: Request) -> list[tuple[str, str]]:
    return [(identifier, text) for identifier, _, text in SHOWN.findall(request.messages[-1]["content"])]


def ranked(key: Any) -> Any:
    """Rank the shown completions by (place, text)."""

    def rule(request: Request) -> dict[str, Any]:
        order = sorted(enumerate(shown(request)), key=lambda item: key(item[0], item[1][1]))
        return {"reason": "", "ranking": [identifier for _, (identifier, _) in order]}

    return rule


def first_line(text: str) -> int:
    return QUALITY[text.split("\n")[0]]


def scored(key: Any) -> Any:
    return lambda request: key(shown(request)[-1][1])


def findings(server: JudgeServer, law: laws.Law, **options: Any) -> list[str]:
    reward = rk.judge("Is {prompt} answered?", model=endpoint(server.base_url, options), **options)
    report = check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, laws=[law])
    return [found.why for found in report.findings]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (lambda place, text: place, "being listed first scores 1 more"),
        (lambda place, text: -place, "being listed last scores 1 more"),
        (lambda place, text: -first_line(text), None),
    ],
    ids=["the first", "the last", "the best"],
)
def test_a_ranking_by_place_is_found(rule: Any, why: str | None) -> None:
    with JudgeServer(verdict(ranked(rule))) as server:
        found = findings(server, laws.position_bias, compare="group")
    assert [said.startswith(why or "") for said in found] == ([True] if why else [])


@pytest.mark.parametrize(
    ("rule", "broken"),
    [(lambda text: min(10.0, len(text) / 50), True), (first_line, False), (lambda text: 5.0 - len(text) / 1000, False)],
    ids=["longer is better", "the same", "shorter is better"],
)
def test_a_judge_that_likes_length_is_found(rule: Any, broken: bool) -> None:
    with JudgeServer(verdict(scored(rule))) as server:
        found = findings(server, laws.verbosity_bias)
    assert bool(found) == broken
    assert all("three empty sentences score" in why for why in found)


@pytest.mark.parametrize("sign", [-1, 1], ids=["the longer wins", "the shorter wins"])
def test_a_ranking_by_length_is_found(sign: int) -> None:
    with JudgeServer(verdict(ranked(lambda place, text: sign * len(text)))) as server:
        assert len(findings(server, laws.verbosity_bias, compare="group")) == (sign < 0)


def test_other_rewards_have_nothing_to_do_with_them() -> None:
    report = check_reward(
        rk.exact("answer"), examples=EXAMPLES, good=GOOD, bad=BAD, laws=[laws.position_bias, laws.verbosity_bias]
    )
    assert not report.findings
