"""What a change reaches: files that import or name a changed one, however indirectly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rewardkit.differences.review import affected_files, may_define_rewards
from tests.differences.repositories import written

FILES = {
    "answers.py": "def last(text): return text",
    "rewards/__init__.py": "",
    "rewards/math.py": "from rewards.reading import number\n",
    "rewards/reading.py": "from ..answers import last\nimport json\n",
    "rewards/lazy.py": "def reward(completions, **kwargs):\n    import answers\n    return []\n",
    "rewards/units.py": 'UNITS = open("data/units.json")\n',
    "src/lib/parts.py": "x = 1\n",
    "train.py": "from lib import parts\n",
    "other.py": "import json\n",
    "broken.py": "def (:\n",
    "data/units.json": "{}",
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["answers.py"], ["answers.py", "rewards/lazy.py", "rewards/math.py", "rewards/reading.py"]),
        (["rewards/reading.py"], ["rewards/math.py", "rewards/reading.py"]),
        (["data/units.json"], ["rewards/units.py"]),
        (["src/lib/parts.py"], ["src/lib/parts.py", "train.py"]),
        (
            ["rewards/__init__.py"],
            [f"rewards/{name}.py" for name in ("__init__", "lazy", "math", "reading", "units")],
        ),
        (["broken.py"], ["broken.py"]),
        (["README.md"], []),
    ],
)
def test_files_that_use_a_changed_file_are_reached(tmp_path: Path, changed: list[str], expected: list[str]) -> None:
    written(tmp_path, FILES)
    assert sorted(affected_files(tmp_path, changed, list(FILES))) == expected


def test_a_removed_module_reaches_those_that_import_it(tmp_path: Path) -> None:
    written(tmp_path, {"rewards.py": "from gone import last\n"})
    assert affected_files(tmp_path, ["gone.py"], ["rewards.py"]) == {"rewards.py"}


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20), st.sets(st.integers(0, 7)))
def test_reached_is_the_closure_of_imports(
    tmp_path_factory: pytest.TempPathFactory, edges: list[tuple[int, int]], changed: set[int]
) -> None:
    folder = tmp_path_factory.mktemp("modules")
    names = [f"m{number}.py" for number in range(8)]
    written(folder, dict.fromkeys(names, ""))
    for user, used in edges:
        with (folder / names[user]).open("a") as file:
            file.write(f"import m{used}\n")
    expected = set(changed)
    while True:
        more = {user for user, used in edges if used in expected} - expected
        if not more:
            break
        expected |= more
    assert affected_files(folder, [names[one] for one in changed], names) == {names[one] for one in expected}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def reward(completions, **kwargs): return []", True),
        ("import rewardkit as rk\nreward = rk.tags('answer') + rk.number('answer')", True),
        ("from rewardkit import tags\nrewards = [tags('answer')]", True),
        ("def reward(completion): return 0.0\nif __name__ == '__main__':\n    main()", True),
        ("import logging\nlog = logging.getLogger()", False),
        ("def helper(text): return text", False),
        ("def reward(completions): return []\ntrainer = GRPOTrainer('gpt2', reward)\ntrainer.train()", False),
        ("def reward(completions): return []\noptions = parser.parse_args()", False),
        ("def (:", False),
    ],
)
def test_scripts_and_helpers_are_not_imported(tmp_path: Path, source: str, expected: bool) -> None:
    written(tmp_path, {"module.py": source, "test_module.py": source})
    assert may_define_rewards(tmp_path, "module.py") is expected
    assert not may_define_rewards(tmp_path, "test_module.py")
