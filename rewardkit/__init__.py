"""rewardkit: write, compose, prove and train with reward functions for reinforcement learning of language models.

``import rewardkit as rk``. Everything public is reached as ``rk.<name>`` and loads when it is first used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if os.path.isdir(os.path.join(os.path.dirname(__file__), "criteria")):
    import warnings

    warnings.warn(
        "the files of harbor-rewardkit, another package with a module called rewardkit, are mixed into this one. Keep "
        "one of them per environment: pip uninstall harbor-rewardkit rewardkit-sdk, then pip install rewardkit-sdk",
        stacklevel=2,
    )

if TYPE_CHECKING:
    from rewardkit_eval_protocol import from_eval_protocol as from_eval_protocol
    from rewardkit_trl import (
        from_trl as from_trl,
        get_config as get_config,
        to_trl as to_trl,
        update_config as update_config,
    )
    from rewardkit_verifiers import from_verifiers as from_verifiers

    from rewardkit import schedules as schedules
    from rewardkit.aggregators.combined import maximum as maximum, minimum as minimum, product as product
    from rewardkit.aggregators.curriculum import Stage as Stage, curriculum as curriculum
    from rewardkit.aggregators.failover import fallback as fallback
    from rewardkit.aggregators.gated import gate as gate
    from rewardkit.aggregators.grouped import rank_in_group as rank_in_group
    from rewardkit.aggregators.means import weighted_mean as weighted_mean, weighted_sum as weighted_sum
    from rewardkit.aggregators.monitored import monitor as monitor
    from rewardkit.aggregators.normalised import normalise as normalise
    from rewardkit.aggregators.ordered import best_of as best_of, lexicographic as lexicographic
    from rewardkit.aggregators.penalised import penalty as penalty
    from rewardkit.aggregators.power_means import geometric_mean as geometric_mean, harmonic_mean as harmonic_mean
    from rewardkit.aggregators.routed import route as route
    from rewardkit.core import extraction
    from rewardkit.core.algebra import Reward as Reward
    from rewardkit.core.batch import Batch as Batch
    from rewardkit.core.coercion import coerce as coerce
    from rewardkit.core.errors import (
        BindingError as BindingError,
        CoercionError as CoercionError,
        MissingExtraError as MissingExtraError,
        RewardDefinitionError as RewardDefinitionError,
        RewardFailure as RewardFailure,
        RewardKitError as RewardKitError,
        RewardKitWarning as RewardKitWarning,
    )
    from rewardkit.core.outcome import Outcome as Outcome, Score as Score, ScoreTable as ScoreTable
    from rewardkit.core.progress import Progress as Progress, Schedule as Schedule
    from rewardkit.core.reward import reward as reward
    from rewardkit.core.scorer import Scorer as Scorer, score as score
    from rewardkit.judges.budget import Budget as Budget
    from rewardkit.judges.cache import Cache as Cache
    from rewardkit.judges.canaries import Canaries as Canaries, Canary as Canary
    from rewardkit.judges.criteria import Criterion as Criterion
    from rewardkit.judges.judge import judge as judge
    from rewardkit.judges.panels import judge_panel as judge_panel
    from rewardkit.judges.reward_models import reward_model as reward_model
    from rewardkit.primitives.arithmetic import arithmetic as arithmetic
    from rewardkit.primitives.choice import choice as choice
    from rewardkit.primitives.code import code_runs as code_runs, code_tests as code_tests
    from rewardkit.primitives.diversity import diversity as diversity
    from rewardkit.primitives.exact import exact as exact
    from rewardkit.primitives.format import fenced as fenced, tags as tags
    from rewardkit.primitives.json_match import json_match as json_match
    from rewardkit.primitives.json_schema import json_schema as json_schema
    from rewardkit.primitives.json_valid import json_valid as json_valid
    from rewardkit.primitives.language import language as language
    from rewardkit.primitives.length import (
        cosine_length as cosine_length,
        length_between as length_between,
        overlong_penalty as overlong_penalty,
        shortest_correct as shortest_correct,
    )
    from rewardkit.primitives.math_equal import math_equal as math_equal
    from rewardkit.primitives.number import number as number
    from rewardkit.primitives.patterns import (
        contains_all as contains_all,
        contains_none as contains_none,
        ends_with as ends_with,
        no_refusal as no_refusal,
        regex as regex,
        starts_with as starts_with,
    )
    from rewardkit.primitives.repetition import repetition_penalty as repetition_penalty
    from rewardkit.primitives.sequence import sequence_match as sequence_match, set_match as set_match
    from rewardkit.primitives.steps import steps as steps
    from rewardkit.primitives.text import rouge_l as rouge_l, similarity as similarity, token_f1 as token_f1
    from rewardkit.primitives.translation import bleu as bleu, chrf as chrf
    from rewardkit.schedules.plots import (
        plot_schedules as plot_schedules,
        weights_over_training as weights_over_training,
    )
    from rewardkit.store.comparing import compare_runs as compare_runs
    from rewardkit.store.importing import import_run as import_run
    from rewardkit.store.run import open_run as open_run

    extract = extraction

_HOMES = {
    "rewardkit.aggregators.combined": ("maximum", "minimum", "product"),
    "rewardkit.aggregators.curriculum": ("Stage", "curriculum"),
    "rewardkit.aggregators.failover": ("fallback",),
    "rewardkit.aggregators.gated": ("gate",),
    "rewardkit.aggregators.grouped": ("rank_in_group",),
    "rewardkit.aggregators.means": ("weighted_mean", "weighted_sum"),
    "rewardkit.aggregators.monitored": ("monitor",),
    "rewardkit.aggregators.normalised": ("normalise",),
    "rewardkit.aggregators.ordered": ("best_of", "lexicographic"),
    "rewardkit.aggregators.penalised": ("penalty",),
    "rewardkit.aggregators.power_means": ("geometric_mean", "harmonic_mean"),
    "rewardkit.aggregators.routed": ("route",),
    "rewardkit.core.algebra": ("Reward",),
    "rewardkit.core.batch": ("Batch",),
    "rewardkit.core.coercion": ("coerce",),
    "rewardkit.core.errors": (
        "BindingError",
        "CoercionError",
        "MissingExtraError",
        "RewardDefinitionError",
        "RewardFailure",
        "RewardKitError",
        "RewardKitWarning",
    ),
    "rewardkit.core.outcome": ("Outcome", "Score", "ScoreTable"),
    "rewardkit.core.progress": ("Progress", "Schedule"),
    "rewardkit.core.reward": ("reward",),
    "rewardkit.core.scorer": ("Scorer", "score"),
    "rewardkit.judges.budget": ("Budget",),
    "rewardkit.judges.cache": ("Cache",),
    "rewardkit.judges.canaries": ("Canaries", "Canary"),
    "rewardkit.judges.criteria": ("Criterion",),
    "rewardkit.judges.judge": ("judge",),
    "rewardkit.judges.panels": ("judge_panel",),
    "rewardkit.judges.reward_models": ("reward_model",),
    "rewardkit.primitives.arithmetic": ("arithmetic",),
    "rewardkit.primitives.choice": ("choice",),
    "rewardkit.primitives.code": ("code_runs", "code_tests"),
    "rewardkit.primitives.diversity": ("diversity",),
    "rewardkit.primitives.exact": ("exact",),
    "rewardkit.primitives.format": ("fenced", "tags"),
    "rewardkit.primitives.json_match": ("json_match",),
    "rewardkit.primitives.json_schema": ("json_schema",),
    "rewardkit.primitives.json_valid": ("json_valid",),
    "rewardkit.primitives.language": ("language",),
    "rewardkit.primitives.length": ("cosine_length", "length_between", "overlong_penalty", "shortest_correct"),
    "rewardkit.primitives.math_equal": ("math_equal",),
    "rewardkit.primitives.number": ("number",),
    "rewardkit.primitives.patterns": (
        "contains_all",
        "contains_none",
        "ends_with",
        "no_refusal",
        "regex",
        "starts_with",
    ),
    "rewardkit.primitives.repetition": ("repetition_penalty",),
    "rewardkit.primitives.sequence": ("sequence_match", "set_match"),
    "rewardkit.primitives.steps": ("steps",),
    "rewardkit.primitives.text": ("rouge_l", "similarity", "token_f1"),
    "rewardkit.primitives.translation": ("bleu", "chrf"),
    "rewardkit.schedules.plots": ("plot_schedules", "weights_over_training"),
    "rewardkit.store.comparing": ("compare_runs",),
    "rewardkit.store.importing": ("import_run",),
    "rewardkit.store.run": ("open_run",),
    "rewardkit_eval_protocol": ("from_eval_protocol",),
    "rewardkit_trl": ("from_trl", "get_config", "to_trl", "update_config"),
    "rewardkit_verifiers": ("from_verifiers",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = {"extract": "rewardkit.core.extraction", "schedules": "rewardkit.schedules"}

__all__ = sorted([*_HOME_OF, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        from rewardkit.core.errors import near_miss

        raise AttributeError(f"rewardkit has no {name!r}.{near_miss(name, __all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
