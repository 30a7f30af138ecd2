"""Fast scores of a number of clusters."""
