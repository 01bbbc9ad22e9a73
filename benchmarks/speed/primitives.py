"""Compare single primitives with hand-written code and with what people use today, and run them on their worst inputs.

``python benchmarks/speed/primitives.py [--quick]`` measures CPU time. Contestants take turns on new strings; ratios
are taken round by round, and the median is reported. "alone" calls the primitive's function on each completion. "in
TRL" is the whole reward as a trainer calls it: binding, finding duplicates, checking, sharing, logging.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]
os.environ.setdefault("OMP_NUM_THREADS", "1")

import jiter  # noqa: E402
import jsonschema  # noqa: E402
import jsonschema_rs  # noqa: E402
from trl.rewards import get_repetition_penalty_reward, think_format_reward  # noqa: E402

import rewardkit as rk  # noqa: E402
from benchmarks.speed.primitives_worst import WORST  # noqa: E402
from benchmarks.speed.rubric_workload import SCHEMA, SIZES, make_workload  # noqa: E402

Score = Callable[[Any], Sequence[float | None]]
Shapes = dict[str, Callable[[Any], list[Any]]]
DISTINCT_TOKENS = 50_000
LENGTHS = (300, 2_048)
GROWTH = 2.3


def fifteen_properties() -> dict[str, Any]:
    """Return the rubric's invoice schema with more fields: 15 required properties, an array, an enum, a pattern."""
    properties = dict(SCHEMA["properties"])
    for number in range(15 - len(properties)):
        properties[f"note_{number}"] = {"type": "string", "maxLength": 80}
    return {**SCHEMA, "properties": properties, "required": list(properties)}


def with_notes(completion: str) -> str:
    """Add the extra fields at the end of the JSON in one of the rubric's completions."""
    notes = ", ".join(f'"note_{number}": "as agreed"' for number in range(15 - len(SCHEMA["properties"])))
    head, brace, tail = completion.rpartition("}")
    return f"{head}, {notes}{brace}{tail}" if brace else completion


def find_tags(completions: Sequence[str]) -> list[float]:
    """Score tags by hand in one scan: each tag once, in order, with text inside and nothing outside."""
    return [find_tags_in(completion) for completion in completions]


def find_tags_in(text: str) -> float:
    position = 0
    for opening, closing in (("<think>", "</think>"), ("<answer>", "</answer>")):
        start = text.find(opening, position)
        end = text.find(closing, start)
        if start < 0 or end < 0 or text[position:start].strip() or not text[start + len(opening) : end].strip():
            return 0.0
        if text.count(opening) != 1 or text.count(closing) != 1:
            return 0.0
        position = end + len(closing)
    return 0.0 if text[position:].strip() else 1.0


def as_messages(completions: Sequence[str]) -> list[list[dict[str, str]]]:
    return [[{"role": "assistant", "content": completion}] for completion in completions]


def in_trl(reward: rk.Reward, source: str = "completions") -> Score:
    (function,) = rk.to_trl(reward)

    def score(values: Sequence[Any]) -> Sequence[float | None]:
        completions = values if source == "completions" else [""] * len(values)
        scores: Sequence[float | None] = function(prompts=None, **{"completions": completions, source: values})
        return scores

    return score


def alone(reward: Any) -> Score:
    """Call the primitive's own function on the completions, including the view that it asks for."""
    view, function = reward.binding.parameters[0].view, reward.binding.function

    def score(values: Sequence[Any]) -> list[float]:
        seen = values if view is None else list(map(view, values))
        many = getattr(function, "many", None)
        results = many([(value,) for value in seen]) if many else list(map(function, seen))
        return [result if isinstance(result, float) else result.value for result in results]

    return score


