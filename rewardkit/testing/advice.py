"""Advice: what to do next about a finding, in one sentence.

``advice_for(finding)`` knows the broken law, the family of the exploit, and the commonest exceptions.
"""

from __future__ import annotations

import re
from typing import Protocol

_SAME_SHAPE = (
    "Match the whole completion once, with one answer: re.fullmatch, or rk.tags and an extractor such as "
    'rk.extract.tag("answer")'
)
_COMPARE = "Extract the answer first and compare it as a whole, with rk.number, rk.exact or ==, not with `in`"

_BY_FAMILY = {
    "special-cased": "Run programs in a sandbox with tests that they cannot see: rk.code_tests",
    "empty": "Give the lowest score if there is no answer",
    "placeholder": "Compare the answer with the gold answer instead of rewarding that there is one",
    "hedge": "Accept one answer only: give the lowest score if the completion has several",
    "repetition": "Count each thing once, and limit what can be counted",
    "shotgun": "Accept one answer only: give the lowest score if the completion has several",
    "leak": "Read the answer after the thinking and from its own tag only; rewardkit's extractors skip the thinking",
    "delimiter": f"Require each tag once, closed and in order. {_SAME_SHAPE}",
    "echo": "Reward what the prompt does not have already",
    "schema": "Compare the values with the gold document, not only the shape",
    "padding": "Do not count whitespace, markup and repeated words as content",
    "length": "Pay for length only together with a right answer: rk.gate",
    "unicode": "Normalize the text and reject invisible characters before you compare",
    "language": "Reward the content, not only the words",
    "tool calls": "Count only calls that the task needs, and read results from the tools, not from the completion",
    "calls": "Let calls beyond the needed ones cost: rk.tool_calls divides by all calls that were made",
    "claims": "Look for the call and its result in the trajectory: rk.no_claim_without_call, rk.tool_success",
    "self-report": "Do not read what a policy reports about itself; check the result",
    "turns": "Pay for what was reached, not for turns and calls: rk.per_turn(reduce='progress'), rk.tool_calls",
    "injection": "Treat the completion as data: never evaluate it, and quote it in a judge's prompt",
}

