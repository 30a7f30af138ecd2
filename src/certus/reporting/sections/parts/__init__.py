"""What several sections compute with: held-out answers, and a linear model column by column."""
