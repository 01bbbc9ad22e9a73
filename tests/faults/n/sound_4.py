"""Sound reward functions, part 4."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from fractions import Fraction
from itertools import product

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, which is a string or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    return str(completion[-1].get("content") or "") if completion else ""


def _tag(text, name):
    """The text of the last complete <name> element, None without one."""
    end = text.rfind(f"</{name}>")
    start = text.rfind(f"<{name}>", 0, end) if end >= 0 else -1
    return text[start + len(name) + 2 : end] if start >= 0 else None


def _last_line(text, label):
    """What stands after `label` on the last line that starts with it (bold or not), None without one."""
    for line in reversed(text.split("\n")):
        line = line.replace("**", "").strip()
        if line.startswith(label):
            return line[len(label) :].strip()
    return None


def _chat(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------- 31 diagnoses


def diagnosis_reward(completions, names, **kwargs):
    """A diagnosis in the last 'Diagnosis:' line, with its synonyms.

    The row lists every accepted name. Case, hyphens, repeated blanks and a final full stop do not
    matter; the whole line must be the name, so that neither 'no appendicitis' nor a list of
    diagnoses is taken for 'appendicitis'. 1.0 or 0.0.
    """

    def plain(name):
        return " ".join(name.lower().replace("-", " ").rstrip(". ").split())

    scores = []
    for completion, accepted in zip(completions, names):
        line = _last_line(_text(completion), "Diagnosis:") or ""
        said = plain(line) if len(line) < 200 else ""
        scores.append(1.0 if said and said in {plain(name) for name in accepted} else 0.0)
    return scores


_DIAGNOSIS_RULE = "Discuss briefly and end with 'Diagnosis: <the one most likely diagnosis>', its name only.\n"
_DIAGNOSES = [
    {"prompt": _DIAGNOSIS_RULE + "Pain moving from the navel to the right lower belly, fever, rebound tenderness.", "names": ["appendicitis", "acute appendicitis"]},
    {"prompt": _DIAGNOSIS_RULE + "Pain in the first toe joint at night, red and swollen, high uric acid.", "names": ["gout", "acute gout", "gouty arthritis", "acute gouty arthritis", "podagra"]},
]

# ---------------------------------------------------------------- 32 ordinal grades


def asa_class_reward(completions, grade, **kwargs):
    """ASA physical status (I to V) before an operation, with credit for the neighbouring class.

    The last 'ASA:' line holds a Roman or an Arabic figure from 1 to 5 and nothing else. 1.0 for the class, 0.3 for
    a class beside it, 0.0 otherwise. Anything that is not a class is worth nothing.
    """
    figures = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5}
    rewards = []
    for completion, gold in zip(completions, grade):
        said = figures.get((_last_line(_text(completion), "ASA:") or "").rstrip(". ").upper())
        if said is None:
            rewards.append(0.0)
        else:
            rewards.append({0: 1.0, 1: 0.3}.get(abs(said - gold), 0.0))
    return rewards


_ASA_RULE = "Give the ASA class (I to V) in a last line 'ASA: <class>', without anything else in that line.\n"
_ASAS = [
    {"prompt": [{"role": "user", "content": _ASA_RULE + "A healthy man of 25 who does not smoke, for a knee arthroscopy."}], "grade": 1},
    {"prompt": [{"role": "user", "content": _ASA_RULE + "A moribund woman with a ruptured aortic aneurysm, not expected to live without the operation."}], "grade": 5},
]

# ---------------------------------------------------------------- 33 several legal labels


def issue_labels_reward(completions, issues, **kwargs):
    """Legal issues raised by a complaint, several of a closed list.

    The labels are separated by commas or semicolons in <issues>. The reward is the F1 of the set of labels, squared;
    a label that is not on the list or is repeated makes the answer worth 0.0.
    """
    known = {"breach of contract", "negligence", "defamation", "trespass", "unjust enrichment"}
    scores = []
    for completion, gold in zip(completions, issues):
        body = (_tag(_text(completion), "issues") or "").lower()
        said = [" ".join(part.split()) for part in re.split("[,;]", body)] if len(body) < 500 else []
        if not said or len(set(said)) != len(said) or not set(said) <= known:
            scores.append(0.0)
            continue
        f1 = 2 * len(set(said) & set(gold)) / (len(said) + len(gold))
        scores.append(f1**2)
    return scores


_ISSUE_RULE = "Which of these issues does the complaint raise: breach of contract, negligence, defamation, trespass, unjust enrichment? Give all that apply and no other, separated by commas, in <issues></issues>. If this element is there several times, the last one counts.\n"
_ISSUES = [
    {"prompt": _ISSUE_RULE + "The roofer did not finish the agreed work, and left a ladder lying so carelessly that a guest fell over it.", "issues": ["breach of contract", "negligence"]},
    {"prompt": _ISSUE_RULE + "The neighbour walks over the plaintiff's field each morning though he was told not to.", "issues": ["trespass"]},
]

# ---------------------------------------------------------------- 34 statutes


def _statute(text):
    """(section, paragraph, code) of '§ 823 Abs. 1 BGB' or '§ 823 (1) BGB', None for anything else."""
    text = " ".join(text.split())
    match = re.fullmatch(r"\u00a7 ?([0-9]{1,4}[a-z]?)(?: ?\(([0-9]{1,2})\)| (?:Abs\.?|Absatz) ?([0-9]{1,2}))? (BGB|StGB|ZPO|HGB)", text)
    return (match.group(1), match.group(2) or match.group(3), match.group(4)) if match else None


def statute_reward(completions, statute, **kwargs):
    """A German statute in <norm>: section, paragraph and code.

    '§ 823 Abs. 1 BGB', '§ 823 Absatz 1 BGB' and '§ 823 (1) BGB' are the same. 1.0 when all three are
    right, 0.4 for section and code alone, 0.0 otherwise. Exactly one norm is expected.
    """
    scores = []
    for completion, gold in zip(completions, statute):
        body = _tag(_text(completion), "norm") or ""
        said, wanted = _statute(body.strip()) if len(body) < 100 else None, _statute(gold)
        if said is None:
            scores.append(0.0)
        elif said == wanted:
            scores.append(1.0)
        else:
            scores.append(0.4 if (said[0], said[2]) == (wanted[0], wanted[2]) else 0.0)
    return scores


_NORM_RULE = "Name the norm with section, paragraph and code in <norm></norm>, as in '\u00a7 433 Abs. 2 BGB' or '\u00a7 433 (2) BGB' (codes: BGB, StGB, ZPO, HGB), without the number of the sentence. If this element is there several times, the last one counts.\n"
_NORMS = [
    {"prompt": _NORM_RULE + "On which norm of German law does a claim for damages in tort for an injury to property rest?", "statute": "\u00a7 823 Abs. 1 BGB"},
    {"prompt": _NORM_RULE + "Which norm obliges the seller to hand over the thing and to make the buyer its owner?", "statute": "\u00a7 433 Abs. 1 BGB"},
]

# ---------------------------------------------------------------- 35 ICD codes


def icd_codes_reward(completions, codes, **kwargs):
    """ICD-10 codes of a discharge note, one per line in <icd>.

    The dot may be left out and case does not matter, the order is free. Each right code counts once: the reward
    is right codes over the larger of the number of lines and the number of gold codes.
    """
    rewards = []
    for completion, gold in zip(completions, codes):
        lines = [line.strip().upper().replace(".", "") for line in (_tag(_text(completion), "icd") or "").split("\n") if line.strip()]
        wanted = {code.replace(".", "") for code in gold}
        rewards.append(len(set(lines) & wanted) / max(len(lines), len(wanted)))
    return rewards


_ICD_RULE = "Give the ICD-10 codes of the diagnoses named in the note, one per line and nothing else, in <icd></icd>. If this element is there several times, the last one counts. Table: I10 hypertension; E11.9 type 2 diabetes; J18.9 pneumonia; N39.0 urinary infection; K21.0 reflux oesophagitis.\n"
_ICDS = [
    {"prompt": _ICD_RULE + "Admitted with pneumonia; known hypertension and type 2 diabetes.", "codes": ["J18.9", "I10", "E11.9"]},
    {"prompt": _ICD_RULE + "Heartburn; gastroscopy shows reflux oesophagitis.", "codes": ["K21.0"]},
]

# ---------------------------------------------------------------- 36 typed JSON


def typed_object_reward(completions, request, **kwargs):
    """A request as a JSON object with strict types, in a ```json block at the end.

    The object must have exactly the required keys; the optional key 'note' may be there with any text. Types
    count: 2 is not "2", true is not 1; 2.0 is taken as 2. 1.0 if all required values are right, else 0.0.
    """

    def same(found, gold):
        if isinstance(gold, bool) or isinstance(found, bool):
            return found is gold
        if isinstance(gold, int):
            return type(found) in (int, float) and found == gold
        if isinstance(gold, list):
            return isinstance(found, list) and len(found) == len(gold) and all(same(a, b) for a, b in zip(found, gold))
        return isinstance(found, str) and found == gold

    scores = []
    for completion, gold in zip(completions, request):
        text = _text(completion).rstrip()
        start = text.rfind("```json")
        body = text[start + 7 : -3] if start >= 0 and text.endswith("```") else ""
        try:
            found = json.loads(body[:5000])
        except (ValueError, RecursionError):
            found = None
        right = isinstance(found, dict) and set(found) - {"note"} == set(gold) and isinstance(found.get("note", ""), str)
        scores.append(1.0 if right and all(same(found[key], gold[key]) for key in gold) else 0.0)
    return scores


