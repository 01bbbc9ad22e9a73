"""`rewardkit demo`: a tiny language model, made on the spot, learns by GRPO what a reward asks of it."""
