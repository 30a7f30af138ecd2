"""k-means from one start for all, and the start itself.

    F = J(μ) = Σ_i min_k ‖x_i − μ_k‖²,   from the centres alone, in float64

    20 steps    Lloyd's iteration from k rows of the data, tol 0: after so many steps every library
                is at the same centres, whatever it skipped on the way
    to the end  the same until no row changes its cluster
    fit         each library at its defaults, with k-means++ (certus: and moves of single rows after
                Lloyd's steps, which its rows above leave out): starts differ by chance
    k-means++   the start alone, the best of 2 + log k candidates a step; F is its potential
    k-means‖    the start alone, by rounds over all rows

Noise is uniform: nothing to find, and the most steps. Digits are images copied with noise; the rows
"file" run with --data (60,000 × 784 from a table of images). Rounding in float32 gives a row
between two centres to the other one now and then; from there the ways part a little.
"""

import numpy as np

from benchmarks import libraries
from benchmarks.generators import (
    blobs_10,
    blobs_64,
    blobs_256,
    blobs_1000,
    digits,
    rows_of_a_file,
    uniform_noise,
)
from benchmarks.harness import Row, Suite

BLOCK_ROWS = 4096
END = 1000  # steps at most
SAME = 1e-3  # excess: in float64 all agree to 1e-15, with float32 among them to 5e-4 on noise
BY_CHANCE = 0.1  # of random starts; one candidate a step instead of several costs 12 %
LOOSE = 0.2  # of k-means‖, whose rounds and candidates every library chooses by itself


def within_clusters(row, X, y):
    middle = X.mean(axis=0, dtype=np.float64)

    def J(model):
        mu = np.asarray(model.centers_, dtype=np.float64) - middle
        total = 0.0
        for start in range(0, len(X), BLOCK_ROWS):
            x = X[start : start + BLOCK_ROWS] - middle
            # the products choose the centre, differences give its distance
            nearest = np.argmin((mu**2).sum(axis=1) - 2 * np.dot(x, mu.T), axis=1)
            total += float(((x - mu[nearest]) ** 2).sum())
        return total

    return J


CERTUS = libraries.certus_kmeans()
LLOYD, ELKAN = libraries.sklearn_kmeans("lloyd"), libraries.sklearn_kmeans("elkan")
ONEDAL, FAISS = libraries.sklearnex_kmeans(), libraries.faiss()
PEERS = LLOYD, ELKAN, ONEDAL, FAISS


def row(name, estimator, k, peers=PEERS, **settings):
    defaults = {
        "objective": within_clusters,
        "params": {"k": k},
        "without": tuple(peer.name for peer in PEERS if peer not in peers),
    }
    return Row(name, estimator, **defaults | settings)


def lloyd(name, k, max_iter, **settings):
    params = {"k": k, "max_iter": max_iter}
    return row(name, "Lloyd", k, params=params, tol=0.0, excess_limit=SAME, **settings)


def steps(name, k, **settings):
    return lloyd(f"{name} 20 steps", k, 20, **settings)


def to_the_end(name, k, **settings):
    return lloyd(f"{name} to the end", k, END, **settings)


def both(name, k, **settings):
    return steps(name, k, **settings), to_the_end(name, k, **settings)


def fit(name, k, **settings):
    settings = {"peers": (LLOYD, ELKAN, ONEDAL), "excess_limit": BY_CHANCE} | settings
    return row(f"{name} fit", "Default", k, **settings)


def plus_plus(name, k, **settings):
    settings = {"peers": (LLOYD, ONEDAL), "excess_limit": BY_CHANCE} | settings
    return row(f"{name} k-means++", "PlusPlus", k, **settings)


def parallel(name, k, **settings):
    settings = {"peers": (ONEDAL,), "excess_limit": LOOSE} | settings
    return row(f"{name} k-means‖", "Parallel", k, **settings)


TALL = {"k": 64, "n": 1_000_000, "p": 16}
MANY = {"k": 256, "n": 100_000, "p": 128}
WIDE = {"k": 10, "n": 60_000, "p": 784}
PLANE = {"k": 1000, "n": 1_000_000, "p": 2, "peers": (LLOYD, ONEDAL, FAISS)}  # elkan: 8 GB, n × k
DIGITS = {"k": 100, "n": 100_000, "p": 64, "generator": digits}
FILE = {"k": 10, "n": 60_000, "p": 784, "generator": rows_of_a_file}
FLOAT32, ONE_THREAD = {"dtype": "float32"}, {"threads": 1}
NOISE = {"generator": uniform_noise}
TALL_BLOBS, MANY_BLOBS = {"generator": blobs_64}, {"generator": blobs_256}
WIDE_BLOBS, PLANE_BLOBS = {"generator": blobs_10}, {"generator": blobs_1000}

SUITE = Suite(
    name="kmeans",
    contestants=(CERTUS, *PEERS),
    rows=(
        *both("p=16 noise", **TALL, **NOISE),
        *both("p=16 blobs", **TALL, **TALL_BLOBS),
        steps("p=16 noise float32", **TALL, **NOISE, **FLOAT32),
        steps("p=16 blobs float32", **TALL, **TALL_BLOBS, **FLOAT32),
        steps("p=16 noise 1 thread", **TALL, **NOISE, **ONE_THREAD),
        steps("p=16 blobs 1 thread", **TALL, **TALL_BLOBS, **ONE_THREAD),
        *both("p=128 noise", **MANY, **NOISE),
        *both("p=128 blobs", **MANY, **MANY_BLOBS),
        steps("p=128 noise float32", **MANY, **NOISE, **FLOAT32),
        steps("p=128 noise 1 thread", **MANY, **NOISE, **ONE_THREAD),
        *both("p=784 noise", **WIDE, **NOISE),
        *both("p=784 blobs", **WIDE, **WIDE_BLOBS),
        *both("p=784 noise float32", **WIDE, **NOISE, **FLOAT32),
        *both("p=784 blobs float32", **WIDE, **WIDE_BLOBS, **FLOAT32),
        steps("p=784 noise 1 thread", **WIDE, **NOISE, **ONE_THREAD),
        steps("p=2 noise", **PLANE, **NOISE),
        to_the_end("p=2 noise", **PLANE, **NOISE, repeats=1),  # some libraries take minutes
        steps("p=2 blobs", **PLANE, **PLANE_BLOBS),
        to_the_end("p=2 blobs", **PLANE, **PLANE_BLOBS, repeats=1),
        steps("p=2 noise 1 thread", **PLANE, **NOISE, **ONE_THREAD),
        *both("digits", **DIGITS),
        steps("digits float32", **DIGITS, **FLOAT32),
        *both("file", **FILE),
        *both("file float32", **FILE, **FLOAT32),
        fit("p=16 blobs", **TALL, **TALL_BLOBS),
        fit("digits", **DIGITS),
        plus_plus("p=16 noise", **TALL, **NOISE),
        plus_plus("p=16 blobs", **TALL, **TALL_BLOBS),
        plus_plus("p=16 noise 1 thread", **TALL, **NOISE, **ONE_THREAD),
        plus_plus("p=128 noise", **MANY, **NOISE),
        plus_plus("digits", **DIGITS),
        parallel("p=16 noise", **TALL, **NOISE),
        parallel("p=128 noise", **MANY, **NOISE),
    ),
)
