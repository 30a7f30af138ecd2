"""Results as boxes in a notebook: complete, escaped, and without colours of their own."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from certus.cluster import KMeans, Tree, choose_n_clusters
from certus.neighbors import choose_k
from certus.text.box import BOX_STYLE, box, preformatted

X = np.random.default_rng(0).normal(size=(45, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 15, axis=0)
MERGES = [[0, 1, 1.0, 2], [3, 4, 1.5, 2], [2, 6, 4.0, 3], [5, 7, 9.0, 5]]
RESULTS = {
    "NClustersResult": lambda: choose_n_clusters(
        X, range(1, 4), methods="silhouette", estimator=KMeans(n_init=1), n_references=2,
        random_state=0,
    ),
    "KResult": lambda: choose_k(X, np.repeat(["a", "b", "c"], 15), [1, 3, 5]),
    "Tree": lambda: Tree(MERGES, method="ward", names=["<b>", "&", "c", "d", "e"]),
    "Tree of a leaf": lambda: Tree(np.empty((0, 4))),
}  # fmt: skip


class Balanced(HTMLParser):
    """Collects text, and checks that every tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_box_in_the_style_of_certificates(name):
    result = RESULTS[name]()
    html = result._repr_html_()
    Balanced(html)
    certificate = KMeans(2, random_state=0).fit(X).certificate_._repr_html_()
    for text in (html, certificate):
        assert text.startswith(f'<div style="{BOX_STYLE}" role="note"')
        assert not re.search(r"(?<!-)color:(?!inherit)|background:(?!none)|<script|https?:", text)


def test_the_box_says_what_the_text_says():
    choice = RESULTS["NClustersResult"]()
    text = Balanced(choice._repr_html_()).text
    assert text.startswith("✔ 3 clusters · by silhouette alone")
    assert choice.explain() in text
    choice = RESULTS["KResult"]()
    text = Balanced(choice._repr_html_()).text
    assert text.startswith(f"✔ k = {choice.best} · error ")
    assert choice.advice.splitlines()[0] in text
    text = Balanced(RESULTS["Tree"]()._repr_html_()).text
    assert text.startswith("Tree · ward, 5 leaves, heights 1 to 9")
    assert "293 and 2" in text  # 2 clusters until height 9, then 3 rows and 2
    assert Balanced(RESULTS["Tree of a leaf"]()._repr_html_()).text == "Tree · 1 leaf"


def test_text_is_escaped():
    html = box("a", "", "<script>", "x & y", preformatted("<i>"))
    assert "&lt;script&gt;" in html
    assert "x &amp; y" in html
    assert "&lt;i&gt;" in html
    tree = Tree(MERGES, method="ward", metric="<img>")
    assert "<img" not in tree._repr_html_()
