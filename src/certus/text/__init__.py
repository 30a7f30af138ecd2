"""Text that people read: numbers, tables, proportions with intervals, and files written whole."""
