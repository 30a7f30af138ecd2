"""What a file holds, what it refuses, and pipelines with scikit-learn's transformers."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import safetensors
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import certus
from certus import model_files
from certus.exceptions import ModelFileError
from certus.linear_model import LogisticRegression, PenalizedRegressor, Ridge
from certus.model_files import layout
from certus.model_files.files import DOCUMENT
from certus.neighbors import KNeighborsClassifier
from certus.penalties import GroupL2
from certus.solvers import SGD


def table(n=40):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "income": rng.lognormal(size=n),
            "city": rng.choice(["Oslo", "Århus", "<b>"], n).astype(object),
            "grade": rng.choice(["low", "mid", "high"], n).astype(object),
        }
    )
    frame.loc[3, "age"] = np.nan
    frame.loc[5, "city"] = None
    return frame, rng.choice(["no", "yes"], n)


def columns_apart():
    numbers = make_pipeline(SimpleImputer(), StandardScaler(), PolynomialFeatures(2))
    city = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", min_frequency=2),
    )
    grade = OrdinalEncoder(categories=[["low", "mid", "high"]])
    return ColumnTransformer(
        [
            ("numbers", numbers, ["age", "income"]),
            ("city", city, ["city"]),
            ("grade", grade, ["grade"]),
        ],
        n_jobs=2,
    )


PIPELINES = {
    "columns apart": lambda: make_pipeline(columns_apart(), LogisticRegression()),
    "indicator": lambda: make_pipeline(
        ColumnTransformer(
            [("n", SimpleImputer(add_indicator=True), ["age", "income"])], remainder="drop"
        ),
        MinMaxScaler(),
        KNeighborsClassifier(),
    ),
    "passthrough": lambda: make_pipeline(
        ColumnTransformer(
            [("c", OneHotEncoder(drop="first", sparse_output=False), ["grade"])],
            remainder="passthrough",
        ).set_output(transform="pandas"),
        ColumnTransformer([("x", RobustScaler(), ["remainder__income"])]),
        "passthrough",
        LogisticRegression(class_weight="balanced"),
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_survives_a_file(name, tmp_path):
    X, y = table()
    model = PIPELINES[name]().fit(X, y)
    certus.save(model, tmp_path / "m.certus")
    loaded = certus.load(tmp_path / "m.certus")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert certus.verify(loaded, X, y).explain() == certus.verify(model, X, y).explain()
    summary, _ = model_files.summary(tmp_path / "m.certus")
    assert summary["classes"] == ["no", "yes"]
    assert summary["feature_names"] == list(X.columns)
    assert summary["self_test"]
    assert model_files.to_bytes(loaded) == (tmp_path / "m.certus").read_bytes()


def test_the_official_reader_finds_the_coefficients(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = Ridge().fit(X, X[:, 0])
    certus.save(model, tmp_path / "m.certus")
    with safetensors.safe_open(tmp_path / "m.certus", framework="np") as file:
        np.testing.assert_array_equal(file.get_tensor("coef_"), model.coef_)
        document = json.loads(file.metadata()[DOCUMENT])
    assert document["schema_version"] == 1
    assert document["summary"]["certificate"]["status"] == "optimal"


def test_objects_among_the_parameters_are_kept():
    X = np.random.default_rng(0).normal(size=(50, 4))
    y = X[:, 0] - X[:, 2]
    penalty = GroupL2(0.1, groups=[[0, 1], [2, 3]])
    model = PenalizedRegressor("huber", penalty).fit(X, y)
    again = roundtrip(model)
    assert repr(again.penalty) == repr(penalty)
    assert again.penalty_.value(again.coef_[:, None]) == penalty.value(model.coef_[:, None])
    classifier = LogisticRegression(solver=SGD(average=2), max_iter=3)
    with pytest.warns(certus.exceptions.NotCertifiedWarning):
        classifier.fit(X, y > 0)
    again = roundtrip(classifier)
    assert again.solver.average == 2
    assert again.certificate_.status == classifier.certificate_.status


def roundtrip(model):
    metadata, arrays = layout.from_bytes(model_files.to_bytes(model))
    assert metadata.keys() == {DOCUMENT}
    assert all(isinstance(a, np.ndarray) for a in arrays.values())
    from certus.model_files.kinds import KindTable
    from certus.model_files.values import Decoder

    return Decoder(KindTable(), arrays).decode(json.loads(metadata[DOCUMENT])["model"])


def test_a_model_fitted_on_arrow_is_kept(tmp_path):
    X, y = table()
    arrow = pa.Table.from_pandas(X)
    model = PIPELINES["columns apart"]().fit(arrow, y)
    certus.save(model, tmp_path / "m")
    np.testing.assert_array_equal(certus.load(tmp_path / "m").predict(arrow), model.predict(arrow))


REFUSED = {
    "a peer's model": (lambda X, y: TheirRidge().fit(X, y), "sklearn.*Ridge is not a model a file"),
    "an unfitted one": (lambda X, y: Ridge(), "Ridge is not fitted: call fit before save"),
    "an unknown step": (
        lambda X, y: make_pipeline(SelectKBest(k=1), Ridge()).fit(X, y),
        r"SelectKBest, which a file cannot hold",
    ),
    "a function": (
        lambda X, y: make_pipeline(FunctionTransformer(np.log1p), Ridge()).fit(abs(X), y),
        r"func is a function \(log1p\), which a file cannot hold",
    ),
    "a generator": (
        lambda X, y: certus.cluster.KMeans(2, random_state=np.random.RandomState(0)).fit(X),
        "random_state is an object of class .*RandomState",
    ),
    "a metric of one's own": (
        lambda X, y: KNeighborsClassifier(metric=lambda A, B: abs(A[:, None] - B).sum(-1)).fit(
            X, y > 0
        ),
        "metric is a function",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_no_file_can_hold_is_refused_by_name(name, tmp_path):
    make, reason = REFUSED[name]
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ModelFileError, match=reason):
        certus.save(make(X, X[:, 0]), tmp_path / "m.certus")
    assert not list(tmp_path.iterdir())


def test_an_attribute_of_the_users_is_not_lost_silently():
    model = Ridge().fit([[0.0], [1.0]], [0.0, 1.0])
    model.remark = "mine"
    with pytest.raises(ModelFileError, match="attribute 'remark'"):
        model_files.to_bytes(model)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.certus"
    path.write_bytes(b"old")
    with pytest.raises(ModelFileError):
        certus.save(TheirRidge().fit([[0.0], [1.0]], [0.0, 1.0]), path)
    assert path.read_bytes() == b"old"


def test_equal_models_give_equal_bytes():
    X = np.random.default_rng(0).normal(size=(200, 3))
    files = [model_files.to_bytes(certus.cluster.KMeans(3, random_state=0).fit(X)) for _ in "ab"]
    assert files[0] == files[1]


# --- files that were changed ----------------------------------------------------------------------


def saved(tmp_path, change=None, arrays=None):
    X = np.random.default_rng(0).normal(size=(30, 2))
    metadata, old = layout.from_bytes(model_files.to_bytes(Ridge().fit(X, X[:, 0])))
    document = json.loads(metadata[DOCUMENT])
    if change is not None:
        change(document)
    path = tmp_path / "changed.certus"
    layout.write(path, {DOCUMENT: json.dumps(document)}, {**old, **(arrays or {})})
    return path


CHANGES = {
    "newer schema": (lambda d: d.update(schema_version=2), "written by a newer certus"),
    "no schema": (lambda d: d.update(schema_version="1"), "schema_version is '1'"),
    "no model": (lambda d: d.pop("model"), "has no 'model'"),
    "another class": (
        lambda d: d["model"]["$object"].__setitem__(0, "os.system"),
        "'os.system' is not one that a file may hold",
    ),
    "an unknown attribute": (
        lambda d: d["model"]["$object"][1]["attributes"]["$dict"].append(["predict", 1]),
        "Ridge has no 'predict'",
    ),
    "an unknown parameter": (
        lambda d: d["model"]["$object"][1]["parameters"]["$dict"].append(["x", 1]),
        "Ridge has no 'x'",
    ),
    "a value with two tags": (
        lambda d: d.update(model={"$array": "coef_", "$float": "nan"}),
        "a value has the keys",
    ),
    "an array that is not there": (lambda d: d.update(model={"$array": "no"}), "no array 'no'"),
    "a model that is a list": (lambda d: d.update(model=[]), "its model is not an estimator"),
    "a penalty for a model": (
        lambda d: d.update(model={"$object": ["certus.losses.Squared", {}]}),
        "its model is not an estimator",
    ),
    "a summary that is none": (lambda d: d.update(summary=[]), "its summary is not an object"),
    "a summary without a model": (
        lambda d: d["summary"].pop("model"),
        "its summary has the model None",
    ),
    "a table of another shape": (
        lambda d: d.update(table={"columns": 5, "used": []}),
        "its table has the columns 5",
    ),
    "a column whose name is a list": (
        lambda d: d.update(table={"columns": [{"name": [], "role": "x"}], "used": []}),
        "its column of the table has the name",
    ),
    "a header that is text": (
        lambda d: d.update(table={"columns": [], "used": [], "reading": {"header": "yes"}}),
        "has the header 'yes'",
    ),
    "text that is padded to gigabytes": (
        lambda d: d.update(model={"$text": ["U1048576", [1000], ["a"] * 1000]}),
        "far more memory than it has bytes, for padded text",
    ),
    "no self-test": (lambda d: d.update(self_test=[]), "its self-test is not one"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_document_is_refused_with_the_reason(name, tmp_path):
    change, reason = CHANGES[name]
    with pytest.raises(ModelFileError, match=reason):
        certus.load(saved(tmp_path, change))


def test_an_array_is_not_copied_without_end(tmp_path):
    copies = {"model": [{"$array": "large"}] * 200}
    large = {"large": np.zeros(1 << 20)}  # 8 MB
    with pytest.raises(ModelFileError, match=r"far more memory .* for copies of arrays"):
        certus.load(saved(tmp_path, lambda d: d.update(copies), large))


def test_a_refusal_names_the_file(tmp_path):
    with pytest.raises(ModelFileError, match=r"^changed\.certus is refused: "):
        certus.load(saved(tmp_path, lambda d: d.update(model=[])))


def test_an_unchanged_document_is_read(tmp_path):
    assert certus.load(saved(tmp_path)).coef_.shape == (2,)


def test_the_self_test_notices_other_coefficients(tmp_path):
    path = saved(tmp_path, arrays={"coef_": np.array([5.0, 5.0])})
    with pytest.raises(ModelFileError, match="self-test failed: predict answers differently"):
        certus.load(path)


def test_an_array_that_belongs_to_nothing_is_refused(tmp_path):
    path = saved(tmp_path, arrays={"hidden": np.zeros(3)})
    with pytest.raises(ModelFileError, match="'hidden' belongs to nothing"):
        certus.load(path)


def test_a_file_of_another_program_is_refused(tmp_path):
    layout.write(tmp_path / "x.safetensors", {"format": "pt"}, {"w": np.zeros(3)})
    with pytest.raises(ModelFileError, match="was not written by certus"):
        certus.load(tmp_path / "x.safetensors")
