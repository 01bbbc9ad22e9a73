"""Which JSON and which schemas rewardkit accepts, on the public test suites; in this environment.

    python benchmarks/accuracy/documents.py
    python benchmarks/accuracy/documents.py --every      # all schemas of MaskBench, not 700: a few minutes

- JSONTestSuite: texts that are JSON, and texts that are not. What it leaves to implementations is left out, and so are
  files that are not UTF-8: a completion is text.
- JSON-Schema-Test-Suite: the required tests of drafts 4 to 2020-12. ``$schema`` is added where it is missing.
- MaskBench (of JSONSchemaBench): real schemas with valid and invalid documents; it has no license, so it is only read.
  The label is what jsonschema-rs says: the published labels, of which it disputes a few, are counted apart.

A completion is the document as JSON text. "Wrong accepted" means full marks for an invalid document.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import jiter
import jsonschema
import jsonschema_rs

import rewardkit as rk
from benchmarks.accuracy.counting import Counted, Verdict, counted, table
from benchmarks.accuracy.sets import ROOT, Case, NotAtHand, Source

JSON_TESTS = Source("nst/JSONTestSuite", "1ef36fa01286573e846ac449e8683f8833c5b26a")
SCHEMA_TESTS = Source("json-schema-org/JSON-Schema-Test-Suite", "44401e0c046704b476ec9d2e2fccdaee618f259d")
MASKBENCH = Source("guidance-ai/jsonschemabench", "ba103c73756198dd9b149ddc7db7867da7a077f6")
SCHEMAS = 700
BATCH = 200
SHOWN = 100
DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

Accepts = Callable[[Sequence[str]], list[bool]]
"""Which texts are accepted."""
Checks = Callable[["SchemaCase", bool], Accepts]
"""Compile a schema, with or without formats; raises if it is refused."""


@dataclass(frozen=True)
class SchemaCase:
    """A schema, and documents with the label."""

    name: str
    schema: Any
    documents: tuple[tuple[Any, bool], ...]

    @property
    def texts(self) -> list[str]:
        return [json.dumps(document) for document, _ in self.documents]


def json_tests(sets: Path) -> list[Case]:
    """Return the texts of JSONTestSuite that must be accepted or refused."""
    cases = []
    for path in sorted((JSON_TESTS.folder(sets) / "test_parsing").iterdir()):
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        if path.name[0] in "yn":
            cases.append(Case(path.stem, "", text, path.name[0] == "y"))
    return cases


def schema_tests(sets: Path) -> Iterator[SchemaCase]:
    """Yield the required tests of all drafts."""
    for draft, address in DRAFTS.items():
        for path in sorted((SCHEMA_TESTS.folder(sets) / "tests" / draft).glob("*.json")):
            for group in json.loads(path.read_text(encoding="utf-8")):
                schema = group["schema"]
                if isinstance(schema, dict) and "$schema" not in schema:
                    schema = {"$schema": address, **schema}
                documents = tuple((test["data"], test["valid"]) for test in group["tests"])
                yield SchemaCase(f"{draft}/{path.stem}: {group['description']}", schema, documents)


def maskbench(sets: Path, schemas: int | None) -> Iterator[SchemaCase]:
    """Yield `schemas` real schemas of MaskBench, always the same ones, or all of them."""
    paths = sorted((MASKBENCH.folder(sets) / "maskbench" / "data").glob("*.json"))
    for path in random.Random(0).sample(paths, schemas) if schemas else paths:
        row = json.loads(path.read_text(encoding="utf-8"))
        yield SchemaCase(path.stem, row["schema"], tuple((test["data"], test["valid"]) for test in row["tests"]))


def parses(parse: Callable[[str], object]) -> Accepts:
    def accepts(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, RecursionError):
            return False
        return True

    return lambda texts: [accepts(text) for text in texts]


def pays(reward: rk.Reward, texts: Sequence[str], **columns: Any) -> list[bool]:
    return [score == 1.0 for score in rk.score(reward, texts, **columns).total.tolist()]


JSON_CONTESTANTS: dict[str, Accepts] = {
    "rk.json_valid": partial(pays, rk.json_valid()),
    "jiter": parses(lambda text: jiter.from_json(text.encode())),
    "json": parses(json.loads),
}


def rust_schema(case: SchemaCase, formats: bool) -> Accepts:
    validator = jsonschema_rs.validator_for(case.schema, validate_formats=formats, offline=True)
    return lambda texts: [bool(validator.is_valid(json.loads(text))) for text in texts]


def python_schema(case: SchemaCase, formats: bool) -> Accepts:
    kind = jsonschema.validators.validator_for(case.schema, jsonschema.Draft202012Validator)
    kind.check_schema(case.schema)
    validator = kind(case.schema, format_checker=kind.FORMAT_CHECKER if formats else None)

    def accepts(text: str) -> bool:
        try:
            return bool(validator.is_valid(json.loads(text)))
        except Exception:  # a reference that cannot be resolved, noticed only now
            return False

    return lambda texts: [accepts(text) for text in texts]


def ours(cases: Sequence[SchemaCase], formats: bool) -> tuple[list[list[bool] | None], float]:
    """Return verdicts per schema (None: it is refused) and seconds, with a schema per row as in training."""
    reward = rk.json_schema(column="schema", formats=formats)
    verdicts: list[list[bool] | None] = []
    seconds = 0.0
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        read = [_is_read(case.schema, formats) for case in batch]
        rows = [
            (json.dumps(case.schema), text)
            for case, fine in zip(batch, read, strict=True)
            if fine
            for text in case.texts
        ]
        texts, schemas = [text for _, text in rows], [schema for schema, _ in rows]
        paid: list[bool] = []
        if rows:
            pays(reward, texts, schema=schemas)  # compiles the schemas
            before = time.process_time()
            paid = pays(reward, texts, schema=schemas)
            seconds += time.process_time() - before
        waiting = iter(paid)
        verdicts += [
            list(islice(waiting, len(case.texts))) if fine else None for case, fine in zip(batch, read, strict=True)
        ]
    return verdicts, seconds


def _is_read(schema: Any, formats: bool) -> bool:
    try:
        rk.json_schema(schema, formats=formats)
    except rk.RewardDefinitionError:
        return False
    return True


def theirs(checks: Checks, cases: Sequence[SchemaCase], formats: bool) -> tuple[list[list[bool] | None], float]:
    """Return verdicts per schema (None: it is refused) and seconds, without those of compiling the schemas."""
    verdicts: list[list[bool] | None] = []
    seconds = 0.0
    for case in cases:
        try:
            accepts = checks(case, formats)
        except Exception:  # each library has its own errors for a schema that it refuses
            verdicts.append(None)
            continue
        before = time.process_time()
        verdicts.append(accepts(case.texts))
        seconds += time.process_time() - before
    return verdicts, seconds


SCHEMA_CONTESTANTS: dict[str, Callable[[Sequence[SchemaCase], bool], tuple[list[list[bool] | None], float]]] = {
    "rk.json_schema": ours,
    "jsonschema-rs": partial(theirs, rust_schema),
    "jsonschema": partial(theirs, python_schema),
}


def schema_counts(
    name: str, cases: Sequence[SchemaCase], labels: Sequence[Sequence[bool]], *, formats: bool
) -> Iterator[Counted]:
    """Yield each contestant's line; `labels` are per schema and document."""
    asked = [
        Case(f"{case.name} [{number}]", case.name, text, truth)
        for case, truths in zip(cases, labels, strict=True)
        for number, (text, truth) in enumerate(zip(case.texts, truths, strict=True))
    ]
    for contestant, ask in SCHEMA_CONTESTANTS.items():
        found, seconds = ask(cases, formats)
        verdicts: list[Verdict] = []
        for case, some in zip(cases, found, strict=True):
            verdicts += [None] * len(case.texts) if some is None else some
        refused = tuple(case.name for case, some in zip(cases, found, strict=True) if some is None)
        line = counted(name, contestant, asked, verdicts, seconds)
        yield replace(line, golds=len(cases), golds_refused=refused)  # also the schemas without documents


