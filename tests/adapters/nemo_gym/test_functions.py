"""to_nemo_gym with a stand-in for NeMo Gym's base class: the same replies as the server's."""

from __future__ import annotations

import runpy
import sys
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

import rewardkit as rk
from rewardkit.online.exports import Target, export_to
from tests.adapters.nemo_gym.test_rollouts import rollout, said


class ReverifyMode(str, Enum):
    STATELESS = "stateless"
    UNKNOWN = "unknown"


class Request(BaseModel):
    responses_create_params: dict[str, Any]
    response: dict[str, Any]


class Response(Request):
    reward: float
    reward_components: dict[str, float]


class Config(BaseModel):
    name: str = "rewards"
    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.UNKNOWN


class Server(BaseModel):
    """What the real one does with `verify` and the mode."""

    config: Config
    ran: ClassVar[list[type[Any]]] = []

    def setup_webserver(self) -> FastAPI:
        app = FastAPI()
        app.post("/verify")(self.verify)  # type: ignore[attr-defined]
        return app

    @classmethod
    def run_webserver(cls) -> None:
        Server.ran.append(cls)


@pytest.fixture(autouse=True)
def _gym(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("nemo_gym.base_resources_server")
    vars(module).update(
        BaseVerifyRequest=Request, BaseMultiRewardVerifyResponse=Response, BaseResourcesServerConfig=Config,
        SimpleResourcesServer=Server, ReverifyMode=ReverifyMode,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "nemo_gym", ModuleType("nemo_gym"))
    monkeypatch.setitem(sys.modules, "nemo_gym.base_resources_server", module)
    Server.ran.clear()


@rk.reward
def same(completion: str, answer: str) -> float | None:
    """Return whether it is the answer; fail on "down", abstain on "none"."""
    if completion == "down":
        raise rk.RewardFailure("the judge is down")
    return None if completion == "none" else float(completion == answer)


def client(reward: Any = same, **options: Any) -> TestClient:
    server = rk.to_nemo_gym(reward, **options)
    return TestClient(server(config=server.model_fields["config"].annotation()).setup_webserver())


def post(app: TestClient, text: str, **fields: Any) -> tuple[int, Any]:
    answer = app.post("/verify", json=rollout([said(text)], answer="4", **fields))
    return answer.status_code, answer.json()


def test_it_answers_with_the_fields_of_the_request_and_the_numbers() -> None:
    short = rk.length.between(1, 3, unit="characters").named("short")
    status, found = post(client(0.75 * same + 0.25 * short), "4", own={"kept": [1]})
    assert status == 200
    assert (found["reward"], found["answer"], found["own"]) == (1.0, "4", {"kept": [1]})
    assert found["reward_components"] == {"same": 0.75, "short": 0.25}
    assert (found["terms/same"], found["components/short"]) == (0.75, 1.0)


@pytest.mark.parametrize("text", ["down", "none"])
def test_a_rollout_without_a_score_is_marked(text: str) -> None:
    status, found = post(client(), text)
    assert (status, found["reward"]) == (200, 0.0)
    assert found["_ng_failure_class"] == "judge_failed"
    assert found["instance_config"] == {"mask_sample": True}


def test_nemo_rl_gets_an_error_unless_it_may_mask() -> None:
    status, found = post(client(patience=0.0), "down", _rowidx=0)
    assert status == 503
    assert found["detail"].startswith("this rollout has no score: same: the judge is down. NeMo RL generates another")
    status, found = post(client(on_failure="mask", patience=0.0), "down", _rowidx=0)
    assert (status, found["instance_config"]) == (200, {"mask_sample": True})


def test_a_subclass_has_tools_of_its_own() -> None:
    class Own(rk.to_nemo_gym(same)):  # type: ignore[misc]
        def setup_webserver(self) -> FastAPI:
            app: FastAPI = super().setup_webserver()
            app.post("/weather")(lambda: "cold")
            return app

    app = TestClient(Own(config=Own.model_fields["config"].annotation()).setup_webserver())
    assert app.post("/weather").json() == "cold"
    assert post(app, "4")[1]["reward"] == 1.0


def test_it_may_be_verified_again() -> None:
    config = rk.to_nemo_gym(same).model_fields["config"].annotation
    assert config.REVERIFY_MODE is ReverifyMode.STATELESS


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"on_failure": "drop"}, "on_failure= must be 'retry' or 'mask', got 'drop'"),
        ({"patience": -1.0}, "patience= must be a number of seconds, 0 or more, got -1.0"),
    ],
)
def test_options_out_of_their_range_are_refused(options: Any, why: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=why):
        rk.to_nemo_gym(same, **options)


@pytest.mark.parametrize("reward", [rk.rank_in_group(same), rk.schedules.linear(0.0, 1.0, start=0, end=9) * same])
def test_rewards_that_need_more_than_a_rollout_are_refused(reward: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"NeMo Gym: "):
        rk.to_nemo_gym(reward)


def test_examples_are_tried_at_once() -> None:
    with pytest.raises(rk.errors.BindingError, match="answer"):
        rk.to_nemo_gym(same, examples=[{"gold": "4"}])


def test_the_exported_file_is_an_entrypoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_reward.py").write_text("import rewardkit as rk\nreward = rk.number('answer')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    export = export_to(
        "nemo-gym", Target("own_reward", "reward", str(tmp_path)), {"nemo-gym": "rewardkit_adapters.nemo_gym"}
    )
    (tmp_path / "rewards_nemo_gym.py").write_text(export.files["rewards_nemo_gym.py"])
    runpy.run_path(str(tmp_path / "rewards_nemo_gym.py"))
    assert Server.ran == []
    runpy.run_path(str(tmp_path / "rewards_nemo_gym.py"), run_name="__main__")
    assert [one.__name__ for one in Server.ran] == ["RewardServer"]
    assert "entrypoint: rewards_nemo_gym.py" in export.config.format(file="", folder="")


def test_a_reward_that_nemo_gym_cannot_run_is_not_exported(tmp_path: Path) -> None:
    (tmp_path / "grouped_reward.py").write_text(
        "import rewardkit as rk\nreward = rk.rank_in_group(rk.number('answer'))\n"
    )
    target = Target("grouped_reward", "reward", str(tmp_path))
    with pytest.raises(rk.RewardDefinitionError, match="NeMo Gym: 'number_rank' compares completions"):
        export_to("nemo-gym", target, {"nemo-gym": "rewardkit_adapters.nemo_gym"})


def test_another_rollout_does_not_help_if_the_gold_cannot_be_read() -> None:
    app = client(rk.number("answer"))
    answer = app.post("/verify", json=rollout([said("4")], answer="N/A", _rowidx=0))
    found = answer.json()
    assert (answer.status_code, found["reward"], found["instance_config"]) == (200, 0.0, {"mask_sample": True})
    assert found["_ng_failure_terminal"] is True
    assert "column 'answer': 'N/A' cannot be parsed" in found["_ng_failure_judge_error"]
