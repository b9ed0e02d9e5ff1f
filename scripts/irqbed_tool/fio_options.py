# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's options: their names and kinds, so that a slip is caught before a VM boots.

fio_options.txt beside this file is what fio says about itself:
    python3 -m irqbed_tool.fio_options FIO > scripts/irqbed_tool/fio_options.txt
"""

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .keys import BadValue, did_you_mean, is_number, shown

TABLE = Path(__file__).with_name("fio_options.txt")
ENGINES = ("libaio", "io_uring", "pvsync2")
# Given by the tool itself: a file that sets one of them is told so.
OWNED = {"name": "the job's name is the tool's", "output": "the tool reads fio's output",
         "output_format": "the tool reads fio's output", "status_interval": "use write_iops_log",
         "profile": "write the options out", "group_reporting": "results are for the whole cell"}

KINDS = {
    "boolean value": "bool", "empty or boolean value": "bool", "integer value": "int",
    "string with time postfix": "time", "list of floating point values": "floats",
}
# A number with a unit, and fio's lists of them for read,write,trim.
_INT = r"-?\d+(\.\d+)?([kmgtp](i?b)?|b|%)?"
_INTS = re.compile(rf"{_INT}(,({_INT})?)*", re.IGNORECASE)
_TIME = re.compile(r"\d+(us|ms|s|m|h|d)?", re.IGNORECASE)
_FLOATS = re.compile(r"\d+(\.\d+)?([:,]\d+(\.\d+)?)*")


class Option(NamedTuple):
    name: str           # as fio spells it
    aliases: tuple
    kind: str           # bool int time floats choice text
    low: int
    high: int           # -1: none
    choices: tuple


def normal(name):
    """fio's names with "_" throughout."""
    return name.replace("-", "_")


@lru_cache
def options():
    """{normal name or alias: Option}."""
    known = {}
    for line in TABLE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, aliases, kind, low, high, choices = line.split("\t")
        option = Option(name, tuple(filter(None, aliases.split(","))), kind, int(low), int(high),
                        tuple(filter(None, choices.split("|"))))
        for spelling in (name, *option.aliases):
            known[normal(spelling)] = option
    return known


def find(name):
    """The Option of a key in [workload], or None."""
    return options().get(normal(name))


def check(option, value):
    """VALUE in canonical form (bool, number or text); BadValue when fio would refuse it."""
    if isinstance(value, (dict, list)):
        raise BadValue(f"{shown(value)} is not allowed", "a fio option is a number, a text, or "
                       "true or false; several values go into [matrix]")
    if isinstance(value, str) and (not value or re.search(r"[\0\n]", value)):
        raise BadValue(f"{shown(value)} is not allowed", "must be a text of one line")
    return CHECKS[option.kind](option, value)


def _bool(_option, value):
    if isinstance(value, bool) or value in (0, 1):
        return bool(value)
    raise BadValue(f"{shown(value)} is not allowed", "must be true or false")


def _int(option, value):
    right = "must be a whole number, with k, m or g after it if you like"
    if option.high > option.low:
        right = f"must be a whole number from {option.low} to {option.high}"
    if isinstance(value, bool) or isinstance(value, float):
        raise BadValue(f"{shown(value)} is not allowed", right)
    if isinstance(value, str):
        if not _INTS.fullmatch(value):
            raise BadValue(f"{shown(value)} is not allowed", right)
        if not value.isdigit():
            return value
    number = int(value)
    if number < option.low or option.low < option.high < number:
        raise BadValue(f"{shown(value)} is out of range", right)
    return value


def _time(_option, value):
    if (is_number(value) and value >= 0) or (isinstance(value, str) and _TIME.fullmatch(value)):
        return value
    raise BadValue(f"{shown(value)} is not allowed",
                   'must be seconds, or a text such as "500ms" or "2m"')


def _floats(_option, value):
    if is_number(value) or (isinstance(value, str) and _FLOATS.fullmatch(value)):
        return value
    raise BadValue(f"{shown(value)} is not allowed", 'must be numbers, such as "50:99:99.9"')


def _choice(option, value):
    if isinstance(value, str) and re.split("[:,]", value)[0] in option.choices:
        return value
    if not isinstance(value, bool) and str(value) in option.choices:
        return value
    raise BadValue(f"{shown(value)} is not allowed", f"must be one of {', '.join(option.choices)}"
                   f"{did_you_mean(value, option.choices)}")


def _text(_option, value):
    return value


CHECKS = {"bool": _bool, "int": _int, "time": _time, "floats": _floats, "choice": _choice,
          "text": _text}


def argument(name, value):
    """The command-line word of an option."""
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, float) and find(name).kind == "time":
        value = f"{round(value * 1e6)}us"       # fio would drop the fraction
    return f"--{find(name).name}={value}"


def size_bytes(value):
    """fio's size text in bytes (k is 1024), or None when it is not a plain size."""
    match = re.fullmatch(r"(\d+)([kmgt]?)(i?b)?", str(value), re.IGNORECASE)
    if not match:
        return None
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match[2].lower()]


def seconds(value):
    """fio's time text in seconds."""
    match = re.fullmatch(r"([\d.]+)(us|ms|s|m|h|d)?", str(value), re.IGNORECASE)
    scale = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
    return float(match[1]) * scale[(match[2] or "s").lower()]


def _describe(fio, name, help_arg):
    """One line of the table from fio's own help for an option."""
    text = subprocess.run([fio, help_arg], capture_output=True, text=True, check=True).stdout
    field = {key: val.strip() for key, val in
             re.findall(r"^ *(alias|type|range): (.*)$", text, re.MULTILINE)}
    lines = text[text.index("valid values:") + 13:].splitlines() if "valid values:" in text else []
    choices = [line.split(":", 1)[-1].split()[0] for line in lines if line.strip(" :")]
    kind = KINDS.get(field.get("type", "").split(" (")[0], "text")
    if name in ("size", "io_size", "offset", "offset_increment", "zoneskip"):
        kind = "text"
    kind = next((k for start, k in KINDS.items() if field.get("type", "").startswith(start)), kind)
    if choices and kind == "text":
        kind = "choice"
    low, high = 0, -1
    for bound, number in re.findall(r"(min|max)=(-?\d+)", field.get("range", "")):
        low, high = (int(number), high) if bound == "min" else (low, int(number))
    return f"{name}\t{field.get('alias', '')}\t{kind}\t{low}\t{high}\t{'|'.join(choices)}"


def make_table(fio):
    """The text of fio_options.txt, from the fio binary."""
    def names(arg):
        out = subprocess.run([fio, arg], capture_output=True, text=True, check=True).stdout
        return re.findall(r"^ *([\w-]+) *: ", out, re.MULTILINE)

    version = subprocess.run([fio, "--version"], capture_output=True, text=True).stdout.strip()
    rows = {name: _describe(fio, name, f"--cmdhelp={name}") for name in names("--cmdhelp=all")}
    for engine in ENGINES:
        for name in names(f"--enghelp={engine}"):
            rows.setdefault(name, _describe(fio, name, f"--enghelp={engine},{name}"))
    head = ("# SPDX-License-Identifier: GPL-2.0-or-later\n"
            f"# Options of {version}, made by fio_options.py: name, alias, kind, low, high, choices\n")
    return head + "".join(f"{rows[name]}\n" for name in sorted(rows))


if __name__ == "__main__":
    sys.stdout.write(make_table(sys.argv[1]))
