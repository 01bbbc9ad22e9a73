"""The floor: what the five components cost if you write them by hand as one function.

Each completion is scanned once for tags; the answer is found once and parsed once. There is no cache for duplicates, no
bounds check, no notes, names or logs. Everything above this cost is what a framework adds.
"""

from __future__ import annotations

from collections.abc import Sequence

import jiter

from benchmarks.speed.rubric_components import REQUIRED, TAG, TAGS_IN_ORDER, WHOLE, required_and_valid
from benchmarks.speed.rubric_measurement import Columns, Contestant
from benchmarks.speed.rubric_workload import Workload


def score_all(completions: Sequence[str], totals: Sequence[str], low: int, high: int) -> Columns:
    """Return all five components of all completions."""
    from_json, is_valid = jiter.from_json, WHOLE.is_valid
    tags, json_valid, schema, closeness, length = [], [], [], [], []
    for completion, total in zip(completions, totals, strict=True):
        tagged = valid = credit = close = 0.0
        found = TAG.findall(completion)
        start, end = completion.rfind("<answer>") + 8, completion.rfind("</answer>")
        if found == TAGS_IN_ORDER:
            answered = True
            opening, closing = completion.find("<think>"), completion.rfind("</think>")
            in_place = (
                (opening == 0 or completion[:opening].isspace())
                and (closing + 16 == start or completion[closing + 8 : start - 8].isspace())
                and (end + 9 == len(completion) or completion[end + 9 :].isspace())
            )
            thought = closing > opening + 7 and not completion[opening + 7 : closing].isspace()
            if in_place and thought and end > start and not completion[start:end].isspace():
                tagged = 1.0
        else:
            answered = found.count("<answer>") == 1 and found.count("</answer>") == 1 and start <= end
        if answered:
            try:
                value = from_json(completion[start:end].encode(), allow_inf_nan=False, catch_duplicate_keys=True)
            except ValueError:
                value = None
            else:
                valid = 1.0
            if isinstance(value, dict):
                credit = 1.0 if is_valid(value) else required_and_valid(value) / len(REQUIRED)
                answer = value.get("total")
                if type(answer) is float or type(answer) is int:
                    gold = float(total)
                    close = max(0.0, 1.0 - abs(answer - gold) / abs(gold))
        tags.append(tagged)
        json_valid.append(valid)
        schema.append(credit)
        closeness.append(close)
        length.append(1.0 if low <= len(completion) <= high else 0.0)
    return {
        "tags": tags,
        "json_valid": json_valid,
        "schema": schema,
        "closeness": closeness,
        "length": length,
    }


def _score(workload: Workload) -> Columns:
    return score_all(workload.completions, workload.totals, *workload.lengths)


FLOOR = Contestant("floor", prepare=lambda workload: workload, score=_score, columns=lambda columns: columns)


def _score_empty(workload: Workload) -> list[list[float]]:
    return [[1.0 for _ in workload.completions] for _ in range(5)]


EMPTY_FLOOR = Contestant("floor", prepare=lambda workload: workload, score=_score_empty)
