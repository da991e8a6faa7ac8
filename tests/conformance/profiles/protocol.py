"""How the cases of the section "profiles" write arguments and results (spec profiles 6).

As in the section "pruning", but a number that JSON lacks is written as JavaScript writes it: null.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tests.conformance.pruning import protocol as pruning

expand = pruning.expand


def encode(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return pruning.encode(value)
