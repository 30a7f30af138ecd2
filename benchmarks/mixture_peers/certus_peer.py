from benchmarks.mixture_peers import sklearn_peer
from certus.mixture import GaussianMixture


class Steps(sklearn_peer.Steps):
    model = GaussianMixture
