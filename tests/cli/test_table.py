# SPDX-License-Identifier: GPL-2.0-or-later
"""The printed table: layout, ratios, what did not pass, and rows that make no sense."""

import unittest

from irqbed_tool import results, table
from support import TINY, cell_of, made_results, published_as_measured, tiny


class Layout(unittest.TestCase):
    def setUp(self):
        self.data = published_as_measured()
        self.lines = table.text(self.data).splitlines()

    def test_plain_ascii_under_100_columns(self):
        for line in self.lines:
            self.assertLess(len(line), 100, line)
            self.assertTrue(line.isascii(), line)
            self.assertEqual(line, line.rstrip())

    def test_rows_of_the_source(self):
        stubs = [line.split("|")[0].strip() for line in self.lines if "|" in line]
        for name in ("read/1 min IOPS", "read/8 cpu % sys", "write/1 avg IOPS", "write/8 bw MiB/s"):
            self.assertEqual(stubs.count(name), 2, f"{name}: once with figures, once with ratios")

    def test_measured_then_published_then_ratios(self):
        row = next(line for line in self.lines if line.startswith("read/8 avg IOPS"))
        parts = [part.split() for part in row.split("|")[1:]]
        self.assertEqual(parts, [["22529.93", "13325.59", "21868.85"]] * 2)
        ratios = [line for line in self.lines if line.startswith("read/8 avg IOPS")][1]
        self.assertEqual([part.split() for part in ratios.split("|")[1:]], [["0.591", "0.971"]] * 2)
        heads = next(line for line in self.lines if "original" in line)
        self.assertEqual([part.split() for part in heads.split("|")[1:]],
                         [["original", "threaded", "bounded"]] * 2)

    def test_columns_are_aligned(self):
        bars = [tuple(i for i, char in enumerate(line) if char in "|+")
                for line in self.lines if line[18:].count("|") >= 2 or "-+-" in line]
        self.assertEqual(len(set(bars)), 2, "one layout for the figures, one for the ratios")

    def test_bandwidth_is_in_mib(self):
        row = next(line for line in self.lines if line.startswith("read/1 bw MiB/s"))
        self.assertIn("21.46", row)

    def test_host_clock_is_labelled(self):
        self.assertNotIn("not reproducible", "\n".join(self.lines))
        self.data["clock"] = "host"
        self.assertIn("not reproducible", table.text(self.data))

    def test_without_a_matrix(self):
        exp = tiny("[experiment]\nname = 'x'\ntitle = 'y'\n[[device]]\nid = 'a'\ntype = 'ufs'\n"
                   "[workload]\nrw = 'read'\n")
        text = table.text(made_results(exp))
        self.assertIn("avg IOPS", text)
        self.assertIn("1000.00", text)
        self.assertNotIn("ratio", text)

    def test_rows_without_a_figure_are_left_out(self):
        exp = tiny(TINY + "[table]\nmetrics = ['iops', 'slat_mean_ns']\n")
        text = table.text(made_results(exp))
        self.assertIn("1 IOPS", text)
        self.assertNotIn("slat", text)

    def test_many_columns_still_fit(self):
        exp = tiny(sets=["matrix.iodepth=[1, 2, 3, 4, 5, 6, 7, 8, 9]", "table.columns=iodepth"])
        for line in table.text(made_results(exp, iops_avg=123456.0)).splitlines():
            self.assertLess(len(line), 160, line)


class PublishedRatios(unittest.TestCase):
    """Sources that say "x / 8" have a ratio and no figures."""

    RATIOS = ('[published]\nsource = "x"\ncolumns = ["hardirq", "bounded"]\n'
              'ratios = [["1 avg IOPS", "-", 0.125]]\n')

    def test_stand_among_the_ratios_alone(self):
        data = made_results(tiny(TINY + self.RATIOS))
        self.assertEqual(data["published"], [{"row": "1", "metric": "iops_avg", "column": "bounded",
                                              "value": 0.125, "source": "x", "is_ratio": True}])
        results.validate(data)
        lines = [line for line in table.text(data).splitlines() if line.startswith("1 avg IOPS")]
        parts = [part.split() for part in lines[0].split("|")[1:]]
        self.assertEqual(parts, [["1000.00", "1000.00"], ["1.000"], ["0.125"]])
        self.assertIn("published: x", table.text(data))

    def test_figures_that_were_not_published(self):
        rows = self.RATIOS.replace("ratios", "rows").replace("0.125", "800")
        data = made_results(tiny(TINY + rows))
        line = next(line for line in table.text(data).splitlines() if line.startswith("1 avg IOPS"))
        self.assertEqual(line.split("|")[2].split(), ["-", "800.00"])


class Notes(unittest.TestCase):
    def test_stand_below_the_table(self):
        data = made_results(tiny(sets=['table.notes=["(a) row 1", "(b) row 2"]']))
        lines = table.text(data).splitlines()
        at = lines.index("(a) row 1")
        self.assertEqual(lines[at - 1:at + 2], ["", "(a) row 1", "(b) row 2"])


