"""`rewardkit train run.yaml`: from a reward and a dataset to a trained model, without a script."""
