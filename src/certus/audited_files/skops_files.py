"""Models in files of skops, which are loaded without pickle if all their types are known."""

from pathlib import Path
from typing import Any

from ..exceptions import MissingExtraError, ModelFileError


def read(path: Path) -> Any:
    """Return the model of a file whose types skops trusts by itself; others are refused."""
    try:
        from skops import io
    except ImportError as error:
        raise MissingExtraError("files of skops need skops: pip install 'certus[audit]'") from error
    try:
        unknown = io.get_untrusted_types(file=path)
        if unknown:
            names = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
            raise ModelFileError(
                f"{path} holds types that skops does not trust by itself: {names}. A model of "
                "certus is better kept by certus.save"
            )
        return io.load(path)
    except ModelFileError:
        raise
    except ImportError as error:
        raise ModelFileError(f"{path} needs a package that is not installed: {error}") from error
    except Exception as error:  # whatever a damaged file makes skops stumble over
        raise ModelFileError(
            f"{path} cannot be loaded by skops: {type(error).__name__}: {error}"
        ) from error