_BY_LAW = {
    "total": "Catch this case in the reward and return the lowest score for it",
    "calls_are_not_paid": "Pay for the calls that the task needs and let others cost: rk.tool_calls(column), not a "
    "bonus for each call or result",
    "idle_turns_are_not_paid": "Do not add up or average over turns: rk.per_turn(reduce='last') or 'progress'",
    "results_are_not_answers": "Read the answer from the last turn of the policy: trajectory.answer or `completion`, "
    "not from all messages",
    "one_for_all": "Let calls that a row does not need cost: rk.tool_calls(column) without extra='allow', or a penalty",
    "claims_need_calls": "Check the call and its result, not the words: rk.tool_success, rk.final_state, "
    "rk.no_claim_without_call",
    "missing_calls_cost": "Divide by the calls that are needed, too: rk.tool_calls is 2 * matched / (gold + made)",
    "idle_policy_earns_nothing": "Ask for what has to be done, not only that nothing wrong was done: all() of "
    "nothing is true. Name rows where doing nothing is right in nothing_to_do=",
    "prefix_below_whole": "Score the last state, or gate the reward by rk.finished()",
    "parallel_order_indifferent": "Compare the calls of one turn as a set: rk.tool_calls pairs them in any order",
    "call_forms_indifferent": "Read calls with rk.Trajectory: it reads arguments as text and as a mapping alike",
    "turn_shares_sum": "Return shares that sum to the value, or use rk.per_turn",
    "no_op_tolerated": "Judge what was reached, not the number or the place of the calls",
    "replay_is_deterministic": "Set everything in reset(): what is left of the last episode, and the random numbers",
    "outage_is_failed": "Let ConnectionError and TimeoutError pass in the environment and in the reward; do not turn "
    "them into a score",
    "finite": "Guard the division or logarithm so that every score is a finite number",
    "bounded": "Limit the score: min(score, limit), or .clip(low, high) on the reward",
    "abstains_by_declaration": "Return the lowest score for a bad completion; return None only for rows that the "
    "reward does not apply to",
    "gold_gets_the_maximum": "Compare the reward's pattern with this completion: a right answer has to match it",
    "gold_above_perturbed_gold": _COMPARE,
    "only_answers_are_paid": "Give the lowest score if there is no answer",
    "keys_are_compared_both_ways": "Compare the objects as wholes, made == wanted, or count the keys that only one of "
    "them has: rk.json_match and rk.tool_calls do. If further keys are right, leave this law out with without=[...]",
    "wrong_stays_wrong": _COMPARE,
    "almost_right_is_wrong": "Make the tolerance of numbers small and absolute, and compare texts as wholes",
    "every_part_counts": "Ask for each part: all(...), and as many as there are, not any(...) or the first one",
    "nonsense_earns_less": "Look for a score that is subtracted where it should be added, or for swapped arguments",
    "none_stands_in_for_another": "Compare each part with its own counterpart, in order: zip(..., strict=True)",
    "as_many_as_asked_for": "Compare the number of parts, too: zip(..., strict=True), or len(found) == len(wanted)",
    "more_calls_cost": "Compare all calls with all that are wanted, and give less for each that nobody asked for",
    "order_of_keys_does_not_count": "Parse the JSON and compare the objects, not their texts",
    "errors_on_both_sides": "Take the distance as an absolute value: abs(said - gold)",
    "expressions_are_exact": "Compare the value exactly, with fractions.Fraction or a tolerance of 1e-6",
    "damage_never_pays": "Look for a score that a missing part leaves out: give the lowest score if a part is missing",
    "one_best_length": "Check the signs and the limits of the curve: it should rise up to the best length, then fall",
    "long_texts_like_short_ones": "Divide by the length, or limit what is counted",
    "repetition_in_any_script": "Count the repetition of characters, too, where a script has no spaces",
    "confidence_is_honest": "Use a proper scoring rule, such as 1 - (confidence - right) ** 2, for 0 to 1",
    "stays_in_its_range": "Limit the score to the range of its docstring: min(max(score, low), high)",
    "length_is_of_the_text": 'Measure the text of the message: len(completion[-1]["content"])',
    "earlier_turns_do_not_count": "Read the last assistant message only",
    "only_the_assistant_is_paid": "Read messages whose role is assistant only",
    "the_last_message_counts": "Read the last assistant message: completion[-1], not completion[0]",
    "only_the_completion_counts": "Score the completion without its prompt",
    "right_for_every_gold": "Look at how the code reads this gold answer: 0 and False are values, and a pattern needs "
    "re.escape",
    "rows_of_every_kind": "Let the branch for these rows compare the answer, too",
    "rows_differ": "Pair each completion with its own row: zip(completions, column, strict=True)",
    "reads_what_it_asks_for": "Read the column that the completion is compared with",
    "does_what_it_says": "Change the line as proposed, and check again",
    "tests_reject_wrong_programs": "Add the proposed test to the row",
    "right_however_written": "Allow for it: re.DOTALL in the pattern, .strip() on the answer, commas and units removed "
    "from both sides",
    "separates_good_from_bad": "Make the reward read what is wrong in this completion, or remove it from bad=",
    "informative": "Run the reward's pattern on a right completion; a missing re.DOTALL is the usual reason",
    "reads_its_columns": "Compare the completion with the column, or remove the argument",
    "improves_along_chains": "Make each step toward the right answer earn more",
    "deterministic": "Remove the randomness or seed it with the completion; of a judge, set temperature 0",
    "batch_equals_singles": "Score each completion by itself and build one score per row: zip(completions, column)",
    "permutation": "Keep no state between rows, and pair each completion with its own row: zip(completions, column)",
    "neighbors_do_not_leak": "Compare only completions of one prompt",
    "chat_equals_text": "Read the text of the last assistant message",
    "strings_equal_typed_columns": "Annotate the column with its type (answer: float), and rewardkit converts it",
    "inputs_not_mutated": "Copy a list before you sort, pop or change it: sorted(values), list(values)",
    "picklable": "Define the function at the top level of a module, without lambdas and open files",
    "thread_safe": "Keep state in local variables; for a time limit use @rk.reward(timeout=...), not signals",
    "gate_dominance": "Set otherwise= of the gate to at most the lowest score behind it",
    "schedule_bounds": "Limit the schedule: .clip(low, high)",
    "whitespace_indifferent": "Strip and join the words before you compare: ' '.join(text.split())",
    "unicode_indifferent": "Normalize both sides before you compare: unicodedata.normalize('NFKC', text)",
    "case_indifferent": "Compare text.casefold() on both sides",
    "position_bias": "Ask the judge in both orders and average",
    "verbosity_bias": "Tell the judge that length does not count, or limit the length",
    "time_linear": "Limit the length of what you parse, and use patterns without nested repetition; for a time limit, "
    "@rk.reward(timeout=...)",
    "memory_bounded": "Limit the size of numbers, ranges and repetitions before you compute them",
    "search": _COMPARE,
    "regressions": _COMPARE,
}

_WITH_ENVIRONMENT = {
    "gold_gets_the_maximum": "Play the right completion and read its calls and results: has a tool failed, or is its "
    "name misspelled?",
    "gold_above_perturbed_gold": "If the calls of another row were made, compare their arguments with this row's: "
    "rk.tool_calls, or the state with rk.final_state. If the answer is another's, compare it as a whole",
    "informative": "Play a right completion and read its calls and results: has a tool failed?",
}
"""Advice where calls really ran."""

READS_CHAT = re.compile(r"Nonsense: seems to read chat messages|AttributeError: 'str' object has no attribute 'get'")
_READS_TEXT = re.compile(
    r"TypeError: can only concatenate list"
    r"|TypeError: expected string or bytes-like object"
    r"|AttributeError: '(?:list|dict)' object has no attribute"
    r"|TypeError: .*(?:not list|not \"?list\"?|'list' and 'str'|\"list\"\) to str)"
)


class Found(Protocol):
    """The part of a finding that advice depends on."""

    @property
    def law(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def trace(self) -> str: ...

    @property
    def chat(self) -> bool: ...

    @property
    def environment(self) -> str: ...


def advice_for(found: Found) -> str:
    """Return what to do next, without a full stop; empty for a law of the user's own."""
    raised = found.trace.strip().splitlines()[-1] if found.trace.strip() else ""
    if not found.chat and READS_CHAT.search(raised):
        return (
            "The function reads chat messages: give the examples chat prompts as in your dataset, "
            '{"prompt": [{"role": "user", "content": ...}]}'
        )
    if found.chat and _READS_TEXT.search(raised):
        return (
            "With chat prompts a completion is a list of messages, in TRL, too: read its text as "
            'completion[-1]["content"], or write the function with @rk.reward and `completion: str`'
        )
    if raised:
        return "Fix the line above: the reward must score every completion, a bad one with the lowest score"
    if found.environment and found.law in _WITH_ENVIRONMENT:
        return _WITH_ENVIRONMENT[found.law]
    return _BY_FAMILY.get(found.family) or _BY_LAW.get(found.law, "")
