# SPDX-License-Identifier: GPL-2.0-or-later
"""The plot of a table: what it shows, and that it is the same each time; no VM."""

import shutil
import unittest
import xml.etree.ElementTree as ET

from irqbed_tool import plot, plot_time, report
from support import TINY, made_results, published_as_measured, tiny


def words(svg):
    """The texts in a picture."""
    return [text for node in ET.fromstring(svg).iter() if (text := (node.text or "").strip())]


class Script(unittest.TestCase):
    def test_published_bars_stand_beside_measured_ones(self):
        script = plot.script(published_as_measured(), "svg")
        self.assertIn('title "bounded" linecolor rgb "#00009e73"', script)
        self.assertIn('title "bounded, published" linecolor rgb "#a0009e73"', script)
        self.assertIn('"read/1" 5488.82 4226.61 5314.89 5488.82 4226.61 5314.89', script)

    def test_a_cell_that_failed_has_no_bar(self):
        data = made_results()
        data["cells"][0]["status"] = "errors"
        self.assertIn('"1" NaN 1000', plot.script(data, "png"))

    def test_two_pareto_metrics_make_a_curve(self):
        data = made_results(tiny(TINY + '[table]\ncolumns = "policy"\npareto = ["iops", "clat_mean_ns"]\n'))
        script = plot.script(data, "svg")
        self.assertIn('set title "IOPS against clat mean us"', script)
        self.assertIn('\n100 1000 "hardirq"\n100 1000 "bounded"\nEND', script)

    def test_nothing_to_draw(self):
        data = made_results()
        for cell in data["cells"]:
            cell["metrics"] = {}
        self.assertIsNone(plot.script(data, "svg"))

    def test_texts_cannot_leave_their_quotes(self):
        self.assertEqual(plot.quoted('a"b\\c\nd'), '"a\\"b\\\\c d"')


def with_series(**inject):
    """Results whose cells have a time series, of two controllers, and what was injected in the first."""
    data = made_results(tiny(TINY + '[table]\ncolumns = "policy"\n'))
    for cell in data["cells"]:
        cell["series"] = {"driver": {
            "ufs0": {"window_ns": 2_000_000, "completions": [0, 2, 4], "iops": [0, 1000, 2000],
                     "mean_ns": [None, 10_000, 20_000], "p99_ns": [None, 30_000, 40_000]},
            "ufs1": {"window_ns": 2_000_000, "start_ns": -1_900_000, "completions": [0, 0, 2], "iops": [0, 0, 1000],
                     "mean_ns": [None, None, 30_000], "p99_ns": [None, None, 70_000]}}}
        cell["device"] = {"ufs0": {"inject": [{"id": "slow", "fired_ns": [3_000_000]}]}} if inject else {}
    if inject:
        data["config"]["inject"] = [{"id": "slow", **inject}]
    return data


class Time(unittest.TestCase):
    def test_nothing_without_a_series(self):
        self.assertIsNone(plot_time.script(made_results(), "svg"))

    def test_controllers_are_one(self):
        """IOPS are added up, the mean is of all requests, p99 is the worst."""
        series = plot_time.series_of(with_series()["cells"][0])
        self.assertEqual(series["iops"], [0, 2000, 2000])
        self.assertEqual(series["mean_ns"], [None, 20_000, 20_000])
        self.assertEqual(series["p99_ns"], [None, 70_000, 40_000])

    def test_curves_and_marks(self):
        script = plot_time.script(with_series(for_ns=500_000), "svg")
        self.assertIn("<< END\n1 NaN\n3 70\n5 40\nEND", script)
        self.assertIn('title "bounded"', script)
        self.assertIn("set object 1 rectangle from 3, graph 0 to 3.5, graph 1", script)
        self.assertIn("set arrow 1 from 3, graph 0 to 3, graph 1", script)
        self.assertNotIn("set arrow 1", plot_time.script(with_series(), "svg"))

    def test_what_began_before_is_cut(self):
        """A line is within the picture or not there."""
        data = with_series(for_ns=2_900_000)
        for cell in data["cells"]:
            cell["series"]["driver"]["ufs0"].update(start_ns=4_000_000)
            del cell["series"]["driver"]["ufs1"]
            cell["device"]["ufs0"]["inject"][0]["fired_ns"] = [1_000_000]
        script = plot_time.script(data, "svg")
        self.assertIn("set xrange [2:10]", script)
        self.assertIn("set object 1 rectangle from 2, graph 0 to 3.9, graph 1", script)
        self.assertNotIn("set arrow 1", script)

    def test_picture(self):
        if not shutil.which(plot.PROGRAM):
            self.skipTest("gnuplot is not installed: run scripts/irqbed setup")
        svg = plot.draw(plot_time.script(with_series(for_ns=0), "svg"))
        for word in ("1: p99 latency us", "2: IOPS", "bounded", "hardirq"):
            self.assertIn(word, words(svg))
        page = report.page([("DIR", with_series(for_ns=0))])
        self.assertIn('alt="plot over time"', page)


@unittest.skipUnless(shutil.which(plot.PROGRAM), "gnuplot is not installed: run scripts/irqbed setup")
class Picture(unittest.TestCase):
    def test_svg_is_whole_and_the_same_twice(self):
        svg = plot.draw(plot.script(published_as_measured(), "svg"))
        self.assertEqual(svg, plot.draw(plot.script(published_as_measured(), "svg")))
        for word in ("read/1", "write/8", "avg IOPS", "threaded, published"):
            self.assertIn(word, words(svg))

    def test_png(self):
        self.assertEqual(plot.draw(plot.script(made_results(), "png"))[:8], b"\x89PNG\r\n\x1a\n")

    def test_report_holds_the_picture(self):
        self.assertIn('src="data:image/svg+xml;base64,', report.page([("DIR", made_results())]))


if __name__ == "__main__":
    unittest.main()
