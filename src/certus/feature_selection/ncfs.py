"""NCFS for classes: weights of columns by which the nearest rows are of the same class."""

from ..data.validation import data_for_classification
from ..runtime.progress import monitored
from ._classes import NCFSOfClasses
from ._messages import alone
from ._parameters import check_parameters
from ._types import Costs, Prior


class NCFSClassifier(NCFSOfClasses):
    r"""Which columns tell classes apart: neighbourhood component feature selection.

    Weights W ≥ 0 of the columns are learned so that near rows are of one class: maximise

        F(W) = Σᵢ aᵢ Σⱼ pᵢⱼ [yᵢ = yⱼ] − λ Σₗ Wₗ,     pᵢⱼ ∝ exp(−D_W(xᵢ, xⱼ)/σ),  j ≠ i

    pᵢⱼ is the chance that row i asks row j for its class, and Σⱼ pᵢⱼ [yᵢ = yⱼ] that it is told the
    right one. Columns that help less than λ costs get the weight 0. W is w² of the paper (Yang,
    Wang and Zuo, 2012) and of MATLAB's fscnca. The fitted model selects columns (``transform``) and
    predicts: a new row asks the rows of the fit.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        λ: what a weight of 1 costs. "auto": Σa/n, which is 1 in the sum form (Yang's λ) and 1/n in
        the mean form (MATLAB's): the same problem. With ``loss``, times the mean cost of a wrong
        class. No effect with "phi_s".
    sigma : float, default=1.0
        σ: how near "near" is.
    metric : {"manhattan", "sqeuclidean", "euclidean", "phi_s"}, default="manhattan"
        D_W: Σ W|Δ|, Σ WΔ², √(Σ WΔ²), or Φ_s = Var(xᵢ − xⱼ)/Var(xᵢ + xⱼ) over the columns, weighted
        by W, which compares patterns. Of Φ_s only ratios of weights matter: ΣW = n_features.
    prior : {"empirical", "balanced", "uniform"}, dict or array-like, default="empirical"
        How much classes count. "empirical": aᵢ = sᵢ. "balanced": aᵢ = sᵢ/S_c, S_c the weight of its
        class. Shares π_c of the classes, by label or in the order of ``classes_``, that sum to 1:
        aᵢ = S π_c sᵢ/S_c; "uniform": all the same.
    loss : array-like of shape (n_classes, n_classes), callable or None, default=None
        Costs instead of right and wrong: −Lᵢⱼ takes the place of [yᵢ = yⱼ], L[c, d] what it costs
        to answer d for c, in the order of ``classes_``; or a function of two arrays of labels, as
        ``lambda u, v: abs(u - v)``. ``predict`` then gives the class of the least expected cost.
    form : {"sum", "mean"}, default="sum"
        "mean": all a divided by S = Σs.
    scale : {"minmax", "standard", None}, default="minmax"
        Columns are compared after x ← (x − shift)/scale: to [0, 1], to mean 0 and spread 1, or as
        they are. A column that never changes weighs 0.
    solver : {"lbfgs", "yang"}, default="lbfgs"
        "lbfgs": L-BFGS on W ≥ 0; it alone ends at a local optimum. "yang": the ascent of the paper,
        which ends where F hardly changes.
    max_iter : int, default=1000
        Iterations at most.
    tol : float, default=1e-6
        "lbfgs" ends when the slope violates its conditions by at most ``tol``·λ, and never above
        1e-6; "yang" when F changes by less than ``tol``·Σa.
    step : float or "auto", default="auto"
        The first step of "yang"; "auto": 0.01.
    warm_start : bool, default=False
        Begin at ``weights_`` of the fit before, if it had as many columns; else at W = 1. In "yang"
        a weight of 0 stays 0.
    threshold : float or str, default="0.01*max"
        Columns with a weight above 0 and of at least this are selected: a number, or "c*max",
        "c*mean", "c*median" of the weights.
    n_features_to_select : int, float or None, default=None
        Instead of ``threshold``: how many columns, or which share of them, of the largest weights
        (of equal ones the first). Columns of weight 0 are never selected.
    verbose : int, default=0
        Above 0, a line is printed for each step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_features,)
        W, of the scaled columns, so that they can be compared.
    weights_in_units_ : ndarray of shape (n_features,) or None
        The same for columns as they were given: D = Σ ``weights_in_units_``·|Δ| ("manhattan") or
        Σ ``weights_in_units_``·Δ². None for "phi_s".
    feature_importances_ : ndarray of shape (n_features,)
        W/ΣW.
    support_ : ndarray of shape (n_features,) of bool
        What is selected.
    objective_ : float
        F.
    alpha_ : float
        λ.
    loo_score_ : float
        The share of the rows, by weight, whose class the other rows predict.
    n_iter_, n_evaluations_ : int
        Steps of the solver, and how often it computed F.
    solver_ : str
        What ran.
    shift_, scale_ : ndarray of shape (n_features,)
        Of the columns.
    certificate_ : Certificate
        F, recomputed from the data, and that no small change of W raises it: ∂F/∂Wₗ = 0 where
        Wₗ > 0 and ∂F/∂Wₗ ≤ 0 where Wₗ = 0, up to 1e-6 λ. A local optimum: F may have others. That
        sign confirms the columns that were dropped. It does not say that the columns matter for
        rows that were not seen.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    O(n²·P) operations for F and its slope, P the columns that are left, some tens of times; memory
    for one scaled copy of X and a few million numbers. float32 stays float32. A new row costs
    O(n·p), p the columns with weight.

    ``sample_weight`` says how much a row counts that is asked, not how much it says: weight 2 is
    not the row twice, which would also be its own nearest neighbour.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from certus.feature_selection import NCFSClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = NCFSClassifier().fit(X, y)
    >>> model.weights_.round(4)
    array([ 0.    ,  0.    ,  0.5044, 13.6648])
    >>> model.get_feature_names_out().tolist()
    ['petal length (cm)', 'petal width (cm)']
    >>> round(model.objective_, 4), round(model.loo_score_, 2)
    (118.6337, 0.96)
    """

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        sigma: float = 1.0,
        metric: str = "manhattan",
        prior: Prior = "empirical",
        loss: Costs = None,
        form: str = "sum",
        scale: str | None = "minmax",
        solver: str = "lbfgs",
        max_iter: int = 1000,
        tol: float = 1e-6,
        step: float | str = "auto",
        warm_start: bool = False,
        threshold: float | str = "0.01*max",
        n_features_to_select: int | float | None = None,
        verbose: int = 0,
    ):
        self.alpha = alpha
        self.sigma = sigma
        self.metric = metric
        self.prior = prior
        self.loss = loss
        self.form = form
        self.scale = scale
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.step = step
        self.warm_start = warm_start
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object, sample_weight: object = None) -> "NCFSClassifier":
        """Find the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s: how much it counts that a row is answered rightly. It does not change what the row
            says of others, so weight 2 is not the row twice.

        Returns
        -------
        self
        """
        check_parameters(self)
        before = vars(self).get("weights_") if self.warm_start else None
        rows, classes = data_for_classification(self, X, y, sample_weight)
        task = self._prepare(rows, classes)
        self._keep_classes(task, classes)
        fit = self._maximise(task, self._start(task, before))
        self._warn_of_fit(fit, [] if self._costs is not None else alone(classes, self._fit_y))
        return self