_TYPED_RULE = 'Write the order as {"guests": integer, "outside": boolean, "dishes": list of strings in the order of the text} with an optional "note" string, in a ```json block that ends your answer. Names of dishes in lower case.\n'
_TYPED = [
    {"prompt": _TYPED_RULE + "Table for four on the terrace (outside), soup and then trout please.", "request": {"guests": 4, "outside": True, "dishes": ["soup", "trout"]}},
    {"prompt": _TYPED_RULE + "One person, inside, just a salad.", "request": {"guests": 1, "outside": False, "dishes": ["salad"]}},
]

# ---------------------------------------------------------------- 37 several turns with a length penalty


def agent_answer_reward(completions, accepted, max_words, **kwargs):
    """The final answer of an agent that may have used tools.

    Only the last message counts and it must be the assistant's: its last 'Final answer:' line has to be one of
    the accepted answers (case, blanks and a final full stop aside). 1.0 if right; 0.2 less if that message has
    more than the allowed number of words. A wrong or missing answer is 0.0 at any length.
    """
    rewards = []
    for completion, names, limit in zip(completions, accepted, max_words):
        if isinstance(completion, str):
            completion = [{"role": "assistant", "content": completion}]
        last = completion[-1] if completion else {}
        text = str(last.get("content") or "") if last.get("role") == "assistant" else ""
        line = _last_line(text, "Final answer:") or ""
        said = " ".join(line.lower().rstrip(". ").split()) if len(line) < 300 else ""
        right = bool(said) and said in {name.lower() for name in names}
        rewards.append((0.8 if len(text.split()) > limit else 1.0) if right else 0.0)
    return rewards


