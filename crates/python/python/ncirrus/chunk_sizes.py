"""Sizes of chunks that are whole objects on another machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ncirrus.variable import Variable


def with_sizes(variable: Variable, table: NDArray[Any]) -> NDArray[Any]:
    """The table with the sizes of chunks that are whole objects, taken from one listing. Chunks that the listing does not
    contain are marked missing. The table is unchanged if nothing can be listed."""
    whole = (np.asarray(table["length"]).astype("i8") < 0) & ~table["missing"] if len(table) else np.zeros(0, bool)
    if not whole.any():
        return table
    from ncirrus import tools
    from ncirrus.errors import DeniedError, NotFoundError, UnsupportedError

    listed = partial(tools.keys, variable.dataset.url, sizes=True, session=variable.dataset.session)
    try:
        try:
            found = listed(prefix=variable.path.strip("/"))
        except NotFoundError:
            # An array that lies at the address itself, without a group around it.
            found = listed()
    except (DeniedError, UnsupportedError):
        return table
    sizes = {key.key: key.size for key in found}
    table = table.copy()
    for row in np.flatnonzero(whole):
        size = _size_of(str(table["object"][row]), sizes)
        table["missing"][row], table["length"][row] = size is None, size or 0
    return table


def _size_of(name: str, sizes: Mapping[str, int | None]) -> int | None:
    """The size of an object, whose name ends with its key in the dataset."""
    parts = name.split("/")
    for start in range(len(parts)):
        key = "/".join(parts[start:])
        if key in sizes:
            return sizes[key] or 0
    return None
