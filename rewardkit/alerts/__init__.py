"""Search for suspicious patterns in a run: ``suspicious(Evidence(...))`` returns alerts, strongest first."""

from rewardkit.alerts.evidence import Alert, Evidence
from rewardkit.alerts.search import suspicious
from rewardkit.errors import EvidenceError

__all__ = ["Alert", "Evidence", "EvidenceError", "suspicious"]
