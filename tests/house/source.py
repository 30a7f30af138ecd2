"""The sources of certus, as the rules of the house read them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import certus

SOURCE = Path(certus.__file__).parent
REPOSITORY = Path(__file__).parents[2]
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """Syntax tree of a file, parsed once for all rules."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def room_of(path: Path) -> str:
    inside = path.relative_to(SOURCE)
    name = inside.parts[0] if len(inside.parts) > 1 else inside.stem
    return "root" if name == "__init__" else name


def _only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not _only_for_types(child):
            yield child
            yield from _run_time_nodes(child)


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Full names of all modules that a file imports at run time, wherever in it."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    package = ["certus", *path.relative_to(SOURCE).parent.parts]
    for node in _run_time_nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            inside = (
                SOURCE.joinpath(*module.split(".")[1:]) if module.startswith("certus") else None
            )
            for alias in node.names:
                submodule = inside is not None and (
                    (inside / alias.name).is_dir() or (inside / f"{alias.name}.py").exists()
                )
                yield f"{module}.{alias.name}" if submodule else module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            text = ast.unparse(node.args[0]).lstrip("f'\"")
            if text.startswith("certus."):
                yield text.split("{")[0].rstrip(".'\"")


def room_of_module(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "certus":
        return None
    return parts[1] if len(parts) > 1 else "root"
