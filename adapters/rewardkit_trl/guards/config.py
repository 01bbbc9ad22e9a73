"""A guard rail as it is written down: ``{watch: failure_rate, above: 0.2, window: 20, action: stop}``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

Action = Literal["stop", "warn", "freeze"]


class GuardConfig(BaseModel):
    """A line that a training must not cross, and what happens if it does.

    ``GuardConfig(watch="length", above=2.0, action="stop")`` stops a run whose completions have become twice as long.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    watch: Annotated[
        str,
        Field(
            min_length=1,
            description="failure_rate (failed and errored rows), zero_variance (groups without a difference), total "
            "(the reward), kl, length (relative to the mean of the first window), a metric of the trainer's log, or "
            "the name of a component or monitor, whose mean it is (components/<name> where another is called so)",
        ),
    ]
    above: Annotated[FiniteFloat | None, Field(description="the line is crossed by what is higher")] = None
    below: Annotated[FiniteFloat | None, Field(description="the line is crossed by what is lower")] = None
    window: Annotated[int, Field(ge=1, description="steps whose mean is held against the line")] = 20
    after: Annotated[int, Field(ge=0, description="the step from which it watches")] = 0
    action: Annotated[
        Action,
        Field(
            description="stop: a checkpoint, then an error; warn: a line in log and record; freeze: the policy is not "
            "updated until the value is back, or another version of the reward arrives"
        ),
    ] = "warn"
    component: Annotated[
        str | None, Field(description="of failure_rate: whose rows; without it the component with the highest share")
    ] = None

    @model_validator(mode="after")
    def _one_line(self) -> GuardConfig:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"the guard of {self.watch!r} needs one line: above or below, and not both")
        if self.component is not None and self.watch != "failure_rate":
            raise ValueError(
                f"component belongs to watch: failure_rate; the mean of a component is watched by its name: "
                f"watch: {self.component}"
            )
        return self

    def crossed(self, value: float) -> bool:
        """Whether `value` is beyond the line."""
        return (self.above is not None and value > self.above) or (self.below is not None and value < self.below)

    def __str__(self) -> str:
        """``kl above 0.5``."""
        what = f"{self.watch} of {self.component}" if self.component else self.watch
        return f"{what} {f'above {self.above:g}' if self.above is not None else f'below {self.below:g}'}"
