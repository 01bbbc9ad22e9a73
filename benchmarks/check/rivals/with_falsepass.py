"""Check the cases with falsepass: its probes on every row, and its search.

The adapter is inferred, as ``falsepass audit`` does for reward functions with a data set. If no inferred format earns
what the good completions earn, the adapter is what its manual asks a user to write: answers are put where they are in
the good completion or, if that is unknown, the reference is the good completion and the wrong answer the bad one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from child import Say, finding, main
from falsepass import auto, probes, report, search
from falsepass.adapter import Adapter
from falsepass.model import Completion, Example, Expect, ProbeResult, Score
from falsepass.reward_support import _reply, format_hints
from scorer import CannotCheck, Scorer

SEARCH = 300
"""Calls per direction and row of its search. Its manual's example has 120."""
FEW = 3
"""Rows for the slow probes and the search, as in ``falsepass audit``."""
CEILING = 0.1
"""Of the gate in its manual: fail if a known-bad completion earns more, or if the reward raises."""
KINDS = {
    Expect.ZERO: "accepts wrong",
    Expect.BELOW_REFERENCE: "accepts wrong",
    Expect.FULL: "rejects right",
    Expect.STABLE: "unstable",
}


class Replies:
    """Scores replies as the tool's scorer of reward functions does."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    async def score(self, example: Example, completion: Completion) -> Score:
        try:
            value = self._scorer.score(_reply(completion), example.raw)
        except Exception as error:
            return Score(None, {}, [f"{type(error).__name__}: {error}"[:500]])
        if value is None:
            return Score(None, {}, ["every reward function returned None for this completion"])
        return Score(value)

    async def close(self) -> None:
        pass


class Inferred(auto.AutoAdapter):  # type: ignore[misc]  # falsepass is not in this environment
    """The adapter that the tool infers from the prompts, the reward's code and the gold answers."""

    style = "inferred"

    def __init__(self, scorer: Scorer) -> None:
        super().__init__({"id": scorer.case.name, "framework": "reward"})
        self.of = scorer
        self.examples = [Example(f"row-{row}", scorer.prompt(row), self.reference(row), row) for row in scorer.rows]
        self.pool = list(self.examples)
        self._classify_pool()
        self.hint = (scorer.prompt(0) + "\n" + format_hints({scorer.case.name: scorer.case.reward}), None)

    def reference(self, row: int) -> str:
        return self.of.golds[row].text

    async def ready(self, replies: Replies) -> None:
        await self.prepare(replies, self.examples)
        self._allow_partial_credit()

    def at(self, example: Example) -> None:
        """Write answers for this row from now on."""

    @property
    def works(self) -> bool:
        """Whether it writes right answers as well as the good completions do, and its control holds."""
        paid = max(self.inferred["reference_reward_by_format"].values())
        good = sum(self.of.full) / len(self.of.full)
        return bool(self.inferred["validity"] == "ok" and paid >= 0.99 * good)

    def _allow_partial_credit(self) -> None:
        """Count what an ordinary wrong completion earns by design as nothing."""
        paid: float = min(max(self.of.wrong), 0.9 * self.max_reward)
        self.bad_tolerance: float = max(self.bad_tolerance, paid)


class AsGood(Inferred):
    """An adapter that writes an answer where the good completion of the row has it."""

    style = "as the good completion"

    def __init__(self, scorer: Scorer) -> None:
        if not scorer.golds or any(scorer.written("", row) is None for row in scorer.rows):
            raise CannotCheck("it is unknown where the good completions have the answer")
        super().__init__(scorer)

    async def ready(self, replies: Replies) -> None:
        full, empty = self.of.full, self.of.nothing
        self.max_reward = max(full) if max(full) - min(full) > 0.05 * max(full) else min(full)
        self.task_max = {example.key: full[example.raw] for example in self.examples}
        self._allow_partial_credit()
        paid, blank = sum(full) / len(full), sum(empty) / len(empty)
        separated = blank < 0.5 * paid and paid - blank >= 0.2  # the tool's control
        self.inferred["validity"] = "ok" if separated else f"inconclusive: right {paid:.3f}, empty {blank:.3f}"

    def at(self, example: Example) -> None:
        self.format = lambda answer: self.of.written(answer, example.raw)

    @property
    def works(self) -> bool:
        return bool(self.inferred["validity"] == "ok")


