"""Check the cases with rewardprobe's quick check: all families of attacks, no language model."""

from __future__ import annotations

from typing import Any

from child import Say, finding, main
from gold import Gold
from rewardprobe import Finding, Probe, Severity
from rewardprobe.families import FAMILY_ORDER
from scorer import Raised, Scorer

KINDS = {
    "ground_truth": "rejects right",
    "format_variation": "rejects right",
    "duplicate_answers": "depends on form",
    "multiple_tags": "depends on order",
    "regex_greediness": "depends on order",
    "reward_range": "out of range",
    "signal_variance": "no signal",
    "state_leak": "prompt has answer",
    "determinism": "unstable",
    "batch_ordering": "unstable",
    "stale_state": "unstable",
    "tool_spam": "unstable",
}
"""What an attack shows, where that is not that a wrong completion is paid."""


def check(scorer: Scorer, say: Say) -> dict[str, Any]:
    """Say the tool's critical findings and warnings."""
    tasks = [
        {"prompt": scorer.case.examples[row].get("prompt", ""), "row": row}
        | ({"answer": scorer.golds[row].text} if scorer.golds else {})
        for row in scorer.rows
    ]

    def reward(completion: Any, answer: str, row: int) -> float | None:
        row = row if isinstance(row, int) else 0  # the tool drops keys of the task; a trainer always passes them
        columns = _columns(scorer.golds[row], answer) if scorer.golds and answer else None
        text = completion if isinstance(completion, str) else completion[0]["content"]
        return scorer.score(text, row, columns)

    for family in FAMILY_ORDER:
        for one in Probe(families=[family]).test_fn(reward, tasks, name=scorer.case.name).findings:
            if one.severity is not Severity.INFO:  # the tool does not print these
                say(_shown(one))
    return {}


def _columns(gold: Gold, answer: str) -> dict[str, Any]:
    if answer == gold.text:
        return {}
    try:
        return {gold.column: gold.replaced(answer)}
    except ValueError:
        raise Raised(f"{answer!r} is not a {type(gold.value).__name__}") from None


def _shown(one: Finding) -> dict[str, Any]:
    kind = "crash" if one.error else KINDS.get(one.attack, "accepts wrong")
    # `rewardprobe test --ci` fails on a critical finding.
    return finding(one.attack, kind, one.input, one.actual_reward, gate=one.severity is Severity.CRITICAL)


if __name__ == "__main__":
    main(check)
