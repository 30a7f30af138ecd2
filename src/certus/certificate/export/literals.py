"""Arguments of a page as Python source; long arrays go into a file beside the script."""

import numpy as np

MAX_INLINE_NUMBERS = 100  # of an array; longer ones go into the file beside the script


class Literals:
    """Source of values, and the arrays that it refers to: ``ARRAYS["w0"]``."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def source(self, value: object, name: str = "array") -> str:
        """Python expression of a value; ``name`` is the argument that it is passed as."""
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if isinstance(value, dict):
            items = (f"{key!r}: {self.source(v, str(key))}" for key, v in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, tuple) and hasattr(value, "_fields"):  # a term
            fields = zip(value._fields, value, strict=True)
            given = ", ".join(f"{field}={self.source(v, field)}" for field, v in fields)
            return f"{type(value).__name__}({given})"
        if isinstance(value, tuple):
            return f"({''.join(f'{self.source(v, name)}, ' for v in value)})"
        if isinstance(value, list):
            return f"[{', '.join(self.source(v, name) for v in value)}]"
        if isinstance(value, float | np.floating) and not np.isfinite(value):
            return f'float("{float(value)}")'
        return repr(value.item() if isinstance(value, np.generic) else value)

    def _array(self, value: np.ndarray, name: str) -> str:
        if value.size > MAX_INLINE_NUMBERS:
            key = f"{name}{len(self.arrays)}"
            self.arrays[key] = value
            return f'ARRAYS["{key}"]'
        text = repr(value.tolist()).replace("inf", "np.inf").replace("nan", "np.nan")
        shape = "" if value.size else f".reshape({value.shape})"
        return f"np.array({text}, dtype={value.dtype.name!r}){shape}"
