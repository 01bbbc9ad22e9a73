"""Think, then answer: the answer counts only if the format is right, and the format counts less and less.

``<think>6 * 7</think><answer>42</answer>`` earns 1.1 for the gold ``... #### 42``, ``42`` alone nothing.
"""

from __future__ import annotations

import rewardkit as rk

form = rk.tags("think", "answer")
correct = rk.number("answer", thousands=True, units=["$"], gold=rk.extract.after("####")).named("correct")
loops = rk.repetition_penalty(ngram=8, unit="words").named("loops")

# Early on, the format is worth half as much as the answer; once it is learned, a tenth.
reward = form * rk.schedules.linear(0.5, 0.1, end=0.3) + rk.gate(when=form, then=correct) + 0.2 * loops

# `rewardkit check`, `rewardkit train` and the tests use these.
EXAMPLES = [
    {"prompt": "What is 6 * 7?", "answer": "6 * 7 = <<6*7=42>>42\n#### 42"},
    {"prompt": "1,200 less 20?", "answer": "1200 - 20 = <<1200-20=1180>>1180\n#### 1,180"},
]
GOOD = ["<think>six sevens</think>\n<answer>42</answer>", "<think>take 20 away</think>\n<answer>$1,180</answer>"]
BAD = ["<think>six eights</think>\n<answer>48</answer>", "<think>add 20</think>\n<answer>1220</answer>"]
