"""How it is found. Fast, and trusted by nobody: every answer is checked against its definition."""
