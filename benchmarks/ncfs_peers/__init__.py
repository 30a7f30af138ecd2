"""NCFS of each library under the names of the suite ``ncfs``: one problem for all,

    F(w) = Σ_i p_i − λ Σ_l w_l²,   L1, columns from 0 to 1, two classes 0 and 1, from w = 1

``Fit(sigma, lam).fit(X, y)`` is a whole fit, whose ``weights_`` are W = w²; ``steps`` ends those of
ncfs. ``Evaluations(sigma, lam, count).fit(X, y)`` computes F and its slope at w = 1 so many times,
after what a library prepares for it; ``F_`` and ``slope_``, ∂F/∂w, are the answers.
"""
