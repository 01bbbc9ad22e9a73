"""`rewardkit demo`: trains the bundled project, a tiny model that learns to turn orders into JSON."""
