"""Calls of the pages (``definitions/``) with the parameters of a certificate."""
