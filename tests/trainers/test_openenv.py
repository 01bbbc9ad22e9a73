"""OpenEnv's own rubrics and environments with `rk.to_openenv` and `rk.from_openenv`: the same numbers both ways."""

from __future__ import annotations

import asyncio
import importlib.util
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import Field

import rewardkit as rk
from tests.trainers.reward import agrees, expected, reward, rows
from tests.trainers.stubs import stub

stub("fastmcp", "gradio", "mcp")

from openenv.core.env_server.http_server import HTTPEnvServer  # noqa: E402
from openenv.core.env_server.interfaces import Environment  # noqa: E402
from openenv.core.env_server.serialization import serialize_observation  # noqa: E402
from openenv.core.env_server.types import Action, Observation, State  # noqa: E402
from openenv.core.rubrics import Gate, LLMJudge, Rubric, Sequential, WeightedSum  # noqa: E402

ENVIRONMENTS = next((Path(one) for one in sys.path if Path(one, "repl_env").is_dir()), Path())


def example(path: str) -> Any:
    """Return the rubrics of an example environment."""
    spec = importlib.util.spec_from_file_location(path.replace("/", "_"), ENVIRONMENTS / f"{path}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


REPL, CARLA, CHESS = (
    example("repl_env/rubrics"),
    example("carla_env/server/rubrics"),
    example("chess_env/server/rubrics"),
)
KEYS = {"number", "concise", "checked"} | {
    f"components/{name}" for name in ("readable", "number", "concise", "checked", "modest")
}


class Said(Action):
    message: str


class Heard(Observation):
    answer: str = ""
    numbers: dict[str, float | None] = Field(default_factory=dict)


class Told(Environment):
    """An environment of one step that scores what is said."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, rubric: Any, gold: str = "42") -> None:
        super().__init__(rubric=rubric)
        self.gold = gold

    def reset(self, seed: Any = None, episode_id: Any = None, **kwargs: Any) -> Any:
        return Heard()

    def step(self, action: Any, timeout_s: Any = None, **kwargs: Any) -> Any:
        observation = Heard(done=True, answer=self.gold)
        observation.reward = self._apply_rubric(action, observation)
        return observation

    @property
    def state(self) -> Any:
        return State()


class TellingLater(Told):
    async def step_async(self, action: Any, timeout_s: Any = None, **kwargs: Any) -> Any:
        observation = Heard(done=True, metadata={"answer": self.gold})
        observation.reward = await self._apply_rubric_async(action, observation)
        return observation


# rk.to_openenv


def test_totals_are_those_of_score() -> None:
    given = rows()
    rubric = rk.to_openenv(reward, limits=rk.Limits(max_failure_rate=1.0), text="message", numbers="numbers")

    def scored(row: tuple[str, str]) -> Any:
        return serialize_observation(Told(rubric, row[1]).step(Said(message=row[0])))

    with ThreadPoolExecutor(32) as threads:  # as many as OpenEnv's server has
        found = list(threads.map(scored, given))
    wrong = [
        place
        for place, (own, total) in enumerate(zip(found, expected(given), strict=True))
        if not agrees(own["reward"], total)
    ]
    assert wrong == [], [(given[place], found[place]) for place in wrong[:3]]
    assert 100 < sum(one["reward"] is None for one in found) < 2_000
    assert {frozenset(one["observation"]["numbers"]) for one in found} == {frozenset(KEYS)}


def test_asynchronous_environments_await_it() -> None:
    given = rows(500)
    rubric = rk.to_openenv(
        reward,
        text=lambda action, observation: action.message,
        asynchronous=True,
        limits=rk.Limits(max_failure_rate=1.0),
    )

    async def scored() -> list[Any]:
        return await asyncio.gather(
            *[TellingLater(rubric, gold).step_async(Said(message=text)) for text, gold in given]
        )

    found = [one.reward for one in asyncio.run(scored())]
    assert all(agrees(own, total) for own, total in zip(found, expected(given), strict=True))


def test_children_have_the_scores_of_their_own_session() -> None:
    hooked: list[Any] = []
    environments = [
        Told(rk.to_openenv(reward, limits=rk.Limits(max_failure_rate=1.0), text="message"), gold)
        for _, gold in rows(200)
    ]
    environments[0].rubric.get_rubric("number").register_forward_hook(lambda *seen: hooked.append(seen[-1]))
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda one: one[0].step(Said(message=one[1][0])), zip(environments, rows(200), strict=True)))
    table = rk.score(reward, [text for text, _ in rows(200)], answer=[gold for _, gold in rows(200)])
    for place, one in enumerate(environments):
        scores = {name: child.last_score for name, child in one.rubric.named_rubrics()}
        assert scores.keys() == KEYS
        assert agrees(scores["number"], table.terms["number"][place])
        assert agrees(one.rubric.last_score, table.total[place])
    assert len(hooked) == 1
    assert len({id(one.rubric._requests) for one in environments}) == 1


def test_a_failed_row_is_null_for_the_client() -> None:
    @rk.reward
    def down(completion: str) -> float:
        raise rk.RewardFailure("the judge is down")

    environment = Told(rk.to_openenv(down, text="message"))
    assert serialize_observation(environment.step(Said(message="4")))["reward"] is None
    with pytest.raises(TypeError):  # why a reward is not put into OpenEnv's own sum
        Told(WeightedSum([environment.rubric], [1.0])).step(Said(message="4"))


def test_the_server_of_openenv_serves_it() -> None:
    testing = pytest.importorskip("fastapi.testclient")
    fastapi = pytest.importorskip("fastapi")
    application = fastapi.FastAPI()
    server = HTTPEnvServer(lambda: Told(rk.to_openenv(rk.exact("answer"), text="message")), Said, Heard)
    server.register_routes(application)
    with testing.TestClient(application) as client:
        replies = [client.post("/step", json={"action": {"message": text}}).json() for text in ("42", "43")]
        with client.websocket_connect("/ws") as session:
            session.send_json({"type": "reset", "data": {}})
            session.receive_json()
            session.send_json({"type": "step", "data": {"message": "42"}})
            over_session = session.receive_json()
    assert [reply["reward"] for reply in replies] == [1.0, 0.0]
    assert over_session["data"]["reward"] == 1.0


def test_a_rubric_can_be_pickled() -> None:
    rubric = pickle.loads(pickle.dumps(rk.to_openenv(rk.exact("answer"), text="message")))
    assert Told(rubric).step(Said(message="42")).reward == 1.0


# rk.from_openenv

TEXTS = ["42", " 42 ", "it is 42", "43", "", "none"]


def ended(text: str) -> tuple[Any, Any]:
    """Return the last step of the REPL environment, as far as its rubrics read it."""
    final = None if text == "none" else text
    return text, SimpleNamespace(
        done=True, metadata={"final_answer": final}, result=SimpleNamespace(success="42" in text), reward=len(text) / 10
    )


def moves(text: str) -> list[tuple[Any, Any]]:
    """Return an episode: every letter is a move, and the last one ends it."""
    steps = [("move", SimpleNamespace(done=False, reward=0.25 * place)) for place in range(len(text))]
    return [*steps, ("end", SimpleNamespace(done=True, reward=1.0 if "42" in text else -1.0))]


class Judge:
    """A language model."""

    async def complete(self, prompt: str, **kwargs: Any) -> str:
        await asyncio.sleep(0.001)
        return f"I give {len(prompt) / 100}" if prompt else "no number"


class Half(Rubric):
    def forward(self, action: Any, observation: Any) -> float:
        return 0.5


def expecting(kind: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: kind(*arguments)


def metric(wanted: str, found: str) -> float:
    return len(found) / 7 if wanted in found else 0.0


SINGLE: dict[str, Callable[[], Any]] = {
    "exact match": expecting(REPL.ExactMatchRubric),
    "exact match without normalization": expecting(REPL.ExactMatchRubric, False),
    "fuzzy match": expecting(REPL.FuzzyMatchRubric),
    "a metric": expecting(REPL.CustomMetricRubric, metric),
    "code execution": expecting(REPL.CodeExecutionRubric, 0.1),
    "a rubric of rubrics": expecting(REPL.REPLRubric),
    "navigation": expecting(CARLA.CarlaNavigationRubric),
    "a judge": lambda: LLMJudge("{action}", Judge(), default_score=0.3),
    "a gate": lambda: Gate(REPL.FuzzyMatchRubric(), threshold=0.5),
    "a gate just below": lambda: Gate(CARLA.CarlaNavigationRubric(), threshold=0.4 + 1e-12),
    "a sequence": lambda: Sequential(Gate(REPL.FuzzyMatchRubric(), 0.5), CARLA.CarlaNavigationRubric()),
    "a sequence with a judge": lambda: Sequential(CARLA.CarlaNavigationRubric(), LLMJudge("{action}", Judge())),
    "a gated sum": lambda: Sequential(
        Gate(REPL.FuzzyMatchRubric(), 0.5),
        Gate(CARLA.CarlaNavigationRubric(), 0.3),
        WeightedSum([CARLA.CarlaNavigationRubric(), Half(), REPL.ExactMatchRubric()], [0.1, 0.2, 0.7]),
    ),
    "a sum": lambda: WeightedSum(
        [REPL.FuzzyMatchRubric(), CARLA.CarlaNavigationRubric(), Half()], weights=[0.7, 0.2, 0.1]
    ),
    "a sum with a judge": lambda: WeightedSum([Half(), LLMJudge("{action}", Judge()), Half()], [0.3, 0.3, 0.4]),
    "a sum of containers": lambda: WeightedSum(
        [
            Sequential(Gate(REPL.ExactMatchRubric()), Half()),
            Gate(WeightedSum([REPL.FuzzyMatchRubric(), Half()], [0.1, 0.9]), threshold=0.3),
        ],
        weights=[1 / 3, 2 / 3],
    ),
}
EPISODES: dict[str, Callable[[], Any]] = {
    "carla trolley": expecting(CARLA.CarlaTrolleyRubric),
    "chess": expecting(CHESS.ChessWinLossRubric),
    "a sum with an episode": lambda: WeightedSum([CHESS.ChessWinLossRubric(), Half()], [0.9, 0.1]),
}


def expect(rubric: Any, answer: str) -> None:
    """Do what the environment does at its reset: every rubric is told the gold answer."""
    for node in [rubric, *rubric.rubrics()]:
        if hasattr(node, "set_expected"):
            node.set_expected(answer)


def by_openenv(make: Callable[[], Any], episode: list[tuple[Any, Any]]) -> float:
    """Score an episode with OpenEnv alone, in a fresh environment."""
    environment = TellingLater(make())
    environment._reset_rubric()
    expect(environment.rubric, "42")

    async def last() -> Any:
        for action, observation in episode:
            score = await environment._apply_rubric_async(action, observation)
        return score

    return float(asyncio.run(last()))


@pytest.mark.parametrize("name", [*SINGLE, *EPISODES])
def test_scores_are_those_of_openenv(name: str) -> None:
    make = {**SINGLE, **EPISODES}[name]
    played: Any = moves if name in EPISODES else ended
    wanted = [by_openenv(make, moves(text) if name in EPISODES else [ended(text)]) for text in TEXTS]
    assert len(set(wanted)) > 1, wanted

    def step(completion: str) -> Any:
        return played(completion)

    own = rk.from_openenv(make(), step, reset=lambda rubric, answer: expect(rubric, answer))
    found = rk.score(own, [*TEXTS, *TEXTS], answer=["42"] * 12).total
    assert found.tolist() == [*wanted, *wanted]


def test_sums_and_gates_are_components_and_other_rubrics_have_parts() -> None:
    def step(completion: str) -> Any:
        return ended(completion)

    own = rk.from_openenv(SINGLE["a sum of containers"](), step, reset=lambda rubric, answer: expect(rubric, answer))
    table = rk.score(own, TEXTS[:3], answer=["42"] * 3)
    assert list(table.components) == ["ExactMatchRubric", "Half", "WeightedSum"]
    assert list(table.terms) == ["Half", "WeightedSum"]
    assert table.parts["WeightedSum"]["rubric.rubric_0"].tolist() == [1.0, 1.0, 0.5]
    gated = rk.gate(when=rk.length.between(1, 5, unit="characters"), then=own)
    assert rk.score(gated, TEXTS[:3], answer=["42"] * 3).total.tolist()[2] == 0.0


def test_there_and_back() -> None:
    given = rows(500)

    def step(completion: str, answer: str) -> Any:
        return Said(message=completion), Heard(done=True, answer=answer)

    back = rk.from_openenv(rk.to_openenv(reward, limits=rk.Limits(max_failure_rate=1.0), text="message"), step)
    found = rk.score(back, [text for text, _ in given], answer=[gold for _, gold in given]).total
    assert all(agrees(None if np.isnan(own) else own, total) for own, total in zip(found, expected(given), strict=True))


def test_a_judge_without_a_number_can_abstain() -> None:
    def scored(**options: Any) -> list[float]:
        reward = rk.from_openenv(LLMJudge("{action}", Judge(), **options))
        return list(rk.score(reward, ["seven", ""]).total)

    assert scored() == [0.05, 0.0]
    assert np.isnan(scored(default_score=None)).tolist() == [False, True]


def test_containers_of_openenv_do_not_reset_what_is_inside() -> None:
    rubric = WeightedSum([CHESS.ChessWinLossRubric(), Half()], [0.5, 0.5])
    for action, observation in moves("42"):
        rubric(action, observation)
    rubric.reset()
    assert len(rubric.rubric_0.trajectory) == 3
    rk.score(rk.from_openenv(rubric, lambda completion: moves("4")), ["one"])
    assert len(rubric.rubric_0.trajectory) == 2


def test_a_forward_that_openenv_never_calls_is_reported() -> None:
    class Mine(WeightedSum):
        def __init__(self) -> None:
            super().__init__([Half(), Half()], [0.5, 0.5])

        def forward(self, action: Any, observation: Any) -> float:
            return 7.0

    assert Mine()("4", None) == 0.5
    with pytest.warns(rk.errors.RewardKitWarning, match=r"Mine \(a WeightedSum\) overrides forward"):
        own = rk.from_openenv(Mine())
    assert rk.score(own, ["4"]).total.tolist() == [0.5]


def test_what_openenv_does_with_rubrics_that_fail() -> None:
    class Down(Rubric):
        def forward(self, action: Any, observation: Any) -> float:
            raise ConnectionError("nobody there")

    class Silent(Rubric):
        def forward(self, action: Any, observation: Any) -> Any:
            return None

    class Broken(Rubric):
        def forward(self, action: Any, observation: Any) -> float:
            return float("nan")

    def outcomes(rubric: Any) -> Iterator[Any]:
        own = rk.from_openenv(rubric, bounds=(0, 1))
        return iter(rk.Scorer(own).score(rk.Batch(["4"]), strict=False).total.tolist())

    with pytest.raises(ConnectionError):
        WeightedSum([Half(), Down()], [0.5, 0.5])("4", None)
    assert np.isnan(next(outcomes(WeightedSum([Half(), Down()], [0.5, 0.5]))))
    with pytest.raises(TypeError):
        WeightedSum([Half(), Silent()], [0.5, 0.5])("4", None)
    assert next(outcomes(WeightedSum([Half(), Silent()], [0.5, 0.5]))) == 0.25
    assert np.isnan(WeightedSum([Half(), Broken()], [0.5, 0.5])("4", None))
    assert next(outcomes(WeightedSum([Half(), Broken()], [0.5, 0.5]))) == 0.25  # its lowest bound
