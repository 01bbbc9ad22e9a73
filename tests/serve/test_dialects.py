"""The paths that trainers post to, as a real process."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

import rewardkit_adapters.openrlhf
import rewardkit_adapters.slime
from tests.serve.served import Served, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("reward", "--special-token", "<|im_end|>", REWARDKIT_TOKEN="") as running:
        yield running


TOTAL = 0.75 + 0.25 / 3


def test_openrlhf(server: Served) -> None:
    asked = {"query": ["2*21?42<|im_end|>"], "prompts": ["2*21?"], "labels": ["42"]}
    status, said = server.post("/openrlhf", asked)
    assert status == 200
    assert said["rewards"] == said["scores"] == TOTAL
    assert said["extra_logs"] == {
        "acts": 0.75,
        "short": 0.25 / 3,
        "components/acts": 1.0,
        "components/short": 1 / 3,
    }


def test_openrlhf_labels_may_be_json_and_lists_longer(server: Served) -> None:
    asked = {"query": ["q42", "q41"], "prompts": ["q", "q"], "labels": ['{"answer": "42"}', '{"answer": "42"}']}
    said = server.post("/openrlhf", asked)[1]
    assert said["rewards"] == [TOTAL, 0.25 / 3]
    assert said["extra_logs"]["acts"] == [0.75, 0.0]


def test_openrlhf_with_dynamic_filtering_gets_nan(server: Served) -> None:
    said = server.post("/openrlhf/dynamic_filtering", {"query": ["qfail"], "prompts": ["q"], "labels": ["42"]})[1]
    assert math.isnan(said["rewards"])


def test_a_query_without_its_prompt_is_refused(server: Served) -> None:
    status, said = server.post("/openrlhf", {"query": ["42"], "prompts": ["q"], "labels": ["42"]})
    assert status == 422
    assert "does not begin with the prompt" in said["error"]
    assert server.post("/openrlhf", {"query": "42"})[0] == 422
    assert server.post("/openrlhf", {"query": ["42"], "prompts": [], "labels": []})[0] == 422
    assert server.post("/openrlhf", {"query": [4], "prompts": [""], "labels": [""]})[0] == 422


def test_slime(server: Served) -> None:
    assert server.post("/slime", {"prompt": "q", "response": "42<|im_end|>", "label": "42"}) == (200, TOTAL)
    assert server.post("/slime", {"prompt": "q", "label": "42"})[0] == 422


def test_a_failed_row_is_never_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from rewardkit.online.rows import RowScore
    from rewardkit.serve.dialects import Answer

    asked: list[float] = []

    async def down(rows: object, *, patience: float = 0.0, **_: object) -> list[RowScore]:
        asked.append(patience)
        return [RowScore(None, {"acts": None}, {"acts": None}, {"acts": "failed"}, {}, ("acts: down",))]

    async def answers() -> list[Answer]:
        return [
            await rewardkit_adapters.openrlhf.score_completions({"query": [""], "prompts": [""], "labels": [""]}, down),
            await rewardkit_adapters.slime.score_completion({"response": ""}, down),
        ]

    for answer in asyncio.run(answers()):
        assert answer.status == 503
        assert "acts: down" in answer.content["error"]
    assert asked == [150.0, 100.0]
