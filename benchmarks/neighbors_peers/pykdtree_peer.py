from pykdtree.kdtree import KDTree


class Search:
    def __init__(self, k=10):
        self.k = k

    def fit(self, X, Q):
        self.distances_, self.indices_ = KDTree(X).query(Q, self.k)
        return self
