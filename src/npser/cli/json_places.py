"""On which line a JSON text holds what `json_text` refuses.

Strategy: the parser has already read past the place, so the text is JSON up to there and its tokens are enough:
strings, numbers and brackets, told apart by one regular expression, with a set of keys for every object that is
open. Runs only after a refusal, so it may be slow.
"""

from __future__ import annotations

import json
import re
import sys
from math import isinf
from typing import Final

__all__ = ["first_refused_line"]

TOKEN: Final = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*")\s*(?P<colon>:?)|(?P<bracket>[{}\[\]])|(?P<word>[-+.\w]+)')
CONSTANTS: Final = frozenset({"NaN", "Infinity", "-Infinity"})
WORDS: Final = frozenset({"true", "false", "null"})


def first_refused_line(text: str) -> int:
    """The line (from 1) of the first key met twice or number refused; the last line where there is none.

    >>> first_refused_line('{"a": 1,\\n"b": {"a": 2},\\n"\\\\u0061": 3}'), first_refused_line("[1,\\n\\n1e999]")
    (3, 3)
    """
    open_objects: list[set[str]] = []
    for token in TOKEN.finditer(text):
        if _refused(token, open_objects):
            return text.count("\n", 0, token.start()) + 1
    return text.count("\n") + 1


def _refused(token: re.Match[str], open_objects: list[set[str]]) -> bool:
    if token["word"]:
        return _refused_word(token["word"])
    if token["bracket"]:
        if token["bracket"] in "{[":
            open_objects.append(set())
        else:
            open_objects.pop()
        return False
    if not token["colon"]:
        return False
    key = json.loads(token["string"])
    if key in open_objects[-1]:
        return True
    open_objects[-1].add(key)
    return False


def _refused_word(word: str) -> bool:
    if word in CONSTANTS or word in WORDS:
        return word in CONSTANTS
    if word.lstrip("-").isdigit():
        return 0 < sys.get_int_max_str_digits() < len(word.lstrip("-"))
    return isinf(float(word))
