"""Vocabulary: the fixed lists of words that the instructions name or refer to."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


STOP_WORDS = frozenset(
    _words("""
a about above after again against ain all am an and any are aren as at be because been before being below between both
but by can couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have
haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m ma me mightn
more most mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over own re s
same shan she should shouldn so some such t than that the their theirs them themselves then there these they this
those through to too under until up ve very was wasn we were weren what when where which while who whom why will with
won wouldn y you your yours yourself yourselves
""")
)
"""English stop words, split into runs of ``\\w+``: NLTK's list, based on Porter's."""

_PIECES = frozenset(_words("d ll m ma o re s t ve y"))
STARTERS = STOP_WORDS - _PIECES | frozenset(
    _words("""
according also although among another consider despite even finally first however imagine indeed instead let many
meanwhile moreover nevertheless next nonetheless one second similarly since think third though thus yet
""")
)
"""Words that are capitalized only at the start of a sentence. If one of them is capitalized, a sentence ends before
it."""

ABBREVIATIONS = frozenset(
    _words("""
a.a a.c a.d a.h a.m a.s adm al ala approx ariz aug ave b.c b.c.e bros c.e c.v calif cf cie co col colo conn corp cos
ct d.c dec dept dr e.g est etc feb fig fla fri ft ga gen gov hon i.e ill inc jan jr kan ky l.a lt ltd m.b.a m.d maj
messrs mg mich minn mr mrs ms n.c n.h n.j n.m n.y nev nov oct okla p.m pa ph.d prof rep reps rev s.a s.c sen sep sept
sr st tenn tues u.k u.n u.s u.s.a u.s.s.r va vs vt wash wed wis yr
""")
)
"""Abbreviations that end with a period, listed without the period."""

CONJUNCTIONS = frozenset({"and", "but", "for", "nor", "or", "so", "yet"})

PRONOUNS = frozenset(
    _words("""
all any anybody anyone anything both each either everybody everyone everything he her hers herself him himself his i
it its itself me mine my myself neither nobody none nothing our ours ourselves she some somebody someone something
that their theirs them themselves these they this those us we what whatever which whichever who whoever whom whomever
whose you your yours yourself yourselves
""")
)

PERSON_NAMES = frozenset(
    _words("""
Abigail Alexander Amelia Andrew Aria Audrey Ava Benjamin Charlotte Chloe Christopher Claire Daniel David Elijah Ella
Emma Ethan Gabriel Grace Hannah Harper Isabella Jackson Jacob Jonathan Joseph Layla Leo Liam Lily Lucas Mason Matthew
Mia Nathan Nicholas Noah Nora Olivia Owen Penelope Ryan Samuel Scarlett Sophia Stella Thomas Victoria Zoe
""")
)
"""The names listed in the instruction ``count:person_names``."""

NORTHERN_CAPITALS = _words("""
Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam Warsaw London
Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb
""")
"""European capitals north of 45 degrees, from north to south, as listed in the benchmark."""

AFRICAN_COUNTRIES = _words("""
algeria angola benin botswana burkina burundi verde cameroon africa chad comoros congo ivoire ivory djibouti egypt
eritrea eswatini swaziland ethiopia gabon gambia ghana guinea kenya lesotho liberia libya madagascar malawi mali
mauritania mauritius morocco mozambique namibia niger rwanda tome senegal seychelles leone somalia south sudan tanzania
togo tunisia uganda sahara zambia zimbabwe
""")
"""One word from each country's name, in lower case and without accents."""