class Pareto(unittest.TestCase):
    """table.pareto: who is beaten by no other in all metrics at once."""

    def made(self, *points, metrics=("iops", "probe_p999_ns"), bad=None):
        exp = tiny(sets=[f"matrix.iodepth={list(range(1, len(points) + 1))}", "matrix.numjobs=[1]",
                         "matrix.policy=['hardirq']", "table.columns=iodepth",
                         f"table.pareto={list(metrics)}"])
        data = made_results(exp)
        for cell, point in zip(data["cells"], points):
            cell["metrics"].update({name: value for name, value in zip(metrics, point) if value is not None})
        if bad is not None:
            data["cells"][bad].update(status="errors", reasons=["x"])
        self.data = data
        return table.unbeaten(table.make(data), "hardirq/1", metrics)

    def test_more_iops_and_less_latency(self):
        self.assertEqual(self.made((100, 50), (200, 60), (150, 70), (90, 55)), ["1", "2"])
        self.assertIn("hardirq/1: beaten by no other in IOPS and probe p99.9 us: 1, 2\n", table.text(self.data))

    def test_one_that_is_best_in_both(self):
        self.assertEqual(self.made((100, 50), (200, 40), (150, 70)), ["2"])

    def test_equal_ones_do_not_beat_each_other(self):
        self.assertEqual(self.made((100, 50), (100, 50), (100, 60)), ["1", "2"])

    def test_better_in_one_and_equal_in_the_other_beats(self):
        self.assertEqual(self.made((100, 50), (100, 40)), ["2"])

    def test_what_has_no_figure_or_did_not_pass_takes_no_part(self):
        self.assertEqual(self.made((100, 50), (200, None)), ["1"])
        self.assertEqual(self.made((100, 50), (200, 40), bad=1), ["1"])

    def test_three_metrics(self):
        points = ((100, 50, 7), (100, 50, 6), (90, 50, 5))
        self.assertEqual(self.made(*points, metrics=("iops", "clat_p99_ns", "cpu_sys_pct")), ["2", "3"])
        self.assertIn("IOPS and clat p99 us and cpu % sys: 2, 3", table.text(self.data))

    def test_not_asked_for(self):
        self.assertNotIn("beaten", table.text(made_results()))


class NotPassed(unittest.TestCase):
    def test_status_stands_where_the_figures_would(self):
        data = made_results()
        cell = cell_of(data, policy="bounded", numjobs=2)
        cell.update(status="panic", metrics={}, reasons=["Kernel panic - not syncing: x"],
                    console_tail=["last words"])
        text = table.text(data)
        row = next(line for line in text.splitlines() if line.startswith("2 avg IOPS"))
        self.assertEqual(row.split("|")[1].split(), ["1000.00", "panic"])
        self.assertIn("cell policy=bounded,numjobs=2: panic: Kernel panic", text)
        self.assertIn("console: last words", text)

    def test_doubtful_figures_are_marked(self):
        data = made_results()
        cell_of(data, policy="bounded", numjobs=2).update(status="errors", reasons=["fio0: 3 I/O errors"])
        row = next(line for line in table.text(data).splitlines() if line.startswith("2 avg IOPS"))
        self.assertIn("1000.00!", row)


class Sense(unittest.TestCase):
    def insane(self, **metrics):
        data = made_results()
        cell_of(data, policy="bounded", numjobs=2)["metrics"].update(metrics)
        return table.insane_rows(table.make(data), "measured")

    def test_good_table(self):
        self.assertEqual(self.insane(), [])
        self.assertIn("hold in every row", table.text(published_as_measured()))

    def test_order(self):
        self.assertEqual(self.insane(iops_min=1001), ["2 bounded: min IOPS 1001.00 > avg IOPS 1000.00"])
        self.assertEqual(self.insane(iops_max=999), ["2 bounded: avg IOPS 1000.00 > max IOPS 999.00"])

    def test_bandwidth(self):
        self.assertEqual(self.insane(bw_bytes_per_s=4096000 * 1.019), [])
        self.assertEqual(self.insane(bw_bytes_per_s=4096000 * 1.03),
                         ["2 bounded: bandwidth is +3.0 % off IOPS x block size"])
        self.assertEqual(self.insane(bw_bytes_per_s=4096000 * 0.5),
                         ["2 bounded: bandwidth is -50.0 % off IOPS x block size"])

    def test_published_tables_are_checked_too(self):
        data = published_as_measured()
        for item in data["published"]:
            if (item["row"], item["metric"], item["column"]) == ("write/8", "iops_max", "threaded"):
                item["value"] = 18000
        self.assertIn("sanity, published: write/8 threaded: avg IOPS 18552.63 > max IOPS 18000.00",
                      table.text(data))

    def test_each_published_figure_counts(self):
        """Every published IOPS figure that is spoilt is noticed: the check looks at all."""
        for number, item in enumerate(published_as_measured()["published"]):
            if item["metric"] not in ("iops_avg", "bw_bytes_per_s"):
                continue
            data = published_as_measured()
            data["published"][number]["value"] *= 3
            bad = table.insane_rows(table.make(data), "published")
            self.assertTrue(bad and bad[0].startswith(item["row"]), item)
