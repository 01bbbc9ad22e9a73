"""The local page of recorded runs: ``rewardkit view runs``. It reads the store and writes nothing."""
