"""OpenRLHF's scorers, from a checkout (its wheel has no examples): ``--checkouts FOLDER`` has OpenRLHF/.

The example's reward function grades with openrlhf/utils/math_utils.py, which is the same in openrlhf 0.11.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from subject import Subject, at, bare_package, checkout, each, stand_in
from texts import BRIEF, EXACT, FACTS, MATHEMATICS, MISNAMED, MISTAKEN, NAMED, RAMBLING, SUMS, boxed

NOT_HERE = {
    "the reward is random": "reward_func.py agent_func.py",
    "an environment of many turns, from the package gem": "agent_func_gem_multiturn.py",
    "a server of language models": "agent_func_openai_server_executor.py",
    "reads why the engine stopped, not a completion": "apply_stop_properly_penalty",
}
"""What is left out, by reason."""


def subjects() -> Iterator[Subject]:
    root = checkout("OpenRLHF")
    package = root / "openrlhf"
    bare_package("openrlhf", package)
    bare_package("openrlhf.utils", package / "utils")
    grading = import_module("openrlhf.utils.math_utils")
    utilities = import_module("openrlhf.utils")
    vars(utilities).update(extract_boxed_answer=grading.extract_boxed_answer, grade_answer=grading.grade_answer)
    stand_in("openrlhf.utils.agent", AgentInstanceBase=object, MultiTurnAgentExecutor=object)
    stand_in("PIL", Image=SimpleNamespace(Image=object))
    reward_func = at(root / "examples" / "python" / "math_reward_func.py").reward_func

    def math_reward_func(completions: list[str], prompts: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        queries = [prompt + text for prompt, text in zip(prompts, completions, strict=True)]
        scores: list[float] = reward_func(queries, prompts, answer)["rewards"].tolist()
        return scores

    yield Subject("examples/math_reward_func", math_reward_func, MATHEMATICS, boxed(EXACT), boxed(MISTAKEN))
    graded = each("grade_answer", grading.grade_answer)
    yield Subject("math_utils.grade_answer", graded, MATHEMATICS, list(EXACT), list(MISTAKEN))
    evaluate = at(root / "examples" / "python" / "vlm_multiturn_agent.py").evaluate_action
    sentences = [[f"The picture shows {name}." for name in names] for names in (NAMED, MISNAMED)]
    yield Subject("examples/vlm_multiturn_agent", each("evaluate_action", evaluate), FACTS, *sentences)
    rows = [{"prompt": row["prompt"]} for row in SUMS]
    yield Subject("apply_overlong_penalty", _overlong(package), rows, BRIEF, RAMBLING)


def _overlong(package: Path) -> Callable[..., list[float]]:
    """The penalty for long responses, on rewards of 0."""
    import torch

    apply = at(package / "trainer" / "ppo_utils" / "length_penalty.py").apply_overlong_penalty

    def reward(completions: list[str], completion_ids: list[list[int]], **kwargs: Any) -> list[float]:
        lengths = torch.tensor([len(ids) for ids in completion_ids])
        experience = SimpleNamespace(response_length=lengths, rewards=torch.zeros(len(completion_ids)))
        apply([experience], max_new_tokens=100, overlong_buffer_len=40)
        scores: list[float] = experience.rewards.tolist()
        return scores

    return reward
