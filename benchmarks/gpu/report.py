"""Format the results of `gpu.py` as Markdown tables for `gpu.md` and RESULTS.md."""

from __future__ import annotations

from typing import Any

GOAL = 0.01
"""The share of a step that rewardkit may add."""
SMALL = 100_000_000
"""Up to this many parameters, a step is too short for the goal to mean anything."""
ARMS = ("plain functions", "rewardkit", "rewardkit, recorded")


def report(found: dict[str, Any]) -> str:
    """Format all parts that have run."""
    machine = found["machine"]
    where = f"{machine['gpu']}, {machine['gpu_memory_gib']} GiB" if machine["gpu"] else "no GPU, tiny models"
    versions = ", ".join(f"{name} {machine[name]}" for name in ("torch", "transformers", "trl", "accelerate", "peft"))
    lines = [f"{where}; {machine['cores']} cores, load {machine['load']}; Python {machine['python']}, {versions}.", ""]
    parts = {"learning": _learning, "overhead": _overhead, "resume": _resume, "pretrained": _pretrained}
    for name, write in parts.items():
        if name in found:
            part = found[name]
            lines += [f"### {name}: {part['ended']}, {part['seconds']} s", "", *write(part), ""]
    return "\n".join(lines)


def _learning(part: dict[str, Any]) -> list[str]:
    if "sampled_exact" in part:
        done = f"{part['step'] + 1} of {part['steps']} steps"
        share = f"{part['sampled_exact']:.3f} of the samples in the last five steps were right"
        return [f"After {done}, {share} (training prompts)."]
    if "exact_after" not in part:
        return ["not measured"]
    met = "met" if part["exact_after"] > part["goal"] else "missed"
    return [
        f"{part['parameters'] / 1e6:.2f} million parameters, {part['steps']} steps of GRPO, "
        f"{part['held_out_prompts']} held-out prompts, greedy; the curve is in learning.png and learning.jsonl.",
        "",
        "| held out | before | after |",
        "|---|---|---|",
        f"| exact match (above {part['goal']}: {met}) | {part['exact_before']:.3f} | {part['exact_after']:.3f} |",
        f"| total reward | {part['total_before']:.3f} | {part['total_after']:.3f} |",
        "",
        "Seconds: " + ", ".join(f"{name} {seconds}" for name, seconds in part["phases"].items()) + ".",
    ]


def _overhead(part: dict[str, Any]) -> list[str]:
    if not part.get("settings"):
        return ["not measured"]
    lines = [
        f"{part['parameters'] / 1e6:.2f} million parameters, weights in {part['dtype']}, "
        f"{part['completions']} completions of {part['tokens']} tokens per step.",
        "",
        "| | step, s | scoring, ms | step, times plain | scoring added, % of the step | peak memory, GiB | rounds |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting, numbers in part["settings"].items():
        for name in ARMS:
            one = numbers.get(name)
            if one:
                times = f"{one['step_s']:.3f} | {one['scoring_ms']:.2f} | {one['step_over_plain']:.4f}"
                added = f"{100 * one['scoring_added_share']:.3f} | {numbers.get('peak_gib', '-')}"
                lines.append(f"| {setting}: {name} | {times} | {added} | {numbers['rounds']} |")
    same = [numbers["same_scores"] for numbers in part["settings"].values() if numbers.get("same_scores") is not None]
    said = ("yes" if all(same) else "no") if same else "not measured"
    lines += ["", f"All three arms gave every completion the same reward: {said}."]
    measured = [numbers[name] for numbers in part["settings"].values() for name in ARMS if name in numbers]
    worst = max((one["scoring_added_share"] for one in measured), default=0.0)
    lines.append(f"Scoring adds at most {100 * worst:.3f} % of a step.")
    missing = [name for name, numbers in part["settings"].items() if not any(arm in numbers for arm in ARMS)]
    if missing:
        lines.append(f"Not measured: {', '.join(missing)}.")
    if part["parameters"] > SMALL and measured and not missing:
        lines.append(f"The goal of {GOAL:.0%} is {'met' if worst <= GOAL else 'missed'}.")
    return lines


def _resume(part: dict[str, Any]) -> list[str]:
    if "continued" not in part:
        return ["not measured"]
    killed = "killed" if part["killed"] else "not killed (it finished first)"
    lines = [
        f"{part['steps']} steps; {killed} after the checkpoint of step {part['checkpoint']}, continued with --resume.",
        "",
        "| largest difference | two uninterrupted runs | killed and continued |",
        "|---|---|---|",
    ]
    for measure in ("reward", "loss", "grad_norm", "weights"):
        lines.append(f"| {measure} | {_shown(part['again'], measure)} | {_shown(part['continued'], measure)} |")
    steps = part["continued"].get("recorded_steps")
    return [*lines, "", f"Steps in the record of the continued run: {steps}."]


def _pretrained(part: dict[str, Any]) -> list[str]:
    if not part.get("runs"):
        return ["not measured"]
    names = list(next(iter(part["runs"].values()))["before"])
    lines = [f"SmolLM2-135M-Instruct, LoRA, {part['steps']} steps, held-out prompts.", ""]
    lines += [f"| | {' | '.join(names)} | seconds |", "|---" * (len(names) + 2) + "|"]
    for run, numbers in part["runs"].items():
        cells = (f"{numbers['before'][name]:.3f} to {numbers['after'][name]:.3f}" for name in names)
        lines.append(f"| {run} | {' | '.join(cells)} | {numbers['seconds']} |")
    if "hacked" in part:
        hacked = part["hacked"]
        total, truth = ("{:.2f} to {:.2f}".format(*hacked[name]) for name in ("total", "truth"))
        lines += ["", f"keywords, count: {hacked['verdict']}, total {total}, truth {truth}, {hacked['seconds']} s."]
    return lines


def _shown(differences: dict[str, Any], measure: str) -> str:
    value = differences.get(measure)
    return "-" if value is None else f"{value:.3g}"
