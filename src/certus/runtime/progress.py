"""Monitoring of a fit: its trace, scikit-learn's callbacks, and Ctrl-C.

    solver ── on_step(Step) ──► FitMonitor ──► trace of the certificate
              ◄── True: stop ──            ──► CallbackContext: progress bar, early stop
                                           ──► the best parameters so far, for an interrupt

``@monitored`` around ``fit`` opens one task for scikit-learn's callbacks and closes it, and puts
the model back as it was if the fit fails. A fit that iterates hands ``self._monitor.iterations(…)``
to its solver; one that does not, does nothing.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from inspect import signature
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sklearn.callback import with_callbacks

from ..text.format import count
from .kernel_clock import kernel_clock
from .pool import blas_limiter, proof_seconds

if TYPE_CHECKING:
    from ..certificate import Certificate
    from ..solvers.progress import Step

STOPPED_PROOF_SECONDS = 0.5  # after Ctrl-C; a proof that takes longer is left to certus.verify

Fit = TypeVar("Fit", bound=Callable[..., Any])


class TracePoint(NamedTuple):
    """One step of a fit, as reported by its solver; the certificate recomputes its own values."""

    iteration: int  # from 0: the start
    seconds: float  # since the solver began, but for importing, loading and compiling kernels
    objective: float
    bound: float | None  # the optimum cannot be lower
    passes: float | None = None  # over the data that the method needed; None: not counted


class InterruptedModel(NamedTuple):
    """The model that an interrupt keeps before the final fit has made a step."""

    attributes: Callable[[], dict[str, Any]]
    certify: Callable[[], "Certificate"]
    description: str | Callable[[], str]  # "after 2 of 5 folds; … was kept"
    has_model: Callable[[], bool] = lambda: True  # is there a model yet?


class FitMonitor:
    """Passes the steps of one fit to its trace and callbacks, and handles interrupts."""

    def __init__(self, estimator: Any, given: dict[str, Any]):
        self.estimator = estimator
        weight = given.get("sample_weight")
        self.data = {
            "X": given.get("X"),
            "y": given.get("y"),
            "metadata": None if weight is None else {"sample_weight": weight},
        }
        self.context: Any = None
        self.before: dict[str, Any] = {}  # the estimator as it was
        self.begun = False
        self.blas_entries = 0  # of this thread, before the fit
        self.trace: list[TracePoint] = []
        self.stopped: str | None = None  # by whom, and when
        self.best: Any = None
        self.last: Any = None  # parameters of the previous step, if callbacks request them
        self.least = float("inf")  # objective, of its sign
        self.sign = 1
        self.attributes: Callable[[Any], dict[str, Any]] | None = None
        self.certify: Callable[[], Certificate] | None = None
        self.parts = 0  # preliminary fits, before the one that is kept
        self.so_far: InterruptedModel | None = None
        self.started = kernel_clock.now()

    # --- what an estimator calls ---

    def begin(self, max_iter: int | None = 0) -> None:
        """Open the task of the fit; ``max_iter`` 0: no iterations, None: an unknown number.

        Calling it again has no effect.
        """
        if not self.begun:
            self.begun = True
            self.context.max_subtasks = max_iter
            self.context.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def iterations(
        self,
        attributes: Callable[[Any], dict[str, Any]],
        certify: Callable[[], "Certificate"],
        max_iter: int | None = None,
        *,
        maximized: bool = False,
    ) -> "FitMonitor":
        """Return the ``on_step`` callback of a solver.

        ``attributes(parameters)`` gives the fitted attributes of a step's parameters; ``certify()``
        the certificate of the estimator once they are set. ``maximized``: the best objective is the
        largest.
        """
        self.attributes, self.certify, self.sign = attributes, certify, -1 if maximized else 1
        self.begin(max_iter)
        self.context.max_subtasks = None if max_iter is None else self.parts + max_iter
        self.started = kernel_clock.now()
        return self

    def part_done(self, name: str) -> None:
        """Report that one of the preliminary fits is done.

        Callbacks get no model for it and cannot stop the fit here.
        """
        self.parts += 1
        if vars(self.estimator).get("_skl_callbacks"):
            task = self.context.subcontext(task_name=name)
            task.call_on_fit_task_begin(estimator=self.estimator)
            task.call_on_fit_task_end(estimator=self.estimator)

    def keep(
        self, attributes: Callable[[], dict[str, Any]], certify: Callable[[], "Certificate"],
        description: str | Callable[[], str], has_model: Callable[[], bool] = lambda: True,
    ) -> None:  # fmt: skip
        """Let an interrupt keep this model, until the fit of all rows has made a step.

        ``description`` names it: "after 2 of 5 folds; their mean was kept", or is a function that
        returns such a text. ``has_model``: is there a model yet?
        """
        self.so_far = InterruptedModel(attributes, certify, description, has_model)

    def __call__(self, step: "Step") -> bool:
        """Record one step; return True to stop the fit."""
        seconds = kernel_clock.now() - self.started
        self.trace.append(
            TracePoint(step.iteration, seconds, step.objective, step.bound, step.passes)
        )
        objective = self.sign * step.objective
        if self.best is None or objective < self.least or math.isnan(self.least):
            self.best, self.least = step.parameters(), objective
        stop = step.iteration > 0 and self._callbacks_say_stop(step)
        if vars(self.estimator).get("_skl_callbacks"):
            self.last = step.parameters()
        if stop:
            self.stopped = f"by a callback after {count(step.iteration, 'iteration')}"
        return stop

    def label(self, certificate: "Certificate") -> "Certificate":
        """The certificate with the trace, and with the status "stopped" where a fit was."""
        certificate = replace(certificate, trace=tuple(self.trace))
        if self.stopped is None or (certificate.certified and "callback" in self.stopped):
            return certificate
        return certificate._stopped(self.stopped)

    # --- scikit-learn's side ---

    def _callbacks_say_stop(self, step: "Step") -> bool:
        most = self.context.max_subtasks
        error_name = self.parts + step.iteration
        if not vars(self.estimator).get("_skl_callbacks") or (most and error_name > most):
            return False
        assert self.attributes is not None
        attributes, last = self.attributes, self.last
        # a step is reported when it is done: its task begins and ends here
        task = self.context.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(
            estimator=self.estimator,
            reconstruction_attributes=None if last is None else lambda: attributes(last),
            **self.data,
        )
        stop: bool = task.call_on_fit_task_end(
            estimator=self.estimator,
            reconstruction_attributes=lambda: attributes(step.parameters()),
            **self.data,
        )
        return stop

    def __enter__(self) -> "FitMonitor":
        self.context = self.estimator._init_callback_context(max_subtasks=0)
        self.before = dict(vars(self.estimator))
        self.estimator._monitor = self
        self.blas_entries = blas_limiter.of_this_thread()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        vars(self.estimator).pop("_monitor", None)
        kernel_clock.report()
        if isinstance(error, KeyboardInterrupt):
            blas_limiter.leave_to(self.blas_entries)
        if error is None:
            self.begin()
            self.context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes={}, **self.data
            )
        elif isinstance(error, KeyboardInterrupt) and self._has_model():
            self._keep_best(error)
        elif not isinstance(error, Warning):  # a warning made an error is about a finished fit
            # restore everything: new coefficients must not stand beside an old certificate
            vars(self.estimator).clear()
            vars(self.estimator).update(self.before)

    def __reduce__(self) -> Any:
        return type(None), ()  # a model that a callback saves does not contain its monitor

    # --- Ctrl-C ---

    def _keep_best(self, interrupt: KeyboardInterrupt) -> None:
        """Set the best iterate with its certificate, and add a note to the interrupt."""
        attributes, certify, description, _ = self._best_so_far()
        self.stopped = f"by you {description if isinstance(description, str) else description()}"
        vars(self.estimator).pop("certificate_", None)  # that of an earlier fit
        for name, value in attributes().items():
            setattr(self.estimator, name, value)
        interrupt.add_note(f"{type(self.estimator).__name__} stopped {self.stopped}.")
        try:
            self.estimator.certificate_ = self._label_stopped(self._certify_in_time(certify))
        except BaseException as error:  # a second Ctrl-C: the first is what the caller must see
            error_name = type(error).__name__
            interrupt.add_note(f"It has no certificate_: the check ended in {error_name}.")

    @staticmethod
    def _certify_in_time(certify: "Callable[[], Certificate]") -> "Certificate":
        """The certificate, with a proof that is limited to the time people wait after Ctrl-C."""
        token = proof_seconds.set(STOPPED_PROOF_SECONDS)
        try:
            return certify()
        finally:
            proof_seconds.reset(token)

    def _label_stopped(self, certificate: "Certificate") -> "Certificate":
        """The certificate labelled; where nothing was proven, with the solver's own objective."""
        if not certificate.definition and math.isnan(certificate.objective):
            of_steps = self.best is not None and self._best_so_far() is not self.so_far
            objective = self.sign * self.least if of_steps else certificate.objective
            certificate = certificate._with_objective_of_solver(objective, self.sign < 0)
        return self.label(certificate)

    def _has_model(self) -> bool:
        return self.best is not None or (self.so_far is not None and self.so_far.has_model())

    def _best_so_far(self) -> InterruptedModel:
        if self.so_far is not None and (self.best is None or self.trace[-1].iteration == 0):
            return self.so_far
        assert self.attributes is not None
        assert self.certify is not None
        attributes, steps = self.attributes, count(self.trace[-1].iteration, "iteration")
        description = f"after {steps}; the best one so far was kept"
        return InterruptedModel(lambda: attributes(self.best), self.certify, description)


def monitored(fit: Fit) -> Fit:
    """Decorate ``fit`` with support for scikit-learn's callbacks and for Ctrl-C."""
    names = list(signature(fit).parameters)[1:]

    @wraps(fit)
    def monitored_fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        with FitMonitor(self, {**dict(zip(names, args, strict=False)), **kwargs}):
            return fit(self, *args, **kwargs)

    return with_callbacks(monitored_fit)
