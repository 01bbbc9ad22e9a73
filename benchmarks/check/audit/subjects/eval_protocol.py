"""eval-protocol's ``@reward_function`` functions, see peers/cases_eval_protocol.py."""

from __future__ import annotations

from collections.abc import Iterator

from peer_cases import of_peer
from subject import Subject

NOT_HERE = {
    "deprecated: calls exact_tool_match_reward": "schema_jaccard_reward llm_judge_reward composite_function_call_reward"
}
"""What is left out, by reason; peers/cases.py lists what needs a service."""


def subjects() -> Iterator[Subject]:
    left_out = " ".join(NOT_HERE.values()).split()
    yield from (subject for subject in of_peer("eval-protocol") if subject.name not in left_out)
