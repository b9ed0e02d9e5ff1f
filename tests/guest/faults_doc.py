#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Put the rows that the matrix tests print into the table of docs/faults.md.

usage: faults_doc.py <TAP      rows of the input replace those of the same fault and driver
"""

import re
import sys
from pathlib import Path

DOC = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
BEGIN, END = "<!-- measured: faults_doc.py -->", "<!-- end -->"
ROW = re.compile(r"^\W*row: (\w+)\|([\w-]+)\|(\w+)\|([\w, ]*)\|(\d*)\|(\w*)$")
COLUMNS = {"UFS": ("UFS, guest driver", "UFS, `ufshcd-pci`"), "MCQ": ("UFS with queues, guest driver",),
           "AHCI": ("AHCI, guest driver", "AHCI, `ahci`")}
DRIVERS = ("irqbed", "stock")
HEADER = ("fault", *(name for names in COLUMNS.values() for name in names))
PLACES = [(kind, driver) for kind, names in COLUMNS.items() for driver in DRIVERS[:len(names)]]
# A time is as in the document when it is within this factor: a timeout comes after one
# to two times what it is set to, depending on when the request comes.
NEAR = 2.5
# Whether the SCSI layer puts a retry off (SCSI_QUEUE_DELAY, 3 ms, in ticks of 4 ms) is up to
# what else the queue has at that moment.
SLACK_US = {"irqbed": 0, "stock": 4000}


def rows_of(text):
    """{(fault, kind, driver): (steps, longest_us, outcome)} of a test's output."""
    found = {}
    for line in text.splitlines():
        match = ROW.match(line.strip())
        if match:
            kind, fault, driver, steps, longest, outcome = match.groups()
            found[fault, kind, driver] = (steps, int(longest or 0), outcome or "0")
    return found


def time_text(us):
    for limit, unit in ((1_000_000, "s"), (1_000, "ms"), (1, "us")):
        if us >= limit:
            value = us / limit
            return f"{value:.1f} {unit}" if value < 10 and limit > 1 else f"{value:.0f} {unit}"
    return ""


def cell_text(steps, longest_us, outcome):
    words = [steps.replace("_", " ")] if steps else []
    words += [time_text(longest_us)] if longest_us else []
    if outcome != "0":
        words.append({"fails": "fio fails", "verify": "verify finds it"}.get(outcome, f"{outcome} error{'s' * (outcome != '1')}"))
    return "; ".join(words) or "-"


def time_of(cell):
    """The time in a cell, us, and the cell without it."""
    units = {"s": 1_000_000, "ms": 1_000, "us": 1}
    match = re.search(r"([\d.e+]+) (s|ms|us)\b", cell)
    if not match:
        return 0, cell
    return float(match.group(1)) * units[match.group(2)], cell.replace(match.group(0), "TIME")


def same(cell, other, slack_us):
    (time, rest), (other_time, other_rest) = time_of(cell), time_of(other)
    return rest == other_rest and time <= other_time * NEAR + slack_us and other_time <= time * NEAR + slack_us


def read_table(text):
    """{fault: [cell...]} of the document."""
    table = {}
    for line in text[text.index(BEGIN):text.index(END)].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("| `"):
            table[cells[0].strip("`")] = cells[1:]
    return table


def write_table(text, table):
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join([f"`{fault}`", *cells]) + " |" for fault, cells in table.items()]
    return text[:text.index(BEGIN)] + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + text[text.index(END):]


def differences(output):
    """What the document says otherwise than this output of a test, as lines."""
    table = read_table(DOC.read_text())
    wrong = []
    for (fault, kind, driver), row in rows_of(output).items():
        said = table.get(fault, [""] * len(PLACES))[PLACES.index((kind, driver))]
        if not same(said, cell_text(*row), SLACK_US[driver]):
            wrong.append(f"{fault}, {kind}, {driver}: expected, by docs/faults.md: '{said}', got: '{cell_text(*row)}'")
    return wrong


def main():
    text = DOC.read_text()
    table = read_table(text)
    for (fault, kind, driver), row in rows_of(sys.stdin.read()).items():
        cells = table.setdefault(fault, [""] * len(PLACES))
        cells[PLACES.index((kind, driver))] = cell_text(*row)
    DOC.write_text(write_table(text, table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
