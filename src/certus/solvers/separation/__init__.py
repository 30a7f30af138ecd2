"""Linear programs that tell whether classes are separated, and by what."""
