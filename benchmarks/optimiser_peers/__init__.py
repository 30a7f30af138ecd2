"""One method in each library, for equally many passes, under the names of the suite
``optimisers``.

``SGDLogistic(alpha, step, passes)`` and ``SAGALogistic(alpha, passes)``: minimise

    (1/n) Σ log(1 + exp(−y_i(x_iᵀw + b))) + alpha/2 ‖w‖²

by single rows in random order. The length of SGD's steps is given and does not change; SAGA's is
each library's own.
"""
