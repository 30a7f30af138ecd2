"""The trusted pages: one module a model, plain NumPy on whole arrays.

A page states the objective as an equation, computes it, and decides whether the parameters are
optimal: by a bound that no parameters can be better than, or by the optimality condition. To
believe a certificate, read the page of its model; it has at most 80 lines of code.

    check(X, y, s, *, parameters, witness, tol) → Claim

``X`` is a dense array of float64, ``y`` the targets (None for clusters), ``s`` the weights of the
rows. A witness, such as dual variables or a separating direction, may come from anywhere: the page
makes it feasible before it uses it. Pages do not bound rounding errors; ``certus.proofs`` does.
"""
