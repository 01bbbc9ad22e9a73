"""The public face: every ``rk.<name>``, and the module that it loads from when it is first used."""

from rewardkit import schedules as schedules
from rewardkit.aggregators.cached import cached as cached
from rewardkit.aggregators.combination import maximum as maximum, minimum as minimum, product as product
from rewardkit.aggregators.curriculum import Stage as Stage, curriculum as curriculum
from rewardkit.aggregators.fallback import fallback as fallback
from rewardkit.aggregators.gate import gate as gate
from rewardkit.aggregators.means import weighted_mean as weighted_mean, weighted_sum as weighted_sum
from rewardkit.aggregators.monitor import monitor as monitor
from rewardkit.aggregators.normalization import normalize as normalize
from rewardkit.aggregators.order import best_of as best_of, lexicographic as lexicographic
from rewardkit.aggregators.penalty import penalty as penalty
from rewardkit.aggregators.per_turn import per_turn as per_turn
from rewardkit.aggregators.power_means import geometric_mean as geometric_mean, harmonic_mean as harmonic_mean
from rewardkit.aggregators.rank import rank_in_group as rank_in_group
from rewardkit.aggregators.route import route as route
from rewardkit.client.reward import remote as remote
from rewardkit.core.batch.batch import Batch as Batch
from rewardkit.core.batch.score import Outcome as Outcome, Score as Score
from rewardkit.core.batch.table import ScoreTable as ScoreTable
from rewardkit.core.batch.trajectory import (
    ToolCall as ToolCall,
    ToolResult as ToolResult,
    Trajectory as Trajectory,
    Turn as Turn,
)
from rewardkit.core.errors import (
    BindingError as BindingError,
    CoercionError as CoercionError,
    ConfigError as ConfigError,
    DataError as DataError,
    EvidenceError as EvidenceError,
    MissingExtraError as MissingExtraError,
    NoExamples as NoExamples,
    NotAFolder as NotAFolder,
    NotARun as NotARun,
    NoVerdict as NoVerdict,
    RewardBug as RewardBug,
    RewardDefinitionError as RewardDefinitionError,
    RewardFailure as RewardFailure,
    RewardKitError as RewardKitError,
    RewardKitWarning as RewardKitWarning,
    RewardTypeError as RewardTypeError,
    RunError as RunError,
    RunStopped as RunStopped,
    SandboxFailure as SandboxFailure,
    WorkerDied as WorkerDied,
)
from rewardkit.core.evaluation.scorer import Scorer as Scorer, score as score
from rewardkit.core.progress.progress import Progress as Progress
from rewardkit.core.progress.schedule import Schedule as Schedule
from rewardkit.core.text import extraction
from rewardkit.core.tree.coercion import coerce as coerce
from rewardkit.core.tree.decorator import reward as reward
from rewardkit.core.tree.reward import Reward as Reward
from rewardkit.core.tree.trl_function import from_trl as from_trl
from rewardkit.data.bfcl import bfcl_rows as bfcl_rows
from rewardkit.judges.budget import Budget as Budget
from rewardkit.judges.cache import Cache as Cache
from rewardkit.judges.canaries import Canaries as Canaries, Canary as Canary
from rewardkit.judges.criteria import Criterion as Criterion
from rewardkit.judges.judge import judge as judge
from rewardkit.judges.panels import judge_panel as judge_panel
from rewardkit.judges.reward_models import reward_model as reward_model
from rewardkit.primitives.arithmetic import arithmetic as arithmetic
from rewardkit.primitives.choice import choice as choice
from rewardkit.primitives.claims import no_claim_without_call as no_claim_without_call
from rewardkit.primitives.code import code_runs as code_runs, code_tests as code_tests
from rewardkit.primitives.diversity import diversity as diversity
from rewardkit.primitives.environment import environment_reward as environment_reward, final_state as final_state
from rewardkit.primitives.exact import exact as exact
from rewardkit.primitives.format import fenced as fenced, tags as tags
from rewardkit.primitives.instruction import instruction as instruction, instructions as instructions
from rewardkit.primitives.json_match import json_match as json_match
from rewardkit.primitives.json_schema import json_schema as json_schema
from rewardkit.primitives.json_valid import json_valid as json_valid
from rewardkit.primitives.language import language as language
from rewardkit.primitives.length import length_between as length_between, overlong_penalty as overlong_penalty
from rewardkit.primitives.length_of_correct import (
    cosine_length as cosine_length,
    kimi_length as kimi_length,
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
from rewardkit.primitives.reasoning_steps import reasoning_steps as reasoning_steps
from rewardkit.primitives.repetition import repetition_penalty as repetition_penalty
from rewardkit.primitives.script import script as script
from rewardkit.primitives.sequence import sequence_match as sequence_match, set_match as set_match
from rewardkit.primitives.steps import steps as steps
from rewardkit.primitives.text import rouge_l as rouge_l, similarity as similarity, token_f1 as token_f1
from rewardkit.primitives.token_budget import token_budget as token_budget
from rewardkit.primitives.tool_calls import tool_calls as tool_calls
from rewardkit.primitives.translation import bleu as bleu, chrf as chrf
from rewardkit.primitives.turns import (
    calls_between as calls_between,
    finished as finished,
    tool_errors as tool_errors,
    tool_success as tool_success,
    turns_between as turns_between,
)
from rewardkit.replay.datasets import score_dataset as score_dataset
from rewardkit.replay.differences.diff import diff as diff
from rewardkit.schedules.plots import plot_schedules as plot_schedules, weights_over_training as weights_over_training
from rewardkit.store.comparison import compare_runs as compare_runs
from rewardkit.store.imports import import_run as import_run
from rewardkit.store.run import open_run as open_run
from rewardkit_axolotl import to_axolotl as to_axolotl
from rewardkit_eval_protocol import from_eval_protocol as from_eval_protocol
from rewardkit_hosted import to_hosted as to_hosted
from rewardkit_inspect import from_inspect as from_inspect, from_inspect_log as from_inspect_log
from rewardkit_live import get_config as get_config, to_trl as to_trl, update_config as update_config
from rewardkit_nemo_gym import to_nemo_gym as to_nemo_gym
from rewardkit_openenv import from_openenv as from_openenv, to_openenv as to_openenv
from rewardkit_openrlhf import to_openrlhf as to_openrlhf
from rewardkit_reasoning_gym import (
    from_reasoning_gym as from_reasoning_gym,
    reasoning_gym_rows as reasoning_gym_rows,
)
from rewardkit_slime import to_slime as to_slime
from rewardkit_swift import from_swift as from_swift, to_swift as to_swift
from rewardkit_verifiers import from_verifiers as from_verifiers, to_verifiers as to_verifiers
from rewardkit_verl import from_verl as from_verl, to_verl as to_verl

extract = extraction

__version__: str
__all__: list[str]
