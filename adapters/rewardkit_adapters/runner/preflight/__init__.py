"""Preflight: check everything that can fail in a training before the model is loaded, and report it all at once."""

from rewardkit_adapters.runner.preflight.checks import preflight as preflight
from rewardkit_adapters.runner.preflight.findings import Finding as Finding, Preflight as Preflight
