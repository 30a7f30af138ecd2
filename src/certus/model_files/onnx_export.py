r"""Models as ONNX: linear, logistic, softmax, ordinal and k-means models, after scaling steps.

    regression        prediction = X W + b
    two classes       z = X w + b,       P = (σ(−z), σ(z)),       label: z > 0
    softmax           Z = X W + b,       P = softmax(Z),          label: the largest z
    ordinal           a_k = xᵀw − c_k,   P_k = σ(a_{k−1}) − σ(a_k) = σ(a_{k−1}) σ(−a_k) (1 − e^{a_k − a_{k−1}})
    k-means           label = argmin_k ‖x − μ_k‖²
    scaling           (x − shift)/scale,  x·scale + shift,  NaN replaced by the imputer's value

Everything is float64 and made of core operators. Before anything is written ONNX's reference
evaluator answers for synthetic rows, and what differs from the model's own answers is refused.
"""  # noqa: E501

from collections.abc import Callable

import numpy as np

from ..exceptions import ModelFileError
from ..text.files import write_whole
from .document import steps_of
from .kinds import name_of
from .layout import FilePath
from .onnx_graph import Graph
from .synthetic_rows import N_ROWS, as_input

RELATIVE_TOLERANCE = 1e-9
REGRESSORS = (
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
    "PenalizedRegressor",
)  # fmt: skip
CLASSIFIERS = (
    "LogisticRegression", "LogisticRegressionCV", "FirthLogisticRegression", "PenalizedClassifier",
    "LinearSVC",
)  # fmt: skip
CLUSTERERS = ("KMeans", "MiniBatchKMeans")

Answers = dict[str, np.ndarray]


def export_onnx(model: object, path: FilePath) -> None:
    """Write a model as ONNX, after comparing the graph's answers with the model's.

    Raises
    ------
    ModelFileError
        If the model, or a step before it, has no such form, or an answer differs by more than 1e-9
        of the largest.
    """
    write_whole(path, to_onnx(model))


def to_onnx(model: object) -> bytes:
    """The bytes that ``export_onnx`` writes."""
    *steps, last = steps_of(model)
    n_columns = int(getattr(model, "n_features_in_"))  # noqa: B009
    graph = Graph(n_columns)
    X = "X"
    for step in steps:
        X = _scaled(graph, X, step)
    add, answers = _last_step(last)
    add(graph, X, last)
    made = graph.finished(f"{name_of(last)}, exported by certus")
    _compare(model, made, answers(model, last), n_columns)
    return bytes(made.SerializeToString())


# --- steps before the model -----------------------------------------------------------------------


def _scaled(graph: Graph, X: str, step: object) -> str:
    if step == "passthrough" or _is_identity(step):
        return X
    if type(step).__name__ == "ColumnTransformer":
        return _columns_apart(graph, X, step)
    name = type(step).__name__
    add = _SCALERS.get(f"{type(step).__module__.partition('.')[0]}.{name}")
    if add is None:
        raise ModelFileError(
            f"no ONNX form for the step {name}: export a model after StandardScaler, MinMaxScaler, "
            "MaxAbsScaler, RobustScaler or SimpleImputer alone"
        )
    return add(graph, X, step)


def _is_identity(step: object) -> bool:
    """Whether it is what a ColumnTransformer makes of "passthrough"."""
    s = vars(step) if hasattr(step, "__dict__") else {}
    return type(step).__name__ == "FunctionTransformer" and s.get("func") is None


def _columns_apart(graph: Graph, X: str, step: object) -> str:
    """The columns that each part reads, through its steps, side by side."""
    parts = []
    for name, part, _ in vars(step)["transformers_"]:
        indices = vars(step)["_transformer_to_input_indices"][name]
        if part == "drop" or not indices:
            continue
        chosen = graph.node("Gather", X, graph.constant(np.array(indices)), axis=1)
        for inner in steps_of(part):
            chosen = _scaled(graph, chosen, inner)
        parts.append(chosen)
    return graph.node("Concat", *parts, axis=1)


def _center_and_scale(shift: str) -> Callable[[Graph, str, object], str]:
    def add(graph: Graph, X: str, step: object) -> str:
        center, scale = getattr(step, shift, None), getattr(step, "scale_", None)
        if center is not None:
            X = graph.with_constant("Sub", X, center)
        return X if scale is None else graph.with_constant("Div", X, scale)

    return add


