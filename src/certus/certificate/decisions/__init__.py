"""What a missed optimum means for the predictions of a model."""
