"""The local web page for recorded runs: ``rewardkit view runs``. It reads the store and never writes to it."""
