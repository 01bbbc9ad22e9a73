"""`rewardkit demo`: train the bundled project, a tiny model that learns to turn orders into JSON."""
