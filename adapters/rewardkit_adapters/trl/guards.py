"""Guards: ``callbacks=[GuardCallback([GuardConfig(watch="kl", above=0.5, action="stop")], funcs)]``.

`GuardConfig` does not import torch or transformers, so a configuration can be read without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

if TYPE_CHECKING:
    from rewardkit_adapters.trl.guard_callback import GuardCallback as GuardCallback

__all__ = ["GuardCallback", "GuardConfig"]

Action = Literal["stop", "warn", "freeze"]


class GuardConfig(BaseModel):
    """A limit for a value that the trainer logs, and the action to take if the value crosses the limit.

    ``GuardConfig(watch="length", above=2.0, action="stop")`` stops a run when completions become twice as long.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    watch: Annotated[
        str,
        Field(
            min_length=1,
            description="failure_rate (share of failed and errored rows), zero_variance (share of groups whose "
            "completions all score the same), total (the reward), kl, length (relative to the first window), radar "
            "(strength of the strongest sign that the reward is gamed, 0 to 1), any metric that the trainer logs, or "
            "the mean of a component or monitor by its name (components/<name> if a metric has the same name)",
        ),
    ]
    above: Annotated[FiniteFloat | None, Field(description="upper limit")] = None
    below: Annotated[FiniteFloat | None, Field(description="lower limit")] = None
    # 20, arbitrary: a window over which one bad batch does not move the mean much.
    window: Annotated[int, Field(ge=1, description="the mean over this many steps is compared with the limit")] = 20
    after: Annotated[int, Field(ge=0, description="the guard starts after this step")] = 0
    action: Annotated[
        Action,
        Field(
            description="stop: save a checkpoint, then raise an error; warn: log and record a warning; freeze: do not "
            "update the policy until the value is back within the limit, or the reward is replaced by a live update"
        ),
    ] = "warn"
    component: Annotated[
        str | None,
        Field(description="for failure_rate: the component to watch (by default the one with the highest share)"),
    ] = None

    @model_validator(mode="after")
    def _one_line(self) -> GuardConfig:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"the guard on {self.watch!r} needs exactly one limit: set above or below")
        if self.component is not None and self.watch != "failure_rate":
            raise ValueError(
                f"component is only for watch: failure_rate. To watch the mean of a component, write its name: "
                f"watch: {self.component}"
            )
        return self

    def crossed(self, value: float) -> bool:
        """Return whether `value` is beyond the limit."""
        return (self.above is not None and value > self.above) or (self.below is not None and value < self.below)

    def __str__(self) -> str:
        """Describe the limit: ``kl above 0.5``."""
        subject = f"{self.watch} of {self.component}" if self.component else self.watch
        return f"{subject} {f'above {self.above:g}' if self.above is not None else f'below {self.below:g}'}"


def __getattr__(name: str) -> Any:
    if name == "GuardCallback":
        from rewardkit_adapters.trl.guard_callback import GuardCallback

        return GuardCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
