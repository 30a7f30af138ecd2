"""What a fit on a cluster costs: bytes, operations and messages of a pass, as measured here.

    python -m benchmarks.cost_model    # the constants of this machine, and the projection
    python -m benchmarks.cost_model --rows 1e9 --columns 100 --workers 100

Each model is fitted on one thread to rows in parts whose engine counts: the passes, the seconds in
statistics, the pickled bytes that go to a part and come back. A pass over n rows on W workers in
P parts then takes about

    n/W · seconds per row + W · seconds per message + P · seconds per call
        + P · bytes to and from a part / bandwidth

where a message asks one worker for all its calls, and a call is what one part adds to it. The
bandwidth is the driver's. Large results are combined in pairs on the workers, and one of them comes
back.
"""

import argparse
import contextlib
import itertools
import pickle
import time

import numpy as np

from certus.cluster import KMeans
from certus.data.streamed import StreamedTable
from certus.engines.parts import PAIRWISE_BYTES
from certus.engines.protocol import CallResult
from certus.linear_model import Lasso, LogisticRegression, Ridge
from certus.mixture import GaussianMixture
from certus.runtime.config import config_context
from certus.runtime.pool import blas_limiter
from certus.sources.dask.collection import MAX_PART_BYTES

MEASURED_PARTS = 8
BANDWIDTH = 1.25e9  # bytes per second of the driver: 10 Gbit/s
CLASSES, CLUSTERS = 3, 8
NUMBER_BYTES = 8


class MeteredEngine:
    """Parts in this process, whose engine counts what a cluster would send."""

    name = "metered"

    def __init__(self, parts):
        self.parts = parts
        self.passes = []  # seconds of each
        self.calls = self.bytes_to = self.bytes_from = 0
        self.largest = 0  # bytes of the result of one part

    def lengths(self):
        return [len(part[0]) for part in self.parts]

    def run(self, function, args, calls, keeps=0):
        is_pass = function.__name__ in ("nodes_of_part", "rows_of_part")
        shared = len(pickle.dumps((function, args), protocol=5))
        results, seconds = [], 0.0
        for call in calls:
            pieces = [
                tuple(None if c is None else c[p.start : p.stop] for c in self.parts[p.part])
                for p in call.pieces
            ]
            begun = time.thread_time()  # of the CPU: others may use the machine meanwhile
            with config_context(threads=1), blas_limiter:
                value, *states = function(pieces, list(call.states), call.own, *args)
            seconds += time.thread_time() - begun
            back = len(pickle.dumps(value, protocol=5))
            if is_pass:
                self.calls += 1
                self.bytes_to += shared + len(pickle.dumps(call.own, protocol=5))
                self.bytes_from += back
                self.largest = max(self.largest, back)
            results.append(CallResult(value, tuple(states)))
        if is_pass and not args[0].targets_only:
            self.passes.append(seconds)
        return results

    def keep(self, i, state):
        return state


class MeteredTable(StreamedTable):
    """Arrays in equal parts."""

    def __init__(self, X, y=None, classes=None):
        y = None if y is None else np.asarray(y, dtype=float).reshape(len(X), -1)
        super().__init__(X.shape, X.dtype, 0 if y is None else y.shape[1], False)
        self.classes = classes
        cuts = np.linspace(0, len(X), MEASURED_PARTS + 1).astype(int)
        self.engine = MeteredEngine(
            [(X[a:b], None if y is None else y[a:b], None) for a, b in itertools.pairwise(cuts)]
        )

    def read(self, start, stop):
        return self.gather(np.arange(start, stop))


