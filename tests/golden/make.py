"""Print one golden vector, for a person to look at and to add to a file. No test runs this, and it writes no file.

    PYTHONPATH=src:tests python tests/golden/make.py NAME VALUE                 what today's writer writes
    PYTHONPATH=src:tests python tests/golden/make.py NAME VALUE --hex HEX       another payload of that value
    PYTHONPATH=src:tests python tests/golden/make.py NAME --hex HEX --rule R11  a malformed payload
    ... --codec '{"key": "00112233445566778899aabbccddeeff", "context": "cart"}'   in an envelope

Strategy: what it prints is checked by reading it, but a reader may be wrong: compare the bytes with FORMAT.md before they
go into the corpus, where they stay for ever.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import npser
from golden.corpus import options_of
from golden.demo import CLASSES, evaluate
from same import difference

__all__ = ["error_line", "value_line"]

SINCE = ".".join(npser.__version__.split(".")[:2])


def value_line(name: str, expression: str, raw: bytes | None = None, **more: Any) -> str:
    """The line of a value: of the bytes that the writer writes, or of others that the reader reads as that value."""
    value = evaluate(expression)
    codec = npser.Codec(
        classes=CLASSES, identity="preserve" if more.get("preserve") else "objects", **options_of(more.get("codec", {}))
    )
    written = codec.dumps(value)
    data = written if raw is None else raw
    back = codec.loads(data)
    found = difference(value, back)
    if found is not None:
        raise SystemExit(f"{name}: {data.hex(' ')} reads as another value: {found}")
    if "check" in more and not evaluate(more["check"], value=back):
        raise SystemExit(f"{name}: {more['check']} is not true")
    vector = {"name": name, "since": SINCE, "value": expression, "hex": data.hex(), "canonical": data == written}
    return json.dumps(vector | more)


def error_line(name: str, raw: bytes, rule: str, **more: Any) -> str:
    """The line of a malformed payload."""
    try:
        value = npser.Codec(classes=CLASSES, **options_of(more.get("codec", {}))).loads(raw)
    except npser.NpserError as error:
        vector = {"name": name, "since": SINCE, "hex": raw.hex(), "error": type(error).__name__}
        return json.dumps(vector | ({} if error.pos is None else {"pos": error.pos}) | {"rule": rule} | more)
    raise SystemExit(f"{name}: {raw.hex(' ')} reads as {value!r}")


def main() -> None:
    """Read the arguments, print the line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("value", nargs="?")
    parser.add_argument("--hex", type=bytes.fromhex)
    parser.add_argument("--rule")
    parser.add_argument("--check")
    parser.add_argument("--needs", action="append")
    parser.add_argument("--codec", type=json.loads)
    parser.add_argument("--preserve", action="store_true")
    args = parser.parse_args()
    more = {key: given for key in ("preserve", "check", "needs", "codec") if (given := getattr(args, key))}
    if args.value is not None:
        print(value_line(args.name, args.value, args.hex, **more))
    elif args.hex is not None and args.rule is not None:
        print(error_line(args.name, args.hex, args.rule, **more))
    else:
        parser.error("a value, or the bytes of a malformed payload and the rule that they break")


if __name__ == "__main__":
    main()
