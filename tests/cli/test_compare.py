# SPDX-License-Identifier: GPL-2.0-or-later
"""compare: the gate. Case same-against-same, on results made by hand; test_run.py has the real ones."""

import json

from irqbed_tool import metrics, results
from support import TINY, TempDirCase, cell_of, irqbed, made_results, tiny


class Compare(TempDirCase):
    def write(self, name, data):
        directory = self.dir / name
        directory.mkdir(exist_ok=True)
        results.save(directory, data, {})
        return directory

    def compare(self, base, new, *options):
        return irqbed("compare", self.write("base", base), self.write("new", new), *options)

    def changed(self, percent, *names, **more):
        data = made_results(**more)
        for name in names:
            number = cell_of(data, policy="bounded", numjobs=2)["metrics"]
            number[name] = number[name] * (1 + percent / 100)
        return data

    def test_same_against_same(self):
        done = self.compare(made_results(), made_results())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("0 worse", done.stdout)

    def test_every_judged_metric_fails_beyond_its_threshold_in_the_bad_direction_only(self):
        for name, metric in metrics.METRICS.items():
            if not metric.threshold:
                continue
            with self.subTest(name):
                base = made_results(**{name: 1000})
                for factor, status in ((1.2, 1), (-1.2, 0), (0.9, 0)):
                    worse = -metric.better * metric.threshold * factor
                    new = self.changed(worse, name, **{name: 1000})
                    self.assertEqual(self.compare(base, new).returncode, status, f"{worse:+.1f} %")

    def test_changes_are_listed(self):
        done = self.compare(made_results(), self.changed(-10, "iops_avg"))
        self.assertIn("worse", done.stdout)
        self.assertIn("policy=bounded,numjobs=2  iops_avg: 1000 -> 900.0", done.stdout)
        self.assertIn("-10.00 %", done.stdout)

    def test_thresholds_can_be_changed(self):
        new = self.changed(-10, "iops_avg")
        self.assertEqual(self.compare(made_results(), new, "--threshold", "iops_avg=11").returncode, 0)
        self.assertEqual(self.compare(made_results(), new, "--threshold", "iops_avg=0").returncode, 0)
        done = self.compare(made_results(), new, "--threshold", "iops_agv=1")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        self.assertIn('did you mean "iops_avg"?', done.stderr)
        self.assertEqual(self.compare(made_results(), new, "--threshold", "iops_avg").returncode, 2)

    def test_host_clock_is_judged_less_strictly(self):
        data = [made_results(), self.changed(-10, "iops_avg"), self.changed(-30, "iops_avg")]
        for item in data:
            item["clock"] = "host"
        self.assertEqual(self.compare(data[0], data[1]).returncode, 0)
        self.assertEqual(self.compare(data[0], data[2]).returncode, 1)

    def test_a_cell_that_no_longer_passes_is_worse(self):
        new = made_results()
        cell_of(new, policy="bounded", numjobs=2).update(status="errors", reasons=["3 I/O errors"])
        done = self.compare(made_results(), new)
        self.assertEqual(done.returncode, 1)
        self.assertIn("status: pass -> errors", done.stdout)
        self.assertEqual(self.compare(new, made_results()).returncode, 0)

    def test_a_metric_that_is_gone_is_worse(self):
        new = made_results()
        del cell_of(new, policy="bounded", numjobs=2)["metrics"]["iops_avg"]
        self.assertEqual(self.compare(made_results(), new).returncode, 1)

    def test_not_comparable(self):
        other = made_results()
        other["experiment"] = "other"
        host = made_results()
        host["clock"] = "host"
        fewer = made_results(tiny(sets=["matrix.policy=bounded"]))
        keys = made_results()
        keys["config"]["driver"]["new_knob"] = 1
        for new, word in ((other, "experiment"), (host, "clock"), (fewer, "cells"), (keys, "new_knob")):
            with self.subTest(word):
                done = self.compare(made_results(), new)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertEqual(len(done.stderr.splitlines()), 1)
                self.assertIn(word, done.stderr)

    def test_a_knob_that_came_later_has_its_default(self):
        """A commit that adds a knob can be compared with the one before it."""
        old = made_results()
        del old["config"]["device"][0]["fail_every"]
        for pair in ((old, made_results()), (made_results(), old)):
            done = self.compare(*pair)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("fail_every", done.stdout)
        done = self.compare(old, made_results(tiny(sets=["device.0.fail_every=5"])))
        self.assertEqual(done.returncode, 2)

    def test_other_values_of_keys_are_comparable_and_shown(self):
        new = made_results(tiny(sets=["device.0.service_read_ns=5"]))
        done = self.compare(made_results(), new)
        self.assertEqual(done.returncode, 0)
        self.assertIn("config device.0.service_read_ns: 0 -> 5", done.stdout)

    def test_json(self):
        done = self.compare(made_results(), self.changed(-10, "iops_avg"), "--json")
        data = json.loads(done.stdout)
        self.assertEqual((done.returncode, data["regressions"]), (1, 1))
        worse = [change for change in data["changes"] if change["verdict"] == "worse"]
        self.assertEqual(worse[0]["metric"], "iops_avg")

    def test_a_probe_in_one_of_two_is_another_experiment(self):
        with_probe = made_results(tiny(sets=["probe.period_us=100"]))
        self.assertEqual(self.compare(made_results(), with_probe).returncode, 2)


class Report(TempDirCase):
    def test_one_self_contained_page(self):
        data = made_results()
        cell_of(data, policy="bounded", numjobs=2).update(status="panic", metrics={},
                                                          reasons=["<b>panic</b>"])
        results.save(self.dir, data, {})
        done = irqbed("report", self.dir, self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = done.stdout
        self.assertEqual(page.count("<h2>"), 2)
        self.assertEqual(page.count("<table>"), page.count("</table>"))
        self.assertNotRegex(page, r'(?i)<script|src=(?!"data:)|href=|url\(|@import')
        self.assertIn("&lt;b&gt;panic&lt;/b&gt;", page)
        self.assertIn("1 avg IOPS", page)

    def test_configuration_with_variants_and_probe(self):
        text = TINY.replace("numjobs = [1, 2]", 'variant = ["a"]\n[variant.a]\niodepth = 7\n[probe]\n')
        results.save(self.dir, made_results(tiny(text)), {})
        page = irqbed("report", self.dir).stdout
        for line in ("variant.a.iodepth = 7", "probe.period_us = 100"):
            self.assertIn(line, page)

    def test_to_a_file(self):
        results.save(self.dir, made_results(), {})
        done = irqbed("report", self.dir, "-o", self.dir / "r.html")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertTrue((self.dir / "r.html").read_text().startswith("<!DOCTYPE html>"))
        done = irqbed("report", self.dir, "-o", self.dir / "no" / "r.html")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
