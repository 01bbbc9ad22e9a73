"""Live update: another reward, or other weights, for a training that runs; see docs/live_update.md."""
