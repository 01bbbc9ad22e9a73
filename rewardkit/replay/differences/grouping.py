"""Groups: which completions answer the same prompt, so that GRPO compares them.

``groups_of(saved("solutions.jsonl"), {})`` is (n,) numbers, or None if the data has no prompts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from rewardkit.core.batch.column import Numbers
from rewardkit.replay.sources import Saved

_READ = 2_048


def groups_of(found: Saved, sources: Mapping[str, str]) -> Numbers | None:
    """Return the (n,) group of each row.

    Rows next to each other with the same prompt are one group, so the next epoch has groups of its own. If completions
    of a prompt are scattered over the data, all rows with that prompt are one group.
    """
    prompt = sources.get("prompt", "prompt")
    names = [name for name in (prompt, *found.apart) if name in found.kinds]
    if not names:
        return None
    known: dict[bytes, int] = {}
    parts = []
    for chunk in found.chunks(_READ):
        keys = zip(*(chunk.column(name) for name in names), strict=True)
        parts.append([known.setdefault(_digest(key), len(known)) for key in keys])
    prompts = np.concatenate([np.array(part, dtype=np.int64) for part in parts])
    starts = np.flatnonzero(np.diff(prompts, prepend=-1))
    sizes = np.diff(np.append(starts, len(prompts)))
    again = np.bincount(prompts[starts])[prompts[starts]] > 1
    if (again & (sizes == 1)).any():
        return prompts
    numbers: Numbers = np.repeat(np.arange(len(starts)), sizes)
    return numbers


def _digest(key: tuple[object, ...]) -> bytes:
    return hashlib.blake2b(repr(key).encode(errors="surrogatepass"), digest_size=16).digest()
