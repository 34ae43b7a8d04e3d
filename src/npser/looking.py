"""The verb `view`: look inside a payload without decoding it."""

from __future__ import annotations

from typing import Any, get_args

from npser.choices import one_of
from npser.codec import DEFAULT_LIMITS, Classes, make_policy
from npser.limits import Limits
from npser.partial.opening import open_view
from npser.partial.view import View
from npser.shapes.policy import Copies, ExtraFields, Numbers, Unknown

__all__ = ["view"]


def view(
    data: Any,
    *,
    classes: Classes = (),
    numbers: Numbers = "array",
    copy: Copies = "always",
    unknown: Unknown = "placeholder",
    extra_fields: ExtraFields = "drop",
    limits: Limits = DEFAULT_LIMITS,
) -> View:
    """Look inside a payload: only what is asked for is decoded.

    What is read at once are the header, the shape, the short columns that stand together (the pools), and the lengths
    and codes that say how many of what there are. A column is decoded when it is asked for. What rows are made of is
    kept, so that going through a table row by row decodes each column once. If a part of the payload refers to an
    object elsewhere in it, asking for that part builds all of it. The fields of objects are those that are stored,
    whatever their class calls them now.

    Parameters
    ----------
    data : buffer
        bytes, bytearray, memoryview, mmap: anything contiguous, which must not change. It is not copied, unless it is
        compressed. An mmap can be closed when its views, and the arrays that look into it, are gone. What is sealed
        is refused.
    classes, unknown, extra_fields, limits
        As in `loads`; the limits are for each question.
    numbers : {"array", "list"}
        Whether a column of numbers comes as an array, or as a list.
    copy : {"always", "never"}
        As in `loads`; with ``"never"``, a column of floats that is stored as it is looks into `data`, too.

    Returns
    -------
    View
        ``view[key]`` is a view of what is there, a column, or a leaf; ``view[3]`` and ``view[10:20]`` are items of a
        list and rows of a table as `loads` gives them.

    Raises
    ------
    DecodeError
        And nothing else, whatever the bytes are: here, or by the view. A key that is not there is a
        `NoSuchKeyError`, which is a KeyError, too; an index that is not there is an IndexError.

    >>> import npser
    >>> data = npser.dumps({"orders": [{"id": i, "amount": i / 4} for i in range(1000)], "name": "köln"})
    >>> found = view(data)
    >>> found
    <KeyedView of 2: 'orders', 'name'>
    >>> orders = found["orders"]
    >>> len(orders), orders.columns, orders[7]
    (1000, ('id', 'amount'), {'id': 7, 'amount': 1.75})
    >>> orders["amount"].sum()
    np.float64(124875.0)
    >>> orders[998:], found["name"]
    ([{'id': 998, 'amount': 249.5}, {'id': 999, 'amount': 249.75}], 'köln')
    """
    one_of("numbers", numbers, get_args(Numbers))
    policy = make_policy(classes, "list", "rows", copy, unknown, extra_fields)
    return open_view(data, policy, numbers, limits)
