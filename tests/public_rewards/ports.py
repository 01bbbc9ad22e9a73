"""The four lists written with rewardkit: what a user who switches ends up with.

Each port judges what its list means to judge, and none of the bugs are kept.
"""

from __future__ import annotations

import rewardkit as rk

# The GSM8K gist: 5 functions and 2 helpers.
gsm8k_form = rk.tags("reasoning", "answer")
gsm8k_right = rk.number("answer", thousands=True)
gsm8k = 0.5 * gsm8k_form + rk.gate(when=gsm8k_form, then=2.0 * gsm8k_right)

# open-r1: accuracy, format, length, repetition.
open_r1_form = rk.tags("think", "answer")
open_r1_right = rk.math_equal("solution")
open_r1_loops = rk.repetition_penalty(ngram=3, unit="words", extract=rk.extract.raw())
open_r1 = open_r1_form + open_r1_right + open_r1_loops

# Countdown: 2 functions. The prompt ends with <think>.
countdown_form = rk.tags("think", "answer", prefilled="think")
_equation = rk.extract.prefilled(rk.extract.tag("answer"))


@rk.reward
def makes_target(completion: str, nums: list[int], target: int) -> rk.Score:
    """Score 1.0 if the answer makes the target of the given numbers."""
    try:
        value = rk.arithmetic(_equation(completion) or "", numbers=nums)
    except ValueError as error:
        return rk.Score(0.0, str(error))
    return rk.Score(float(value == target), "" if value == target else f"makes {value}, not {target}")


countdown = countdown_form + makes_target

# Unsloth: 4 functions, with marks of its own.
_work = ("<start_working_out>", "<end_working_out>")
unsloth_form = rk.tags(_work, "SOLUTION")
unsloth_right = rk.number("answer", thousands=True, extract=rk.extract.tag("SOLUTION", thinking=[_work]))
unsloth = 3.0 * unsloth_form + 5.0 * unsloth_right