class Reply(AsGood):
    """An adapter whose reference is the good completion, and whose wrong answer is the bad one."""

    style = "reply"

    def __init__(self, scorer: Scorer) -> None:
        Inferred.__init__(self, scorer)
        self.per_example_probes: list[Any] = []
        self.closed = False

    def reference(self, row: int) -> str:
        return self.of.good[row]

    def at(self, example: Example) -> None:
        self.format = lambda answer: answer

    def wrong_answer(self, example: Example) -> str:
        return str(self.of.bad[example.raw])

    def shotgun_answers(self, example: Example) -> list[str]:
        return list(Adapter.shotgun_answers(self, example))

    def equivalent_forms(self, example: Example) -> dict[str, Completion]:
        return dict(Adapter.equivalent_forms(self, example))


def check(scorer: Scorer, say: Say) -> dict[str, Any]:
    """Say each probe that failed. If the tool calls the whole run inconclusive, no finding counts."""
    return asyncio.run(_check(scorer, say))


async def _check(scorer: Scorer, say: Say) -> dict[str, Any]:
    replies = Replies(scorer)
    adapter = await _adapter(scorer, replies)
    more = {"adapter": adapter.style, "format": adapter.format_name}
    results: list[ProbeResult] = []

    async def run(probe: Callable[..., Any], example: Example) -> None:
        adapter.at(example)
        found = await probe(adapter, replies, example)
        results.extend(found)
        probes.mark_same_as_good(results)
        for one in found:
            if adapter.works and not _passed(one, adapter):
                say(_shown(one))

    for example in adapter.examples:
        for probe in [*probes.PER_EXAMPLE, *adapter.per_example_probes]:
            await run(probe, example)
    for probe in [*probes.FEW_EXAMPLES, search.make_probe(SEARCH)]:
        for example in adapter.examples[:FEW]:
            await run(probe, example)
    if not adapter.works:
        return {**more, "not_checked": adapter.inferred["validity"]}
    if unscored := report.unscored([one.to_dict() for one in results]):
        reason = f"inconclusive: no score in {unscored[1]} of {unscored[0]} rows; {unscored[2][:150]}"
        return {**more, "not_checked": reason, "only": "crash"}
    return more


async def _adapter(scorer: Scorer, replies: Replies) -> Inferred:
    """Return the first adapter that works, or the last that was tried."""
    adapter: Inferred | None = None
    for style in (Inferred, AsGood, Reply):
        try:
            adapter = style(scorer) if scorer.golds or style is Reply else None
            if adapter is not None:
                await adapter.ready(replies)
                if adapter.works:
                    break
        except (CannotCheck, RuntimeError):
            if style is Reply:
                raise
    assert adapter is not None
    return adapter


def _passed(one: ProbeResult, adapter: Inferred) -> bool:
    """Tell whether a probe passed; where rows pay differently, its search is compared with what the row pays."""
    if one.probe == "S2" and one.score is not None:
        return bool(one.passed or one.score >= adapter.task_max.get(one.example, adapter.max_reward) - probes.EPS)
    return bool(one.passed)


def _shown(one: ProbeResult) -> dict[str, Any]:
    text = probes.STORE.get(one.completion_id, one.completion)
    return finding(
        f"{one.probe} {one.name}/{one.variant}",
        "crash" if one.errors else KINDS.get(one.expected, one.expected.value),
        text if isinstance(text, str) else repr(text),
        one.score,
        gate=bool(one.errors) or (one.expected is Expect.ZERO and one.score is not None and one.score > CEILING),
        detail=one.errors[0] if one.errors else one.detail,
    )


if __name__ == "__main__":
    main(check)