def _min_max(graph: Graph, X: str, step: object) -> str:
    s = vars(step)
    X = graph.with_constant("Add", graph.with_constant("Mul", X, s["scale_"]), s["min_"])
    if s.get("clip"):
        low, high = (graph.constant(np.asarray(v, dtype=float)) for v in s["feature_range"])
        X = graph.node("Clip", X, low, high)
    return X


def _imputed(graph: Graph, X: str, step: object) -> str:
    s = vars(step)
    values, missing = s["statistics_"], s["missing_values"]
    plain = values.dtype.kind == "f" and not np.isnan(values).any()
    if not plain or not isinstance(missing, float) or not np.isnan(missing) or s["add_indicator"]:
        raise ModelFileError(
            "no ONNX form for this SimpleImputer: it must fill NaN in columns of numbers that all "
            "have values, without an indicator"
        )
    return graph.node("Where", graph.node("IsNaN", X), graph.constant(values), X)


_SCALERS: dict[str, Callable[[Graph, str, object], str]] = {
    "sklearn.StandardScaler": _center_and_scale("mean_"),
    "sklearn.RobustScaler": _center_and_scale("center_"),
    "sklearn.MaxAbsScaler": _center_and_scale("no centre"),
    "sklearn.MinMaxScaler": _min_max,
    "sklearn.SimpleImputer": _imputed,
}


# --- the model ------------------------------------------------------------------------------------

Add = Callable[[Graph, str, object], None]
Expected = Callable[[object, object], "dict[str, str]"]


def _last_step(last: object) -> tuple[Add, Expected]:
    name = type(last).__name__
    if (name_of(last) or "").startswith("certus."):
        if name in REGRESSORS:
            return _add_regression, _expected(prediction="predict")
        if name in CLASSIFIERS:
            return _add_classifier, _expected(label="predict", probabilities="predict_proba")
        if name == "OrdinalRegression":
            return _add_ordinal, _expected(label="predict", probabilities="predict_proba")
        if name in CLUSTERERS:
            return _add_kmeans, _expected(label="predict")
    raise ModelFileError(
        f"no ONNX form for {name}: linear, logistic, softmax, ordinal and k-means models have one"
    )


def _expected(**methods: str) -> Expected:
    """The method of the model that answers as each output; those that it has."""
    return lambda model, last: {k: m for k, m in methods.items() if hasattr(model, m)}


def _add_regression(graph: Graph, X: str, last: object) -> None:
    coef = np.asarray(vars(last)["coef_"], dtype=float)
    b = np.asarray(vars(last)["intercept_"], dtype=float)
    if coef.ndim == 2:
        graph.output("prediction", graph.affine(X, coef.T, b), "DOUBLE", [None, len(coef)])
        return
    product = graph.with_constant("MatMul", X, coef)
    graph.output("prediction", graph.with_constant("Add", product, b), "DOUBLE", [None])


def _add_classifier(graph: Graph, X: str, last: object) -> None:
    s = vars(last)
    W, b = np.asarray(s["coef_"], dtype=float).T, np.asarray(s["intercept_"], dtype=float)
    if s.get("_constant") is not None:
        raise ModelFileError("no ONNX form for a classifier of a single class")
    Z = graph.affine(X, W, b)
    if W.shape[1] == 1:  # two classes
        P = graph.node("Sigmoid", graph.node("Concat", graph.node("Neg", Z), Z, axis=1))
        index = graph.node("Cast", graph.with_constant("Greater", Z, 0.0), to=7)  # INT64
        index = graph.node("Squeeze", index, graph.constant(np.array([1])))
    else:
        P = graph.node("Softmax", Z, axis=1)
        index = graph.node("ArgMax", Z, axis=1, keepdims=0)
    _add_label(graph, index, s["classes_"])
    if hasattr(last, "predict_proba"):
        graph.output("probabilities", P, "DOUBLE", [None, len(s["classes_"])])


