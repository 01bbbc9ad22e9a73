"""Preflight: what can go wrong in a training is looked for before a model is loaded, and said in one report."""

from rewardkit_runner.preflight.checks import preflight as preflight
from rewardkit_runner.preflight.findings import Finding as Finding, Preflight as Preflight
