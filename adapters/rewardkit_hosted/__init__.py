"""rewardkit and hosted services: ``rk.to_hosted(reward, url=...)`` makes functions that ask your reward server."""

from rewardkit_hosted.functions import to_hosted as to_hosted
