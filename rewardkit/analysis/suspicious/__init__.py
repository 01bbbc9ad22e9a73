"""The search for suspicious patterns in a run: ``suspicious(Evidence(...))`` returns leads, strongest first."""

from rewardkit.analysis.suspicious.evidence import Evidence, Lead
from rewardkit.analysis.suspicious.search import suspicious
from rewardkit.core.errors import EvidenceError

__all__ = ["Evidence", "EvidenceError", "Lead", "suspicious"]
