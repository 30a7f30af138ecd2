"""Sections that are not written yet, as empty ones."""

from importlib import import_module
from pprint import pformat
from typing import Any

from .content.answer import Certificates
from .content.data import Problems


def section(name: str, folder: str = "sections") -> Any:
    """The module of a section, or one that makes an empty part."""
    try:
        return import_module(f".{folder}.{name}", __package__)
    except ModuleNotFoundError as error:
        if not str(error.name).endswith(f"{folder}.{name}"):
            raise
        return Unwritten(name)


class Unwritten:
    def __init__(self, name: str):
        self.name = name

    def make(self, *given: Any) -> Any:
        from .without_model import reproduction_of, stopped_verdict

        if self.name == "reproduce":
            return reproduction_of(given[0], given[1], {})
        if self.name == "verdict":
            return stopped_verdict()
        empty = {
            "problems": Problems("", (), ()),
            "certificates": Certificates((), ""),
            "structure": (None, ()),
            "what_if": (None, ()),
            "cases": (None, ()),
            "subgroups": (),
            "crosswalk": (),
            "explanations": (),
            "unchecked": (),
        }
        return empty.get(self.name)

    find = items = collect = make

    def render(self, content: Any) -> str:
        return "{}" if self.name == "as_json" else pformat(content)
