"""Preflight: before the model is loaded, find everything that can fail in training, and report it all at once."""

from rewardkit_adapters.runner.preflight.checks import preflight as preflight
from rewardkit_adapters.runner.preflight.findings import Finding as Finding, Preflight as Preflight
