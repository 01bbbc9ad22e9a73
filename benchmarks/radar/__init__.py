"""Real trainings of tiny models on sound and on hackable rewards, to measure what finds a hack. See radar.py."""
