"""NeMo Gym's servers for the form of an answer: patterns, citations, documents of a schema, batches of commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from subject import Subject
from subjects.nemo_gym_server import asked, calling, checked, judged

_PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "born": {"type": "integer"},
        "towns": {"type": "array", "items": {"type": "string"}},
    },
}
_PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "height": {"type": "number"}, "open": {"type": "boolean"}},
}
_TABLE: dict[str, Any] = {"type": "array", "items": _PLACE}
_DOCUMENTS = {
    "json": ('{"name": "Ada", "born": 1815, "towns": ["London"]}', '{"title": "Rigi", "height": 1797.5, "open": true}'),
    "yaml": ("name: Ada\nborn: 1815\ntowns:\n- London", "title: Rigi\nheight: 1797.5\nopen: true"),
    "toml": ('name = "Ada"\nborn = 1815\ntowns = ["London"]', 'title = "Rigi"\nheight = 1797.5\nopen = true'),
    "csv": ("title,height,open\nRigi,1797.5,true", "title,height,open\nPilatus,2128.0,false\nRigi,1797.5,true"),
}
_PROSE = ["Ada was born in 1815 in London.", "The Rigi is 1797.5 m high and open."]


def subjects() -> Iterator[Subject]:
    yield from _patterns()
    yield from _citations()
    for kind, documents in _DOCUMENTS.items():
        schemas = [_TABLE, _TABLE] if kind == "csv" else [_PERSON, _PLACE]
        wrong = ["title,height\nRigi,1797.5"] * 2 if kind == "csv" else _PROSE
        yield Subject(
            f"structured_outputs ({kind})", checked("structured_outputs"), _schemas(kind, schemas), documents, wrong
        )
    roots = [{"type": "object", "properties": {name: one}} for name, one in (("person", _PERSON), ("place", _PLACE))]
    right = [
        "<person><name>Ada</name><born>1815</born><towns><town>London</town></towns></person>",
        "<place><title>Rigi</title><height>1797.5</height><open>true</open></place>",
    ]
    yield Subject("structured_outputs (xml)", checked("structured_outputs"), _schemas("xml", roots), right, _PROSE)
    calls: Any = [calling(("save", document)) for document in _DOCUMENTS["json"]]
    rows = [
        {**row, "prompt": asked(row["prompt"])}
        for row in _schemas("json", [_PERSON, _PLACE], response_mode="tool_call")
    ]
    yield Subject("structured_outputs (tool_call)", checked("structured_outputs"), rows, calls, _PROSE)
    yield from _paths()
    yield _commands()


def _schemas(kind: str, schemas: list[dict[str, Any]], **extra: Any) -> list[dict[str, Any]]:
    return [
        {
            "prompt": f"Write {kind.upper()} with this schema: {json.dumps(schema)}",
            "task": {"schema_str": json.dumps(schema), "schema_type": kind, **extra},
        }
        for schema in schemas
    ]


def _patterns() -> Iterator[Subject]:
    regex = {"type": "regex", "verify_regex": [r"^\d+\.\s*\".+\":\s*.+"], "verify_min_matches": 2}
    pairs = {"type": "regex", "verify_regex": [r"^.{2,30}\s*=\s*.+"], "verify_min_matches": 3}
    rows = [
        {
            "prompt": "List each name as: number, period, the name in quotes, a colon, the answer.",
            "task": {"verifier": regex},
        },
        {"prompt": "Answer with lines of the form key = value.", "task": {"verifier": pairs}},
    ]
    right = [
        '1. "John Backup": a legislator\n2. "Boston": his home',
        "name = Ariel Zilber\nborn = 1943\ncountry = Israel",
    ]
    wrong = ["John Backup was a legislator who lived in Boston.", "Ariel Zilber was born in 1943 in Israel."]
    yield Subject("format_verification (regex)", checked("format_verification"), rows, right, wrong)
    rows = [
        {
            "prompt": "Cite every source part using [ref:N].",
            "task": {"verifier": {"type": "string_match", "patterns": [r"\[ref:\d+\]"], "expected_markers": markers}},
        }
        for markers in (["[ref:2]"], ["[ref:1]", "[ref:3]"])
    ]
    right = ["Dellrose lies in Tennessee [ref:2].", "It has a mill [ref:1] and a church [ref:3]."]
    wrong = ["Dellrose lies in Tennessee [ref:1].", "It has a mill [ref:1] and a church."]
    yield Subject("format_verification (string_match)", checked("format_verification"), rows, right, wrong)


def _citations() -> Iterator[Subject]:
    brackets = {"grammar": "ascii_brackets", "id_kind": "full_source", "id_regex": "citation_[a-z0-9]{4}",
                "valid_id_set": ["citation_ggxj", "citation_gge0", "citation_rjzb"]}  # fmt: skip
    tags = {"grammar": "cite_xml", "id_kind": "snippet", "id_regex": "citation_[a-z0-9]{4}:snippet_[0-9]+",
            "valid_id_set": ["citation_ce16:snippet_1", "citation_6mku:snippet_1"]}  # fmt: skip
    rows = [
        {
            "prompt": "Cite the source page for each claim as [citation_xmpl].",
            "answer": ["citation_rjzb"],
            "task": brackets,
        },
        {"prompt": "Cite it as <cite>citation_xmpl</cite>.", "answer": ["citation_ce16:snippet_1"], "task": tags},
    ]
    text = "Gateway sold the Amiga name on 31 December 1999"
    right = [f"{text} [citation_rjzb].", f"{text} <cite>citation_ce16:snippet_1</cite>."]
    wrong = [f"{text} [citation_ggxj].", f"{text} <cite>citation_6mku:snippet_1</cite>."]

    def cited(answer: Any, task: Any) -> dict[str, Any]:
        return {"verifier": {"type": "citation_if", "mode": "cite", "expected_ids": answer, **task}}

    yield Subject("citation_if (cite)", judged("citation_if", cited), rows, right, wrong)
    rows = [{"prompt": "Do not cite.", "task": {"verifier": {"mode": "no_cite", **one}}} for one in (brackets, tags)]
    yield Subject("citation_if (no_cite)", checked("citation_if"), rows, [f"{text}."] * 2, right)


def _paths() -> Iterator[Subject]:
    """Documents that must have certain keys."""
    paths = ["novel.title", "novel.author.name", "novel.characters[0].role"]
    text = {"novel": {"title": "Emma", "author": {"name": "Jane Austen"}, "characters": [{"role": "heroine"}]}}
    documents = {
        "json": (json.dumps(text, indent=2), paths),
        "yaml": ("novel:\n  title: Emma\n  author:\n    name: Jane Austen\n  characters:\n  - role: heroine", paths),
        "toml": (
            '[novel]\ntitle = "Emma"\n[novel.author]\nname = "Jane Austen"\n[[novel.characters]]\nrole = "heroine"',
            paths,
        ),
        "xml": ("<novel><title>Emma</title><author><name>Jane Austen</name></author></novel>", paths[:2]),
        "csv": ("title,author\nEmma,Jane Austen", ["csv::title", "csv::author"]),
    }
    for kind, (document, keys) in documents.items():
        task = {
            "task_id": "1",
            "task_name": f"Text to {kind}",
            "input_type": "Text",
            "output_type": kind,
            "raw_output_metric": keys,
        }
        rows = [{"prompt": f"Please output {kind.upper()} code for novel {place}.", "task": task} for place in (1, 2)]
        right = [f"<|BEGIN_CODE|>\n{document}\n<|END_CODE|>", f"```{kind}\n{document}\n```"]
        yield Subject(
            f"structeval ({kind})", checked("structeval"), rows, right, ["Emma is a novel by Jane Austen."] * 2
        )


def _commands() -> Subject:
    """Batches of commands that are compared by the similarity of their keystrokes; the judge is off."""

    def batch(keys: str) -> str:
        thought = {"analysis": "A root prompt.", "plan": "Look around first."}
        return json.dumps(
            {**thought, "commands": [{"keystrokes": f"{keys}\n", "duration": 1.0}], "task_complete": False}
        )

    keys = ("pip list | grep oauth", "cat /workspace/project/setup.py")
    rows = [
        {
            "prompt": f"Solve task {place} on the command line.",
            "answer": batch(one),
            "task": {"metadata": {"harness": "terminus_2"}},
        }
        for place, one in enumerate(keys)
    ]
    reward = judged("terminus_judge", enable_string_similarity=True, enable_llm_judge=False)
    wrong = [batch("rm -rf build && make"), batch("git log --oneline")]
    return Subject("terminus_judge (string similarity)", reward, rows, [batch(one) for one in keys], wrong)
