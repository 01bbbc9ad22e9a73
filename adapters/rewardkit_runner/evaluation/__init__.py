"""What the model makes of held-out prompts, before, during and after a training."""
