"""Faults of NeMo Gym's resource servers: what their ``verify`` gives a response (see subjects/nemo_gym_server.py)."""

from __future__ import annotations

import json
from typing import Any

from repros_outcome import raised, unfinished
from subjects import nemo_gym_programs
from subjects.nemo_gym_server import asked, calling, checked, judged, prepare

prepare()
OPTIONS = [{"A": "sodium"}, {"B": "nickel"}, {"C": "nitrogen"}, {"D": "neon"}]
SHAPES = ["a cube", "a cone"]
TABLE = {"type": "array", "items": {"type": "object", "properties": {"height": {"type": "number"}}}}


def _one(reward: Any, text: Any, answer: Any = None, **task: Any) -> Any:
    """Score one completion."""
    prompt = "?" if isinstance(text, str) else asked("?")
    return reward([text], prompts=[prompt], answer=[answer], task=[task])[0]


def _verdict(server: str, text: str, gold: tuple[str, Any], **task: Any) -> Any:
    """Ask a server; `gold` is the name of the field and its value."""
    return _one(judged(server, gold[0]), text, gold[1], **task)


def _called(server: str, call: tuple[str, str], expected: tuple[str, Any]) -> Any:
    """Ask a server about a function call where another one is expected."""
    action = {"type": "function_call", "name": expected[0], "arguments": json.dumps(expected[1])}
    return _one(judged(server, "expected_action"), calling(call), action)


def _image(call: tuple[str, Any], expected: tuple[str, Any]) -> Any:
    action, gold = ({"name": name, "arguments": arguments} for name, arguments in (call, expected))
    return _verdict("image_tools", f"<tool_call>{json.dumps(action)}</tool_call>", ("expected_action", gold))


def _keys(text: str, *paths: str) -> Any:
    task = {"task_id": "1", "task_name": "?", "input_type": "Text", "output_type": "json"}
    return _one(checked("structeval"), text, **task, raw_output_metric=list(paths))


def _query(server: str, text: str) -> Any:
    subject = next(one for one in nemo_gym_programs.subjects() if one.name == server)
    row = subject.examples[0]
    return subject.reward([text], prompts=[row["prompt"]], answer=[row["answer"]], task=[row["task"]])


def swe_pivot_no_command() -> None:
    """A call without a command earns what the right command earns, and so do arguments that are not JSON."""
    expected = ("execute_bash", {"command": "grep -rn total src"})
    assert _called("swe_pivot", ("execute_bash", "{}"), expected) == 1.0
    assert _called("swe_pivot", ("execute_bash", "not JSON"), expected) == 1.0


def swe_pivot_no_path() -> None:
    """Viewing no file earns what viewing the right file earns; the wrong file earns nothing."""
    expected = ("str_replace_editor", {"command": "view", "path": "/src/models.py"})
    assert _called("swe_pivot", ("str_replace_editor", "{}"), expected) == 1.0
    assert _called("swe_pivot", ("str_replace_editor", '{"path": "/src/views.py"}'), expected) == 0.0


def image_tools_no_images() -> None:
    """Comparing no images earns what comparing the right two earns."""
    assert _image(("image_diff_tool", {}), ("image_diff_tool", {"img_idx_a": 0, "img_idx_b": 1})) == 1.0


def structured_outputs_csv_word() -> None:
    """One word is a table without rows, and earns full marks."""
    assert _one(checked("structured_outputs"), "banana", schema_str=json.dumps(TABLE), schema_type="csv") == 1.0


def structeval_open_code() -> None:
    """An empty block of code raises an exception."""
    assert raised(lambda: _keys("<|BEGIN_CODE|><|END_CODE|>", "a")) == "AttributeError"


def litmus_agent_infinite() -> None:
    """The answer inf raises an exception."""
    task = {"answer_type": "float", "answer_format": "fmt_00", "match": {"rule": "exact"}}
    assert raised(lambda: _verdict("litmus_agent", "((inf))", ("expected_answer", "3"), **task)) == "OverflowError"


def google_search_no_box() -> None:
    """A completion without a box raises an exception."""
    reward = judged("google_search", google_api_key="", google_cx="")
    assert raised(lambda: _one(reward, "A", "A", task_difficulty_qwen3_32b_avg_8=0.5)) == "ValidationError"


def spartqa_time() -> None:
    """Line breaks take quadratic time or more: 20,000 take over 20 s."""
    text = "a" + "\n" * 20000 + "a"
    assert unfinished(lambda: _verdict("spartqa", text, ("target", "a cube"), options=SHAPES), 20)


def bunsenbench_time() -> None:
    """Line breaks take quadratic time: 50,000 take over 20 s."""
    text = "a" + "\n" * 50000 + "a"
    gold = ("expected_answer", "A")
    assert unfinished(lambda: _verdict("bunsenbench_chemistry_mcq", text, gold, options=OPTIONS), 20)


def gpqa_diamond_two_letters() -> None:
    """Two options in one answer: the last counts in a box, the first after "Answer:"."""
    assert _verdict("gpqa_diamond", r"\boxed{A, B}", ("expected_answer", "B"), options=OPTIONS) == 1.0
    assert _verdict("gpqa_diamond", "Answer: A, B", ("expected_answer", "A"), options=OPTIONS) == 1.0


def mcqa_output_regex() -> None:
    """With the pattern of the example data, the first letter of any word is the option."""
    pattern = {"output_regex": r"Option Selected:\s*([A-Za-z])\s*"}
    gold = ("expected_answer", "A")
    assert _verdict("mcqa", "Option Selected: any", gold, options=OPTIONS, template_metadata=pattern) == 1.0


def string_match_units_in_words() -> None:
    """Units are removed inside words, too: Roe earns what Rome earns."""
    assert _verdict("string_match", r"\boxed{Roe}", ("expected_answer", "Rome"), extraction_mode="boxed") == 1.0


def string_match_pair() -> None:
    """The pair 4,2 earns what the number 42 earns."""
    assert _verdict("string_match", r"\boxed{4,2}", ("expected_answer", "42"), extraction_mode="boxed") == 1.0


def string_match_order() -> None:
    """A list in another order earns nothing, although the README lists "list reordering" as equivalent."""
    assert _verdict("string_match", r"\boxed{1, 2}", ("expected_answer", "2, 1"), extraction_mode="boxed") == 0.0


def spider2_lite_time() -> None:
    """An open block of SQL with 5,000 spaces takes over 20 s: the pattern takes cubic time."""
    assert unfinished(lambda: _query("spider2_lite", "```sql\n" + " " * 5000), 20)


def bird_sql_time() -> None:
    """An open block of SQL with 50,000 letters takes over 20 s: the pattern takes quadratic time."""
    assert unfinished(lambda: _query("bird_sql", "```sql\n" + "a" * 50000), 20)


def verifif_quotation_one_mark() -> None:
    """A single quotation mark earns what a quoted response earns."""
    instruction = {"instruction_id": "startend:quotation", "source": "system", "is_misalignment_check": False}
    assert _one(checked("verifif"), '"', instructions=[{**instruction, "uid": 0}]) == 1.0


def code_gen_equals_everything() -> None:
    """A method whose result says that it equals everything passes the tests."""
    program = "class A(str):\n    __eq__ = lambda self, other: True\n    __ne__ = lambda self, other: False\n"
    program += "class Solution:\n    def longest(self, words): return A()"
    subject = next(one for one in nemo_gym_programs.subjects() if one.name == "code_gen (call)")
    row = subject.examples[0]
    assert subject.reward([f"```python\n{program}\n```"], prompts=["?"], answer=[row["answer"]]) == [1.0]
