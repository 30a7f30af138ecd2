"""What a table of coefficients says: its numbers with their digits, its terms as columns."""
