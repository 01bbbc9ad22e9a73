"""Files of rewards that a training is asked to take: good ones, and each way to be bad."""

from __future__ import annotations

HEAD = """
import rewardkit as rk

@rk.reward
def early(completion: str) -> float:
    letters = completion.split()
    return sum(letter in "abcd" for letter in letters) / 4

@rk.reward
def late(completion: str) -> float:
    letters = completion.split()
    return sum(letter in "gh" for letter in letters) / 4
"""

OTHERS = HEAD + "reward = 0.25 * late + 0.5 * early + rk.monitor(late.named('watched'))\n"
"""`early` stays, `echo` goes, `late` comes."""

BROKEN = {
    "syntax": ("def reward(:\n", "SyntaxError"),
    "import": ("import rewardkit as rk\nimport no_such_module\nreward = 1\n", "no_such_module"),
    "exit": ("raise SystemExit(3)\n", "SystemExit"),
    "raises": (
        HEAD + "@rk.reward\ndef reward(completion: str) -> float:\n    raise ValueError('a bug')\n",
        "a bug",
    ),
    "column": (
        HEAD + "@rk.reward\ndef reward(completion: str, anwser: int) -> float:\n    return 0.5\n",
        "answer",
    ),
    "bounds": (HEAD + "@rk.reward\ndef reward(completion: str) -> float:\n    return 2.0\n", "bounds"),
    "clash": (HEAD + "reward = early + late.named('early')\n", "early"),
    "none": ("reward = 7\n", "reward"),
    "nothing trains": (HEAD + "reward = rk.monitor(early)\n", "there is nothing to train on"),
    "missing": (HEAD, "reward"),
    "dies": (
        HEAD + "import os\n@rk.reward\ndef reward(completion: str) -> float:\n    os._exit(7)\n",
        "code 7",
    ),
    "hangs": (
        HEAD + "import time\n@rk.reward\ndef reward(completion: str) -> float:\n    time.sleep(60)\n",
        "killed",
    ),
    "draws": (
        HEAD + "import random\nrandom.seed(7)\nrandom.random()\nraise ValueError('after drawing')\n",
        "after drawing",
    ),
}
"""What is asked for, and a word of the reason why it is refused."""

FOLLOWING = HEAD + "reward = early * rk.schedules.track('early', 0.0, 1.0, half_life=3) + 0.25 * late\n"
"""`early` goes on with a schedule that the script has too, `late` comes instead of `echo`."""
