"""Reward functions with one fault each, and the repaired ones: puzzles, science, accounts, plans and edits."""

from __future__ import annotations

import ast
import heapq
import itertools
import json
import math
import re
from collections import Counter
from fractions import Fraction

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, a string or a chat."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"]


def _answer_line(text):
    """What follows 'Answer:' on the last line, if that line is the only one of its kind."""
    lines = [line.strip() for line in text.strip().split("\n")]
    if sum(line.startswith("Answer:") for line in lines) != 1 or not lines[-1].startswith("Answer:"):
        return None
    return lines[-1][len("Answer:"):].strip()


def _unique(pairs):
    """A JSON object without repeated keys."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("repeated key")
    return dict(pairs)


def _object(text):
    """The JSON object that the text is, or None."""
    try:
        value = json.loads(text.strip(), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _value(node, used):
    """Exact value of an expression of whole numbers, noting the numbers that it uses."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        left, right = _value(node.left, used), _value(node.right, used)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        return left / right
    raise ValueError("not allowed")


def countdown_reward(completions, numbers, target, **kwargs):
    """Reward of the countdown game: reach the target with every number used exactly once.

    The expression stands in the only <expr> tag and uses + - * / and brackets. 1.0 for a right expression, 0.1 for
    one that can be computed but is wrong.
    """
    rewards = []
    for completion, nums, goal in zip(completions, numbers, target):
        found = re.findall(r"<expr>(.*?)</expr>", _text(completion), re.DOTALL)
        expression = found[0].strip() if len(found) == 1 else ""
        if not re.fullmatch(r"[0-9+\-*/() ]{1,100}", expression):
            rewards.append(0.0)
            continue
        used = []
        try:
            result = _value(ast.parse(expression, mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        fair = all(n in nums for n in used)
        rewards.append(1.0 if fair and result == goal else 0.1)
    return rewards


def _shortest(edges, start, end):
    """Length of the shortest route."""
    near = {}
    for a, b, length in edges:
        near.setdefault(a, []).append((b, length))
        near.setdefault(b, []).append((a, length))
    heap, done = [(0, start)], set()
    while heap:
        cost, node = heapq.heappop(heap)
        if node == end:
            return cost
        if node in done:
            continue
        done.add(node)
        for other, length in near.get(node, []):
            heapq.heappush(heap, (cost + length, other))
    return None


def route_reward(completions, edges, start, end, **kwargs):
    """Reward of finding a shortest route in a road map.

    The reply ends with two lines, 'Route: A-B-C' and 'Length: n'. The route must go from start to end on roads of the
    map and be a shortest one, and the length must be right. 1.0 if so, 0.2 for a route that exists, else 0.
    """
    rewards = []
    for completion, roads, first, last in zip(completions, edges, start, end):
        lines = [line.strip() for line in _text(completion).strip().split("\n")]
        route = re.fullmatch(r"Route: *([A-Z](?:-[A-Z])*)", lines[-2]) if len(lines) > 1 else None
        length = re.fullmatch(r"Length: *([0-9]{1,6})", lines[-1])
        if not route or not length:
            rewards.append(0.0)
            continue
        stops = route.group(1).split("-")
        known = {}
        for a, b, cost in roads:
            known[a, b] = known[b, a] = cost
        if stops[0] != first or stops[-1] != last or any(p not in known for p in zip(stops, stops[1:])):
            rewards.append(0.0)
            continue
        cost = int(length.group(1))
        rewards.append(1.0 if cost == _shortest(roads, first, last) else 0.2)
    return rewards


def balance_reward(completions, left, right, **kwargs):
    """Reward of balancing a chemical equation.

    The last line is 'Answer: 2 H2 + O2 -> 2 H2O'. The substances of both sides must be those of the task, every
    element must occur equally often on both sides and the coefficients must be the smallest whole numbers.
    """
    rewards = []
    for completion, given_left, given_right in zip(completions, left, right):
        answer = _answer_line(_text(completion)) or ""
        sides = answer.split("->")
        if len(sides) != 2:
            rewards.append(0.0)
            continue
        coefficients = []
        totals = []
        known = True
        for side, given in zip(sides, (given_left, given_right)):
            terms = [re.fullmatch(r"([1-9][0-9]{0,3})? ?([A-Z(][A-Za-z0-9()]*)", t.strip()) for t in side.split("+")]
            if not all(terms) or sorted(t.group(2) for t in terms) != sorted(given):
                known = False
                break
            total = Counter()
            for term in terms:
                number, formula = int(term.group(1) or 1), term.group(2)
                coefficients.append(number)
                for element, count in re.findall(r"([A-Z][a-z]?)([0-9]*)", formula):
                    total[element] += number * int(count or 1)
            totals.append(total)
        if not known:
            rewards.append(0.0)
            continue
        balanced = totals[0] == totals[1]
        rewards.append(1.0 if balanced and math.gcd(*coefficients) == 1 else 0.1)
    return rewards


_CODONS = dict(zip(("".join(c) for c in itertools.product("TCAG", repeat=3)),
                   "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"))


def coding_sequence_reward(completions, peptide, **kwargs):
    """Reward of writing a DNA coding sequence for a peptide (standard code).

    The last line is 'Answer: <sequence>' in capital letters A, C, G, T. The sequence must be complete: it starts with
    the codon of the first residue, ends with a stop codon and has nothing after it. 1.0 if it codes for the peptide.
    """
    rewards = []
    for completion, gold in zip(completions, peptide):
        sequence = _answer_line(_text(completion)) or ""
        if not re.fullmatch(r"[ACGT]{3,600}", sequence):
            rewards.append(0.0)
            continue
        protein = ""
        for i in range(0, len(sequence) - 2, 3):
            residue = _CODONS[sequence[i:i + 3]]
            if residue == "*":
                break
            protein += residue
        rewards.append(1.0 if protein == gold else 0.0)
    return rewards


def fraction_reward(completions, answer, **kwargs):
    """Reward of simplifying fractions: the last line is 'Answer: a/b' with the fraction in lowest terms.

    1.0 for the right answer, 0.1 for another fraction, 0.0 for another form.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _answer_line(_text(completion)) or ""
        if not re.fullmatch(r"-?[0-9]{1,9}/[1-9][0-9]{0,8}", said):
            rewards.append(0.0)
            continue
        correct = Fraction(said) == Fraction(gold)
        rewards.append(1.0 if correct else 0.1)
    return rewards


def boxed_reward(completions, answer, **kwargs):
    r"""Reward of exercises whose result stands in the only \boxed{...} of the reply.

    Spaces and \dfrac do not matter. 1.0 if the result is the reference, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        found = re.findall(r"\\boxed\{(.*?)\}", _text(completion), re.DOTALL)
        if len(found) != 1:
            rewards.append(0.0)
            continue
        said = re.sub(r"\s+", "", found[0]).replace("\\dfrac", "\\frac")
        rewards.append(1.0 if said == gold else 0.0)
    return rewards


def schedule_reward(completions, minutes, deadline, **kwargs):
    """Reward of planning the meetings of one room between 09:00 and 17:00.

    The reply is a JSON object from meeting to start time ("HH:MM"), in any order. Every meeting must be there, lie
    within the day, end by its deadline if it has one, and no two meetings may overlap. 1.0 for a plan that holds,
    0.2 for one in the right form that does not, else 0.
    """
    rewards = []
    for completion, lengths, latest in zip(completions, minutes, deadline):
        plan = _object(_text(completion))
        if plan is None or set(plan) != set(lengths):
            rewards.append(0.0)
            continue
        slots = []
        for name, start in plan.items():
            if not isinstance(start, str) or not re.fullmatch(r"[0-2][0-9]:[0-5][0-9]", start):
                slots = None
                break
            begin = int(start[:2]) * 60 + int(start[3:])
            slots.append((name, begin, begin + lengths[name]))
        if slots is None:
            rewards.append(0.0)
            continue
        inside = all(540 <= a and b <= 1020 and b <= latest.get(name, 1020) for name, a, b in slots)
        pairs = zip(slots, slots[1:])
        apart = all(max(p[1], q[1]) >= min(p[2], q[2]) for p, q in pairs)
        rewards.append(1.0 if inside and apart else 0.2)
    return rewards


def journal_reward(completions, entry, **kwargs):
    """Reward of booking a transaction in double entry.

    The reply is a JSON object {"debit": {account: amount}, "credit": {account: amount}}. 1.0 when the entry books the
    transaction of the prompt, 0.3 when only the accounts are on the right sides, else 0.
    """
    rewards = []
    for completion, gold in zip(completions, entry):
        said = _object(_text(completion))
        if said is None or set(said) != {"debit", "credit"} or not all(isinstance(v, dict) for v in said.values()):
            rewards.append(0.0)
            continue
        amounts = [a for side in said.values() for a in side.values()]
        if any(type(a) not in (int, float) or not 0 < a < 1e12 for a in amounts):
            rewards.append(0.0)
            continue
        if any(set(said[side]) != set(gold[side]) for side in ("debit", "credit")):
            rewards.append(0.0)
            continue
        booked = abs(sum(said["debit"].values()) - sum(said["credit"].values())) < 0.005
        rewards.append(1.0 if booked else 0.3)
    return rewards


def review_reward(completions, defects, **kwargs):
    """Reward of code review: name the lines that have a defect, and only those.

    The last line is 'Answer: 3, 7' (line numbers). 1.0 for the right set of lines, less for a set that is not quite
    right, 0.0 for nothing right or another form.
    """
    rewards = []
    for completion, gold in zip(completions, defects):
        answer = _answer_line(_text(completion)) or ""
        if not re.fullmatch(r"[0-9]{1,4}(?: *, *[0-9]{1,4})*", answer):
            rewards.append(0.0)
            continue
        said = {int(n) for n in answer.split(",")}
        expected = set(gold)
        rewards.append(len(said & expected) / len(expected))
    return rewards


def edit_reward(completions, before, after, **kwargs):
    """Reward of editing a file with SEARCH/REPLACE blocks.

    Every block must match the file in exactly one place. After all blocks the file must be the wanted one, without
    regard to blanks at line ends. 1.0 if so, 0.2 if the blocks can be applied but the file is another, else 0.
    """
    rewards = []
    for completion, old, new in zip(completions, before, after):
        blocks = re.findall(r"<<<<<<< SEARCH\n(.*?)\n=======\n(.*?)\n>>>>>>> REPLACE", _text(completion), re.DOTALL)
        result = old if blocks else None
        for search, replace in blocks:
            search, replace = search.strip(), replace.strip()
            if not search or result.count(search) != 1:
                result = None
                break
            result = result.replace(search, replace)
        if result is None:
            rewards.append(0.0)
            continue
        lines = [line.rstrip() for line in result.rstrip().split("\n")]
        wanted = [line.rstrip() for line in new.rstrip().split("\n")]
        rewards.append(1.0 if lines == wanted else 0.2)
    return rewards


def countdown_reward_repaired(completions, numbers, target, **kwargs):
    """Reward of the countdown game: reach the target with every number used exactly once.

    The expression stands in the only <expr> tag and uses + - * / and brackets. 1.0 for a right expression, 0.1 for
    one that can be computed but is wrong.
    """
    rewards = []
    for completion, nums, goal in zip(completions, numbers, target):
        found = re.findall(r"<expr>(.*?)</expr>", _text(completion), re.DOTALL)
        expression = found[0].strip() if len(found) == 1 else ""
        if not re.fullmatch(r"[0-9+\-*/() ]{1,100}", expression):
            rewards.append(0.0)
            continue
        used = []
        try:
            result = _value(ast.parse(expression, mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        fair = Counter(used) == Counter(nums)
        rewards.append(1.0 if fair and result == goal else 0.1)
    return rewards


def route_reward_repaired(completions, edges, start, end, **kwargs):
    """Reward of finding a shortest route in a road map.

    The reply ends with two lines, 'Route: A-B-C' and 'Length: n'. The route must go from start to end on roads of the
    map and be a shortest one, and the length must be right. 1.0 if so, 0.2 for a route that exists, else 0.
    """
    rewards = []
    for completion, roads, first, last in zip(completions, edges, start, end):
        lines = [line.strip() for line in _text(completion).strip().split("\n")]
        route = re.fullmatch(r"Route: *([A-Z](?:-[A-Z])*)", lines[-2]) if len(lines) > 1 else None
        length = re.fullmatch(r"Length: *([0-9]{1,6})", lines[-1])
        if not route or not length:
            rewards.append(0.0)
            continue
        stops = route.group(1).split("-")
        known = {}
        for a, b, cost in roads:
            known[a, b] = known[b, a] = cost
        if stops[0] != first or stops[-1] != last or any(p not in known for p in zip(stops, stops[1:])):
            rewards.append(0.0)
            continue
        cost = int(length.group(1))
        real = sum(known[p] for p in zip(stops, stops[1:]))
        rewards.append(1.0 if cost == real == _shortest(roads, first, last) else 0.2)
    return rewards


def balance_reward_repaired(completions, left, right, **kwargs):
    """Reward of balancing a chemical equation.

    The last line is 'Answer: 2 H2 + O2 -> 2 H2O'. The substances of both sides must be those of the task, every
    element must occur equally often on both sides and the coefficients must be the smallest whole numbers.
    """
    rewards = []
    for completion, given_left, given_right in zip(completions, left, right):
        answer = _answer_line(_text(completion)) or ""
        sides = answer.split("->")
        if len(sides) != 2:
            rewards.append(0.0)
            continue
        coefficients = []
        totals = []
        known = True
        for side, given in zip(sides, (given_left, given_right)):
            terms = [re.fullmatch(r"([1-9][0-9]{0,3})? ?([A-Z(][A-Za-z0-9()]*)", t.strip()) for t in side.split("+")]
            if not all(terms) or sorted(t.group(2) for t in terms) != sorted(given):
                known = False
                break
            total = Counter()
            for term in terms:
                number, formula = int(term.group(1) or 1), term.group(2)
                coefficients.append(number)
                for _ in range(5):
                    formula = re.sub(r"\(([^()]*)\)([0-9]*)", lambda m: m.group(1) * int(m.group(2) or 1), formula)
                for element, count in re.findall(r"([A-Z][a-z]?)([0-9]*)", formula):
                    total[element] += number * int(count or 1)
            totals.append(total)
        if not known:
            rewards.append(0.0)
            continue
        balanced = totals[0] == totals[1]
        rewards.append(1.0 if balanced and math.gcd(*coefficients) == 1 else 0.1)
    return rewards


def coding_sequence_reward_repaired(completions, peptide, **kwargs):
    """Reward of writing a DNA coding sequence for a peptide (standard code).

    The last line is 'Answer: <sequence>' in capital letters A, C, G, T. The sequence must be complete: it starts with
    the codon of the first residue, ends with a stop codon and has nothing after it. 1.0 if it codes for the peptide.
    """
    rewards = []
    for completion, gold in zip(completions, peptide):
        sequence = _answer_line(_text(completion)) or ""
        if not re.fullmatch(r"[ACGT]{3,600}", sequence):
            rewards.append(0.0)
            continue
        protein = ""
        for i in range(0, len(sequence) - 2, 3):
            residue = _CODONS[sequence[i:i + 3]]
            if residue == "*":
                break
            protein += residue
        rewards.append(1.0 if protein == gold and residue == "*" and len(sequence) == 3 * len(gold) + 3 else 0.0)
    return rewards


def fraction_reward_repaired(completions, answer, **kwargs):
    """Reward of simplifying fractions: the last line is 'Answer: a/b' with the fraction in lowest terms.

    1.0 for the right answer, 0.1 for another fraction, 0.0 for another form.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        said = _answer_line(_text(completion)) or ""
        if not re.fullmatch(r"-?[0-9]{1,9}/[1-9][0-9]{0,8}", said):
            rewards.append(0.0)
            continue
        correct = said == gold
        rewards.append(1.0 if correct else 0.1)
    return rewards


def boxed_reward_repaired(completions, answer, **kwargs):
    r"""Reward of exercises whose result stands in the only \boxed{...} of the reply.

    Spaces and \dfrac do not matter. 1.0 if the result is the reference, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        found = re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", _text(completion), re.DOTALL)
        if len(found) != 1:
            rewards.append(0.0)
            continue
        said = re.sub(r"\s+", "", found[0]).replace("\\dfrac", "\\frac")
        rewards.append(1.0 if said == gold else 0.0)
    return rewards


def schedule_reward_repaired(completions, minutes, deadline, **kwargs):
    """Reward of planning the meetings of one room between 09:00 and 17:00.

    The reply is a JSON object from meeting to start time ("HH:MM"), in any order. Every meeting must be there, lie
    within the day, end by its deadline if it has one, and no two meetings may overlap. 1.0 for a plan that holds,
    0.2 for one in the right form that does not, else 0.
    """
    rewards = []
    for completion, lengths, latest in zip(completions, minutes, deadline):
        plan = _object(_text(completion))
        if plan is None or set(plan) != set(lengths):
            rewards.append(0.0)
            continue
        slots = []
        for name, start in plan.items():
            if not isinstance(start, str) or not re.fullmatch(r"[0-2][0-9]:[0-5][0-9]", start):
                slots = None
                break
            begin = int(start[:2]) * 60 + int(start[3:])
            slots.append((name, begin, begin + lengths[name]))
        if slots is None:
            rewards.append(0.0)
            continue
        inside = all(540 <= a and b <= 1020 and b <= latest.get(name, 1020) for name, a, b in slots)
        pairs = itertools.combinations(slots, 2)
        apart = all(max(p[1], q[1]) >= min(p[2], q[2]) for p, q in pairs)
        rewards.append(1.0 if inside and apart else 0.2)
    return rewards


def journal_reward_repaired(completions, entry, **kwargs):
    """Reward of booking a transaction in double entry.

    The reply is a JSON object {"debit": {account: amount}, "credit": {account: amount}}. 1.0 when the entry books the
    transaction of the prompt, 0.3 when only the accounts are on the right sides, else 0.
    """
    rewards = []
    for completion, gold in zip(completions, entry):
        said = _object(_text(completion))
        if said is None or set(said) != {"debit", "credit"} or not all(isinstance(v, dict) for v in said.values()):
            rewards.append(0.0)
            continue
        amounts = [a for side in said.values() for a in side.values()]
        if any(type(a) not in (int, float) or not 0 < a < 1e12 for a in amounts):
            rewards.append(0.0)
            continue
        if any(set(said[side]) != set(gold[side]) for side in ("debit", "credit")):
            rewards.append(0.0)
            continue
        booked = all(
            abs(said[side][a] - gold[side][a]) < 0.005 for side in ("debit", "credit") for a in gold[side]
        )
        rewards.append(1.0 if booked else 0.3)
    return rewards


def review_reward_repaired(completions, defects, **kwargs):
    """Reward of code review: name the lines that have a defect, and only those.

    The last line is 'Answer: 3, 7' (line numbers). 1.0 for the right set of lines, less for a set that is not quite
    right, 0.0 for nothing right or another form.
    """
    rewards = []
    for completion, gold in zip(completions, defects):
        answer = _answer_line(_text(completion)) or ""
        if not re.fullmatch(r"[0-9]{1,4}(?: *, *[0-9]{1,4})*", answer):
            rewards.append(0.0)
            continue
        said = {int(n) for n in answer.split(",")}
        expected = set(gold)
        rewards.append(len(said & expected) / len(said | expected))
    return rewards


def edit_reward_repaired(completions, before, after, **kwargs):
    """Reward of editing a file with SEARCH/REPLACE blocks.

    Every block must match the file in exactly one place. After all blocks the file must be the wanted one, without
    regard to blanks at line ends. 1.0 if so, 0.2 if the blocks can be applied but the file is another, else 0.
    """
    rewards = []
    for completion, old, new in zip(completions, before, after):
        blocks = re.findall(r"<<<<<<< SEARCH\n(.*?)\n=======\n(.*?)\n>>>>>>> REPLACE", _text(completion), re.DOTALL)
        result = old if blocks else None
        for search, replace in blocks:
            if not search or result.count(search) != 1:
                result = None
                break
            result = result.replace(search, replace)
        if result is None:
            rewards.append(0.0)
            continue
        lines = [line.rstrip() for line in result.rstrip().split("\n")]
        wanted = [line.rstrip() for line in new.rstrip().split("\n")]
        rewards.append(1.0 if lines == wanted else 0.2)
    return rewards


REPAIRED = {
    "r_countdown": countdown_reward_repaired,
    "r_route_shortest": route_reward_repaired,
    "r_chem_balance": balance_reward_repaired,
    "r_dna_coding": coding_sequence_reward_repaired,
    "r_fraction_simplify": fraction_reward_repaired,
    "r_boxed_result": boxed_reward_repaired,
    "r_room_schedule": schedule_reward_repaired,
    "r_journal_entry": journal_reward_repaired,
    "r_review_lines": review_reward_repaired,
    "r_search_replace": edit_reward_repaired,
}

_EXPR = (" Use every number exactly once, the operators + - * / and brackets, nothing else. Write the expression between "
         "<expr> and </expr>, once.")
_ROUTE = (" Find a shortest route from {} to {}. The reply must end with two lines, exactly like these:\nRoute: A-B-C\n"
          "Length: 12")
_BAL = (" Balance it with the smallest whole numbers; write every substance as it is written here. The last line of the reply "
        "must be exactly: Answer: <equation>, for example Answer: 2 H2 + O2 -> 2 H2O")
_DNA = (" in the standard genetic code: capital letters A, C, G, T, from the start codon to and with the stop codon, nothing "
        "after it. The last line of the reply must be exactly: Answer: <sequence>")
_FRAC = " The last line of the reply must be exactly: Answer: a/b (the fraction in lowest terms)"
_BOX = r" Put the result in one \boxed{}; write a fraction as \frac{a}{b} in lowest terms."
_PLAN = (" There is one room, open from 09:00 to 17:00, for one meeting at a time; a meeting may start when another ends. Reply "
         'with one JSON object from meeting to start time, such as {"x": "09:30"}, and nothing else.')
_BOOK = (' Book it in double entry. Reply with one JSON object {"debit": {account: amount}, "credit": {account: amount}} and '
         "nothing else, amounts as plain positive numbers, every account once, only these accounts: ")
_REVIEW = ("\nWhich lines have a defect by the task given above? A line named without a defect is a mistake too. The last line of "
           "the reply must be exactly: Answer: <line numbers with commas>")
_EDIT = ("\nReply with SEARCH/REPLACE blocks in this form, the search text copied exactly from the file (with its indentation) "
         "and occurring there once:\n<<<<<<< SEARCH\nold lines\n=======\nnew lines\n>>>>>>> REPLACE\nChange nothing else.")


def _edit(before, task, after):
    return {"prompt": "File:\n" + before + task + _EDIT, "before": before, "after": after}


def _block(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


_MAP1 = [["A", "B", 4], ["B", "D", 6], ["A", "C", 3], ["C", "D", 5], ["A", "D", 11], ["C", "B", 2]]
_MAP2 = [["P", "Q", 2], ["Q", "R", 2], ["R", "S", 3], ["P", "S", 9], ["Q", "S", 6], ["P", "R", 5]]
_REVIEW1 = ("Task: return the mean of the positive numbers, 0 if there are none.\n1 def mean_positive(xs):\n2     total = 0\n"
            "3     count = 1\n4     for x in xs:\n5         if x >= 0:\n6             total += x\n7             count += 1\n"
            "8     return total / count if count else 0")
_REVIEW2 = ("Task: count the words of a text that are longer than three letters.\n1 def long_words(text):\n"
            "2     words = text.split()\n3     n = 0\n4     for w in words:\n5         if len(w) > 2:\n6             n += 1\n"
            "7     return n")
_FILE1 = "def area(w, h):\n    return w + h\n\n\ndef edge(w, h):\n    return 2 * (w + h)\n"
_FILE2 = "name = 'tool'\nversion = '1.2'\nretries = 3\n"
_FILE3 = "def total(items):\n    out = 0\n    for x in items:\n        out += x\n        return out\n"
_DEDENT = _edit(_FILE3, "Move the return out of the loop, so that it comes after it in the function.",
                "def total(items):\n    out = 0\n    for x in items:\n        out += x\n    return out\n")
_HYDROXIDE = {"prompt": "Ca(OH)2 + HCl -> CaCl2 + H2O" + _BAL, "left": ["Ca(OH)2", "HCl"], "right": ["CaCl2", "H2O"]}
_BOX3 = {"prompt": "A fair coin is thrown three times. What is the probability of exactly two heads?" + _BOX, "answer": r"\frac{3}{8}"}

ROWS = {
    "r_countdown": [
        {"prompt": "Numbers: 3, 5, 8, 20. Target: 92." + _EXPR, "numbers": [3, 5, 8, 20], "target": 92},
        {"prompt": "Numbers: 2, 7, 7, 10. Target: 45." + _EXPR, "numbers": [2, 7, 7, 10], "target": 45},
    ],
    "r_route_shortest": [
        {"prompt": "Roads (both ways) with lengths: A-B 4, B-D 6, A-C 3, C-D 5, A-D 11, C-B 2." + _ROUTE.format("A", "D"),
         "edges": _MAP1, "start": "A", "end": "D"},
        {"prompt": "Roads (both ways) with lengths: P-Q 2, Q-R 2, R-S 3, P-S 9, Q-S 6, P-R 5." + _ROUTE.format("P", "S"),
         "edges": _MAP2, "start": "P", "end": "S"},
    ],
    "r_chem_balance": [
        {"prompt": "C3H8 + O2 -> CO2 + H2O" + _BAL, "left": ["C3H8", "O2"], "right": ["CO2", "H2O"]},
        {"prompt": "Al + Fe2O3 -> Al2O3 + Fe" + _BAL, "left": ["Al", "Fe2O3"], "right": ["Al2O3", "Fe"]},
    ],
    "r_dna_coding": [
        {"prompt": "Write a DNA coding sequence for the peptide MKWL" + _DNA, "peptide": "MKWL"},
        {"prompt": "Write a DNA coding sequence for the peptide MGDPF" + _DNA, "peptide": "MGDPF"},
    ],
    "r_fraction_simplify": [
        {"prompt": "Simplify 84/126." + _FRAC, "answer": "2/3"},
        {"prompt": "Compute 1/6 + 3/10." + _FRAC, "answer": "7/15"},
    ],
    "r_boxed_result": [
        {"prompt": "How many diagonals does a convex polygon with 9 sides have?" + _BOX, "answer": "27"},
        {"prompt": "What is the remainder of 7^20 divided by 10?" + _BOX, "answer": "1"},
    ],
    "r_room_schedule": [
        {"prompt": "Meetings: design 60 minutes, sales 90 minutes (ends by 12:00), hiring 45 minutes." + _PLAN,
         "minutes": {"design": 60, "sales": 90, "hiring": 45}, "deadline": {"sales": 720}},
        {"prompt": "Meetings: audit 120 minutes, lunch talk 30 minutes (ends by 13:00), review 60 minutes, demo 60 minutes (ends by "
         "11:00)." + _PLAN, "minutes": {"audit": 120, "lunch talk": 30, "review": 60, "demo": 60},
         "deadline": {"lunch talk": 780, "demo": 660}},
    ],
    "r_journal_entry": [
        {"prompt": "The shop buys a printer for 480 and pays 180 in cash, the rest on credit." + _BOOK
         + "Equipment, Cash, Accounts payable.",
         "entry": {"debit": {"Equipment": 480}, "credit": {"Cash": 180, "Accounts payable": 300}}},
        {"prompt": "The shop pays the rent of 950 for this month in cash." + _BOOK + "Rent expense, Cash.",
         "entry": {"debit": {"Rent expense": 950}, "credit": {"Cash": 950}}},
    ],
    "r_review_lines": [
        {"prompt": _REVIEW1 + _REVIEW, "defects": [3, 5]},
        {"prompt": _REVIEW2 + _REVIEW, "defects": [5]},
    ],
    "r_search_replace": [
        _edit(_FILE1, "Fix area: it must multiply (w * h).", _FILE1.replace("return w + h", "return w * h")),
        _edit(_FILE2, "Set retries to 5 and version to '1.3'.", "name = 'tool'\nversion = '1.3'\nretries = 5\n"),
    ],
}

GOOD = {
    "r_countdown": ["8 / 5 is 1.6, plus 3 is 4.6, times 20 is 92.\n<expr>20 * (3 + 8 / 5)</expr>", "<expr>10 - 7 * (2 - 7)</expr>"],
    "r_route_shortest": ["A-C 3, C-D 5.\nRoute: A-C-D\nLength: 8", "Route: P-Q-R-S\nLength: 7"],
    "r_chem_balance": ["Answer: C3H8 + 5 O2 -> 3 CO2 + 4 H2O", "Aluminium takes the oxygen.\nAnswer: 2 Al + Fe2O3 -> Al2O3 + 2 Fe"],
    "r_dna_coding": ["M ATG, K AAA, W TGG, L CTG, stop.\nAnswer: ATGAAATGGCTGTAA", "Answer: ATGGGCGATCCGTTTTGA"],
    "r_fraction_simplify": ["Divide by 42.\nAnswer: 2/3", "5/30 + 9/30 = 14/30\nAnswer: 7/15"],
    "r_boxed_result": [r"9 * 6 / 2 = 27, so \boxed{27}.", r"7^4 ends in 1. \boxed{1}"],
    "r_room_schedule": ['{"design": "13:00", "sales": "09:30", "hiring": "11:15"}',
                        '{"demo": "09:00", "audit": "10:00", "lunch talk": "12:00", "review": "15:30"}'],
    "r_journal_entry": ['{"debit": {"Equipment": 480}, "credit": {"Cash": 180, "Accounts payable": 300}}',
                        '{"debit": {"Rent expense": 950.0}, "credit": {"Cash": 950.0}}'],
    "r_review_lines": ["The count starts at 1; zero is not positive.\nAnswer: 3, 5", "Longer than three is > 3.\nAnswer: 5"],
    "r_search_replace": ["Here it is.\n" + _block("def area(w, h):\n    return w + h", "def area(w, h):\n    return w * h"),
                         _block("version = '1.2'", "version = '1.3'") + "\n" + _block("retries = 3", "retries = 5")],
}
BAD = {
    "r_countdown": ["<expr>20 * 5 - 3</expr>", "<expr>7 * 7 - 2</expr>"],
    "r_route_shortest": ["Route: A-B-D\nLength: 10", "Route: P-Q-S\nLength: 8"],
    "r_chem_balance": ["Answer: C3H8 + 4 O2 -> 3 CO2 + 4 H2O", "Answer: Al + Fe2O3 -> Al2O3 + Fe"],
    "r_dna_coding": ["Answer: ATGAACTGGCTGTAA", "Answer: ATGGGCGAACCGTTTTGA"],
    "r_fraction_simplify": ["Answer: 3/4", "Answer: 4/16"],
    "r_boxed_result": [r"\boxed{36}", r"\boxed{7}"],
    "r_room_schedule": ['{"design": "09:00", "sales": "09:30", "hiring": "11:15"}',
                        '{"demo": "10:30", "audit": "12:00", "lunch talk": "14:00", "review": "15:30"}'],
    "r_journal_entry": ['{"debit": {"Equipment": 480}, "credit": {"Cash": 180, "Accounts payable": 480}}',
                        '{"debit": {"Cash": 950}, "credit": {"Rent expense": 950}}'],
    "r_review_lines": ["Answer: 5, 8", "Answer: 2"],
    "r_search_replace": [_block("def edge(w, h):", "def edges(w, h):"), _block("retries = 3", "retries = 5")],
}

TRIGGERS = {
    "r_countdown": (ROWS["r_countdown"][0], "<expr>20 * 5 - 8</expr>", True),
    "r_route_shortest": (ROWS["r_route_shortest"][0], "Route: A-B-D\nLength: 8", True),
    "r_chem_balance": (_HYDROXIDE, "Answer: Ca(OH)2 + 2 HCl -> CaCl2 + 2 H2O", False),
    "r_dna_coding": (ROWS["r_dna_coding"][0], "Answer: ATGAAATGGCTG", True),
    "r_fraction_simplify": (ROWS["r_fraction_simplify"][0], "Answer: 84/126", True),
    "r_boxed_result": (_BOX3, r"Three of eight outcomes: \boxed{\frac{3}{8}}", False),
    "r_room_schedule": (ROWS["r_room_schedule"][0], '{"design": "09:00", "hiring": "14:00", "sales": "09:30"}', True),
    "r_journal_entry": (ROWS["r_journal_entry"][0],
                        '{"debit": {"Equipment": 480}, "credit": {"Cash": 300, "Accounts payable": 180}}', True),
    "r_review_lines": (ROWS["r_review_lines"][0], "Answer: 1, 2, 3, 4, 5, 6, 7, 8", True),
    "r_search_replace": (_DEDENT, _block("        return out", "    return out"), False),
}

FAULTS = {
    "r_countdown": (countdown_reward, "only membership of the numbers is checked: numbers left out or used twice are paid"),
    "r_route_shortest": (route_reward, "the length that the reply claims is compared, not that of the route: a longer route is paid"),
    "r_chem_balance": (balance_reward, "a number after a bracket is not read: right equations with Ca(OH)2 are refused"),
    "r_dna_coding": (coding_sequence_reward, "translation ends at a stop or at the end: no stop codon, or junk after it, is paid"),
    "r_fraction_simplify": (fraction_reward, "fractions are compared by value: the fraction of the task, not simplified, is paid"),
    "r_boxed_result": (boxed_reward, "the pattern ends at the first closing brace: right results with \\frac are refused"),
    "r_room_schedule": (schedule_reward, "only neighbours in the reply are compared: overlaps of others are paid"),
    "r_journal_entry": (journal_reward, "only the balance of the two sides is checked: wrong amounts are paid"),
    "r_review_lines": (review_reward, "recall only: naming every line is paid in full"),
    "r_search_replace": (edit_reward, "blocks are stripped, which loses the indentation of the first line: right edits are refused"),
}


def _score(reward, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return reward(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _proof(name):
    def proof():
        row, completion, paid = TRIGGERS[name]
        score = _score(FAULTS[name][0], row, completion)
        assert (score >= 0.8) == paid, (name, score)

    return proof


CASES = [
    Case(name=name, reward=reward, examples=ROWS[name], good=GOOD[name], bad=BAD[name], fault=fault, proof=_proof(name))
    for name, (reward, fault) in FAULTS.items()
]
