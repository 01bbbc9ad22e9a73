"""The public face: every ``rk.<name>``, and the module that it loads from when it is first used."""

from rewardkit import errors as errors, schedules as schedules
from rewardkit.batch.batch import Batch as Batch
from rewardkit.batch.score import Outcome as Outcome, Score as Score
from rewardkit.batch.table import ScoreTable as ScoreTable
from rewardkit.batch.trajectory import Trajectory as Trajectory
from rewardkit.combine.cached import cached as cached
from rewardkit.combine.combination import (
    lexicographic as lexicographic,
    maximum as maximum,
    minimum as minimum,
    product as product,
)
from rewardkit.combine.curriculum import Stage as Stage, curriculum as curriculum
from rewardkit.combine.fallback import fallback as fallback
from rewardkit.combine.gate import gate as gate
from rewardkit.combine.means import mean as mean, weighted_sum as weighted_sum
from rewardkit.combine.monitor import monitor as monitor
from rewardkit.combine.normalization import normalize as normalize, rank_in_group as rank_in_group
from rewardkit.combine.penalty import penalty as penalty
from rewardkit.combine.per_turn import per_turn as per_turn
from rewardkit.combine.route import route as route
from rewardkit.differences.diff import diff as diff
from rewardkit.errors import (
    RewardDefinitionError as RewardDefinitionError,
    RewardFailure as RewardFailure,
    RewardKitError as RewardKitError,
    RunStopped as RunStopped,
)
from rewardkit.online.breaker import Limits as Limits
from rewardkit.progress.progress import Progress as Progress
from rewardkit.record.run import open_run as open_run
from rewardkit.rewards import agents as agents, length as length
from rewardkit.rewards.arithmetic import arithmetic as arithmetic
from rewardkit.rewards.choice.reward import choice as choice
from rewardkit.rewards.code import code_runs as code_runs, code_tests as code_tests
from rewardkit.rewards.diversity import diversity as diversity
from rewardkit.rewards.exact import exact as exact
from rewardkit.rewards.format import fenced as fenced, tags as tags
from rewardkit.rewards.instructions.reward import instructions as instructions
from rewardkit.rewards.json_match import json_match as json_match
from rewardkit.rewards.json_schema.reward import json_schema as json_schema
from rewardkit.rewards.json_valid import json_valid as json_valid
from rewardkit.rewards.judges.budget import Budget as Budget
from rewardkit.rewards.judges.cache import Cache as Cache
from rewardkit.rewards.judges.canaries import Canaries as Canaries
from rewardkit.rewards.judges.endpoint.access import Endpoint as Endpoint
from rewardkit.rewards.judges.judge import Criterion as Criterion, judge as judge
from rewardkit.rewards.judges.panels import judge_panel as judge_panel
from rewardkit.rewards.judges.reward_models import reward_model as reward_model
from rewardkit.rewards.language import language as language
from rewardkit.rewards.math_equal.reward import math_equal as math_equal
from rewardkit.rewards.milestones import milestones as milestones
from rewardkit.rewards.number.reward import number as number
from rewardkit.rewards.patterns import REFUSALS as REFUSALS, contains as contains, regex as regex
from rewardkit.rewards.reasoning_steps import reasoning_steps as reasoning_steps
from rewardkit.rewards.repetition import repetition_penalty as repetition_penalty
from rewardkit.rewards.sequence import sequence_match as sequence_match, set_match as set_match
from rewardkit.rewards.text import rouge_l as rouge_l, similarity as similarity, token_f1 as token_f1
from rewardkit.rewards.tool_calls import tool_calls as tool_calls
from rewardkit.rewards.translation import bleu as bleu, chrf as chrf
from rewardkit.scoring.datasets import score_dataset as score_dataset
from rewardkit.serve.remote import remote as remote
from rewardkit.text import extraction
from rewardkit.tree.coercion import coerce as coerce
from rewardkit.tree.decorator import reward as reward
from rewardkit.tree.evaluation.scorer import Scorer as Scorer, score as score
from rewardkit.tree.reward import Reward as Reward
from rewardkit.tree.trl_function import from_trl as from_trl
from rewardkit_adapters.axolotl import to_axolotl as to_axolotl
from rewardkit_adapters.eval_protocol import from_eval_protocol as from_eval_protocol
from rewardkit_adapters.hosted import to_hosted as to_hosted
from rewardkit_adapters.inspect import from_inspect as from_inspect, from_inspect_log as from_inspect_log
from rewardkit_adapters.live import get_config as get_config, update_config as update_config
from rewardkit_adapters.nemo_gym import to_nemo_gym as to_nemo_gym
from rewardkit_adapters.openenv import from_openenv as from_openenv, to_openenv as to_openenv
from rewardkit_adapters.openrlhf import to_openrlhf as to_openrlhf
from rewardkit_adapters.reasoning_gym import from_reasoning_gym as from_reasoning_gym
from rewardkit_adapters.slime import to_slime as to_slime
from rewardkit_adapters.swift import from_swift as from_swift, to_swift as to_swift
from rewardkit_adapters.trl import to_trl as to_trl
from rewardkit_adapters.verifiers import from_verifiers as from_verifiers, to_verifiers as to_verifiers
from rewardkit_adapters.verl import from_verl as from_verl, to_verl as to_verl

extract = extraction

__version__: str
__all__: list[str]
