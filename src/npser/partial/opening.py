"""`view`, and the columns that `loads(select=...)` gives.

Strategy: the header decides. A payload with a shape is walked and looked into; one without is a leaf or a list of
leaves, which `loads` decodes as it always does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from npser.blocks.cursor import Cursor
from npser.decoder import decode, open_buffer
from npser.envelope.layers import open_layers
from npser.errors import DecodeError, LimitError
from npser.partial.parts import Budgets, Parts
from npser.partial.view import KeyedView, MapView, RowsView, ValueView, View, open_root
from npser.shapes.policy import Numbers, Policy
from npser.tags import MAGIC, VERSION, Lead

if TYPE_CHECKING:
    from npser.limits import Limits

__all__ = ["open_view", "select_columns"]


def open_view(data: Any, policy: Policy, numbers: Numbers, limits: Limits, budgets: Budgets = "each") -> View:
    """Look inside a payload: its header, shape, kinds, pools and directory are read, and what the shape needs to count.

    Parameters
    ----------
    data : buffer
        A payload, in envelopes that need no key, or plain.
    policy : Policy
        How values are built.
    numbers : {"list", "array"}
        What a column of numbers comes as.
    budgets : {"each", "one"}
        Whether each question to the view has a budget of its own.

    Raises
    ------
    DecodeError
        As `loads` raises it, as far as what is read is concerned.
    """
    buf = open_buffer(data)
    if len(buf) < 3 or buf[0] != MAGIC or buf[1] != VERSION:
        buf = open_layers(buf, limits)
    if len(buf) < 3 or buf[0] != MAGIC or buf[1] != VERSION or len(buf) > limits.bytes:
        decode(buf, policy, limits)  # which says what is wrong
    lead = buf[2]
    cursor = Cursor(buf, 3, len(buf), limits.budget(len(buf)))
    if lead >= Lead.SHORT_SHAPE:
        length = lead & 0x7F if lead < Lead.LONG_SHAPE else cursor.uvarint()
        try:
            parts = Parts(buf, cursor.pos, length, policy, numbers, limits, budgets)
        except MemoryError as error:
            raise LimitError("the payload asks for more memory than there is") from error
        return open_root(parts, lambda: decode(buf, policy, limits))
    if not Lead.LEAF_LIST <= lead < Lead.SHORT_BYTES:
        return ValueView(lambda: decode(buf, policy, limits))
    n = cursor.uvarint()
    if n >> 62:
        raise LimitError(f"a list of {n} items", pos=3)
    arrays = Policy(policy.classes, "array", "rows", policy.copy)
    return ValueView(lambda: decode(buf, policy, limits), lambda: decode(buf, arrays, limits), n)


def select_columns(data: Any, names: Iterable[str], policy: Policy, limits: Limits) -> dict[str, Any]:
    """Some columns of a table or of a record batch, or some values of a dict, and nothing else is decoded.

    Parameters
    ----------
    data : buffer
        A payload, in envelopes that need no key, or plain.
    names : iterable of str
        In the order in which they are wanted.

    Returns
    -------
    dict of name to column
        Lists, or arrays where the policy wants numbers so; `MISSING` where a row does not have the key.

    Raises
    ------
    TypeError
        For names that are no strings, or one string.
    NoSuchKeyError
        A name is not there; the message lists what is. It is a `DecodeError` and a `KeyError`.
    DecodeError
        The payload has no columns, or what `loads` raises.
    """
    wanted = [names] if isinstance(names, bytes) else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in wanted):
        raise TypeError('select= takes the names of columns, such as ["id", "amount"]')
    found = open_view(data, policy, policy.numbers, limits, "one")
    has_columns = isinstance(found, MapView) or (type(found) is KeyedView and found.has_names)
    if not has_columns and not (isinstance(found, RowsView) and found.columns):
        raise DecodeError("select= takes columns out of a table, a record batch or a dict, and this payload is none")
    if isinstance(found, MapView):  # whose values are one column
        missing = next((name for name in wanted if name not in found), None)
        if missing is not None:
            found[missing]  # raises
        built = found.value()
        return {name: built[name] for name in wanted}
    return {name: _whole(found[name]) for name in wanted}


def _whole(found: Any) -> Any:
    return found.value() if isinstance(found, View) else found
