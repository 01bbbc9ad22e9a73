"""What looks suspicious in a run: ``suspicious(Evidence(...))`` gives leads with their evidence, strongest first."""

from rewardkit.analysis.suspicious.evidence import Evidence, EvidenceError, Lead
from rewardkit.analysis.suspicious.search import suspicious

__all__ = ["Evidence", "EvidenceError", "Lead", "suspicious"]
