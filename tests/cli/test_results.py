# SPDX-License-Identifier: GPL-2.0-or-later
"""results.json: golden file, checks on writing and reading, files whole or not at all."""

import json
import os

from irqbed_tool import evaluate, metrics, results, runner
from support import DATA, TINY, TempDirCase, made_results, tiny

GOLDEN = DATA / "results-1.json"


def part_of(new, old):
    """NEW without the keys that OLD has not, at any depth."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: part_of(new[key], old[key]) for key in old if key in new}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [part_of(*pair) for pair in zip(new, old)]
    return new


class Golden(TempDirCase):
    """The golden file guards schema 1: it must stay readable, and be made the same."""

    def test_reads(self):
        data = results.load(GOLDEN)
        self.assertEqual(data["schema"], "irqbed-results/1")
        self.assertEqual(len(data["cells"]), 4)

    def test_is_made_the_same(self):
        """New knobs may come; what the file has must stay, to the byte."""
        golden, made = json.loads(GOLDEN.read_text()), golden_results()
        self.assertEqual(part_of(made["config"], golden["config"]), golden["config"])
        made["config"] = golden["config"]
        self.assertEqual(results.text(made), GOLDEN.read_text(),
                         "a change here is a change of the schema: see docs/results.md")

    def test_form(self):
        text = GOLDEN.read_text()
        self.assertTrue(text.endswith("}\n"))
        keys = list(json.loads(text))
        self.assertEqual(keys, sorted(keys))

    def test_nothing_of_the_host(self):
        exp = tiny()
        exp.config["device"][0]["lu"][0]["drive"] = "/home/someone/disk.img"
        text = results.text(made_results(exp))
        self.assertNotIn("someone", text)
        self.assertIn('"disk.img"', text)


def golden_results():
    """What a run of TINY would give, from recorded answers."""
    exp = tiny()
    data = made_results(exp)
    fio = {"type": "exec", "cell": "c", "name": "fio0", "rc": 0, "signal": 0, "timed_out": False,
           "out": (DATA / "fio-clean.json").read_text(), "err": ""}
    hist = {"unit": "ns", "base": "log2", "sub_bits": 3, "count": 2, "sum": 300, "min": 100,
            "max": 200, "p50": 100, "p90": 200, "p99": 200, "p999": 200,
            "buckets": [[96, 1], [192, 1]]}
    stats = {"type": "stats", "cell": "c", "name": "device", "devices": {"ufs0": {
        "requests": {"fetched": 2, "completed": 2, "failed": 0, "aborted": 0, "in_flight": 0},
        "irq": {"raised": 1}, "device_ns": hist}}}
    end = {"type": "end", "cell": "c"}
    data["cells"] = [evaluate.evaluate(cell, [fio, stats, end]) for cell in exp.cells]
    data["cells"][3] = evaluate.unfinished(exp.cells[3], "panic", "Kernel panic - not syncing: x",
                                           ["last line"])
    data["status"] = "fail"
    data["tool_version"] = "0.1"
    return data


class Checks(TempDirCase):
    def bad(self, change, words):
        data = made_results()
        change(data)
        with self.assertRaises(results.BadResults) as caught:
            results.validate(data)
        self.assertIn(words, str(caught.exception))

    def test_good(self):
        results.validate(made_results())
        results.validate(golden_results())

    def test_schema_is_checked(self):
        self.bad(lambda d: d.update(schema="irqbed-results/2"), "schema")
        self.bad(lambda d: d.update(status="fine"), "status")
        self.bad(lambda d: d.pop("cells"), "cells")
        self.bad(lambda d: d.update(seed="1"), "seed")
        self.bad(lambda d: d["cells"][0].pop("metrics"), "cells.0.metrics")
        self.bad(lambda d: d["cells"][1].update(status="ok"), "cells.1.status")
        self.bad(lambda d: d["cells"][1].update(id=d["cells"][0]["id"]), "twice")
        self.bad(lambda d: d["cells"][0]["metrics"].update(iops="1"), "metrics.iops")
        self.bad(lambda d: d["cells"][0]["metrics"].update(ipos=1), "metrics.ipos")
        self.bad(lambda d: d["cells"][0].update(metrics={}), "passed without metrics")
        self.bad(lambda d: d["cells"][0].update(status="panic"), "reasons")
        self.bad(lambda d: d["boots"][0]["cells"].append("x"), "boots.0")
        self.bad(lambda d: d["published"].append({"row": "x"}), "published.0")

    def test_bad_results_are_not_written(self):
        data = made_results()
        data["status"] = "fine"
        with self.assertRaises(results.BadResults):
            results.save(self.dir, data, {})
        self.assertEqual(os.listdir(self.dir), [])

    def test_written_whole_or_not_at_all(self):
        results.save(self.dir, made_results(), {"nproc": 2})
        before = (self.dir / "results.json").read_text()
        with self.assertRaises(UnicodeEncodeError):
            results.replace(self.dir / "results.json", "half \ud800")
        self.assertEqual((self.dir / "results.json").read_text(), before)
        self.assertEqual(sorted(os.listdir(self.dir)), ["host.json", "results.json"])

    def test_numbers_are_tidy(self):
        self.assertEqual(metrics.tidy(2.0), 2)
        self.assertIsInstance(metrics.tidy(2.0), int)
        self.assertEqual(metrics.tidy(1 / 3), 0.333333)


class RatioChecks(TempDirCase):
    """[[check.ratio]]: the claim of an experiment."""

    CLAIM = ('[[check.ratio]]\nrow = "2 avg IOPS"\ncolumn = "bounded"\nbase = "hardirq"\n'
             "low = 0.9\nhigh = 1.1\n")

    def checks(self, factor, sets=()):
        exp = tiny(TINY + self.CLAIM, sets)
        data = made_results(exp)
        for cell in data["cells"]:
            if cell["params"] == {"policy": "bounded", "numjobs": 2}:
                cell["metrics"]["iops_avg"] *= factor
        return runner.make_checks(exp, data["cells"])

    def test_within_and_beyond(self):
        for factor, status in ((1, "pass"), (0.91, "pass"), (0.89, "fail"), (1.11, "fail")):
            check, = self.checks(factor)
            self.assertEqual(check["status"], status, check)
            self.assertEqual(check["name"], "2 avg IOPS bounded/hardirq")

    def test_the_figure_itself(self):
        """Without a base: in the table's unit."""
        claim = ('[table]\nmetrics = ["clat_mean_ns"]\n[[check.ratio]]\nrow = "2 clat mean us"\n'
                 'column = "bounded"\nlow = 99\nhigh = 101\n')
        for mean_ns, status in ((100_000, "pass"), (102_000, "fail"), (98_000, "fail")):
            exp = tiny(TINY + claim)
            check, = runner.make_checks(exp, made_results(exp, clat_mean_ns=mean_ns)["cells"])
            self.assertEqual((check["name"], check["status"]), ("2 clat mean us bounded", status), check)

    def test_out_of_the_matrix(self):
        check, = self.checks(1, ["matrix.policy=bounded"])
        self.assertEqual(check["status"], "skip")

    def test_cell_without_figures(self):
        exp = tiny(TINY + self.CLAIM)
        data = made_results(exp)
        data["cells"][1]["metrics"] = {}
        self.assertEqual(runner.make_checks(exp, data["cells"])[0]["status"], "fail")
