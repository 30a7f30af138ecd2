"""Linear models in ONNX files are read as their coefficients, in the columns that they multiply."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from certus.audited_files.onnx_linear import read
from certus.exceptions import ModelFileError
from certus.linear_model import LogisticRegression, Ridge
from certus.model_files.onnx_export import export_onnx

n, p = 40, 3
X = np.random.default_rng(0).normal(size=(n, p)) * [1, 5, 0.1] + [3, 0, 1]
y = X @ [1.0, -0.5, 4.0] + np.random.default_rng(1).normal(size=n)
W32, B32 = [0.1, -2.0, 3.5], [0.25]
ONE_INPUT = [("X", p)]


def written(path, nodes, inputs=ONE_INPUT, constants=()):
    """Write a graph whose last node makes its output."""
    graph = helper.make_graph(
        nodes, "linear",
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, [None, m]) for k, m in inputs],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants],
    )  # fmt: skip
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


def ml(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, domain="ai.onnx.ml", **attributes)


def scores(model):
    columns = model.columns
    return (X[:, columns.at] * columns.a + columns.c) @ model.w + model.b


@pytest.mark.parametrize("steps", [[], [StandardScaler()], [MinMaxScaler(), StandardScaler()]])
def test_what_certus_exports_is_read_back(tmp_path, steps):
    path = tmp_path / "model.onnx"
    ridge = make_pipeline(*steps, Ridge()).fit(X, y)
    export_onnx(ridge, path)
    found = read(path)
    np.testing.assert_allclose(scores(found), ridge.predict(X), rtol=1e-12)
    np.testing.assert_allclose(found.w, ridge[-1].coef_, rtol=1e-15)
    assert not found.is_classifier
    classes = make_pipeline(*steps, LogisticRegression()).fit(X, y > np.median(y))
    export_onnx(classes, path)
    found = read(path)
    np.testing.assert_allclose(scores(found), classes.decision_function(X), rtol=1e-9)
    assert found.is_classifier


def test_a_scaler_and_a_regressor_of_onnx_ml(tmp_path):
    scaler = ml("Scaler", ["X"], ["Z"], offset=[3.0, 0.0, 1.0], scale=[1.0, 0.5, 10.0])
    regressor = ml("LinearRegressor", ["Z"], ["y"], coefficients=W32, intercepts=B32)
    found = read(written(tmp_path / "m.onnx", [scaler, regressor]))
    expected = ((X - [3, 0, 1]) * [1, 0.5, 10]) @ np.float32(W32) + 0.25
    np.testing.assert_allclose(scores(found), expected, rtol=1e-6)
    assert found.digits == 6
    assert found.estimates(["a", "b", "c"]) == {
        "(Intercept)": "2.50000e-01", "a": "1.00000e-01", "b": "-2.00000e+00", "c": "3.50000e+00",
    }  # fmt: skip


@pytest.mark.parametrize(
    "labels", [{"classlabels_ints": [3, 7]}, {"classlabels_strings": ["a", "b"]}]
)
def test_a_classifier_of_onnx_ml_names_its_second_class(tmp_path, labels):
    node = ml(
        "LinearClassifier", ["X"], ["k", "P"], coefficients=[*(-w for w in W32), *W32],
        intercepts=[-0.25, 0.25], post_transform="LOGISTIC", **labels,
    )  # fmt: skip
    found = read(written(tmp_path / "m.onnx", [node]))
    np.testing.assert_allclose(found.w, W32, rtol=1e-7)
    assert found.b == 0.25
    assert found.positive_class == (7 if "classlabels_ints" in labels else "b")


def test_an_input_for_each_column_names_the_columns(tmp_path):
    inputs = [("age", 1), ("dose", 1), ("size", 1)]
    join = ml("FeatureVectorizer", [k for k, _ in inputs], ["X"], inputdimensions=[1, 1, 1])
    node = ml("LinearRegressor", ["X"], ["y"], coefficients=W32, intercepts=B32)
    assert read(written(tmp_path / "m.onnx", [join, node], inputs)).names == ("age", "dose", "size")


def test_products_of_core_operators(tmp_path):
    W, b = np.array(W32)[None], np.array(B32)
    gemm = helper.make_node("Gemm", ["X", "W", "b"], ["y"], transB=1, alpha=2.0, beta=0.5)
    found = read(written(tmp_path / "m.onnx", [gemm], constants=[("W", W), ("b", b)]))
    np.testing.assert_allclose(found.w, 2 * W[0])
    assert found.b == 0.125
    assert found.digits == 15
    chosen = helper.make_node("Gather", ["X", "i"], ["Z"], axis=1)
    product = helper.make_node("MatMul", ["Z", "W"], ["y"])
    constants = [("i", np.array([2, 0])), ("W", np.array([[1.5], [2.5]]))]
    found = read(written(tmp_path / "m.onnx", [chosen, product], constants=constants))
    np.testing.assert_allclose(scores(found), 1.5 * X[:, 2] + 2.5 * X[:, 0])


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (helper.make_node("Exp", ["X"], ["y"]), "a step Exp"),
        (helper.make_node("Identity", ["X"], ["y"]), "holds no linear model"),
        (helper.make_node("MatMul", ["X", "X"], ["y"]), "no constant"),
        (ml("LinearRegressor", ["X"], ["y"], coefficients=W32 * 2), "2 scores a row"),
        (ml("TreeEnsembleRegressor", ["X"], ["y"]), "a step TreeEnsembleRegressor"),
    ],
)
def test_other_graphs_are_refused_with_the_step(tmp_path, node, message):
    with pytest.raises(ModelFileError, match=message):
        read(written(tmp_path / "m.onnx", [node]))


def test_a_file_that_is_no_onnx_is_named(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\xff\xff nothing")
    with pytest.raises(ModelFileError, match=r"m\.onnx"):
        read(path)
