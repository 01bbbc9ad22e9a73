"""rewardkit and LLaMA-Factory, whose PPO asks a reward server: the dialect of `rewardkit serve`."""
