"""The search for suspicious patterns in a run: ``suspicious(Evidence(...))`` returns leads, strongest first."""

from rewardkit.alerts.evidence import Evidence, Lead
from rewardkit.alerts.search import suspicious
from rewardkit.errors import EvidenceError

__all__ = ["Evidence", "EvidenceError", "Lead", "suspicious"]
