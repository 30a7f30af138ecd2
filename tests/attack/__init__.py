"""An attack on certificates: structured problems, optima in high precision, edits of fitted models.

``python -m tests.attack --minutes 10`` runs a campaign; ``test_attack.py`` a fixed part of it.
"""
