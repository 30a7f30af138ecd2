"""Linear programs that decide whether classes are separated, and find a separating direction."""
