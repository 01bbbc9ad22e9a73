"""Sound reward functions: puzzles, science, accounts, plans and edits."""

from __future__ import annotations

import itertools
import json
import re
from collections import deque
from fractions import Fraction

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, a string or a chat."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"]


def _answer_line(text):
    """What follows 'Answer:' on the last line, if that line is the only one of its kind; else the empty string."""
    lines = [line.strip() for line in text.strip().split("\n")]
    if sum(line.startswith("Answer:") for line in lines) != 1 or not lines[-1].startswith("Answer:"):
        return ""
    return lines[-1][len("Answer:"):].strip()


def _unique(pairs):
    """A JSON object without repeated keys."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("repeated key")
    return dict(pairs)


def _json(text):
    """The JSON value that the text is, or None."""
    try:
        return json.loads(text.strip(), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None


_STEP = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def maze_reward(completions, maze, **kwargs):
    """Reward of a shortest way through a maze from S to E (# is a wall).

    The last line is 'Answer: ' and a word of U, D, L, R. 1.0 for a way from S to E of the least length, 0.4 for a
    longer way to E, 0.0 for a way through a wall or out of the maze, or one that does not end at E.
    """
    rewards = []
    for completion, grid in zip(completions, maze):
        free = {(r, c) for r, row in enumerate(grid) for c, cell in enumerate(row) if cell != "#"}
        start = next((r, c) for r, c in free if grid[r][c] == "S")
        end = next((r, c) for r, c in free if grid[r][c] == "E")
        distance = {start: 0}
        queue = deque([start])
        while queue:
            r, c = queue.popleft()
            for dr, dc in _STEP.values():
                if (r + dr, c + dc) in free and (r + dr, c + dc) not in distance:
                    distance[r + dr, c + dc] = distance[r, c] + 1
                    queue.append((r + dr, c + dc))
        moves = _answer_line(_text(completion))
        if not re.fullmatch(r"[UDLR]{1,500}", moves):
            rewards.append(0.0)
            continue
        at = start
        for move in moves:
            at = (at[0] + _STEP[move][0], at[1] + _STEP[move][1])
            if at not in free:
                break
        if at != end:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if len(moves) == distance[end] else 0.4)
    return rewards


def build_order_reward(completions, needs, **kwargs):
    """Reward of ordering build steps: 'Answer: a, b, c' with every step once and after all steps that it needs.

    1.0 for any order that holds, 0.2 for an order of all steps that does not, else 0.
    """
    rewards = []
    for completion, graph in zip(completions, needs):
        order = [step.strip() for step in _answer_line(_text(completion)).split(",")]
        if sorted(order) != sorted(graph):
            rewards.append(0.0)
            continue
        place = {step: i for i, step in enumerate(order)}
        holds = all(place[other] < place[step] for step, others in graph.items() for other in others)
        rewards.append(1.0 if holds else 0.2)
    return rewards


def molar_mass_reward(completions, formula, masses, **kwargs):
    """Reward of computing a molar mass with the atomic masses of the prompt.

    The last line is 'Answer: <number> g/mol', a plain decimal with two decimals. 1.0 if right to two decimals, 0.3 within 2 g/mol, else 0.
    """
    rewards = []
    for completion, gold, atoms in zip(completions, formula, masses):
        flat = gold
        while "(" in flat:
            flat = re.sub(r"\(([^()]*)\)([0-9]*)", lambda m: m.group(1) * int(m.group(2) or 1), flat)
        mass = sum(atoms[element] * int(n or 1) for element, n in re.findall(r"([A-Z][a-z]?)([0-9]*)", flat))
        said = re.fullmatch(r"([0-9]{1,6}\.[0-9]{2}) *g/mol", _answer_line(_text(completion)))
        if not said:
            rewards.append(0.0)
            continue
        error = abs(float(said.group(1)) - mass)
        rewards.append(1.0 if error < 0.0051 else 0.3 if error < 2 else 0.0)
    return rewards


def reverse_complement_reward(completions, strand, **kwargs):
    """Reward of writing the reverse complement of a DNA strand, read from 5' to 3'.

    The last line is 'Answer: <sequence>' in capital letters. 1.0 for the right sequence; half of the share of right
    positions for one of the same length; else 0.
    """
    rewards = []
    for completion, given in zip(completions, strand):
        gold = given[::-1].translate(str.maketrans("ACGT", "TGCA"))
        said = _answer_line(_text(completion))
        if said == gold:
            rewards.append(1.0)
        elif re.fullmatch(r"[ACGT]+", said) and len(said) == len(gold):
            rewards.append(0.5 * sum(a == b for a, b in zip(said, gold)) / len(gold))
        else:
            rewards.append(0.0)
    return rewards


def roots_reward(completions, coefficients, **kwargs):
    """Reward of solving equations whose roots are rational: all different roots, each once, in any order.

    The last line is 'Answer: ' and the roots with commas, whole numbers or fractions a/b. 1.0 if the roots are exactly
    those of the polynomial (coefficients from the highest power; as many different roots as its degree), else 0.
    """
    rewards = []
    for completion, poly in zip(completions, coefficients):
        parts = [p.strip() for p in _answer_line(_text(completion)).split(",")]
        if not all(re.fullmatch(r"[-+]?[0-9]{1,9}(?:/[1-9][0-9]{0,8})?", p) for p in parts):
            rewards.append(0.0)
            continue
        roots = [Fraction(p) for p in parts]
        zero = True
        for x in roots:
            value = Fraction(0)
            for a in poly:
                value = value * x + a
            zero = zero and value == 0
        complete = len(roots) == len(set(roots)) == len(poly) - 1
        rewards.append(1.0 if zero and complete else 0.0)
    return rewards


def operating_rooms_reward(completions, minutes, surgeon, **kwargs):
    """Reward of planning operations in two rooms between 08:00 and 14:00.

    The reply is a JSON object {operation: {"room": 1 or 2, "start": "HH:MM"}}. Every operation must be there once and
    lie within the day; operations in one room or by one surgeon may not overlap. 1.0 for a plan that holds, 0.2 for
    one in the right form that does not, else 0.
    """
    rewards = []
    for completion, lengths, doctors in zip(completions, minutes, surgeon):
        plan = _json(_text(completion))
        if not isinstance(plan, dict) or set(plan) != set(lengths):
            rewards.append(0.0)
            continue
        slots = []
        for name, slot in plan.items():
            if not isinstance(slot, dict) or set(slot) != {"room", "start"}:
                break
            room, start = slot["room"], slot["start"]
            if type(room) is not int or room not in (1, 2) or not isinstance(start, str):
                break
            if not re.fullmatch(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]", start):
                break
            begin = int(start[:2]) * 60 + int(start[3:])
            slots.append((room, doctors[name], begin, begin + lengths[name]))
        if len(slots) != len(lengths):
            rewards.append(0.0)
            continue
        holds = all(480 <= begin and end <= 840 for _, _, begin, end in slots)
        for a, b in itertools.combinations(slots, 2):
            if (a[0] == b[0] or a[1] == b[1]) and a[2] < b[3] and b[2] < a[3]:
                holds = False
        rewards.append(1.0 if holds else 0.2)
    return rewards


def vat_reward(completions, net_cents, rate, **kwargs):
    """Reward of working out an invoice with VAT.

    The reply is a JSON object with the numbers net, vat and gross in euros. VAT is rate percent of the net sum, rounded
    half up to cents. 1.0 if all three are right to the cent, else 0.2 for each right one.
    """
    rewards = []
    for completion, lines, percent in zip(completions, net_cents, rate):
        net = sum(lines)
        vat = (net * percent + 50) // 100
        gold = {"net": net, "vat": vat, "gross": net + vat}
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != set(gold):
            rewards.append(0.0)
            continue
        if any(type(v) not in (int, float) or not 0 <= v < 1e9 for v in said.values()):
            rewards.append(0.0)
            continue
        right = sum(abs(said[key] * 100 - gold[key]) < 1e-4 for key in gold)
        rewards.append(1.0 if right == 3 else 0.2 * right)
    return rewards


def findings_reward(completions, findings, kinds, **kwargs):
    """Reward of code review: a JSON list of {"line": n, "kind": k}, one for each defect, in any order.

    1.0 if the findings are exactly those of the reference; otherwise 0.7 times intersection over union, so that findings
    too many and too few both cost. 0.0 for another form, an unknown kind or a repeated finding.
    """
    rewards = []
    for completion, gold, allowed in zip(completions, findings, kinds):
        said = _json(_text(completion))
        pairs = []
        for finding in said if isinstance(said, list) else [None]:
            if not isinstance(finding, dict) or set(finding) != {"line", "kind"}:
                pairs = None
                break
            if type(finding["line"]) is not int or not isinstance(finding["kind"], str) or finding["kind"] not in allowed:
                pairs = None
                break
            pairs.append((finding["line"], finding["kind"]))
        if pairs is None or len(pairs) != len(set(pairs)):
            rewards.append(0.0)
            continue
        expected = {(line, kind) for line, kind in gold}
        common, union = set(pairs) & expected, set(pairs) | expected
        rewards.append(1.0 if set(pairs) == expected else 0.7 * len(common) / len(union))
    return rewards


def line_edit_reward(completions, before, after, **kwargs):
    """Reward of editing a file by line numbers.

    The reply is a JSON object from line number to the new text of the line (null deletes the line; line feeds in a text
    make more lines). The numbers are those of the old file. 1.0 if the new file is the wanted one, without regard to
    blanks at line ends, 0.2 if another file comes out, 0.0 for another form or a line that does not exist.
    """
    rewards = []
    for completion, old, new in zip(completions, before, after):
        edits = _json(_text(completion))
        lines = old.rstrip("\n").split("\n")
        if not isinstance(edits, dict) or not edits:
            rewards.append(0.0)
            continue
        names = {str(i) for i in range(1, len(lines) + 1)}
        if set(edits) - names or not all(v is None or isinstance(v, str) for v in edits.values()):
            rewards.append(0.0)
            continue
        result = []
        for i, line in enumerate(lines, 1):
            text = edits.get(str(i), line)
            if text is not None:
                result += text.rstrip("\n").split("\n")
        wanted = new.rstrip("\n").split("\n")
        same = [line.rstrip() for line in result] == [line.rstrip() for line in wanted]
        rewards.append(1.0 if same else 0.2)
    return rewards


def _true(statement, roles):
    """Whether a statement holds: ["is", name, role], ["same", a, b], ["count", role, n] or ["and", s, s]."""
    kind = statement[0]
    if kind == "is":
        return roles[statement[1]] == statement[2]
    if kind == "same":
        return roles[statement[1]] == roles[statement[2]]
    if kind == "count":
        return sum(role == statement[1] for role in roles.values()) == statement[2]
    return _true(statement[1], roles) and _true(statement[2], roles)


def knights_reward(completions, claims, **kwargs):
    """Reward of knights and knaves: knights say only true things, knaves only false ones.

    The reply is a JSON object from name to "knight" or "knave". 1.0 if every claim fits the role of its speaker, 0.1 for
    another full assignment, else 0. The puzzles have one solution.
    """
    rewards = []
    for completion, said in zip(completions, claims):
        roles = _json(_text(completion))
        if not isinstance(roles, dict) or set(roles) != set(said):
            rewards.append(0.0)
            continue
        if not all(isinstance(role, str) and role in ("knight", "knave") for role in roles.values()):
            rewards.append(0.0)
            continue
        fits = all(_true(claim, roles) == (roles[name] == "knight") for name, claim in said.items())
        rewards.append(1.0 if fits else 0.1)
    return rewards


_ONLY = " The last line of the reply must be exactly as follows, and no other line may start so: Answer: "
_MAZE = ("\nS is the start, E the end, # a wall, . is free; a move goes one cell up (U), down (D), left (L) or right (R). Find a way with "
         "the fewest moves." + _ONLY + "<moves as one word>")
_MAZE1 = ["S.#.", "..#E", ".#..", "...."]
_MAZE2 = ["#S..", "..#.", ".#E.", "...."]
_ORDER = " Give an order in which every step stands after all the steps that it needs." + _ONLY + "<all steps with commas>"
_MASS = " Round it to two decimals and write both." + _ONLY + "<number> g/mol"
_REV = " Write its reverse complement, from 5' to 3', in capital letters without blanks." + _ONLY + "<sequence>"
_ROOTS = " Give every root once, with commas, as whole numbers or fractions a/b." + _ONLY + "<roots>"
_ROOMS = (' There are two rooms, 1 and 2, open from 08:00 to 14:00. Operations in one room may not overlap, nor may two of one surgeon; one '
          'may start when another ends. Reply with one JSON object {operation: {"room": number, "start": "HH:MM"}} and nothing else.')
_VAT = (' The rate is for the sum of all lines, rounded half up to cents. Reply with one JSON object {"net": number, "vat": number, "gross": '
        "number} in euros and nothing else.")
_KINDS = ["off_by_one", "wrong_operator", "resource_leak", "mutable_default"]
_FIND = ('\nReply with a JSON list of {"line": number, "kind": kind}, one for each defect and none for lines without one, and nothing else. '
         "Kinds: " + ", ".join(_KINDS) + ".")
_LINES = ("\nReply with one JSON object from line number (a string, numbers of the old file) to the new text of that line with its "
          "indentation, or null to delete it, and nothing else. Change nothing else in the file.")
_ROLES = (' Knights say only true things, knaves only false ones, and everybody is one of them. Who is what? Reply with one JSON object from '
          'name to "knight" or "knave" and nothing else.')
_FILE1 = "import os\nimport sys\n\n\ndef main():\n    tmp = sys.argv[1]\n    print(tmp)\n"
_FILE2 = "host: localhost\nport: 8080\ndebug: true\nworkers: 2\n"


def _numbered(text):
    return "\n".join(f"{i}|{line}" for i, line in enumerate(text.rstrip("\n").split("\n"), 1))


CASES = [
    Case(
        name="r_maze_path", reward=maze_reward,
        examples=[
            {"prompt": "Maze:\n" + "\n".join(_MAZE1) + _MAZE, "maze": _MAZE1},
            {"prompt": "Maze:\n" + "\n".join(_MAZE2) + _MAZE, "maze": _MAZE2},
        ],
        good=["Down the left side, along the bottom.\nAnswer: DDDRRURU", "Answer: RRDDL"],
        bad=["Answer: RRRD", "Answer: DLDDRRU"],
    ),
    Case(
        name="r_build_order", reward=build_order_reward,
        examples=[
            {"prompt": "Steps: fetch, configure (needs fetch), compile (needs configure), docs (needs fetch), package (needs compile and "
             "docs)." + _ORDER,
             "needs": {"fetch": [], "configure": ["fetch"], "compile": ["configure"], "docs": ["fetch"], "package": ["compile", "docs"]}},
            {"prompt": "Steps: walls (needs base), roof (needs walls), base, wiring (needs walls), paint (needs wiring and roof)." + _ORDER,
             "needs": {"walls": ["base"], "roof": ["walls"], "base": [], "wiring": ["walls"], "paint": ["wiring", "roof"]}},
        ],
        good=["Answer: fetch, docs, configure, compile, package", "Base first.\nAnswer: base, walls, roof, wiring, paint"],
        bad=["Answer: fetch, compile, configure, docs, package", "Answer: walls, roof, base, wiring, paint"],
    ),
    Case(
        name="r_molar_mass", reward=molar_mass_reward,
        examples=[
            {"prompt": "What is the molar mass of Ca(OH)2 with Ca 40.08, O 16.00, H 1.008 g/mol?" + _MASS, "formula": "Ca(OH)2",
             "masses": {"Ca": 40.08, "O": 16.0, "H": 1.008}},
            {"prompt": "What is the molar mass of C6H12O6 with C 12.011, H 1.008, O 16.00 g/mol?" + _MASS, "formula": "C6H12O6",
             "masses": {"C": 12.011, "H": 1.008, "O": 16.0}},
        ],
        good=["40.08 + 2 * 17.008\nAnswer: 74.10 g/mol", "Answer: 180.16 g/mol"],
        bad=["Answer: 57.09 g/mol", "Answer: 179.16 g/mol"],
    ),
    Case(
        name="r_reverse_complement", reward=reverse_complement_reward,
        examples=[
            {"prompt": "Strand 5'-ATGCCGTA-3'." + _REV, "strand": "ATGCCGTA"},
            {"prompt": "Strand 5'-GGATTACAG-3'." + _REV, "strand": "GGATTACAG"},
        ],
        good=["Backwards ATGCCGTA.\nAnswer: TACGGCAT", "Answer: CTGTAATCC"],
        bad=["Answer: ATGCCGTA", "Answer: CCTAATGTC"],
    ),
    Case(
        name="r_rational_roots", reward=roots_reward,
        examples=[
            {"prompt": "Solve 2x^2 - 5x - 3 = 0." + _ROOTS, "coefficients": [2, -5, -3]},
            {"prompt": "Solve x^3 - 4x^2 + x + 6 = 0." + _ROOTS, "coefficients": [1, -4, 1, 6]},
        ],
        good=["(2x + 1)(x - 3)\nAnswer: -1/2, 3", "Answer: 2, 3, -1"],
        bad=["Answer: 1/2, -3", "Answer: 2, 3"],
    ),
    Case(
        name="r_operating_rooms", reward=operating_rooms_reward,
        examples=[
            {"prompt": "Operations: hip 120 minutes (Dr Ott), knee 90 minutes (Dr Ott), hand 60 minutes (Dr Ray), back 150 minutes (Dr "
             "Ray)." + _ROOMS, "minutes": {"hip": 120, "knee": 90, "hand": 60, "back": 150},
             "surgeon": {"hip": "Ott", "knee": "Ott", "hand": "Ray", "back": "Ray"}},
            {"prompt": "Operations: ear 45 minutes (Dr Sol), nose 60 minutes (Dr Sol), eye 200 minutes (Dr Kaya), jaw 150 minutes (Dr "
             "Bo)." + _ROOMS, "minutes": {"ear": 45, "nose": 60, "eye": 200, "jaw": 150},
             "surgeon": {"ear": "Sol", "nose": "Sol", "eye": "Kaya", "jaw": "Bo"}},
        ],
        good=['{"hip": {"room": 1, "start": "08:00"}, "knee": {"room": 1, "start": "10:00"}, "hand": {"room": 2, "start": "10:30"}, '
              '"back": {"room": 2, "start": "08:00"}}',
              '{"eye": {"room": 1, "start": "08:00"}, "jaw": {"room": 2, "start": "08:15"}, "ear": {"room": 2, "start": "10:45"}, '
              '"nose": {"room": 1, "start": "11:30"}}'],
        bad=['{"hip": {"room": 1, "start": "08:00"}, "knee": {"room": 2, "start": "08:00"}, "hand": {"room": 1, "start": "10:00"}, '
             '"back": {"room": 2, "start": "11:00"}}',
             '{"eye": {"room": 1, "start": "08:00"}, "jaw": {"room": 2, "start": "08:00"}, "ear": {"room": 2, "start": "10:00"}, '
             '"nose": {"room": 1, "start": "13:30"}}'],
    ),
    Case(
        name="r_vat_invoice", reward=vat_reward,
        examples=[
            {"prompt": "An invoice has the net lines 120.00, 35.50 and 9.99 euros. VAT is 19 percent." + _VAT,
             "net_cents": [12000, 3550, 999], "rate": 19},
            {"prompt": "An invoice has the net lines 8.40 and 61.15 euros. VAT is 7 percent." + _VAT, "net_cents": [840, 6115], "rate": 7},
        ],
        good=['{"net": 165.49, "vat": 31.44, "gross": 196.93}', '{"net": 69.55, "vat": 4.87, "gross": 74.42}'],
        bad=['{"net": 165.49, "vat": 31.44, "gross": 134.05}', '{"net": 69.55, "vat": 4.86, "gross": 74.41}'],
    ),
    Case(
        name="r_review_findings", reward=findings_reward,
        examples=[
            {"prompt": "Task: read all lines of a file and keep those that are longer than n characters.\n1 def long_lines(path, n, out=[]):\n"
             "2     f = open(path)\n3     for line in f:\n4         if len(line.rstrip()) > n:\n5             out.append(line)\n"
             "6     return out\nThe file is never closed (count it for the line that opens it)." + _FIND,
             "findings": [[1, "mutable_default"], [2, "resource_leak"]], "kinds": _KINDS},
            {"prompt": "Task: the product of the whole numbers from 1 to n, for n of at least 1.\n1 def product(n):\n2     out = 1\n"
             "3     for i in range(1, n):\n4         out += i\n5     return out" + _FIND,
             "findings": [[3, "off_by_one"], [4, "wrong_operator"]], "kinds": _KINDS},
        ],
        good=['[{"line": 2, "kind": "resource_leak"}, {"line": 1, "kind": "mutable_default"}]',
              '[{"line": 3, "kind": "off_by_one"}, {"line": 4, "kind": "wrong_operator"}]'],
        bad=['[{"line": 2, "kind": "resource_leak"}, {"line": 4, "kind": "off_by_one"}]',
             '[{"line": 4, "kind": "wrong_operator"}]'],
    ),
    Case(
        name="r_line_edits", reward=line_edit_reward,
        examples=[
            {"prompt": "File:\n" + _numbered(_FILE1) + "\nDelete the import of os and rename the variable tmp to path." + _LINES,
             "before": _FILE1, "after": "import sys\n\n\ndef main():\n    path = sys.argv[1]\n    print(path)\n"},
            {"prompt": "File:\n" + _numbered(_FILE2) + "\nSet the port to 9000 and switch debug to false." + _LINES,
             "before": _FILE2, "after": "host: localhost\nport: 9000\ndebug: false\nworkers: 2\n"},
        ],
        good=['{"1": null, "6": "    path = sys.argv[1]", "7": "    print(path)"}', '{"2": "port: 9000", "3": "debug: false"}'],
        bad=['{"1": null, "6": "    path = sys.argv[1]"}', '{"2": "port: 9000", "3": null}'],
    ),
    Case(
        name="r_knights_knaves", reward=knights_reward,
        examples=[
            {"prompt": "Ada says: Bob is a knave. Bob says: Ada and Cy are of the same kind. Cy says: Ada is a knight." + _ROLES,
             "claims": {"Ada": ["is", "Bob", "knave"], "Bob": ["same", "Ada", "Cy"], "Cy": ["is", "Ada", "knight"]}},
            {"prompt": "Dee says: exactly one of us three is a knight. Eli says: Dee is a knave and Fay is a knave. Fay says: Eli is a "
             "knight." + _ROLES,
             "claims": {"Dee": ["count", "knight", 1], "Eli": ["and", ["is", "Dee", "knave"], ["is", "Fay", "knave"]],
                        "Fay": ["is", "Eli", "knight"]}},
        ],
        good=['{"Ada": "knave", "Bob": "knight", "Cy": "knave"}', '{"Dee": "knight", "Eli": "knave", "Fay": "knave"}'],
        bad=['{"Ada": "knight", "Bob": "knight", "Cy": "knight"}', '{"Dee": "knave", "Eli": "knight", "Fay": "knave"}'],
    ),
]
