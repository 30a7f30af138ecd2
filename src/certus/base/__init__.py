"""The base class of all estimators, and what several families of them share."""
