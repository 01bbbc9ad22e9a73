"""Five public repositories and their reward functions, which are imported unchanged from clones.

Nothing of them is in this repository.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import rewardkit as rk


@dataclass
class Script:
    """The functions of a repository, as TRL calls them, with rows of its data and completions for them.

    Attributes:
        faults: laws and hacks that the check must report. All are faults of the functions.
        rewards: what a user passes to `rk.to_trl`; by default the functions.
    """

    functions: list[Callable[..., Any]]
    rows: list[dict[str, Any]]
    good: list[str]
    bad: list[str]
    faults: set[str]
    rewards: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rewards = self.rewards or self.functions


class Absent(ModuleType):
    """A module that is not installed, and that the rewards do not need."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def imported(path: Path, name: str, *absent: str) -> Any:
    """Import a file of a clone as the module `name`."""
    sys.modules.update({module: Absent(module) for module in absent})
    spec: Any = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def each(score: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for TRL that calls `score` for each row."""

    def scores(prompts: Any, completions: Any, completion_ids: Any, **columns: Any) -> list[float]:
        lists = {name: cells for name, cells in columns.items() if isinstance(cells, list)}
        rows = [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]
        texts = [message["content"] for (message,) in completions]
        return [score(text, prompt, **row) for text, prompt, row in zip(texts, prompts, rows, strict=True)]

    return scores


def user(content: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content}]


def scheduler(clone: Path, tmp_path: Path) -> Script:
    """Run the cell of the notebook that defines three functions for TRL."""
    cells = json.loads((clone / "train_grpo.ipynb").read_text("utf-8"))["cells"]
    (source,) = (cell for cell in map("".join, (cell["source"] for cell in cells)) if "def score_reward" in cell)
    (tmp_path / "scheduler.py").write_text(source, "utf-8")
    module = imported(tmp_path / "scheduler.py", "scheduler")

    def schedule(*events: list[str]) -> str:
        blocks = [f"<event>\n<name>{a}</name>\n<start>{b}</start>\n<end>{c}</end>\n</event>" for a, b, c in events]
        return "\n".join(["<think>B is long.</think>\n<schedule>", *blocks, "</schedule>"])

    a, b, c = [["A", "01:27", "01:42"], ["B", "01:15", "02:30"], ["C", "15:43", "17:43"]]
    prompt = user("Use <think>...</think>\n<schedule>...</schedule>\n---\nA (01:27 - 01:42), ...")
    rows: list[dict[str, Any]] = [{"events": [a, b, c], "priority_events": ["B"], "optimal_score": 270}]
    rows += [{"events": [a, c], "priority_events": ["A"], "optimal_score": 150}]
    functions = [module.format_reward, module.sorted_events_reward, module.score_reward]
    good, bad = [schedule(b, c), schedule(a, c)], [schedule(a, b), schedule(c, a)]
    # The pattern has a group in a group; a second schedule costs nothing.
    faults = {"time_linear", "another answer after the first"}
    return Script(functions, [{"prompt": prompt} | row for row in rows], good, bad, faults)


def verl_rows(path: Path) -> list[dict[str, Any]]:
    from pyarrow import parquet

    rows: list[dict[str, Any]] = parquet.read_table(path).slice(0, 3).to_pylist()
    return [{name: row[name] for name in ("prompt", "data_source", "reward_model", "extra_info")} for row in rows]


def knights(solution_str: str, ground_truth: Any) -> Any:
    """Score with the header of the prompt, which verl still passed when the function was written."""
    return sys.modules["kk"].compute_score(f"Assistant: <think>{solution_str}", ground_truth)


def logic(clone: Path, tmp_path: Path) -> Script:
    score = imported(clone / "verl/utils/reward_score/kk.py", "kk").compute_score
    rows = verl_rows(clone / "data/kk/instruct/3ppl/test.parquet")
    golds = [row["reward_model"]["ground_truth"]["solution_text_format"] for row in rows]
    good = [f" One of them lies.</think>\n<answer> {gold} </answer>" for gold in golds]
    bad = [text.replace("knight", "knave", 1) for text in good]
    direct = each(lambda text, prompt, **row: score(prompt[0]["content"] + text, row["reward_model"]["ground_truth"]))
    # It looks for the names and roles, whatever else the answer says.
    faults = {"the gold answer denied", "two answers in one"}
    return Script([direct], rows, good, bad, faults, [rk.from_verl(knights)])


def tool_call(solution_str: str, ground_truth: Any) -> Any:
    """Score with the first number of four: the total."""
    return sys.modules["rlla"].compute_score(solution_str, ground_truth)[0]


def tools(clone: Path, tmp_path: Path) -> Script:
    score = imported(clone / "verl/utils/reward_score/rlla.py", "rlla").compute_score
    rows = verl_rows(clone / "dataset/rlla_4k/test.parquet")
    good = [row["reward_model"]["ground_truth"].replace("I should", "So I should") for row in rows]
    bad = [good[0].replace("GetNews", "SingleOffer"), f"{good[1].splitlines()[0]}\n<response> Banana </response>", "no"]
    direct = each(lambda text, prompt, **row: score(text, row["reward_model"]["ground_truth"])[0])
    # Nothing reads the response.
    return Script([direct], rows, good, bad, {"separates_good_from_bad"}, [rk.from_verl(tool_call)])


@rk.reward(bounds=(-1.0, 1.0))
def patch(completion: str, code_context: dict[str, str], oracle_new_content: dict[str, str]) -> float:
    return float(sys.modules["swe"].calculate_search_replace_reward(code_context, oracle_new_content, completion)[0])


def patches(clone: Path, tmp_path: Path) -> Script:
    module = imported(clone / "src/swerl/core/reward.py", "swe", "unidiff", "unidiff.errors")
    block = "```python\n### {}\n<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n```"
    form = f"<think>\nA change.\n</think>\n<solution>\n{block}\n</solution>"
    edits = [
        ("order.py", "def order(x):", "def order(x: list):"),
        ("mean.py", "  return 1", "  return sum(x) / len(x)"),
    ]
    rows = []
    for path, old, new in edits:
        # As text: Arrow would fill the dicts with the paths of other rows.
        files = [json.dumps({path: f"import os\n\n{line}\n  # the end\n"}) for line in (old, new)]
        rows.append({"prompt": user(f"Change {path}."), "code_context": files[0], "oracle_new_content": files[1]})
    good, bad = [form.format(*edit) for edit in edits], [form.format(*edit[:2], "def f():") for edit in edits]
    score, names = module.calculate_search_replace_reward, ("code_context", "oracle_new_content")
    direct = each(lambda text, prompt, **row: score(*(json.loads(row[name]) for name in names), text)[0])
    # Tags are counted, not matched.
    faults = {"the tags in the wrong order", "the answer inside the thinking"}
    return Script([direct], rows, good, bad, faults, [patch])


def vision(clone: Path, tmp_path: Path, task: str, questions: list[list[str]]) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Import the script and its module for Qwen; return both, and rows with an image."""
    from PIL import Image
    from rapidfuzz.distance import Indel

    source = clone / "src/open-r1-multimodal/src/open_r1"
    ours = ["open_r1", *(f"open_r1.{name}" for name in ("utils", "trainer", "qwen2_5vl_monkey_patch", "vlm_modules"))]
    coco = [f"open_r1.utils.pycocotools{name}" for name in ("", ".coco", ".cocoeval")]
    absent = [*ours, *coco, "babel", "babel.numbers", "json_repair", "Levenshtein", "utils"]
    imported(source / "vlm_modules/vlm_module.py", "open_r1.vlm_modules.vlm_module", *absent)
    imported(source / "utils/math.py", "utils.math")
    vars(sys.modules["Levenshtein"])["ratio"] = Indel.normalized_similarity
    qwen = imported(source / "vlm_modules/qwen_module.py", "open_r1.vlm_modules.qwen_module").Qwen2VLModule
    Image.new("RGB", (280, 140)).save(tmp_path / "screen.png")
    cells = {"image_path": [str(tmp_path / "screen.png")], "image_grid_thw": [1, 10, 20]}
    rows: list[dict[str, Any]] = []
    for problem, solution, method in questions:
        text = qwen.get_question_template(task).format(Question=problem)
        judged = {"problem": problem, "solution": f"<answer> {solution} </answer>", "accu_reward_method": method}
        rows.append({"prompt": user([{"type": "image"}, {"type": "text", "text": text}]), **judged, **cells})
    return imported(source / "grpo_jsonl.py", "grpo_jsonl"), qwen, rows


def boxes(clone: Path, tmp_path: Path) -> Script:
    """Functions that open the image of the row."""
    right, wrong = ["[20, 30, 120, 110]", "[150, 40, 200, 100]"], ["[200, 30, 260, 110]", "[0, 0, 60, 60]"]
    _, qwen, rows = vision(clone, tmp_path, "rec", [["Where is the cat?", right[0], ""], ["The cup?", right[1], ""]])
    form = '<think>By the door.</think>\n<answer>\n```json\n[{"bbox_2d": %s, "label": "it"}]\n```\n</answer>'
    good, bad = [form % box for box in right], [form % box for box in wrong]
    # The first box counts, also in the thinking; what follows is ignored; four wildcards in a row.
    faults = {"right in the thinking, wrong in the answer", "another answer after the first", "time_linear"}
    return Script([qwen.iou_reward, qwen.format_reward_rec], rows, good, bad, faults)


def answers(clone: Path, tmp_path: Path) -> Script:
    """Functions with one judge per row, and a reward for the length."""
    questions = [
        ["What is wrong?", "No Response", "all_match"],
        ["Is it on?", "Yes", "yes_no"],
        ["How many?", "12", ""],
    ]
    module, _, rows = vision(clone, tmp_path, "", questions)
    module.tokenizer = ModuleType("words")
    module.tokenizer.encode = str.split
    functions = [module.reward_funcs_registry[name] for name in ("accuracy", "format", "length")]
    form = "<think>I compare the screens.</think><answer>{}</answer>"
    good, bad = ([*map(form.format, texts)] for texts in (["No Response", "Yes", "12"], ["No Defect", "No", "7"]))
    # "unYes" means yes; an answer need not be closed; the length has the curve of right answers, which turns up again.
    return Script(functions, rows, good, bad, {"almost_right_is_wrong", "thinking that never ends", "one_best_length"})


SCRIPTS = {
    scheduler: "anakin87+qwen-scheduler-grpo",
    tools: "qiancheng0+ToolRL",
    boxes: "om-ai-lab+VLM-R1",
    answers: "om-ai-lab+VLM-R1",
    logic: "Unakar+Logic-RL",
    patches: "facebookresearch+swe-rl",
}
