"""The JSON schema of report.json, from the dataclasses of the content.

python -m tests.report.render.schema     writes docs/schemas/report.json
"""

import json
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from certus.reporting.content.document import SCHEMA_VERSION, ReportContent
from tests.house.source import REPOSITORY

PATH = REPOSITORY / "docs" / "schemas" / "report.json"
NUMBER = {"anyOf": [{"type": ["number", "null"]}, {"enum": ["infinite", "−infinite"]}]}
PLAIN = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: NUMBER,
    type(None): {"type": "null"},
}


def schema() -> dict[str, Any]:
    """Return the schema of the content."""
    found: dict[str, Any] = {}
    root = _object(ReportContent, found)
    root["properties"]["schema_version"] = {"const": SCHEMA_VERSION}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "certus report --json",
        "description": "Numbers are unrounded; null is a number that is not defined.",
        **root,
        "$defs": dict(sorted(found.items())),
    }


def text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _object(cls: type, found: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    names: list[Field[Any]] = list(fields(cls))
    assert all(f.default is MISSING or not is_dataclass(f.default) for f in names)
    return {
        "type": "object",
        "description": (cls.__doc__ or "").split("\n\n")[0].replace("\n", " ").replace("    ", ""),
        "properties": {f.name: _of(hints[f.name], found) for f in names},
        "required": [f.name for f in names],
        "additionalProperties": False,
    }


def _of(hint: Any, found: dict[str, Any]) -> dict[str, Any]:
    if hint in PLAIN:
        return PLAIN[hint]
    if is_dataclass(hint):
        if hint.__name__ not in found:
            found[hint.__name__] = {}
            found[hint.__name__] = _object(hint, found)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if get_origin(hint) in (Union, types.UnionType):
        return {"anyOf": [_of(part, found) for part in get_args(hint)]}
    assert get_origin(hint) is tuple, hint
    parts = get_args(hint)
    if parts[-1] is Ellipsis:
        return {"type": "array", "items": _of(parts[0], found)}
    return {
        "type": "array",
        "prefixItems": [_of(part, found) for part in parts],
        "minItems": len(parts),
        "maxItems": len(parts),
    }


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
