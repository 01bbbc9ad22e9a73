r"""Gold answers, read once: ``Gold.of("x = 5").number`` is 5, and its name is ``x``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rewardkit.primitives.mathematics import words
from rewardkit.primitives.mathematics.exact_leaves import value
from rewardkit.primitives.mathematics.families import Family, families
from rewardkit.primitives.mathematics.notation import clean, is_name, sides, split_at
from rewardkit.primitives.mathematics.plain_numbers import Numeral, read
from rewardkit.primitives.mathematics.precheck import refusal
from rewardkit.primitives.mathematics.statements import Stated, stated
from rewardkit.primitives.mathematics.structure import LEAF, RELATIONS, Node, items, parse

_APPROXIMATELY = re.compile(r"\\approx(?![A-Za-z])")
_BOX = re.compile(r"\s*\\(?:boxed|fbox)\s*\{(.*)\}\s*", re.DOTALL)


@dataclass(frozen=True)
class Gold:
    """A gold answer.

    Attributes:
        cleaned: the whole gold answer in normal notation.
        stated: the same without the words around it, and with the domain of its parameter.
        text: the value: without a name before an equality sign.
        name: the name of the value: ``x`` in ``x = 5``.
        number: the value, if it is written as a plain number.
        clock: the value, if it is a time of day.
        spellings: the accepted spellings, if the answer may be words: ``even``, ``c`` for ``(C)``.
        is_text: whether the answer is only words, or notation that is only compared as written.
        node: the structure of the value.
        families: the value, if it is a list of families of solutions.
    """

    cleaned: str
    stated: Stated
    text: str
    name: str
    number: Numeral | None
    clock: tuple[int, int, int, str] | None
    spellings: tuple[str, ...]
    is_text: bool
    node: Node = field(compare=False)
    families: list[Family] | None = field(compare=False)

    @classmethod
    def of(cls, text: str) -> Gold:
        box = _BOX.fullmatch(text)
        cleaned = clean(box[1] if box else text)
        said = stated(cleaned)
        name, text = "", said.text
        parts = sides(text)
        if len(items(text)) == 1 and len(parts) > 1 and (is_name(parts[0]) or len(parts) > 2):
            name, text = parts[0] if is_name(parts[0]) else "", parts[-1]
        about = split_at(text, _APPROXIMATELY)
        if len(about) == 2 and is_name(about[0]):
            name, text = about  # \\Delta p \\approx 5
        number = read(text)
        clock = words.clock(text) if not number and ":" not in name else None
        spellings, is_text = ((), False) if number else words.spellings(cleaned)
        is_leaf = bool(number or is_text or refusal(said.text))  # what is refused is not parsed: it may be too deep
        found = None if is_leaf else families(said.text, said.letters, is_stated=bool(said.domain))
        node = Node(LEAF, text=text) if is_leaf else parse(text)
        return cls(cleaned, said, text, name, number, clock, spellings, is_text, node, found)

    @property
    def is_relation(self) -> bool:
        """Whether it can be compared only as a whole: ``x^2 + y^2 = 25``."""
        return self.node.kind in RELATIONS

    @property
    def is_exact(self) -> bool:
        """Whether it needs no computer algebra to be read."""
        return all(value(leaf) != (None, None, "") for leaf in self.node.leaves())
