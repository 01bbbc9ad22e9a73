"""`rewardkit train run.yaml`: train a model with a reward and a dataset, without a script."""
