"""NeMo Gym's resource servers, from a checkout: ``--checkouts FOLDER`` has Gym/ (see nemo_gym_server.py).

Each is made in this process with the configuration of its example, and its own ``verify`` scores. With clones of
abukharin-nv/verifiable-instructions and allenai/IFBench (at c6767a19bd82) in the same folder there are three more.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from subject import Subject
from subjects.nemo_gym_server import prepare

THEMES = ("choices", "answers", "contexts", "grids", "formats", "instructions", "tools", "programs")
NOT_HERE = {
    "a language model decides": (
        "aalcr abstention arena_judge bbq browsecomp_advanced_harness conversational_tool_use_simulation "
        "equivalence_llm_judge finance_agent_v2 finance_sec_search frontierscience_judge gdpval genrm_compare "
        "imo_proofbench_judge inverse_if jailbreak_detection labbench2_vlm legal_agent_bench longmemeval "
        "multichallenge newton_bench omniscience over_refusal_detection proof_judge proof_verification simpleqa "
        "tavily_search text_to_sql toolsandbox xstest"
    ),
    "the verdict of math_with_judge: other metrics, or another judge": (
        "math_with_autograder physics_judge polymath ugphysics_judge"
    ),
    "a sandbox, a container or a service runs what the policy wrote": (
        "competitive_coding_challenges critpt cvdp deepswe math_formal_lean ns_tools swebench swerl_gen"
    ),
    "data, packages or models that are not in the checkout": (
        "bigcodebench code_fim ether0 evalplus longmt_eval scicode"
    ),
    "an environment of many turns, with rewards per step or for a session": (
        "aviary blackjack example_mcp_weather example_session_state_mgmt grl_sokoban grl_tetris openair_congestion "
        "openenv tales"
    ),
    "the reward is always the same": "example_single_tool_call speed_bench",
    "a base class": "gymnasium",
}
"""Servers that are left out, by reason."""


def subjects() -> Iterator[Subject]:
    prepare()
    for theme in THEMES:
        yield from import_module(f"subjects.nemo_gym_{theme}").subjects()
