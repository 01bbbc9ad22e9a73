"""Run a peer's reward functions on their cases, natively and as a Reward, and compare the numbers.

    PYTHONPATH=.:adapters:benchmarks .venv-audit-verifiers/bin/python benchmarks/peers/reward_functions.py verifiers

`audit.py` makes the environments. The other peers are ``trl`` (also in .venv), ``verifiers-rubric`` and
``eval-protocol``. The exit code is 1 if a number differs, or if good does not score above bad and the case has no
finding that explains it.
"""
# mypy: disable-error-code="import-not-found,import-untyped,misc"

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, get_args

# Without this, importing litellm tries to download a price list.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import numpy as np

import rewardkit as rk
from benchmarks.peers.cases import CASES, WHOLE, Case, Peer, token_ids

Scores = list[float]


def by_trl(case: Case, function: Any, texts: Sequence[str]) -> Scores:
    messages = [[{"role": "assistant", "content": text}] for text in texts]
    ids = [token_ids(text) for text in texts]
    return list(function(completions=messages, completion_ids=ids, prompts=case.column("prompt"), **case.columns))


def by_rubric(case: Case, given: Any, texts: Sequence[str]) -> Scores:
    """Score with verifiers' own ``score_group``, which needs real states; there, errors are logged and score zero."""
    import verifiers.legacy as vf

    rubric = given if hasattr(given, "funcs") else vf.Rubric(funcs=[given])
    states = []
    for row, text in enumerate(texts):
        given_input = {**case.examples[row], "prompt": [vf.UserMessage(content=case.examples[row]["prompt"])]}
        state = vf.State(input={"example_id": row, "answer": "", "info": {}, **given_input}, trajectory=[])
        state["completion"] = [vf.AssistantMessage(content=text)]
        states.append(state)
    asyncio.run(rubric.score_group(states))
    return [state["reward"] for state in states]


def by_task(case: Case, task_type: Any, texts: Sequence[str]) -> Scores:
    import verifiers.v1 as vf

    async def score(row: int) -> float:
        data = task_type.data_type()(**case.examples[row])
        nodes = [
            vf.MessageNode(message=vf.UserMessage(content=data.prompt)),
            vf.MessageNode(parent=0, message=vf.AssistantMessage(content=texts[row]), sampled=True),
        ]
        agent = vf.AgentInfo(config=vf.AgentConfig())
        trace = vf.Trace(task=vf.TraceTask(type=task_type.__name__, data=data), agent=agent, nodes=nodes)
        await task_type(data).score(trace)
        return float(trace.reward)

    async def score_all() -> Scores:
        return list(await asyncio.gather(*map(score, range(len(texts)))))

    return asyncio.run(score_all())


def by_eval_protocol(case: Case, function: Any, texts: Sequence[str]) -> Scores:
    scores = []
    for example, text in zip(case.examples, texts, strict=True):
        columns = {name: value for name, value in example.items() if name != "prompt"}
        messages = [{"role": "user", "content": example["prompt"]}, {"role": "assistant", "content": text}]
        scores.append(function(messages=messages, **columns).score)
    return scores


NATIVE: dict[str, Callable[[Case, Any, Sequence[str]], Scores]] = {
    "trl": by_trl,
    "verifiers-rubric": by_rubric,
    "verifiers": by_task,
    "eval-protocol": by_eval_protocol,
}


def as_reward(case: Case, made: Any) -> rk.Reward:
    """Convert the peer's object to a Reward."""
    if case.peer == "trl":
        return rk.from_trl(made)
    return rk.from_eval_protocol(made) if case.peer == "eval-protocol" else rk.from_verifiers(made)


def by_rewardkit(case: Case, reward: rk.Reward, texts: Sequence[str]) -> Scores:
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    ids = [token_ids(text) for text in texts]
    columns: dict[str, Any] = {**case.columns, "prompts": case.column("prompt"), "completion_ids": ids}
    table = rk.score(reward, completions, **columns)
    return [float(value) for value in table.total]


def run(case: Case) -> bool:
    """Run one case and print a line about it; return whether it is as expected."""
    made = case.make()
    good, bad = (NATIVE[case.peer](case, made, texts) for texts in (case.good, case.bad))
    reward = as_reward(case, made)
    ours = by_rewardkit(case, reward, case.good), by_rewardkit(case, reward, case.bad)
    same = np.allclose(ours, (good, bad), rtol=0, atol=1e-12)
    apart = all(above > below for above, below in zip(good, bad, strict=True))
    full = np.allclose(good, case.best)
    problems = [word for word, right in (("DIFFERS", same), ("NOT ABOVE", apart), ("NOT FULL", full)) if not right]
    shown = " ".join(f"{above:.4g}>{below:.4g}" for above, below in zip(good, bad, strict=True))
    print(f"{case.name:42} {shown:30} {', '.join(problems):22} {case.finding}")
    if not same:
        print(f"    as a Reward: {ours}")
    return same and (apart or bool(case.finding))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=get_args(Peer))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    right = [run(case) for case in (*CASES, WHOLE) if case.peer == arguments.peer]
    print(f"{sum(right)} of {len(right)} as expected")
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
