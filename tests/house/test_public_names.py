"""Public names exist, are documented, and say what they compute."""

import inspect
import re

import pytest

import certus
from certus import (
    cluster,
    distances,
    exceptions,
    feature_selection,
    inference,
    linear_model,
    losses,
    metrics,
    mixture,
    neighbors,
    penalties,
    plotting,
    preprocessing,
    solvers,
    svm,
    testing,
)
from tests.house.source import SOURCE


@pytest.mark.parametrize(
    "module",
    [
        certus,
        cluster,
        distances,
        feature_selection,
        inference,
        linear_model,
        mixture,
        neighbors,
        preprocessing,
        losses,
        metrics,
        penalties,
        solvers,
        svm,
        exceptions,
        plotting,
        testing,
    ],
    ids=lambda m: m.__name__,
)
def test_public_names_exist_are_documented_and_are_all(module):
    assert sorted(set(module.__all__)) == sorted(module.__all__), "a name twice"
    for name in module.__all__:
        thing = getattr(module, name)
        doc = thing.__doc__
        assert doc, f"{name} has no docstring"
        assert len(doc.split()) > 3, f"{name}: say what it is"
    assert set(module.__all__) <= set(dir(module))


def test_public_functions_say_what_their_arguments_are():
    for function in (
        certus.verify, certus.audit_coefficients, certus.staleness, testing.assert_optimal,
        certus.set_config, certus.check_gradient,
    ):  # fmt: skip
        doc = inspect.getdoc(function)
        for name, parameter in inspect.signature(function).parameters.items():
            assert name in doc or parameter.kind is inspect.Parameter.VAR_KEYWORD


def test_every_field_of_a_certificate_that_people_read_is_documented():
    doc = certus.Certificate.__doc__
    for name in (
        "objective", "bound", "gap", "residual", "kind", "status", "certified", "tol", "coef_error",
        "seconds", "fingerprint", "trace",
    ):  # fmt: skip
        assert name in doc
    for method in ("explain", "note", "export", "plot"):
        assert inspect.getdoc(getattr(certus.Certificate, method))


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'linear_modle'"):
        certus.linear_modle


@pytest.mark.parametrize("name", linear_model.__all__)
def test_every_estimator_states_what_it_minimises(name):
    doc = inspect.getdoc(getattr(linear_model, name))
    first = doc.split("Parameters\n")[0].lower()
    assert "minimise" in first
    assert "Σ" in doc.split("Parameters\n")[0]
    for section in ("Parameters", "Attributes", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc
    assert "certificate_" in doc


@pytest.mark.parametrize("name", [n for n in svm.__all__ if n != "density_weights"])
def test_every_kernel_machine_states_what_it_minimises(name):
    doc = inspect.getdoc(getattr(svm, name))
    first = doc.split("Parameters\n")[0].lower()
    assert "minimise" in first
    assert "σ ωᵢ" in first or "σ sᵢ" in first or "σ cᵢ" in first
    for section in ("Parameters", "Attributes", "Notes", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc
    assert "certificate_" in doc


@pytest.mark.parametrize("name", [n for n in feature_selection.__all__ if n[:4] == "NCFS"])
def test_every_selector_states_what_it_maximises(name):
    doc = inspect.getdoc(getattr(feature_selection, name))
    first = doc.split("Parameters\n")[0].lower()
    assert "maximise" in first
    assert "certificate_" in doc


@pytest.mark.parametrize("name", exceptions.__all__)
def test_exceptions_and_warnings_are_what_their_names_say(name):
    cls = getattr(exceptions, name)
    assert issubclass(cls, Warning) == name.endswith("Warning")
    assert issubclass(cls, Exception)


def test_the_version_is_one():
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?(\.dev\d+)?", certus.__version__)


def test_types_are_shipped():
    assert (SOURCE / "py.typed").exists()