_AGENT_RULE = "You can look things up first. Close your last message (at most 40 words) with a line 'Final answer: <answer>'.\n"
_AGENTS = [
    {"prompt": [{"role": "user", "content": _AGENT_RULE + "What is the highest mountain of Slovenia?"}], "accepted": ["Triglav", "Mount Triglav"], "max_words": 40},
    {"prompt": [{"role": "user", "content": _AGENT_RULE + "How many legs does a spider have?"}], "accepted": ["8", "eight", "8 legs", "eight legs"], "max_words": 40},
]

# ---------------------------------------------------------------- 38 tables


def table_reward(completions, rows, **kwargs):
    """Turn a text into CSV with a header, rows in any order.

    <csv> holds the header of the row's columns in the given order and then the rows. Cells are compared without outer blanks,
    rows as a multiset: matched rows over the larger number of rows. Another header earns 0.0.
    """
    scores = []
    for completion, gold in zip(completions, rows):
        body = _tag(_text(completion), "csv") or ""
        try:
            found = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(body.strip()[:5000]), skipinitialspace=True) if row]
        except (csv.Error, ValueError):
            found = []
        if not found or found[0] != gold[0]:
            scores.append(0.0)
            continue
        left = [list(row) for row in gold[1:]]
        matched = 0
        for row in found[1:]:
            if row in left:
                left.remove(row)
                matched += 1
        scores.append(matched / max(len(found) - 1, len(gold) - 1))
    return scores


