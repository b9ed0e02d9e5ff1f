# SPDX-License-Identifier: GPL-2.0-or-later
"""The plot of a table: what it shows, and that it is the same each time; no VM."""

import shutil
import unittest
import xml.etree.ElementTree as ET

from irqbed_tool import plot, report
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


@unittest.skipUnless(shutil.which(plot.PROGRAM), "gnuplot is not installed: run scripts/irqbed setup")
class Picture(unittest.TestCase):
    def test_svg_is_whole_and_the_same_twice(self):
        svg = plot.draw(published_as_measured(), "svg")
        self.assertEqual(svg, plot.draw(published_as_measured(), "svg"))
        for word in ("read/1", "write/8", "avg IOPS", "threaded, published"):
            self.assertIn(word, words(svg))

    def test_png(self):
        self.assertEqual(plot.draw(made_results(), "png")[:8], b"\x89PNG\r\n\x1a\n")

    def test_report_holds_the_picture(self):
        self.assertIn('src="data:image/svg+xml;base64,', report.page([("DIR", made_results())]))


if __name__ == "__main__":
    unittest.main()
