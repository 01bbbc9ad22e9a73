"""The report of a review: for a terminal, as Markdown for a pull request, and as JSON.

Completions and names are foreign text: in Markdown they are in code spans and blocks that they cannot end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rewardkit.analyze.presentation import excerpt
from rewardkit.batch.table_text import visible
from rewardkit.differences.differences import Differences
from rewardkit.differences.look import Found
from rewardkit.differences.markdown import code, fenced, plain
from rewardkit.differences.review import Review, Reviewed
from rewardkit.differences.sections import number

LIMIT = 60_000
"""The most bytes of a comment, of which GitHub allows 65,536 characters."""
_WIDTH = 100
_FINDINGS = 3


def text_of(review: Review) -> str:
    """Return the report for a terminal."""
    blocks = [_text(one) for one in review.rewards]
    if not review.rewards:
        blocks.append("No reward is touched.")
    blocks += [f"Note: {visible(note)}" for note in review.notes]
    return "\n\n".join(blocks)


def _text(one: Reviewed) -> str:
    shown = one.state == "changed" and one.sample is not None and not one.sample.same
    lines = [f"{visible(one.name)}: {'the scores change.' if shown else visible(_verdict(one))}"]
    if shown and one.sample is not None:
        lines += ["", one.sample.text(), ""]
    if one.state == "changed" and one.made is not None:
        lines += made_lines(one.made)
    lines += [f"Broken by the new version alone: {visible(line)}" for line in _first_lines(one.broken)]
    if one.state == "changed" and one.still:
        lines.append(f"Broken by both versions: {', '.join(one.still)}")
    lines += [f"Note: {visible(note)}" for note in one.notes]
    return "\n".join(lines)


def markdown_of(review: Review) -> str:
    """Return the comment; "" if there is nothing to say. Rewards that do not fit are only named."""
    changed = review.changed
    if not changed:
        return ""
    same = len(review.rewards) - len(changed)
    head = f"### Rewards: {len(changed):,} changed" + (f", {same:,} as before" if same else "")
    parts, left = [head], LIMIT - 2_000
    for one in changed:
        block = "\n\n".join(_markdown(one))
        size = len(block.encode())
        if size > left:
            block = f"#### {code(one.name)}\n\n{plain(_verdict(one))} The details are too long for a comment."
            size = len(block.encode())
        if size > left:
            parts.append("More rewards changed than fit into a comment. Run `rewardkit review` to see them.")
            break
        left -= size
        parts.append(block)
    parts += [f"> {plain(note)}" for note in review.notes]
    return "\n\n".join(parts) + "\n"


def _markdown(one: Reviewed) -> Iterator[str]:
    yield f"#### {code(one.name)}"
    if one.sample is not None and not one.sample.same:
        yield one.sample.markdown().strip()
    else:
        yield f"**{plain(_verdict(one))}**"
    if one.made is not None and (lines := made_lines(one.made)):
        yield plain(lines[0])
        if lines[1:]:
            yield fenced("\n".join(lines[1:]))
    if one.broken:
        names = ", ".join(code(name) for name in dict.fromkeys(found.law for found in one.broken))
        yield f"`rewardkit check` finds what it does not find in the version before: {names}."
        yield fenced("\n\n".join(found.text for found in one.broken[:_FINDINGS]))
    if one.still:
        yield f"As before, it finds {', '.join(map(code, one.still))}."
    yield from (f"> {plain(note)}" for note in one.notes)


def _verdict(one: Reviewed) -> str:
    if one.state == "removed":
        return "It is gone."
    if one.state == "added":
        return "The reward is new, so there is nothing to compare." + (f" {one.why}" if one.why else "")
    if one.state == "failed":
        return one.why if one.why.startswith("Neither") else f"The new version cannot be scored. {one.why}"
    if one.why:
        return one.why
    if one.sample is not None:
        return f"{one.sample.verdict[:-1]} (the sample has {len(one.sample):,})."
    if one.made is None:
        return "Nothing was compared."
    return "No sample is committed." if one.state == "changed" else f"No sample is committed. {one.made.verdict}"


def made_lines(found: Differences) -> list[str]:
    """Say which completions made for the reward get another total, the largest change first."""
    changed = int((found.changed | found.failing | found.recovered).sum())
    inner = sum(one.state not in ("same", "renamed") for one in found.components[:-1])
    if not changed and not inner:
        return []
    if not changed:
        return [
            f"Of {len(found):,} completions made for this reward, none gets another total, but a component differs."
        ]
    lines = [f"Of {len(found):,} completions made for this reward, {changed:,} get another total."]
    for one in found.examples:
        lines.append(f"{number(one.totals[0])} -> {number(one.totals[1])}: {excerpt(one.completion, _WIDTH)}")
    return lines


def _first_lines(found: tuple[Found, ...]) -> list[str]:
    return [one.text.splitlines()[0] for one in found]


def dict_of(review: Review) -> dict[str, Any]:
    """Return the review as JSON values; `docs/review.md` describes them."""
    return {
        "schema": 1,
        "changed": len(review.changed),
        "rewards": [
            {
                "name": one.name,
                "state": one.state,
                "why": one.why,
                "sample": None if one.sample is None else one.sample.to_dict(),
                "made": None if one.made is None else _made(one.made),
                "broken": [{"law": found.law, "text": found.text} for found in one.broken],
                "still": list(one.still),
                "notes": list(one.notes),
            }
            for one in review.rewards
        ],
        "notes": list(review.notes),
    }


def _made(found: Differences) -> dict[str, Any]:
    """Return less of the comparison on completions that no model wrote: they have no groups."""
    return {
        "completions": len(found),
        "changed": int(np.count_nonzero(found.changed)),
        "failures": int(np.count_nonzero(found.failing)),
        "examples": found.to_dict()["examples"],
    }
