"""Is the verdict honest? Simulations in which the truth is known.

``python -m tests.report.honesty`` runs them all (docs/report.md has the results);
``tests/report/procedure/test_honesty.py`` runs a few fixed cases.
"""
