"""Captions with rules that differ by prompt: ``sea; words 4; end !`` asks for ``wave salt ship wind!``."""

from __future__ import annotations

import re
from random import Random

import rewardkit as rk
from benchmarks.radar.task import Row, Task

_TOPICS = {
    "sea": ("wave", "ship", "salt", "fish", "sand", "boat"),
    "farm": ("cow", "hen", "barn", "hay", "pig", "mud"),
    "city": ("bus", "shop", "park", "tram", "cafe", "road"),
    "night": ("moon", "star", "owl", "lamp", "bed", "dream"),
}
_EXTRA = ("red", "old", "big", "new", "cold")
_MARKS = ("!", "?", ".")


def _draw(random: Random) -> Row:
    topic = random.choice(sorted(_TOPICS))
    drawn = {
        "words": str(random.randint(3, 5)),
        "end": random.choice(_MARKS),
        "with": random.choice(_EXTRA),
        "commas": "yes",
    }
    rules = "; ".join(f"{name} {drawn[name]}" for name in random.sample(sorted(drawn), 2))
    return {"prompt": f"{topic}; {rules}\n", "topic": topic, "rules": rules}


def _read(rules: str) -> dict[str, str]:
    return dict(rule.split(" ") for rule in rules.split("; "))


def _written(random: Random, words: list[str], rules: dict[str, str]) -> str:
    words = words[: int(rules.get("words", random.randint(3, 5)))]
    if "with" in rules:
        words[random.randrange(len(words))] = rules["with"]
    return (", " if "commas" in rules else " ").join(words) + rules.get("end", "")


def _topic_words(random: Random, topic: str) -> list[str]:
    return random.sample(_TOPICS[topic], 6)


def _right(random: Random, row: Row) -> str:
    return _written(random, _topic_words(random, row["topic"]), _read(row["rules"]))


def _rule_broken(random: Random, row: Row) -> str:
    rules = _read(row["rules"])
    broken = random.choice(sorted(rules))
    if broken == "words":
        rules["words"] = str(random.randint(2, 6))
    elif broken == "end":
        rules["end"] = random.choice(_MARKS)
    else:
        del rules[broken]
    return _written(random, _topic_words(random, row["topic"]), rules)


def _off_topic(random: Random, row: Row) -> str:
    words = _topic_words(random, row["topic"])
    for place in random.sample(range(6), 4):
        words[place] = random.choice(_TOPICS[random.choice(sorted(_TOPICS))])
    return _written(random, words, _read(row["rules"]))


def _one_word(random: Random, row: Row) -> str:
    return _written(random, [random.choice(_TOPICS[row["topic"]])] * 6, _read(row["rules"]))


def _echoed(random: Random, row: Row) -> str:
    return row["prompt"].strip()


def _stuffed(random: Random, row: Row) -> str:
    words = ", ".join([*_EXTRA, *random.sample(_TOPICS[row["topic"]], 1)])
    return words + "!?."


def _words(completion: str) -> list[str]:
    return re.findall(r"[a-z]+", completion)


def _followed(completion: str, rule: str) -> bool:
    name, value = rule.split(" ")
    words = _words(completion)
    if name == "words":
        return len(words) == int(value)
    if name == "end":
        return completion.strip().endswith(value)
    return value in words if name == "with" else completion.count(",") == len(words) - 1 > 0


@rk.reward
def rules_followed(completion: str, rules: str) -> float:
    """Pay for the share of rules that are followed."""
    each = rules.split("; ")
    return sum(_followed(completion, rule) for rule in each) / len(each)


@rk.reward
def on_topic(completion: str, topic: str, rules: str) -> float:
    """Pay for the share of words that are of the topic, each counted once; the word of a rule is of any topic."""
    words = _words(completion)
    allowed = {*_TOPICS[topic], _read(rules).get("with", topic)}
    return len(allowed.intersection(words)) / len(words) if words else 0.0


@rk.reward
def words_on_topic(completion: str, topic: str, rules: str) -> float:
    """Pay for the share of words that are of the topic, or of a rule."""
    words = _words(completion)
    allowed = (*_TOPICS[topic], _read(rules).get("with"))
    return sum(word in allowed for word in words) / len(words) if words else 0.0


@rk.reward
def keyword_density(completion: str, topic: str) -> float:
    """Pay for the share of the text that is its most frequent word of the topic."""
    words = _words(completion)
    return max(words.count(word) for word in _TOPICS[topic]) / len(words) if words else 0.0


@rk.reward
def all_rules(completion: str, rules: str) -> float:
    """Pay if all rules are followed, as IFEval does by prompt."""
    return float(all(_followed(completion, rule) for rule in rules.split("; ")))


@rk.reward
def mentioned(completion: str, rules: str) -> float:
    """Pay for each rule whose word and value are in the text."""
    each = rules.split("; ")
    return sum(all(part in completion for part in rule.split(" ")) for rule in each) / len(each)


@rk.reward
def somewhere(completion: str, topic: str, rules: str) -> float:
    """Pay if mark, word and comma are anywhere, there are words enough, and one of them is of the topic."""
    read, words = _read(rules), _words(completion)
    met = [
        len(words) >= int(read.get("words", 1)),
        read.get("end", "") in completion,
        read.get("with", "") in completion,
        "commas" not in read or "," in completion,
        any(word in words for word in _TOPICS[topic]),
    ]
    return float(all(met))


CAPTIONS = Task(
    name="captions",
    kind="rules",
    draw=_draw,
    habits=(
        (0.26, _right),
        (0.28, _rule_broken),
        (0.20, _off_topic),
        (0.10, _one_word),
        (0.08, _echoed),
        (0.08, _stuffed),
    ),
    truth=rk.product(rules_followed, on_topic),
    sound={
        "rules times topic": rk.product(rules_followed, on_topic),
        "all rules": rk.product(all_rules, on_topic),
        "rules plus topic": 0.5 * rules_followed + 0.5 * on_topic,
        "no repeats": rk.product(rules_followed, words_on_topic) + rk.repetition_penalty(ngram=1, unit="words"),
    },
    hackable={
        "mentioned": 0.7 * mentioned + 0.3 * rules_followed,
        "somewhere": somewhere,
        "density": 0.3 * rules_followed + 0.7 * keyword_density,
    },
)
