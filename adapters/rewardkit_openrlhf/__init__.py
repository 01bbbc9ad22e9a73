"""rewardkit and OpenRLHF."""