_VERBS = """
accept achieve act adapt add address adjust admit adopt advance advise affirm agree aim align allow analyze announce
answer apologize appear apply appreciate approach approve arrange arrive ask assemble assess assign assist assume
attach attempt attend avoid await balance bake base be become befriend beg begin believe blend boil boost borrow bring
browse build bury buy calculate call capture carry cast catch celebrate challenge change charge check choose chop
circle cite clarify classify clean clear click climb close collaborate collect combine come commit communicate compare
compile complete compose compute conduct confirm connect conquer consider consist construct consult contact contain
continue contribute convert convey convince cook coordinate cope copy correct count cover crack craft create cultivate
cut damage dare deal debug decide declare decline define delete deliver demonstrate deny depend deploy describe deserve
design detect determine develop devise die differ dig discover discuss display dive divide do document download draft
drag draw dream drink drive drop earn ease eat edit educate eliminate embark embrace emerge emphasize employ empower
enable encounter encourage engage enhance enjoy ensure enter entertain equip escape establish estimate evaluate examine
exist expand expect experience experiment explain explore export express extend extract face facilitate fail fall
familiarize feed feel fetch fight figure fill filter find finish fix flip focus fold follow forge forget forgive form
formulate foster gain gather generate get give go grab grant grasp greet grind grow guarantee guard guess guide handle
hang happen have hear heat help hide highlight hire hold honor hope identify ignore illustrate imagine imply import
improve include incorporate increase indicate influence inform initiate insert inspire install integrate intend
interpret introduce invest investigate invite involve isolate join journey judge jump keep kill kneel know laugh launch
lead lean learn leave lend let leverage lie listen live load locate look lose love maintain make manage maximize mean
measure meet memorize mention merge minimize mix model modify monitor mount move navigate need negotiate notice obey
observe obtain occur offer open operate optimize order organize overcome pack paint participate pass pause pay peel
perform persuade pick place plan play plunge point ponder possess pour practice praise pray prefer prepare present
preserve press pretend prevent print prioritize proceed process produce promote propose protect prove provide publish
pull pursue push put question quit raise reach react read realize recall receive recognize recommend record recover
reduce refer refine reflect refrain refuse register regret relate relax release rely remain remember remind remove
render repeat replace reply report represent request require research reset resolve respect respond rest retain
retrieve return reveal review revise ride ring rinse rise roast run save say scale scan scatter schedule search secure
see seek select sell send separate serve set settle shake shape share shed shift shine show shut sign simmer simplify
sing sit skip sleep slice smile solve sort sound speak specify spend spin split spread sprinkle stand start state stay
step stick stir stop store strengthen strike strive structure struggle study submit succeed suggest summarize supply
support suppose surround survive switch tackle tailor take talk teach tell tend test thank think throw thrive toss
touch track train transform translate travel treat trust try tuck turn type understand unite unleash unlock unveil
update upgrade upload urge use utilize validate value verify view visit visualize wait wake walk wander want warn wash
watch wear weave welcome whisk win wish wonder work worry wrap write yearn yield
"""
_IRREGULAR = """
am are is was were been being has had does did done can could may might must shall should will would began begun bought
brought built came caught chose chosen drew drawn drove driven ate eaten fell fallen felt found forgot forgotten gave
given gone went got gotten grew grown heard held kept knew known laid led left lost made meant met paid ran rose risen
said sang sat saw seen sent shown sold sought spent spoke spoken stood stuck struck swam taken took taught thought
threw thrown told understood woke woven won wore worn written wrote
"""


def _forms(verb: str) -> set[str]:
    """Return a verb and its regular forms. The last consonant may be doubled (``planned``)."""
    stem = verb[:-1] if verb.endswith("e") else verb
    third = verb[:-1] + "ies" if verb[-1:] == "y" and verb[-2:-1] not in "aeiou" else verb + "s"
    past = verb[:-1] + "ied" if third.endswith("ies") else stem + "ed"
    doubled = {f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed"}
    return {verb, third, f"{verb}es", past, f"{stem}ing", f"{verb}ing", *doubled}


_VERBS_OF_ALL_FORMS = frozenset(form for verb in _words(_VERBS) for form in _forms(verb)) | frozenset(
    _words(_IRREGULAR)
)

# Words that end in -ing but are not forms of a verb. English has too many verbs to list those that are.
_NO_VERBS = frozenset(
    _words("""
anything beijing building ceiling chongqing cunning darling during earring everything evening farthing
fleeting herring inkling lightning ming morning nanjing nothing
notwithstanding offspring pudding seedling sibling something sterling stocking
underling upbringing viking wedding wyoming
""")
)


def is_verb(word: str) -> bool:
    """Return whether a lower-case word is a form of a common English verb, or the -ing form of any other verb."""
    # More than five letters: "king" and "thing" are not verbs, "baking" is.
    return word in _VERBS_OF_ALL_FORMS or (word.endswith("ing") and len(word) > 5 and word not in _NO_VERBS)