def by_validator(case: SchemaCase) -> list[bool] | None:
    """Return jsonschema-rs's verdicts on the documents, or None if it cannot read the schema."""
    try:
        return rust_schema(case, True)(case.texts)
    except Exception:
        return None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", action="store_true", help="all schemas of MaskBench")
    parser.add_argument("--sets", type=Path, default=ROOT / ".benchmarks" / "sets", help="folder of the public sets")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for show in (_json, _schemas, _maskbench):
        try:
            show(options)
        except NotAtHand as error:
            print(f"\nskipped: {error}")


def _json(options: argparse.Namespace) -> None:
    cases = json_tests(options.sets)
    counts = []
    for contestant, accepts in JSON_CONTESTANTS.items():
        start = time.process_time()
        verdicts = accepts([case.completion for case in cases])
        counts.append(counted("JSONTestSuite", contestant, cases, verdicts, time.process_time() - start))
    _show(f"JSONTestSuite: {len(cases)} texts", counts)


def _schemas(options: argparse.Namespace) -> None:
    cases = list(schema_tests(options.sets))
    labels = [[valid for _, valid in case.documents] for case in cases]
    counts = list(schema_counts("JSON-Schema-Test-Suite", cases, labels, formats=False))
    _show(f"JSON-Schema-Test-Suite: {len(cases):,} schemas", counts)


def _maskbench(options: argparse.Namespace) -> None:
    found = [(case, by_validator(case)) for case in maskbench(options.sets, None if options.every else SCHEMAS)]
    read = [(case, verdicts) for case, verdicts in found if verdicts is not None]
    pairs = [pair for case, verdicts in read for pair in zip(case.documents, verdicts, strict=True)]
    other = sum(published != verdict for (_, published), verdict in pairs)
    cases, labels = [case for case, _ in read], [verdicts for _, verdicts in read]
    counts = list(schema_counts("MaskBench", cases, labels, formats=True))
    title = f"MaskBench: {len(read):,} schemas, {len(pairs):,} documents; jsonschema-rs cannot read"
    _show(f"{title} {len(found) - len(read)} more, and differs from {other} published labels", counts)


def _show(title: str, counts: Sequence[Counted]) -> None:
    print(f"\n{title}\n\n{table(counts, 'schemas refused')}")
    for count in counts:
        refused = count.golds_refused if count.contestant.startswith("rk.") else ()
        readable = () if count.golds_refused else count.right_refused
        for what, names in (("accepts", count.wrong_accepted), ("refuses", readable), ("cannot read", refused)):
            if names:
                print(f"  {count.contestant} {what} {', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}")


if __name__ == "__main__":
    main()
