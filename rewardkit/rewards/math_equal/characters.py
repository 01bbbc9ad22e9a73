r"""Tables of normal forms for commands and characters in mathematical text: ``\dfrac`` becomes ``\frac``.

`notation.clean` applies the tables. They do not cover commands' arguments.
"""

from __future__ import annotations

_SPACES = (
    "\\,", "\\;", "\\:", "\\ ", "~", "\\quad", "\\qquad", "\\thinspace", "\u00a0", "\u2009", "\u202f", "\n", "\t",
    "\\(", "\\)", "\\[", "\\]", "$",
)  # fmt: skip
_NOTHING = (
    "\\!", "\\left", "\\right", "\\left.", "\\right.", "\\big", "\\Big", "\\bigg", "\\Bigg", "\\bigl", "\\bigr",
    "\\Bigl", "\\Bigr", "\\biggl", "\\biggr", "\\displaystyle", "\\textstyle", "\\scriptstyle", "\\limits",
    "\\nolimits",
    "**", "\\mathbf", "\\boldsymbol", "\\bm", "\\mathop", "\\middle", "\\bigm", "\\Bigm", "\\biggm", "\\tiny",
    "\\scriptsize", "\\footnotesize", "\\small", "\\normalsize", "\\large", "\\Large", "\\LARGE", "\\huge", "\\Huge",
    "\\bf", "\\it", "\\rm", "\\sf", "\\tt", "\\bfseries", "\\itshape", "\\rmfamily", "\\underline", "\\uline",
    "\\strut",
    "\\mathstrut", "\\hfill", "\\nonumber", "\\notag", "\\ensuremath", "\\mathrel", "\\mathbin", "\\mathord",
    "\\checkmark",
)  # fmt: skip
_TEXTS = (
    "\\textbf", "\\textit", "\\textrm", "\\textnormal", "\\textsf", "\\texttt", "\\mathrm", "\\mathit", "\\mathsf",
    "\\mbox", "\\hbox", "\\operatorname", "\\emph", "\\textup", "\\textsc",
)  # fmt: skip
_COMMANDS = {
    "\\langle": "(", "\\rangle": ")",
    "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\dbinom": "\\binom", "\\tbinom": "\\binom",
    "\\leq": "\\le", "\\geq": "\\ge", "\\neq": "\\ne", "\\leqslant": "\\le", "\\geqslant": "\\ge", "\\lt": "<",
    "\\gt": ">", "\\lbrace": "\\{", "\\rbrace": "\\}", "\\lvert": "|", "\\rvert": "|", "\\vert": "|", "\\mid": "|",
    "\\lparen": "(", "\\rparen": ")", "\\lbrack": "[", "\\rbrack": "]", "\\varnothing": "\\emptyset",
    "\\degree": "^{\\circ}", "\\degrees": "^{\\circ}", "\\textdegree": "^{\\circ}", "\\textcirc": "\\circ",
    "\\bar": "\\overline", "\\i": "i", "\\backslash": "\\setminus", "\\smallsetminus": "\\setminus", "\\lor": "\\vee",
    "\\land": "\\wedge", "\\lnot": "\\neg", "\\implies": "\\Rightarrow", "\\rightarrow": "\\to", "\\epsilon":
    "\\varepsilon", "\\phi": "\\varphi", "\\ast": "*", "\\prime": "'", "\\colon": ":", "\\tg": "\\tan",
    "\\ctg": "\\cot", "\\arctg": "\\arctan", "\\R": "\\mathbb{R}", "\\Z": "\\mathbb{Z}", "\\N": "\\mathbb{N}",
    "\\Q": "\\mathbb{Q}", "\\C": "\\mathbb{C}", "\\simeq": "\\approx", "\\thickapprox": "\\approx",
    "\\owns": "\\ni", "\\nicefrac": "\\frac", "\\sfrac": "\\frac", "\\uppi": "\\pi", "\\bigcup": "\\cup",
    "\\bigcap": "\\cap", "\\Bbb": "\\mathbb", "\\pounds": "£", "\\textsterling": "£", "\\euro": "€", "\\texteuro": "€",
    "\\textsuperscript": "^", "\\textsubscript": "_", "\\cr": "\\\\",
    "\\iff": "\\Leftrightarrow", "\\bmod": "\\mod", "\\ldots": "\\dots", "\\cdots": "\\dots",
}  # fmt: skip
_SEQUENCES = {
    "<=": "\\le ", ">=": "\\ge ", "!=": "\\ne ", "{,}": ",", "{.}": ".", "%": "\\%", "...": "\\dots ",
    "<sup>": "^{", "</sup>": "}", "<sub>": "_{", "</sub>": "}",
}  # fmt: skip
_SYMBOLS = {
    "\u2212": "-", "\u2013": "-", "\u00d7": "\\times ", "\u00b7": "\\cdot ", "\u22c5": "\\cdot ", "\u00f7": "\\div ",
    "\u221e": "\\infty ", "\u2264": "\\le ", "\u2265": "\\ge ", "\u2a7d": "\\le ", "\u2a7e": "\\ge ",
    "\u2260": "\\ne ", "\u2248": "\\approx ", "\u00b1": "\\pm ", "\u2213": "\\mp ", "\u222a": "\\cup ",
    "\u2229": "\\cap ", "\u2205": "\\emptyset ", "\u2208": "\\in ", "\u2209": "\\notin ", "\u2216": "\\setminus ",
    "\u2200": "\\forall ", "\u2203": "\\exists ", "\u2227": "\\wedge ", "\u2228": "\\vee ", "\u00ac": "\\neg ",
    "\u2192": "\\to ", "\u21d2": "\\Rightarrow ", "\u2220": "\\angle ", "\u25b3": "\\triangle ",
    "\u00b0": "^{\\circ}", "\u2032": "'", "\u2033": "''", "\u2019": "'", "\u2026": "\\dots ",
    "\u00bd": "\\frac{1}{2}", "\u00bc": "\\frac{1}{4}", "\u00be": "\\frac{3}{4}", "\u2153": "\\frac{1}{3}",
    "\u2154": "\\frac{2}{3}", "\u221a": "\\sqrt ", "\u211d": "\\mathbb{R}", "\u2124": "\\mathbb{Z}",
    "\u2115": "\\mathbb{N}", "\u211a": "\\mathbb{Q}", "\u2102": "\\mathbb{C}", "\u3001": ",", "\u3002": ".",
}  # fmt: skip
_GREEK_LETTERS = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
GREEK_NAMES = """
alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon varphi chi psi
omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega
"""
_GREEK = {letter: f"\\{name} " for letter, name in zip(_GREEK_LETTERS, GREEK_NAMES.split(), strict=True)}
_WIDE = {chr(0xFF01 + place): chr(0x21 + place) for place in range(0x5E)}
"""A map from full-width characters to ASCII characters, for Chinese text."""

REPLACED = (
    dict.fromkeys(_SPACES, " ")
    | dict.fromkeys(_NOTHING, "")
    | dict.fromkeys(_TEXTS, "\\text")
    | _COMMANDS
    | _SEQUENCES
    | _SYMBOLS
    | _GREEK
)
WIDE = str.maketrans(_WIDE)
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")

_FUNCTIONS = """
sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan arccot ln log lg exp sqrt max min gcd lcm
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
