"""Preflight: check everything that can fail during training before the model is loaded, and report all findings at
once."""

from rewardkit_adapters.runner.preflight.checks import preflight as preflight
from rewardkit_adapters.runner.preflight.findings import Finding as Finding, Preflight as Preflight
