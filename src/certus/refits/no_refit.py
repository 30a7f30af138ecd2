"""The reason why an objective has no refit."""


class NoRefitError(Exception):
    """Raised where no solver of certus minimises an audited objective."""