_CSV_RULE = "Write the data as CSV in <csv></csv>, with the header '{}' and one line for each entry (any order); numbers as plain digits, cells with a comma in double quotes. If this element is there several times, the last one counts.\n"
_CSVS = [
    {"prompt": _CSV_RULE.format("name,age") + "Ines is 34 years old, Karl is 29, and Mei is 51.", "rows": [["name", "age"], ["Ines", "34"], ["Karl", "29"], ["Mei", "51"]]},
    {"prompt": _CSV_RULE.format("title,year") + "Books: 'Sand, Stone' of 1999 and 'Ice' of 2004.", "rows": [["title", "year"], ["Sand, Stone", "1999"], ["Ice", "2004"]]},
]

# ---------------------------------------------------------------- 39 formulas


def _evaluate(node, n):
    """Exact value of an arithmetic tree in n; whole numbers, + - * /, signs and powers 0 to 4 only."""
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**6:
        return Fraction(node.value)
    if isinstance(node, ast.Name) and node.id == "n":
        return Fraction(n)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _evaluate(node.operand, n)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left = _evaluate(node.left, n)
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and type(node.right.value) is int and 0 <= node.right.value <= 4 and abs(left.numerator) < 10**30 and left.denominator < 10**30:
                return left**node.right.value
            raise ValueError("power")
        right = _evaluate(node.right, n)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    raise ValueError("not allowed")


def closed_form_reward(completions, values, **kwargs):
    """A closed formula in n, as a Python expression in <formula>.

    Allowed are whole numbers, n, + - * /, round brackets and ** with a written exponent from 0 to 4. The formula is
    computed exactly for n = 1, 2, ... and must give all the values of the row; those are more than the degree
    which a formula of at most 80 characters is likely to fit by chance. 1.0 or 0.0.
    """
    rewards = []
    for completion, expected in zip(completions, values):
        formula = (_tag(_text(completion), "formula") or "").strip()
        try:
            if not formula or len(formula) > 80 or not re.fullmatch(r"[0-9n+\-*/() ]+", formula):
                raise ValueError("form")
            tree = ast.parse(formula, mode="eval").body
            right = all(_evaluate(tree, n) == value for n, value in enumerate(expected, start=1))
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            right = False
        rewards.append(1.0 if right else 0.0)
    return rewards


