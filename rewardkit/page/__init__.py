"""The local web page for recorded runs: ``rewardkit view runs``. The page only reads the store and never writes to
it."""
