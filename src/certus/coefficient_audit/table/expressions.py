"""Arithmetic inside a term: I(x^2), log(x + 1), x:z, as R and patsy write it.

    sum := product (± product)*    product := power ((* | /) power)*    power := atom (^ power)?

Read by a small parser of its own, so that a table can run nothing.
"""

import re
from collections.abc import Callable

import numpy as np

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "log": np.log, "log10": np.log10, "log2": np.log2, "log1p": np.log1p, "exp": np.exp,
    "sqrt": np.sqrt, "abs": np.abs, "I": lambda x: x,
    "scale": lambda x: (x - x.mean()) / x.std(ddof=1),
    "as.numeric": lambda x: x,
}  # fmt: skip
FORMULA = re.compile(r"^(np\.)?(I|log|log10|log2|log1p|exp|sqrt|abs|scale|as\.numeric)\(.*\)$")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|`(?P<quoted>[^`]*)`"
    r"|(?P<name>[^\W\d][\w.]*)|(?P<sign>\*\*|[-+*/^()]))"
)


class NotAnExpression(ValueError):
    """Raised where a term is not arithmetic of columns."""


def evaluate(text: str, column: Callable[[str], np.ndarray]) -> np.ndarray:
    """Return the value of an expression for every row; ``column`` gives the columns it names."""
    parser = _Parser(text, column)
    with np.errstate(all="ignore"):
        value = parser.sum()
    if parser.tokens:
        raise NotAnExpression(f"'{text}' is not an expression that can be computed")
    return np.asarray(value, dtype=float)


class _Parser:
    def __init__(self, text: str, column: Callable[[str], np.ndarray]):
        self.text, self.column, self.tokens = text, column, _tokens(text)

    def _next(self, *signs: str) -> str | None:
        if self.tokens and self.tokens[0][0] == "sign" and self.tokens[0][1] in signs:
            return self.tokens.pop(0)[1]
        return None

    def sum(self) -> np.ndarray:
        value = self._product()
        while sign := self._next("+", "-"):
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> np.ndarray:
        value = self._power()
        while sign := self._next("*", "/"):
            other = self._power()
            value = value * other if sign == "*" else value / other
        return value

    def _power(self) -> np.ndarray:
        if self._next("-"):
            return -self._power()
        value = self._atom()
        return value ** self._power() if self._next("^", "**") else value

    def _atom(self) -> np.ndarray:
        if self._next("("):
            return self._closed(self.sum())
        if not self.tokens or self.tokens[0][0] == "sign":
            raise NotAnExpression(f"'{self.text}' is not an expression that can be computed")
        kind, text = self.tokens.pop(0)
        if kind == "number":
            return np.asarray(float(text))
        if kind == "name" and self._next("("):
            name = text.removeprefix("np.")
            if name not in FUNCTIONS:
                raise NotAnExpression(f"the function {text}() of '{self.text}' is not known")
            return FUNCTIONS[name](self._closed(self.sum()))
        return self.column(text)

    def _closed(self, value: np.ndarray) -> np.ndarray:
        if not self._next(")"):
            raise NotAnExpression(f"'{self.text}' lacks a closing bracket")
        return value


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotAnExpression(f"'{text}' is not an expression that can be computed")
        kind = str(match.lastgroup)
        found.append(("name" if kind == "quoted" else kind, match[kind]))
        at = match.end()
    return found