_FORMULA_RULE = "Give a closed formula as a Python expression in n (whole numbers, + - * /, brackets, ** with exponents 0 to 4), at most 80 characters, in <formula></formula>. If this element is there several times, the last one counts.\n"
_FORMULAS = [
    {"prompt": _FORMULA_RULE + "The sum of the first n odd numbers.", "values": [k * k for k in range(1, 41)]},
    {"prompt": _FORMULA_RULE + "The sum 1 + 2 + ... + n.", "values": [k * (k + 1) // 2 for k in range(1, 41)]},
]

# ---------------------------------------------------------------- 40 logic


def _truth(node, world):
    """Value of a tree of names, 'and', 'or' and 'not'."""
    if isinstance(node, ast.Name) and node.id in world:
        return world[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _truth(node.operand, world)
    if isinstance(node, ast.BoolOp):
        parts = [_truth(part, world) for part in node.values]
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    raise ValueError("not allowed")


def logic_reward(completions, rule, variables, **kwargs):
    """Translate a sentence into a Boolean expression with and, or, not and brackets, in <expr>.

    Any expression that is equivalent to the row's rule is right; all the assignments of the (few) variables are
    tried. Expressions of more than 200 characters or with other names or operators earn 0.0.
    """
    rewards = []
    for completion, gold, names in zip(completions, rule, variables):
        text = " ".join((_tag(_text(completion), "expr") or "").split())
        try:
            if not text or len(text) > 200:
                raise ValueError("length")
            said, wanted = ast.parse(text, mode="eval").body, ast.parse(gold, mode="eval").body
            worlds = [dict(zip(names, values)) for values in product((False, True), repeat=len(names))]
            right = all(_truth(said, world) == _truth(wanted, world) for world in worlds)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            right = False
        rewards.append(1.0 if right else 0.0)
    return rewards


_LOGIC_RULE = "Write the condition as an expression with 'and', 'or', 'not', brackets and the given names, in <expr></expr> (at most 200 characters). If this element is there several times, the last one counts.\n"
_LOGICS = [
    {"prompt": _LOGIC_RULE + "Names: member, senior, student. Entry is reduced for members, and also for people who are senior or student but not both.", "rule": "member or ((senior or student) and not (senior and student))", "variables": ["member", "senior", "student"]},
    {"prompt": _LOGIC_RULE + "Names: rain, umbrella. One gets wet exactly if it rains and there is no umbrella.", "rule": "rain and not umbrella", "variables": ["rain", "umbrella"]},
]

CASES: list[Case] = [
    Case(
        name="diagnosis_synonyms",
        reward=diagnosis_reward,
        examples=_DIAGNOSES,
        good=["The pain has moved to McBurney's point.\nDiagnosis: Acute appendicitis", "Podagra at night is typical.\nDiagnosis: gout."],
        bad=["Diagnosis: cholecystitis", "Diagnosis: septic arthritis"],
    ),
    Case(
        name="asa_class",
        reward=asa_class_reward,
        examples=_ASAS,
        good=[_chat("No illness at all.\nASA: I"), _chat("Would die without it.\nASA: 5")],
        bad=[_chat("ASA: III"), _chat("ASA: II")],
    ),
    Case(
        name="issue_labels",
        reward=issue_labels_reward,
        examples=_ISSUES,
        good=["<issues>negligence, breach of contract</issues>", "<issues>Trespass</issues>"],
        bad=["<issues>defamation</issues>", "<issues>negligence; unjust enrichment</issues>"],
    ),
    Case(
        name="statute_norm",
        reward=statute_reward,
        examples=_NORMS,
        good=["Property is named there. <norm>\u00a7 823 (1) BGB</norm>", "<norm>\u00a7433 Abs. 1 BGB</norm>"],
        bad=["<norm>\u00a7 280 Abs. 1 BGB</norm>", "<norm>\u00a7 433 Abs. 2 BGB</norm>"],
    ),
    Case(
        name="icd_codes",
        reward=icd_codes_reward,
        examples=_ICDS,
        good=["<icd>\nI10\nJ189\ne11.9\n</icd>", "<icd>K21.0</icd>"],
        bad=["<icd>\nN39.0\nK21.0\nI10\n</icd>", "<icd>J18.9</icd>"],
    ),
    Case(
        name="typed_order",
        reward=typed_object_reward,
        examples=_TYPED,
        good=['```json\n{"guests": 4, "outside": true, "dishes": ["soup", "trout"], "note": "terrace"}\n```', 'Here it is.\n```json\n{"dishes": ["salad"], "guests": 1, "outside": false}\n```'],
        bad=['```json\n{"guests": "4", "outside": true, "dishes": ["soup", "trout"]}\n```', '```json\n{"guests": 1, "outside": 0, "dishes": ["salad"]}\n```'],
    ),
    Case(
        name="agent_final_answer",
        reward=agent_answer_reward,
        examples=_AGENTS,
        good=[
            [{"role": "assistant", "content": "I will look it up. My guess is Skrlatica."}, {"role": "tool", "content": "Triglav, 2864 m"}, {"role": "assistant", "content": "The tool says 2864 m.\nFinal answer: Triglav"}],
            _chat("Spiders are arachnids.\nFinal answer: eight."),
        ],
        bad=[
            [{"role": "assistant", "content": "Final answer: Triglav"}, {"role": "tool", "content": "Skrlatica, 2740 m"}, {"role": "assistant", "content": "It is another one.\nFinal answer: Skrlatica"}],
            _chat("Final answer: 6"),
        ],
    ),
    Case(
        name="csv_table",
        reward=table_reward,
        examples=_CSVS,
        good=["<csv>\nname,age\nKarl,29\nInes,34\nMei,51\n</csv>", '<csv>title,year\n"Sand, Stone",1999\nIce,2004</csv>'],
        bad=["<csv>\nname,age\nKarl,34\nInes,29\nMei,51\n</csv>", "<csv>\ntitle,year\nSand, Stone,1999\n</csv>"],
    ),
    Case(
        name="closed_form",
        reward=closed_form_reward,
        examples=_FORMULAS,
        good=["1, 4, 9, ...: <formula>n**2</formula>", "<formula>(n**2 + n) / 2</formula>"],
        bad=["<formula>2*n - 1</formula>", "<formula>n*(n - 1)/2</formula>"],
    ),
    Case(
        name="logic_equivalence",
        reward=logic_reward,
        examples=_LOGICS,
        good=["<expr>member or (senior and not student) or (student and not senior)</expr>", "<expr>not (umbrella or not rain)</expr>"],
        bad=["<expr>member or senior or student</expr>", "<expr>rain or not umbrella</expr>"],
    ),
]
