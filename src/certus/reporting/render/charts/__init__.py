"""The charts of a report: each takes dataclasses of the content and returns a ``Chart``."""