def checked(completion: str, validator: Any) -> bool:
    start, end = completion.find("<answer>"), completion.rfind("</answer>")
    if start < 0 or end < start:
        return False
    try:
        value = jiter.from_json(completion[start + 8 : end].encode(), allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return False
    return bool(validator.is_valid(value))


def all_errors(completion: str, validator: Any) -> float:
    """Return partial credit as it is usually written: the share of required properties without an error."""
    start, end = completion.find("<answer>"), completion.rfind("</answer>")
    if start < 0 or end < start:
        return 0.0
    try:
        value = json.loads(completion[start + 8 : end])
    except ValueError:
        return 0.0
    wrong = {error.path[0] if error.path else error.message for error in validator.iter_errors(value)}
    return max(0.0, 1.0 - len(wrong) / 15)


def compare(
    contestants: dict[str, Score], fresh: Callable[[], Sequence[Any]], rounds: int, shaped: Shapes | None = None
) -> dict[str, list[float]]:
    """Return name -> CPU microseconds per completion in each round; a first round does not count.

    `shaped` converts the values to the form a contestant takes; this is not timed.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, score in contestants.items():
            values = (shaped or {}).get(name, list)(fresh())
            gc.collect()
            start = time.process_time()
            score(values)
            seconds = time.process_time() - start
            if number:
                times[name].append(seconds / len(values) * 1e6)
    return times


def report(title: str, times: dict[str, list[float]], targets: dict[str, tuple[float, bool]]) -> None:
    """Print the medians, and the ratio of each contestant's time to rewardkit's, alone and in TRL."""
    print(f"\n{title}")
    for name, run in times.items():
        ratios = {
            mine: statistics.median(other / own for other, own in zip(run, times[mine], strict=True))
            for mine in ("alone", "in TRL")
        }
        line = f"  {name:<28}{statistics.median(run):>10.2f} us"
        line += "".join(f"   x {mine} {ratio:7.2f}" for mine, ratio in ratios.items())
        if name in targets:
            limit, at_least = targets[name]
            target = f"{'at least' if at_least else 'at most'} {limit:g} times {'faster' if at_least else 'slower'}"
            line += f"   target: {target}"
            for mine, ratio in ratios.items():
                reached = ratio >= limit if at_least else 1.0 / ratio <= limit
                line += f", {mine} {'PASS' if reached else 'MISS'}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 15, for a quick look")
    rounds = 3 if parser.parse_args().quick else 15
    measure_tags(rounds)
    measure_json_schema(rounds)
    measure_repetition(rounds)
    measure_worst(max(3, rounds // 3))


def measure_tags(rounds: int) -> None:
    contestants = {
        "alone": alone(rk.tags("think", "answer")),
        "in TRL": in_trl(rk.tags("think", "answer")),
        "by hand (str.find)": find_tags,
        "TRL think_format_reward": think_format_reward,
    }
    shaped: Shapes = {"TRL think_format_reward": as_messages}
    targets = {"by hand (str.find)": (2.0, False), "TRL think_format_reward": (4.0, True)}
    for size, characters in SIZES.items():
        workload = make_workload(characters)
        times = compare(contestants, lambda workload=workload: workload.fresh().completions, rounds, shaped)  # type: ignore[misc]
        report(f"tags, {size}", times, targets)


def measure_json_schema(rounds: int) -> None:
    schema = fifteen_properties()
    texts = [with_notes(completion) for completion in make_workload(SIZES["1.2k"]).completions]
    fast, thorough = jsonschema_rs.validator_for(schema), jsonschema.Draft202012Validator(schema)
    reward = rk.json_schema(schema)
    contestants = {
        "alone": alone(reward),
        "in TRL": in_trl(reward),
        "extraction and is_valid": lambda values: [float(checked(value, fast)) for value in values],
        "jsonschema, all errors": lambda values: [all_errors(value, thorough) for value in values],
    }
    targets = {"extraction and is_valid": (2.0, False), "jsonschema, all errors": (10.0, True)}
    times = compare(contestants, lambda: [text.encode().decode() for text in texts], rounds)
    report("JSON schema of 15 properties", times, targets)


def measure_repetition(rounds: int) -> None:
    contestants: dict[str, Score] = {
        "alone": alone(rk.repetition_penalty()),
        "in TRL": in_trl(rk.repetition_penalty(), "completion_ids"),
        "TRL repetition penalty": lambda values: get_repetition_penalty_reward()(values),
    }
    generator = random.Random(0)
    for length in LENGTHS:
        ids = [[int(generator.paretovariate(0.5)) % DISTINCT_TOKENS for _ in range(length)] for _ in range(256)]
        times = compare(contestants, lambda ids=ids: [list(row) for row in ids], rounds)  # type: ignore[misc]
        report(f"repetition, {length} tokens", times, {"TRL repetition penalty": (2.0, True)})


def measure_worst(rounds: int) -> None:
    print("\nWorst inputs: CPU time for 200,000 characters divided by that for 100,000")
    for name, (make_reward, text, columns) in WORST.items():
        reward = make_reward()
        growth = []
        for _ in range(rounds):
            half, whole = (seconds_for(reward, text(characters), columns) for characters in (100_000, 200_000))
            growth.append(whole / half)
        best = min(growth)
        print(f"  {'PASS' if best <= GROWTH else 'MISS'}  {best:5.2f}  {whole * 1e3:9.1f} ms  {name}")


def seconds_for(reward: rk.Reward, completion: str, columns: dict[str, list[Any]]) -> float:
    gc.collect()
    start = time.process_time()
    rk.Scorer(reward).score(rk.Batch([completion], columns=columns))
    return time.process_time() - start


if __name__ == "__main__":
    main()
