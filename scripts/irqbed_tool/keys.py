# SPDX-License-Identifier: GPL-2.0-or-later
"""What a key of an experiment file is: type, unit, range, default, one line of text.

A key is declared once, in a table of knobs.py.  Checking, --set, the resolved
configuration and the documentation are all made from that declaration.
"""

import difflib
from dataclasses import dataclass

REQUIRED = object()
MAX_POINTS = 32        # of a table of percentiles
NONE = "none"          # "no limit", as a word, so that it cannot be taken for zero


class BadValue(Exception):
    """A value that does not fit its key: WHAT is wrong and what would be RIGHT."""

    def __init__(self, what, right):
        super().__init__(f"{what}; {right}")
        self.what = what
        self.right = right


@dataclass(frozen=True)
class Key:
    """One key.  KIND is one of the names in CHECKS below; ONLY, a type of device, of a key that
    the other types do not have.
    """

    name: str
    kind: str
    doc: str
    default: object = REQUIRED
    unit: str = ""
    low: float = 0
    high: float = 2 ** 63 - 1
    choices: tuple = ()
    only: str = ""

    def check(self, value):
        """The value in its canonical form; BadValue when it does not fit."""
        return CHECKS[self.kind](self, value)

    def expected(self):
        """What would be right, in words; the documentation uses it too."""
        if self.kind == "enum":
            return " or ".join(f'"{choice}"' for choice in self.choices)
        if self.kind == "bool":
            return "true or false"
        if self.kind in ("str", "file"):
            return "a text" if self.kind == "str" else "the path of a file"
        if self.kind == "texts":
            return "a list of texts"
        if self.kind == "names":
            return "a text or a list of texts"
        if self.kind == "value":
            return "a whole number or a word"
        if self.kind == "points":
            return (f"a list of [percentile, {self.unit}], at most {MAX_POINTS}; percentiles ascend from 0 to 100 "
                    f"(six decimals), {self.unit} do not descend, {plain(self.low)} to {plain(self.high)}")
        span = f"{plain(self.low)} to {plain(self.high)}"
        noun = {"int": "a whole number", "limit": f'a whole number or "{NONE}"',
                "number": "a number", "numbers": "a number, or a list of numbers",
                "ints": "a list of whole numbers"}[self.kind]
        return f"{noun}, {span}" + (f" {self.unit}" if self.unit else "")


def plain(number):
    """A bound as a person writes it."""
    if number == 2 ** 63 - 1:
        return "2^63-1"
    return f"{number:g}" if isinstance(number, float) else str(number)


def shown(value):
    """A value the way TOML spells it, for messages."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "a table"
    return str(value)


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _wrong(key, value):
    return BadValue(f"{shown(value)} is not allowed", f"must be {key.expected()}")


def _check_int(key, value):
    if not is_int(value) or not key.low <= value <= key.high:
        raise _wrong(key, value)
    return value


def _check_number(key, value):
    if not is_number(value) or not key.low <= value <= key.high:
        raise _wrong(key, value)
    return value


def _check_limit(key, value):
    return NONE if value == NONE else _check_int(key, value)


def _check_numbers(key, value):
    if isinstance(value, list) and value:
        return [_check_number(key, item) for item in value]
    return _check_number(key, value)


def _check_ints(key, value):
    if not isinstance(value, list):
        raise _wrong(key, value)
    return [_check_int(key, item) for item in value]


def _check_bool(key, value):
    if not isinstance(value, bool):
        raise _wrong(key, value)
    return value


def _check_str(key, value):
    if not isinstance(value, str) or "\0" in value:
        raise _wrong(key, value)
    return value


def _check_file(key, value):
    if _check_str(key, value) == "" or "," in value:
        raise BadValue(f"{shown(value)} is not allowed",
                       "must be the path of a file, without a comma in it")
    return value


def _check_names(key, value):
    return _check_texts(key, [value] if isinstance(value, str) else value)


def _check_value(key, value):
    if not is_int(value) and not isinstance(value, str):
        raise _wrong(key, value)
    return value


def _check_enum(key, value):
    if not isinstance(value, str) or value not in key.choices:
        raise BadValue(f"{shown(value)} is not allowed",
                       f"must be {key.expected()}{did_you_mean(value, key.choices)}")
    return value


def _check_texts(key, value):
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(key, value)
    return value


def _check_points(key, value):
    last = (-1, 0)
    if not isinstance(value, list) or len(value) > MAX_POINTS:
        raise _wrong(key, value)
    for point in value:
        if (not isinstance(point, list) or len(point) != 2 or not is_number(point[0]) or not is_int(point[1])
                or not max(0, last[0]) <= point[0] <= 100 or point[0] == last[0] or round(point[0], 6) != point[0]
                or not max(key.low, last[1]) <= point[1] <= key.high):
            raise _wrong(key, value)
        last = point
    return value


CHECKS = {"int": _check_int, "number": _check_number, "limit": _check_limit,
          "numbers": _check_numbers, "ints": _check_ints, "bool": _check_bool,
          "str": _check_str, "file": _check_file, "enum": _check_enum, "texts": _check_texts,
          "points": _check_points, "names": _check_names, "value": _check_value}


def did_you_mean(word, known):
    """', did you mean "X"?' when something near WORD is KNOWN, else nothing."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""
