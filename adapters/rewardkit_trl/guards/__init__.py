"""Guard rails: ``callbacks=[GuardCallback([GuardConfig(watch="kl", above=0.5, action="stop")], funcs)]``.

`GuardConfig` does not import torch or transformers, so a configuration can be read without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rewardkit_trl.guards.config import GuardConfig

if TYPE_CHECKING:
    from rewardkit_trl.guards.callback import GuardCallback as GuardCallback

__all__ = ["GuardCallback", "GuardConfig"]


def __getattr__(name: str) -> Any:
    if name == "GuardCallback":
        from rewardkit_trl.guards.callback import GuardCallback

        return GuardCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
