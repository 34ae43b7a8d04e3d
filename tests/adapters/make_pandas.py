"""Print golden frames as the pandas that is installed makes them, for a person to add to pandas.jsonl. No test runs this.

    PYTHONPATH=src:tests python tests/adapters/make_pandas.py >> tests/adapters/pandas.jsonl

Strategy: the lines of each version of pandas stay for ever; tests read those of all versions with the one they have.
"""

from __future__ import annotations

import json

import pandas as pd

import npser
import npser.adapters.pandas
from adapters.frames import CASES, described

MAX_BYTES = 1200


def main() -> None:
    """One line for each case that is short enough."""
    npser.adapters.pandas.register()
    for name, make in CASES.items():
        value = make()
        data = npser.dumps(value)
        if len(data) > MAX_BYTES or not isinstance(value, (pd.DataFrame, pd.Series, pd.Index)) or "python" in name:
            continue
        text = described(value)
        assert described(npser.loads(data)) == text
        needs = ["pyarrow"] * (b"pyarrow" in data or name.startswith("arrow")) + ["str"] * (b"nan" in data)
        print(json.dumps({"name": name, "pandas": pd.__version__, "needs": needs, "value": text, "hex": data.hex()}))


if __name__ == "__main__":
    main()