def _add_ordinal(graph: Graph, X: str, last: object) -> None:
    s = vars(last)
    w, c = np.asarray(s["coef_"], dtype=float).T, np.asarray(s["thresholds_"], dtype=float)
    A = graph.with_constant("Sub", graph.with_constant("MatMul", X, w), c[None])  # (n, K − 1)
    above, below = graph.node("Sigmoid", A), graph.node("Sigmoid", graph.node("Neg", A))

    def columns(value: str, begin: int, end: int) -> str:
        ends = (graph.constant(np.array([v])) for v in (begin, end, 1))
        return graph.node("Slice", value, *ends)

    last_one = len(c) - 1
    parts = [columns(below, 0, 1)]
    if last_one > 0:
        inner = graph.node("Mul", columns(above, 0, last_one), columns(below, 1, last_one + 1))
        gaps = -np.expm1(-np.diff(c))  # 1 − e^{a_k − a_{k−1}}
        parts.append(graph.with_constant("Mul", inner, gaps))
    parts.append(columns(above, last_one, last_one + 1))
    P = graph.node("Concat", *parts, axis=1)
    _add_label(graph, graph.node("ArgMax", P, axis=1, keepdims=0), s["classes_"])
    graph.output("probabilities", P, "DOUBLE", [None, len(s["classes_"])])


def _add_kmeans(graph: Graph, X: str, last: object) -> None:
    # by differences: products lose the digits of clusters far from the origin
    unit = float(vars(last)["unit_"])
    centers = np.asarray(vars(last)["cluster_centers_"], dtype=float) / unit
    if unit != 1.0:
        X = graph.with_constant("Div", X, np.array([unit]))
    rows = graph.node("Unsqueeze", X, graph.constant(np.array([1])))
    difference = graph.with_constant("Sub", rows, centers[None])
    squares = graph.node("Mul", difference, difference)
    distance = graph.node("ReduceSum", squares, graph.constant(np.array([2])), keepdims=0)
    index = graph.node("ArgMin", distance, axis=1, keepdims=0)
    graph.output("label", index, "INT64", [None])


def _add_label(graph: Graph, index: str, classes: np.ndarray) -> None:
    classes = np.asarray(classes)
    if classes.dtype.kind in "UO":
        if not all(isinstance(c, str) for c in classes.tolist()):
            raise ModelFileError("no ONNX form for classes that are neither numbers nor text")
        labels, kind = classes.astype(str), "STRING"
    elif classes.dtype.kind == "f":
        labels, kind = classes.astype(float), "DOUBLE"
    elif classes.dtype.kind == "b":
        labels, kind = classes, "BOOL"
    else:
        labels, kind = classes.astype(np.int64), "INT64"
    label = graph.node("Gather", graph.constant(labels), index)
    graph.output("label", label, kind, [None])


# --- comparison -----------------------------------------------------------------------------------


def _compare(model: object, made: object, methods: dict[str, str], n_columns: int) -> None:
    from onnx.reference import ReferenceEvaluator

    rows = _rows_for(model, n_columns)
    names = [*methods]
    found = ReferenceEvaluator(made).run(names, {"X": rows})
    for name, answer in zip(names, found, strict=True):
        expected = np.asarray(getattr(model, methods[name])(_named(model, rows)))
        if not _agree(np.asarray(answer), expected):
            raise ModelFileError(
                f"the ONNX graph answers differently from {methods[name]}: nothing was written"
            )


def _rows_for(model: object, n_columns: int) -> np.ndarray:
    """Synthetic rows where the model's columns lie: about the means and scales of its first step,
    or about its centres."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20 * N_ROWS, n_columns))
    first = vars(steps_of(model)[0])
    centers = first.get("cluster_centers_")
    if centers is not None:
        return rows * np.ptp(centers, axis=0) + centers.mean(axis=0)
    shift = next((first[k] for k in ("mean_", "center_", "data_min_") if k in first), None)
    scale = next((first[k] for k in ("scale_",) if k in first and "min_" not in first), None)
    scale = first.get("data_range_", scale)
    return rows * (1.0 if scale is None else scale) + (0.0 if shift is None else shift)


def _named(model: object, rows: np.ndarray) -> object:
    """The rows as the model reads them: by name, where its columns are chosen by name."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return rows
    given = as_input({str(name): list(rows[:, j]) for j, name in enumerate(names)})
    if given is None:
        raise ModelFileError("the model reads columns by name: pip install pyarrow to compare it")
    return given


def _agree(answer: np.ndarray, expected: np.ndarray) -> bool:
    if answer.shape != expected.shape:
        return False
    if expected.dtype.kind != "f":
        return bool((answer.astype(expected.dtype) == expected).all())
    slack = RELATIVE_TOLERANCE * float(np.abs(expected).max(initial=0.0))
    return bool(np.allclose(answer, expected, rtol=0, atol=slack))
