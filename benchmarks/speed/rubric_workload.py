"""512 completions that a policy might write when it is asked to convert an invoice to JSON.

A completion is ``<think>...</think><answer>{"invoice_number": "INV-20417", ...}</answer>``, with the invoice's gold
total as a column. There are 64 prompts with 8 generations each. A little over half of the completions are right; the
others have typical flaws. 30 % repeat an earlier generation of their own prompt. The seed is fixed, so the workload is
the same on every machine and in every environment.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PROMPTS = 64
GENERATIONS = 8
DUPLICATES = 0.3
SIZES = {"1.2k": 1_200, "8.2k": 8_200}
"""Name -> characters of a typical completion."""

COMPONENTS = ("tags", "json_valid", "schema", "closeness", "length")
WEIGHTS: Mapping[str, float] = {
    "tags": 0.2,
    "json_valid": 0.1,
    "schema": 0.3,
    "closeness": 0.3,
    "length": 0.1,
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "invoice_number": {"type": "string", "minLength": 3, "maxLength": 20},
        "vendor": {"type": "string", "minLength": 1},
        "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "currency": {"enum": ["EUR", "USD", "GBP", "CHF"]},
        "paid": {"type": "boolean"},
        "total": {"type": "number", "minimum": 0},
        "line_items": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "description": {"type": "string"},
                    "quantity": {"type": "integer", "minimum": 1},
                    "unit_price": {"type": "number", "minimum": 0},
                },
                "required": ["description", "quantity", "unit_price"],
            },
        },
    },
    "required": ["invoice_number", "vendor", "date", "currency", "paid", "total", "line_items"],
}

_SENTENCES = (
    "The header of the scan names the vendor, so that field is settled.",
    "Let me add up the line items once more before I write the total.",
    "The date is given in the German order, day first, and has to be turned around.",
    "There is a reduced rate of 7 % on the second item, but the sum already includes it.",
    "Wait, the quantity in the third row could be a 7 or a 1; the unit price decides it.",
    "The stamp says paid, therefore the flag is true.",
    "The currency sign is smudged, yet the bank details point to the euro area.",
    "I should answer with one JSON object and nothing else inside the answer tag.",
)
_SENTENCE_BEYOND_LATIN = "Vendor → “Bäckerei Łukasz”, so the total is ≥ the sum of its rows ✓."
_VENDORS = (
    "Acme Tools Ltd",
    "Nordwind Logistik GmbH",
    "Blue Harbor Foods",
    "Café Ménard SARL",
    "Octagon Print & Copy",
)
_ITEMS = (
    "steel bracket, galvanised",
    "box of A4 paper",
    "hours of consulting",
    "espresso beans 1 kg",
    "freight, pallet",
)

Invoice = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """The input for one call of the reward functions: n completions, their prompts, the gold totals (strings)."""

    completions: list[str]
    prompts: list[str]
    totals: list[str]
    lengths: tuple[int, int]
    """The length range in characters that scores 1.0."""

    def fresh(self) -> Workload:
        """Copy it to new lists and new strings: no hash is cached, and nothing is recognized by identity."""
        return Workload(_copied(self.completions), _copied(self.prompts), _copied(self.totals), self.lengths)

    def completion_ids(self) -> list[list[int]]:
        """Return token ids as a trainer would pass them, about four characters per token."""
        return [list(range(len(completion) // 4)) for completion in self.completions]

    @property
    def groups(self) -> list[range]:
        """Return the rows of each prompt."""
        return [range(start, start + GENERATIONS) for start in range(0, len(self.completions), GENERATIONS)]


def make_workload(size: int, seed: int = 20_240_517) -> Workload:
    """Make 512 completions of about `size` characters."""
    chance = random.Random(seed)
    prompts: list[str] = []
    completions: list[str] = []
    totals: list[str] = []
    repeats = set(_repeated_rows(chance))
    for prompt in range(PROMPTS):
        invoice = _invoice(chance, items=3 if size < 4_000 else 12)
        for generation in range(GENERATIONS):
            row = prompt * GENERATIONS + generation
            earlier = completions[prompt * GENERATIONS :]
            completions.append(chance.choice(earlier) if row in repeats else _completion(chance, invoice, size))
            prompts.append(f"Read invoice {invoice['invoice_number']} into JSON. Think first, then answer.")
            totals.append(str(invoice["total"]))
    return Workload(completions, prompts, totals, lengths=(size // 2, size * 5 // 4))


def make_short_workload() -> Workload:
    """Make 512 distinct completions of about twenty characters, for rewards that do nothing."""
    rows = range(PROMPTS * GENERATIONS)
    return Workload(
        completions=[f"The answer is {row}." for row in rows],
        prompts=[f"What is the number {row // GENERATIONS}?" for row in rows],
        totals=[str(row) for row in rows],
        lengths=(0, 100),
    )


def _copied(texts: Sequence[str]) -> list[str]:
    return [text.encode().decode() for text in texts]


def _repeated_rows(chance: random.Random) -> list[int]:
    """Draw the rows that repeat an earlier generation of their prompt; never the first of a group."""
    eligible = [row for row in range(PROMPTS * GENERATIONS) if row % GENERATIONS]
    return chance.sample(eligible, round(DUPLICATES * PROMPTS * GENERATIONS))


def _invoice(chance: random.Random, items: int) -> Invoice:
    lines: list[dict[str, Any]] = [
        {
            "description": chance.choice(_ITEMS),
            "quantity": chance.randint(1, 40),
            "unit_price": round(chance.uniform(1, 300), 2),
        }
        for _ in range(items)
    ]
    return {
        "invoice_number": f"INV-{chance.randint(10_000, 99_999)}",
        "vendor": chance.choice(_VENDORS),
        "date": f"20{chance.randint(18, 26)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
        "currency": chance.choice(("EUR", "USD", "GBP", "CHF")),
        "paid": chance.random() < 0.5,
        "total": round(sum(line["quantity"] * line["unit_price"] for line in lines), 2),
        "line_items": lines,
    }


def _completion(chance: random.Random, gold: Invoice, size: int) -> str:
    flaw = chance.choices(list(_FLAWS), weights=[weight for weight, _ in _FLAWS.values()])[0]
    apply: Callable[[random.Random, Invoice, str], str] = _FLAWS[flaw][1]
    answer_size = len(json.dumps(gold))
    thinking = said_thinking(chance, round(size * chance.uniform(0.85, 1.15)) - answer_size)
    return apply(chance, json.loads(json.dumps(gold)), thinking)


def said_thinking(chance: random.Random, size: int) -> str:
    sentences = [_SENTENCE_BEYOND_LATIN] if chance.random() < 0.1 else []
    while sum(map(len, sentences)) < size:
        sentences.append(chance.choice(_SENTENCES))
    chance.shuffle(sentences)
    return " ".join(sentences)


def _written(invoice: Invoice, thinking: str) -> str:
    return _tagged(json.dumps(invoice, ensure_ascii=False), thinking)


def _tagged(answer: str, thinking: str) -> str:
    return f"<think>\n{thinking}\n</think>\n<answer>{answer}</answer>"


def _right(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    return _written(invoice, thinking)


def _wrong_total(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    factor = chance.choice([chance.uniform(0.8, 1.2), chance.uniform(0.98, 1.02), 10.0])
    invoice["total"] = round(invoice["total"] * factor, 2)
    return _written(invoice, thinking)


def _missing_properties(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    for name in chance.sample(["vendor", "date", "currency", "paid", "line_items"], chance.randint(1, 3)):
        del invoice[name]
    return _written(invoice, thinking)


def _wrong_types(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    invoice["paid"] = "yes"
    invoice["date"] = chance.choice([20_240_517, "17.05.2024", None])
    return _written(invoice, thinking)


def _lines_as_text(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    invoice["line_items"] = ", ".join(line["description"] for line in invoice["line_items"])
    return _written(invoice, thinking)


def _malformed(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    text = json.dumps(invoice, ensure_ascii=False)
    return _tagged(
        chance.choice([text[:-1] + ",}", text.replace('"', "'"), text[:-2], f"Here it is: {text}"]), thinking
    )


def _cut_off(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    text = _written(invoice, thinking)
    return text[: round(len(text) * chance.uniform(0.3, 0.98))]


def _without_thinking(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    return f"<answer>{json.dumps(invoice)}</answer>"


def _empty_thinking(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    return _written(invoice, " ")


def _two_answers(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    return _written(invoice, thinking) + f"\n<answer>{json.dumps(invoice)}</answer>"


def _rambling(chance: random.Random, invoice: Invoice, thinking: str) -> str:
    return _written(invoice, f"{thinking} {thinking}")


_FLAWS: dict[str, tuple[int, Callable[[random.Random, Invoice, str], str]]] = {
    "none": (52, _right),
    "wrong total": (12, _wrong_total),
    "missing properties": (7, _missing_properties),
    "wrong types": (5, _wrong_types),
    "line items as text": (3, _lines_as_text),
    "malformed JSON": (7, _malformed),
    "cut off": (5, _cut_off),
    "no thinking": (3, _without_thinking),
    "empty thinking": (2, _empty_thinking),
    "two answers": (2, _two_answers),
    "rambling": (2, _rambling),
}
"""Flaw -> (share in percent, function that writes it)."""
