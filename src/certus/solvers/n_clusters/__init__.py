"""Fast computation of the scores of a number of clusters."""
