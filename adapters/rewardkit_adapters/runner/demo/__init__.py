"""`rewardkit demo`: train the bundled project, in which a tiny model learns to turn orders into JSON."""