def data(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    groups = rng.integers(0, CLUSTERS, size=n)
    X += rng.normal(size=(CLUSTERS, p))[groups]
    z = X @ rng.normal(size=p) / np.sqrt(p) + rng.normal(size=n)
    return X, z, np.digitize(z, np.quantile(z, [1 / 3, 2 / 3]))


# name, model, targets, operations per row of the heaviest pass, iterations
def models(X, z, labels):
    p, k, c = X.shape[1], CLUSTERS, CLASSES
    gram = p * (p + 1)
    return [
        ("Ridge", Ridge(), (z, None), gram, lambda model: 1),
        ("Lasso by its Gram matrix", Lasso(alpha=0.1), (z, None), gram, lambda model: 1),
        ("LogisticRegression", LogisticRegression(), (labels > 0, 2), gram + 4 * p, _steps),
        (
            f"softmax, {c} classes", LogisticRegression(), (labels, c),
            c * (c + 1) // 2 * gram + 4 * c * p, _steps,
        ),
        (
            f"KMeans, {k} clusters, no single moves",
            KMeans(k, n_init=1, random_state=0, single_moves=False), (None, None), 2 * k * p,
            lambda model: model.n_iter_,
        ),
        (
            f"GaussianMixture, {k} components", GaussianMixture(k, random_state=0, max_iter=20),
            (None, None), 2 * k * gram, _steps,
        ),
    ]  # fmt: skip


def _steps(model):
    return max(1, len(model.certificate_.trace) - 1)


def classes_of(count):
    return None if count is None else np.arange(count)


def measured(n, p):
    """Figures of a pass of each model: seconds per row on one thread, bytes, passes."""
    X, z, labels = data(n, p)
    found = []
    for _, model, (y, classes), _, _ in models(*(a[:2_000] for a in (X, z, labels))):
        with contextlib.suppress(TypeError):  # kernels are loaded before anything is timed
            model.fit(MeteredTable(X[:2_000], y, classes_of(classes)))
    for name, model, (y, classes), operations, steps in models(X, z, labels):
        table = MeteredTable(X, y, classes_of(classes))
        try:
            model.fit(table)
        except TypeError as refused:
            print(f"{name}: {str(refused).partition(':')[0]}")
            continue
        engine = table.engine
        passes = len(engine.passes)
        found.append(
            {
                "name": name,
                "passes": passes,
                "iterations": steps(model),
                "row_seconds": sum(engine.passes) / passes / n,
                "heaviest": max(engine.passes) / n,
                "operations": operations,
                "to": engine.bytes_to / engine.calls,
                "from": engine.bytes_from / engine.calls,
                "largest": engine.largest,
            }
        )
    return found


def message_seconds(calls=500, rounds=20):
    """Seconds of a message to a worker, and of one more call in it, of calls that do nothing."""
    import distributed

    from certus.engines.dask import DaskEngine, start
    from certus.engines.protocol import Call, Piece

    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        workers = list(client.nthreads())
        parts = [start(client, _small_part, workers=[worker]) for worker in workers]
        engine = DaskEngine(client, parts, [4] * len(parts))

        def seconds(count):
            made = [Call((Piece(i % len(parts), 0, 4),), (), (i,)) for i in range(count)]
            spent = []
            for _ in range(rounds):
                begun = time.perf_counter()
                engine.run(_nothing, (), made)
                spent.append(time.perf_counter() - begun)
            return min(spent)

        few = seconds(len(parts))
        return few / len(parts), (seconds(calls) - few) / (calls - len(parts))


def _small_part():
    return np.zeros((4, 1)), None, None


def _nothing(parts, states, own):
    return (own[0],)


def projected(found, costs, n, p, workers):
    """Return the parts, and the seconds of a pass of each model by what they are spent on."""
    parts = max(workers, -(-n * p * NUMBER_BYTES // MAX_PART_BYTES))
    per_message, per_call = costs
    rows = []
    for one in found:
        compute = n / workers * one["row_seconds"]
        pairwise = one["largest"] >= PAIRWISE_BYTES
        # in pairs: as many calls again, and one result for each of log2(parts) steps
        calls = parts * (2 if pairwise else 1)
        messages = workers * (1 + (np.log2(parts) if pairwise else 0))
        back = one["largest"] * (np.log2(parts) if pairwise else parts)
        traffic = (parts * one["to"] + back) / BANDWIDTH
        rows.append((one, compute, messages * per_message + calls * per_call, traffic))
    return parts, rows


def table_of_constants(found, n, p):
    lines = [
        f"n = {n:,}, p = {p}, one thread; a pass is one reading of all rows.",
        "",
        "| model | passes of the fit | iterations | ns per row, mean pass | heaviest pass | "
        "its operations per row | kB to a part | kB from a part |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return lines + [
        f"| {one['name']} | {one['passes']} | {one['iterations']} | "
        f"{one['row_seconds'] * 1e9:,.0f} | {one['heaviest'] * 1e9:,.0f} | "
        f"{one['operations']:,} | {one['to'] / 1e3:,.1f} | {one['from'] / 1e3:,.1f} |"
        for one in found
    ]


def table_of_projection(found, costs, n, p, workers):
    parts, rows = projected(found, costs, n, p, workers)
    size = n * p * NUMBER_BYTES
    lines = [
        f"{n:,} rows × {p} columns on {workers} workers of one thread: {size / 1e9:,.0f} GB, "
        f"{size / workers / 1e9:.1f} GB a worker, {parts:,} parts; {costs[0] * 1e3:.2f} ms "
        f"a message, {costs[1] * 1e3:.2f} ms a call, {BANDWIDTH / 1e9:.2f} GB/s at the driver.",
        "",
        "| model | seconds in statistics | of messages | of traffic | a pass | passes | "
        "the fit | bottleneck |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = "statistics", "messages", "the driver's traffic"
    for one, compute, messages, traffic in rows:
        spent = compute, messages, traffic
        total = sum(spent)
        worst = names[int(np.argmax(spent))]
        lines.append(
            f"| {one['name']} | {compute:,.1f} | {messages:,.2f} | {traffic:,.2f} | {total:,.1f} | "
            f"{one['passes']} | {total * one['passes'] / 60:,.1f} min | {worst} |"
        )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--measured-rows", type=float, default=200_000)
    options = parser.parse_args()
    n, p = int(options.measured_rows), options.columns
    found = measured(n, p)
    print("\n".join(table_of_constants(found, n, p)))
    print()
    costs = message_seconds()
    print("\n".join(table_of_projection(found, costs, int(options.rows), p, options.workers)))


if __name__ == "__main__":
    main()
