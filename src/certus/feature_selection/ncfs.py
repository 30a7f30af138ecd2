"""NCFS for classification: feature weights for which nearby rows are of the same class."""

from ..data.validation import data_for_classification
from ..runtime.progress import monitored
from ._base import AnyTask
from ._classes import NCFSClassifierBase
from ._messages import single_row_classes
from ._parameters import check_parameters
from ._types import Costs, Prior


class NCFSClassifier(NCFSClassifierBase):
    r"""Neighbourhood component feature selection for classification.

    Learns weights W ≥ 0 of the columns for which nearby rows are of the same class: maximises

        F(W) = Σᵢ aᵢ Σⱼ pᵢⱼ [yᵢ = yⱼ] − λ Σₗ Wₗ,     pᵢⱼ ∝ exp(−D_W(xᵢ, xⱼ)/σ),  j ≠ i

    pᵢⱼ is the probability that row i takes row j as its neighbour, and Σⱼ pᵢⱼ [yᵢ = yⱼ] that the
    neighbour is of the same class. Columns that gain less than λ costs get weight 0. W is w² of the
    paper (Yang, Wang and Zuo, 2012) and of MATLAB's fscnca. The fitted model selects columns
    (``transform``) and predicts new rows by their neighbours among the rows of the fit.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        λ: the cost of a weight of 1. "auto": Σa/n, which is 1 in the sum form (Yang's λ) and 1/n in
        the mean form (MATLAB's): the same problem. With ``loss``, times the mean cost of a wrong
        class. No effect with "phi_s".
    sigma : float, default=1.0
        σ: the width of the neighbourhood.
    metric : {"manhattan", "sqeuclidean", "euclidean", "phi_s"}, default="manhattan"
        D_W: Σ W|Δ|, Σ WΔ², √(Σ WΔ²), or Φ_s = Var(xᵢ − xⱼ)/Var(xᵢ + xⱼ) over the columns, weighted
        by W, which compares patterns. Only ratios of weights matter to Φ_s: ΣW = n_features.
    prior : {"empirical", "balanced", "uniform"}, dict or array-like, default="empirical"
        Importance of the classes. "empirical": aᵢ = sᵢ. "balanced": aᵢ = sᵢ/S_c with S_c the weight
        of its class. Shares π_c of the classes that sum to 1, by label or in the order of
        ``classes_``: aᵢ = S π_c sᵢ/S_c; "uniform": equal shares.
    loss : array-like of shape (n_classes, n_classes), callable or None, default=None
        Costs instead of right and wrong: −Lᵢⱼ replaces [yᵢ = yⱼ], where L[c, d] is the cost of
        answering d for c, in the order of ``classes_``; or a function of two arrays of labels, such
        as ``lambda u, v: abs(u - v)``. ``predict`` then returns the class of the smallest expected
        cost.
    form : {"sum", "mean"}, default="sum"
        "mean": all a divided by S = Σs.
    scale : {"minmax", "standard", None}, default="minmax"
        Scaling of the columns, x ← (x − shift)/scale: to [0, 1], to mean 0 and spread 1, or none. A
        constant column has weight 0.
    batch_size : int or None, default=None
        Rows are compared within batches of at most so many consecutive rows, at least 10. None: all
        rows of an array are compared with each other, and a table of ``open_rows`` or a Dask
        collection has batches of 1,024. See Notes.
    solver : {"lbfgs", "yang"}, default="lbfgs"
        "lbfgs": L-BFGS on W ≥ 0; only it ends at a local optimum. "yang": the gradient ascent of
        the paper, which ends where F hardly changes.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-6
        "lbfgs" ends when the slope violates the KKT conditions by at most min(``tol``, 1e-6)·λ;
        "yang" when F changes by less than ``tol``·Σa.
    step : float or "auto", default="auto"
        The first step of "yang"; "auto": 0.01.
    warm_start : bool, default=False
        Whether to start at ``weights_`` of the previous fit, if it had as many columns, instead of
        at W = 1. With "yang" a weight of 0 stays 0.
    threshold : float or str, default="0.01*max"
        Columns with a weight above 0 and of at least this are selected: a number, or "c*max",
        "c*mean", "c*median" of the weights.
    n_features_to_select : int, float or None, default=None
        Instead of ``threshold``: the number or share of columns to select, by the largest weights
        (ties go to the first). Columns of weight 0 are never selected.
    verbose : int, default=0
        If above 0, print a line for each step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    weights_ : ndarray of shape (n_features,)
        Weights W of the scaled columns, which can be compared.
    weights_in_units_ : ndarray of shape (n_features,) or None
        Weights of the unscaled columns: D = Σ ``weights_in_units_``·|Δ| ("manhattan") or
        Σ ``weights_in_units_``·Δ². None for "phi_s".
    feature_importances_ : ndarray of shape (n_features,)
        W/ΣW.
    support_ : ndarray of shape (n_features,) of bool
        Mask of the selected columns.
    objective_ : float
        F at the fitted weights.
    alpha_ : float
        The λ used.
    loo_score_ : float
        Weighted share of the rows whose class the other rows predict.
    n_iter_, n_evaluations_ : int
        Number of steps, and of evaluations of F.
    solver_ : str
        The solver used.
    batch_size_ : int or None
        The ``batch_size`` used; None: all rows are compared with each other.
    shift_, scale_ : ndarray of shape (n_features,)
        Shift and scale of the columns.
    certificate_ : Certificate
        Recomputes F from the data, and shows that no small change of W raises it: ∂F/∂Wₗ = 0 where
        Wₗ > 0 and ∂F/∂Wₗ ≤ 0 where Wₗ = 0, up to 1e-6 λ. That is a local optimum: F may have
        others. The sign confirms that the dropped columns do not help. It does not say that the
        columns matter for other rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Column names of X, if it has any.

    Notes
    -----
    F and its slope take O(n²·P) operations with P active columns, and are computed some tens of
    times; memory for one scaled copy of X and a few million numbers. float32 stays float32. A new
    row costs O(n·p) with p nonzero weights.

    In batches j runs over the rows of i's batch, and F has 1/B Σᵢ for B batches in place of Σᵢ (the
    mean form stays the mean over all rows), so that λ has the meaning of a fit to one batch. A fit
    takes O(n·m·P) operations for m rows a batch, a pass over the rows for each evaluation of F and
    some before and after; the memory does not grow with n. The certificate is about this F,
    recomputed over all batches, and says nothing about pairs of rows in different batches.
    Predictions come from m rows spread over those of the fit. The order of the rows must not depend
    on the class: sorted rows are refused.

    ``sample_weight`` is the importance of predicting a row, not its influence on others: weight 2
    is not the row twice, since the copy would be its nearest neighbour.

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

    _reads_rows = True

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
        batch_size: int | None = None,
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
        self.batch_size = batch_size
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.step = step
        self.warm_start = warm_start
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.verbose = verbose

    @monitored
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> "NCFSClassifier":
        """Fit the weights.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or open_rows
        y : array-like of shape (n_samples,)
            Labels: whole numbers or text. A table of ``open_rows`` has its own.
        sample_weight : float or array-like of shape (n_samples,), default=None
            s: how much a correct prediction of the row counts. It does not change the row's
            influence on others, so weight 2 is not the row twice.

        Returns
        -------
        self
        """
        check_parameters(self)
        before = vars(self).get("weights_") if self.warm_start else None
        rows, classes = data_for_classification(self, X, y, sample_weight)
        batch_size = self._batch_rows(rows)
        if batch_size is None:
            task: AnyTask = self._prepare(rows, classes)
        else:
            task = self._prepare_batches(rows, classes, batch_size)
        self._set_classes(task, classes)
        fit = self._maximize(task, self._start(task, before))
        remarks = [*task.remarks]
        if self._costs is None and batch_size is None:
            remarks = single_row_classes(classes, self._fit_y)
        self._warn_of_fit(fit, remarks)
        return self
