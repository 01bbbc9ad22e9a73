"""``rk.judge("Is it polite?", model="gpt-5-mini")``: a reward that asks a language model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, shorten
from rewardkit.core.text.thinking import visible_text
from rewardkit.core.text.visibility import spoken_text
from rewardkit.core.tree.algebra import weighted_sum_of
from rewardkit.core.tree.binding import Binding
from rewardkit.core.tree.leaf import Leaf
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.results import Contract, Policy
from rewardkit.core.tree.reward import Reward, checked_name
from rewardkit.judges.brief import Brief
from rewardkit.judges.budget import Budget
from rewardkit.judges.cache import Cache
from rewardkit.judges.canaries import Canaries
from rewardkit.judges.criteria import Criterion, CriterionScore, checked_criteria, checked_scale
from rewardkit.judges.endpoint.access import Access, problem_of
from rewardkit.judges.group_judge import GroupJudge
from rewardkit.judges.prompts import Example
from rewardkit.judges.rubrics import Rubric
from rewardkit.judges.sample_judge import SampleJudge
from rewardkit.judges.service import Service
from rewardkit.judges.transcripts import Transcript
from rewardkit.judges.verdicts import Checklist, Form, Malformed, Scale, Scales

_NEEDED = ("openai", "httpx2", "aiohttp", "tenacity", "aiolimiter", "jiter")


def judge(
    rubric: str,
    *,
    model: str,
    base_url: str | None = None,
    scale: tuple[float, float] = (0, 10),
    criteria: Mapping[str, str] | Sequence[Criterion] | None = None,
    checklist: Sequence[str] | None = None,
    compare: Literal["group"] | None = None,
    reference: str | None = None,
    examples: Iterable[tuple[str, Any, str]] = (),
    show_thinking: bool = False,
    max_characters: int = 20_000,
    name: str = "judge",
    deadline: float = 30.0,
    batch_deadline: float = 600.0,
    concurrency: int = 64,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    cache: Cache | str | None = None,
    budget: Budget | None = None,
    canaries: Canaries | None = None,
    key: str = "OPENAI_API_KEY",
    temperature: float | None = 0.0,
    max_tokens: int | None = 1024,
    options: Mapping[str, Any] | None = None,
    structured: bool = True,
    deterministic: bool = True,
    on_failure: Policy = "unscorable",
) -> Reward:
    """Return a reward that asks a language model behind any OpenAI-compatible endpoint, from 0 (worst) to 1 (best).

    ::

        rk.judge("Does it answer {question} in a friendly way?", model="gpt-5-mini")

    ``Sure, it is 4.`` might get 7 on the scale from 0 to 10, which is a score of 0.7; the reason of the judge is the
    note. If the judge cannot be reached, or gives no valid verdict, the sample fails. A failure is never scored 0.

    Args:
        rubric: what a good completion is. ``{column}`` is replaced by a column, ``{prompt}`` by the prompt,
            ``{completion}`` by the completion; ``{transcript}`` by all turns with their calls and results.
        model: the name of the model at the endpoint.
        base_url: the address of the endpoint, such as ``http://localhost:8000/v1``. By default ``OPENAI_BASE_URL``, or
            OpenAI.
        scale: the worst and the best score that the judge can give.
        criteria: several questions in one request: name -> text, or a list of ``rk.Criterion``. The reward is their
            weighted sum, with one component each; the component `name` is their plain mean.
        checklist: yes-or-no questions in one request. The score is the share of yes, and the items are its parts.
        compare: ``"group"`` ranks all completions of a prompt in one request, from 1 (best) to 0 (worst).
        reference: a column with an answer to compare with.
        examples: (completion, score, reason) examples for the judge. With `criteria` or `checklist` the score is a
            mapping from their names.
        show_thinking: True shows the judge what the model thought before its answer.
        max_characters: the number of characters shown of a completion, or of all completions of a group together. Of
            longer ones the beginning and the end are shown.
        name: the name of the component.
        deadline: seconds for one call with all its retries; one attempt gets at most two thirds of them.
        batch_deadline: seconds for all calls of one batch.
        concurrency: the number of calls at a time.
        requests_per_minute: the limit of your account; None for no limit.
        tokens_per_minute: the same for tokens; a call counts its length and `max_tokens`.
        cache: an ``rk.Cache``, or the path of its file, so that nothing is asked twice.
        budget: an ``rk.Budget``: the most to spend, and what to do when it is spent.
        canaries: an ``rk.Canaries``: completions with known scores, which show if the judge changes.
        key: the environment variable that holds the API key.
        temperature: the sampling temperature; None for the default of the endpoint.
        max_tokens: the longest verdict; None for the limit of the endpoint.
        options: more options of the request, such as ``{"reasoning_effort": "low"}``.
        structured: True asks for JSON by schema if the endpoint supports it. The verdict is checked either way.
        deterministic: True judges equal samples once.
        on_failure: the score of a sample that could not be judged, as in ``rk.reward``.

    Raises:
        RewardDefinitionError: an option is invalid, or two options do not go together.
        MissingExtraError: the extra ``judge`` is not installed.
    """
    if any(find_spec(module) is None for module in _NEEDED):
        raise MissingExtraError.of("rk.judge", "judge")
    asked = Rubric.of(rubric)
    scale = checked_scale(scale)
    form, listed = _form(scale, criteria, checklist, compare)
    if reference is not None and (not isinstance(reference, str) or reference in ("completion", "prompt")):
        raise RewardDefinitionError(f"judge: reference must be the name of a column, got {shorten(reference)}")
    names = tuple(
        dict.fromkeys(
            [
                *(name for name in asked.names if name not in ("completion", "transcript")),
                *([reference] if reference else []),
            ]
        )
    )
    service = Service(
        _text("model", model),
        Access(
            None if base_url is None else _address(base_url),
            _text("key", key),
            _count("concurrency", concurrency),
            None if requests_per_minute is None else _number("requests_per_minute", requests_per_minute),
            None if tokens_per_minute is None else _number("tokens_per_minute", tokens_per_minute),
        ),
        _sampling({"temperature": temperature, "max_tokens": max_tokens} | dict(options or {})),
        _number("deadline", deadline),
        bool(structured),
        Cache(cache) if isinstance(cache, str) else cache,
        budget,
    )
    if budget is not None:
        budget.check(model)
    if cache is not None and not deterministic:
        raise RewardDefinitionError(
            "judge: deterministic=False asks again for equal samples, but a cache returns the first verdict for all of "
            "them. Drop cache= or deterministic=False"
        )
    brief = Brief(service, asked, names, reference, _count("max_characters", max_characters), bool(deterministic))
    for canary in () if canaries is None else canaries.known:
        lacking = {*names} - {"prompt", *dict(canary.columns)}
        if lacking:
            raise RewardDefinitionError(
                f"judge: the rubric needs the columns {', '.join(sorted(lacking))}, but this canary has none: "
                f"{shorten(canary)}. Pass rk.Canary(..., columns={{...}})"
            )
    if canaries is not None and not isinstance(form, Scale):
        raise RewardDefinitionError(
            "judge: canaries have one score each, so they do not work with criteria=, checklist= or compare=. Drop "
            "canaries="
        )
    examples = tuple(examples)
    if form is None and examples:
        raise RewardDefinitionError(
            "judge: examples= show how to score one completion, but compare= ranks them. Drop examples="
        )
    binding = Binding(
        GroupJudge(brief)
        if form is None
        else SampleJudge(brief, form, tuple(_example(example, form) for example in examples), canaries, batch_deadline),
        (
            Parameter("completion", "trajectory", Transcript(bool(show_thinking)))
            if asked.of_trajectories
            else Parameter("completion", "completion", spoken_text if show_thinking else visible_text),
            *(Parameter(name, name) for name in names),
        ),
        scope="group" if form is None else "sample",
        deterministic=bool(deterministic),
        expensive=True,
        timeout=_number("batch_deadline", batch_deadline),
        trusted=True,
    )
    leaf = Leaf(
        binding,
        Contract(checked_name(name), on_failure=_policy(on_failure)),
        f"judge({rubric if len(rubric) <= 60 else rubric[:57] + '...'!r}, model={model!r})",
    )
    if not listed:
        return leaf
    return weighted_sum_of([(item.weight or 0.0, CriterionScore(leaf, item.name)) for item in listed])


def _form(
    scale: tuple[float, float], criteria: Any, checklist: Any, compare: Any
) -> tuple[Form | None, tuple[Criterion, ...]]:
    """Return the form of a verdict (None for a ranking), and the criteria."""
    if sum(option is not None for option in (criteria, checklist, compare)) > 1:
        raise RewardDefinitionError("judge: criteria=, checklist= and compare= exclude each other. Pass only one")
    if criteria is not None:
        listed = checked_criteria(criteria, scale)
        return Scales(tuple((item.name, item.text, item.scale or scale) for item in listed)), listed
    if checklist is not None:
        items = () if isinstance(checklist, str) else tuple(checklist)
        if not items or not all(isinstance(item, str) and item.strip() for item in items) or len({*items}) < len(items):
            raise RewardDefinitionError(
                f"judge: checklist must be a list of different questions, got {shorten(checklist)}"
            )
        return Checklist(items), ()
    if compare not in (None, "group"):
        raise RewardDefinitionError(f"judge: compare must be 'group' or None, got {shorten(compare)}")
    return (Scale(*scale) if compare is None else None), ()


def _example(example: Any, form: Form) -> Example:
    """Return one example; its score must be a valid verdict."""
    try:
        completion, score, reason = example
    except (TypeError, ValueError):
        raise RewardDefinitionError(
            f"judge: an example must be (completion, score, reason), got {shorten(example)}"
        ) from None
    try:
        answers = form.answers_of(score)
        form.read(form.written(dict(answers), str(reason)))
    except (Malformed, TypeError, ValueError) as error:
        raise RewardDefinitionError(
            f"judge: the score of the example {shorten(example)} is not valid: {error}"
        ) from None
    return str(completion), answers, str(reason)


def _sampling(options: Mapping[str, Any]) -> str:
    """Return the options of a request as JSON."""
    try:
        given = {str(name): value for name, value in options.items() if value is not None}
        return json.dumps(given, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RewardDefinitionError(f"judge: options= must be valid as JSON, got {shorten(options)}: {error}") from None


def _text(option: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RewardDefinitionError(f"judge: {option} must be a non-empty string, got {shorten(value)}")
    return value


def _address(value: Any) -> str:
    problem = problem_of(_text("base_url", value))
    if problem:
        raise RewardDefinitionError(f"judge: {problem}")
    return str(value).strip()


def _number(option: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise RewardDefinitionError(f"judge: {option} must be a number above 0, got {shorten(value)}")
    return float(value)


def _count(option: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise RewardDefinitionError(f"judge: {option} must be a whole number, at least 1, got {shorten(value)}")
    return value


def _policy(value: Any) -> Policy:
    if value in ("unscorable", "raise"):
        return value  # type: ignore[no-any-return]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise RewardDefinitionError(
            f'judge: on_failure must be "unscorable", "raise" or a number, got {shorten(value)}'
        )
    return float(value)
