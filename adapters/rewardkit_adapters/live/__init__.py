"""Live updates: change the reward during a training run. See docs/live_update.md."""

from rewardkit_adapters.live.requests import get_config as get_config, update_config as update_config
