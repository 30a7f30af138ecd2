"""Names of test cases."""

import re
from typing import Any


def without_address(value: Any) -> str:
    """What a value looks like, without its address: every process calls its test the same."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", str(value))[:60]
