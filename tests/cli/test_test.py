# SPDX-License-Identifier: GPL-2.0-or-later
"""irqbed test: what the closing line counts; a broken test is never a pass."""

import unittest

from irqbed_tool import cmd_test


def result(verdict, output=""):
    return {"name": "x", "result": verdict, "stdout": output}


class CountTest(unittest.TestCase):
    CASES = (
        ("TAP cases", [result("OK", "1..3\nok 1 - a\nok 2 b # SKIP no x\n# ok 3\nok 3\n")], (2, 0, 1)),
        ("nested TAP counts once", [result("OK", "1..1\n    ok 1 - inner\nok 1 - outer\n")], (1, 0, 0)),
        ("failed case", [result("FAIL", "1..2\nnot ok 1 - a\nok 2\n")], (1, 1, 0)),
        ("expected failure", [result("OK", "1..1\nnot ok 1 - a # todo later\n")], (1, 0, 0)),
        ("dies after good cases", [result("ERROR", "1..3\nok 1\nok 2\n")], (2, 1, 0)),
        ("timeout without output", [result("TIMEOUT")], (0, 1, 0)),
        ("plain exit code", [result("OK", "hello\n"), result("FAIL", "hello\n")], (1, 1, 0)),
        ("skipped as a whole", [result("SKIP", "1..0 # SKIP not built\n")], (0, 0, 1)),
        ("unexpected pass", [result("UNEXPECTEDPASS")], (0, 1, 0)),
        ("interrupted", [result("INTERRUPT", "ok 1\n")], (1, 1, 0)),
    )

    def test_count(self):
        for name, results, expected in self.CASES:
            with self.subTest(name):
                self.assertEqual(cmd_test.count(results), expected)

    def test_failed_cases_are_told_with_their_explanation(self):
        output = "1..3\nok 1 - a\n# of a\nnot ok 2 - b\n# expected: 1\n# got: 2\nnoise\nok 3 - c\n# of c\n"
        self.assertEqual(cmd_test.failed_cases(output), ["not ok 2 - b", "# expected: 1", "# got: 2"])
        many = "not ok 1\n" + "# x\n" * 100
        self.assertEqual(len(cmd_test.failed_cases(many)), cmd_test.MAX_TOLD + 1)

    def test_suites_without_the_project(self):
        self.assertEqual(cmd_test.suites_of({"suite": ["irqbed:unit", "lint"]}), ["lint", "unit"])


if __name__ == "__main__":
    unittest.main()
