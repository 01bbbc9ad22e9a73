"""Weights that follow `advantage_share`: a component that has stopped deciding anything gives way to the others.

A component that all completions satisfy keeps its weight in the sum, but decides nothing. Several methods weight the
components by how much they vary at the moment (SAW, arXiv:2606.07705; DVAO, arXiv:2605.25604). ``Following({"form":
0.3, "exact": 0.7})`` reads what rewardkit logs, the share of the squared advantages that each component causes, and
moves weight away from a component only once that share has fallen, and gives it back when it rises.
"""

from __future__ import annotations

from collections.abc import Mapping

FLOOR = 0.1
HALF_LIFE = 5.0


class Following:
    """Weights with a constant sum that follow the shares of the advantages.

    What counts is the share that a component would have at its starting weight, averaged exponentially, compared with
    its starting weight's part of the sum or, if it never got that far, with the highest average that it has had. A
    component that has never decided anything has not stopped doing so, and keeps its weight.

    Args:
        start: the weights at the start, all positive.
        floor: no component falls below this part of its starting weight, before the sum is restored.
        half_life: of the average, in steps.
    """

    def __init__(self, start: Mapping[str, float], *, floor: float = FLOOR, half_life: float = HALF_LIFE) -> None:
        self.start = dict(start)
        self.weights = dict(start)
        self._floor, self._decay = floor, 0.5 ** (1.0 / half_life)
        self._averages: dict[str, float] = {}
        self._highest = dict.fromkeys(start, 0.0)

    def update(self, shares: Mapping[str, float]) -> dict[str, float]:
        """Return the weights after a step with these shares; without shares (no group had variance) they stay."""
        if shares.keys() >= self.start.keys():
            active = {name: start * self._activity(name, shares[name]) for name, start in self.start.items()}
            scale = sum(self.start.values()) / sum(active.values())
            self.weights = {name: weight * scale for name, weight in active.items()}
        return dict(self.weights)

    def _activity(self, name: str, share: float) -> float:
        # A share is proportional to the weight, so that a fallen weight alone would keep it down.
        decides = max(share, 0.0) * self.start[name] / self.weights[name]
        before = self._averages.get(name, decides)
        average = self._averages[name] = self._decay * before + (1.0 - self._decay) * decides
        highest = self._highest[name] = max(self._highest[name], average)
        expected = min(self.start[name] / sum(self.start.values()), highest)
        return min(max(average / expected, self._floor), 1.0) if expected else 1.0
