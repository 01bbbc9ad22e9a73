"""Live update: change the reward of a running training; see docs/live_update.md."""

from rewardkit_adapters.live.requests import get_config as get_config, update_config as update_config
