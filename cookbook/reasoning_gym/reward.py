"""Count legs: a task of reasoning-gym, with its own scorer.

``<answer>286</answer>`` earns 1.0 if the animals have 286 legs, else 0.1; ``286`` without the tag earns 0.0.
"""

from __future__ import annotations

import rewardkit as rk
from rewardkit_adapters.reasoning_gym import reasoning_gym_rows

form = rk.tags("answer", anchored=False)
right = rk.from_reasoning_gym("leg_counting")

reward = 0.1 * form + 0.9 * right

EXAMPLES = reasoning_gym_rows("leg_counting", size=3)
GOOD = [f"<answer>{row['answer']}</answer>" for row in EXAMPLES]
BAD = [f"<answer>{int(row['answer']) + 1}</answer>" for row in EXAMPLES]
