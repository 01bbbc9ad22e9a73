"""SkyRL's scorers beside skyrl-gym: skyrl-agent's verifiers and the environments of its examples and integrations.

From a checkout: ``--checkouts FOLDER`` has SkyRL/.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from programs import FUNCTIONS, FUNCTIONS_RIGHT, FUNCTIONS_WRONG, STDIN, STDIN_RIGHT, STDIN_WRONG, asserts, fenced
from subject import Subject, at, bare_package, checkout, each, stand_in
from subjects.skyrl_gym import QUERIES, QUERIES_WRONG, toys
from texts import EXACT, FACTS, MATHEMATICS, MISNAMED, MISTAKEN, NAMED, RIGHT, SUMS, WRONG, boxed

NOT_HERE = {
    "a language model judges": "qa.compute_score_browsecomp qa.compute_score_ruler web_search llm_as_a_judge",
    "a service runs the programs": "sandbox_fusion",
    "needs pytest beside /usr/bin/python3": "coder1 with tests for pytest",
    "containers or environments of many turns": "swebench, mini_swe_agent, openenv, openreward, visgym, rlm",
}
"""What is left out, by reason."""


def subjects() -> Iterator[Subject]:
    root = checkout("SkyRL")
    agent = root / "skyrl-agent" / "skyrl_agent"
    bare_package("skyrl_agent", agent)
    bare_package("skyrl_agent.tasks", agent / "tasks")
    stand_in("litellm")
    mathematics = MATHEMATICS, boxed(EXACT), boxed(MISTAKEN)
    torl = _verifier("torl.math_verify").compute_score
    yield Subject("torl.compute_score (default)", each("torl", torl), *mathematics)
    kind = each("torl_wformat", lambda text, gold: torl(text, gold, "v2.wformat"))
    yield Subject("torl.compute_score (v2.wformat)", kind, *mathematics)
    dapo = _verifier("naive_dapo").compute_score
    scorer = each("naive_dapo", lambda text, gold: dapo(text, gold, {})["score"])
    yield Subject("naive_dapo.compute_score", scorer, *mathematics)
    prime = _verifier("prime_math").compute_score
    scorer = each("prime_math", lambda text, gold: prime(text, gold)["score"])
    yield Subject("prime_math.compute_score", scorer, *mathematics)
    qa, answers = _verifier("qa"), (FACTS, list(NAMED), list(MISNAMED))
    exact = each("qa_em", lambda text, gold: qa.compute_score_em(text, {"target": [gold]})["score"])
    yield Subject("qa.compute_score_em", exact, *answers)
    overlap = each("qa_f1", lambda text, gold: qa.compute_score_f1(text, {"target": [gold]})["score"])
    yield Subject("qa.compute_score_f1", overlap, *answers)
    yield from _programs()
    yield from _bird(root / "integrations" / "arctic_rl" / "envs" / "bird_reward.py")
    for example, name in (("multiply", "MultiplyEnv"), ("geometry3k", "Geometry3kEnv")):
        bare_package(f"skyrl_{example}", root / "examples" / "train" / example)
        scorer = each(example, _env(getattr(import_module(f"skyrl_{example}.env"), name)))
        given = mathematics if example == "geometry3k" else (SUMS, boxed(RIGHT), boxed(WRONG))
        yield Subject(f"examples/{example}", scorer, *given)


def _programs() -> Iterator[Subject]:
    """skyrl-agent's coder1, which runs programs with /usr/bin/python3."""
    coder = _verifier("coder1").compute_score

    def score(text: str, gold: str) -> float:
        return float(coder(text, gold, {})["score"])

    rows = [
        {"prompt": task["prompt"], "answer": json.dumps({"functional": "\n".join(asserts(task))})} for task in FUNCTIONS
    ]
    calls = each("coder1_functional", score)
    yield Subject("coder1.compute_score (functional)", calls, rows, fenced(FUNCTIONS_RIGHT), fenced(FUNCTIONS_WRONG))
    rows = [
        {"prompt": task["prompt"], "answer": json.dumps({"inputs": task["inputs"], "outputs": task["outputs"]})}
        for task in STDIN
    ]
    reads = each("coder1_stdin", score)
    yield Subject("coder1.compute_score (inputs)", reads, rows, fenced(STDIN_RIGHT), fenced(STDIN_WRONG))


def _bird(file: Path) -> Iterator[Subject]:
    path = Path(tempfile.mkdtemp(prefix="audit-toys-")) / "shop.sqlite"
    toys(path)
    found = at(file).compute_score
    bird = each("bird", lambda text, gold: found("bird", text, gold, {"db_path": str(path)})["score"])
    right, wrong = (
        [f"<think>I filter the toys.</think>\n```sql\n{query}\n```" for query in queries]
        for queries in ([row["answer"] for row in QUERIES], QUERIES_WRONG)
    )
    yield Subject("integrations/arctic_rl bird_reward", bird, QUERIES, right, wrong)


def _verifier(name: str) -> Any:
    return import_module(f"skyrl_agent.tasks.verifiers.{name}")


def _env(made: Any) -> Callable[[str, str], float]:
    """Return the reward of the only step of a new environment."""

    def score(text: str, gold: str) -> float:
        env = made(env_config={}, extras={"reward_spec": {"ground_truth": gold}, "max_turns": 1})
        return float(env.step(text)["reward"])

    return score
