"""Preflight: what can go wrong in a training is looked for before a model is loaded, and said in one report."""

from rewardkit_trl.runner.preflight.checking import preflight as preflight
from rewardkit_trl.runner.preflight.findings import Finding as Finding, Preflight as Preflight
