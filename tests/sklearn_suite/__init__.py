"""scikit-learn's own tests, run on the classes of certus.

    python -m tests.sklearn_suite                                     every module in ``modules.py``
    python -m tests.sklearn_suite linear_model/tests/test_ridge.py    some of them
    python -m tests.sklearn_suite --subset                            what CI runs

``swap.py`` puts the classes of certus in place of scikit-learn's, ``plugin.py`` tells pytest to do
so before it imports a test module and records how each test ended, and ``expected.py`` lists the
tests that fail, with the reason. The installed scikit-learn is used; nothing is downloaded.
"""
