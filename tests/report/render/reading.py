"""A page read without a browser: elements, ids, links, text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

# None begins sentences too
PYTHON_TRACES = (
    r"\bNaN\b|\bnan\b|\bNone\b(?! (?:of|is|was|were)\b)|x0__|np\.|array\(| object at |Undefined"
    r"|= 0\.000\b"
)
VOID = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()  # noqa: SIM905
)


@dataclass
class Element:
    """An element with its attributes and everything inside."""

    tag: str
    attributes: dict[str, str]
    parent: "Element | None"
    children: "list[Element | str]" = field(default_factory=list)

    def all(self, tag: str = "") -> "list[Element]":
        """Every element inside, in order."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if tag in ("", child.tag):
                    found.append(child)
                found += child.all(tag)
        return found

    def text(self, skipped: tuple[str, ...] = ()) -> str:
        """The text inside; ``skipped``: tags and classes whose text is left out."""
        parts = []
        for child in self.children:
            if isinstance(child, str):
                parts.append(child)
            elif child.tag not in skipped and not set(skipped) & child.classes:
                space = "" if child.tag in ("span", "strong", "a", "code", "output") else " "
                parts += [space, child.text(skipped), space]
        return "".join(parts)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())


class PageReader(HTMLParser):
    """Builds the tree, and raises where an element is not closed by its own end."""

    def __init__(self, page: str):
        super().__init__()
        self.root = self.here = Element("", {}, None)
        self.feed(page)
        self.close()
        assert self.here is self.root, f"<{self.here.tag}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.here.tag, f"</{tag}> closes <{self.here.tag}>"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def read(page: str) -> Element:
    """Return the tree of a page."""
    return PageReader(page).root
