# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs unittest modules of this directory and prints TAP.

usage: tap.py MODULE [CASE]      tap.py test_table
                                 tap.py test_table TableTest.test_layout
"""

import sys
import traceback
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
sys.path[:0] = [str(HERE), str(REPO / "scripts")]


class TapResult(unittest.TestResult):
    """One line per case; a failure says what, and how to run that case again."""

    def __init__(self, module):
        super().__init__()
        self.module = module
        self.number = 0
        self.bad = 0
        self.failed_case = None

    def line(self, good, test, extra=""):
        self.number += 1
        self.bad += not good
        name = test.id().split(".", 1)[1]
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}{extra}", flush=True)

    def explain(self, test, err):
        text = "".join(traceback.format_exception(*err))
        for row in text.rstrip().splitlines():
            print(f"# {row}")
        name = test.id().split(".", 1)[1].split(" ")[0]
        print(f"# again: tests/cli/tap.py {self.module} {name}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line(True, test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(False, test)
        self.explain(test, err)

    addError = addFailure

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(True, test, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, err):
        """A failing part is told; the case itself is one line, at its end."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            print(f"# in {subtest.id()}")
            self.explain(test, err)
            self.failed_case = test

    def stopTest(self, test):
        super().stopTest(test)
        if self.failed_case is test:
            self.line(False, test)
            self.failed_case = None


def main(argv):
    if not argv or len(argv) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    name = argv[0] if len(argv) == 1 else f"{argv[0]}.{argv[1]}"
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    print(f"TAP version 13\n1..{suite.countTestCases()}", flush=True)
    result = TapResult(argv[0])
    suite.run(result)
    return 1 if result.bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
