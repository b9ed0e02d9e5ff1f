# SPDX-License-Identifier: GPL-2.0-or-later
"""Every knob is declared once: the pages, the driver, the devices and fio agree with the tables."""

import re
import subprocess
import unittest

from irqbed_tool import docs_gen, fio_options, knobs, paths
from irqbed_tool.evaluate import STATUSES
from support import REPO, needs_vm


class Pages(unittest.TestCase):
    def test_generated_parts_are_up_to_date(self):
        for path, text in docs_gen.pages().items():
            self.assertEqual(path.read_text(), text, f"{path.name}: run {docs_gen.COMMAND}")

    def test_every_key_and_status_is_documented(self):
        page = (REPO / "docs" / "experiments.md").read_text()
        for section, (keys, title) in knobs.SECTIONS.items():
            self.assertIn(title, page)
            for key in keys:
                self.assertIn(f"| `{key.name}` |", page, section)
        page = (REPO / "docs" / "results.md").read_text()
        for status in STATUSES:
            self.assertIn(f"`{status}`", page)

    def test_ranges_are_sane(self):
        for section, (keys, _) in knobs.SECTIONS.items():
            for key in keys:
                self.assertTrue(key.doc.endswith("."), f"{section}.{key.name}")
                if isinstance(key.default, (int, float)) and not isinstance(key.default, bool):
                    self.assertTrue(key.low <= key.default <= key.high, f"{section}.{key.name}")


class Cases(unittest.TestCase):
    """docs/cases.md names tests that exist."""

    def test_commands(self):
        page = (REPO / "docs" / "cases.md").read_text()
        sources = "".join(path.read_text() for path in (REPO / "tests" / "qtest").glob("*.c"))
        guest = [name for names in re.findall(r"`GUEST ([^`]*)`", page) for name in names.split()]
        self.assertGreater(len(guest), 15)
        for name in guest:
            self.assertTrue((REPO / "tests" / "guest" / f"{name}.sh").exists(), name)
        qtests = re.findall(r"`QTEST-\w+ -p (/[^`]*)`", page)
        self.assertGreater(len(qtests), 10)
        for name in qtests:
            self.assertIn(f'"{name}', sources)
        for name in re.findall(r"\(`(test_\w+)`|, `(test_\w+)`\)", page):
            self.assertTrue((REPO / "tests" / "cli" / f"{''.join(name)}.py").exists(), name)


class Driver(unittest.TestCase):
    """guest-driver/params.c: IRQBED_KNOB(name, words, least, greatest, none, live, default, ...)."""

    def declared(self):
        text = (REPO / "guest-driver" / "params.c").read_text()
        found = re.findall(r"^IRQBED_KNOB\((\w+), (\w+), (\d+), (\d+), (true|false), (true|false),"
                           r"\s+(\w+),", text, re.MULTILINE)
        self.assertTrue(found, "no IRQBED_KNOB() in guest-driver/params.c")
        return {name: rest for name, *rest in found}

    def test_parameters_agree(self):
        ours = {key.name: key for key in knobs.DRIVER if key.name != "module"}
        declared = self.declared()
        self.assertEqual(sorted(ours), sorted(declared))
        for name, (words, least, greatest, none, live, default) in declared.items():
            key = ours[name]
            with self.subTest(name):
                self.assertEqual(str(key.default), default)
                self.assertEqual(name in knobs.DRIVER_LIVE, live == "true")
                self.assertEqual(key.kind == "limit", none == "true")
                self.assertEqual(key.kind == "enum", words != "NULL")
                if words == "NULL":
                    self.assertEqual((key.low, key.high), (int(least), int(greatest)))


class Device(unittest.TestCase):
    # A text, an answer, one for QEMU's own test, and what docs/inject.md and docs/timeline.md describe.
    NOT_KNOBS = ("serial", "stats", "ich9", "inject", "inject_clear", "record_from_ns", "record_for_ns",
                 "record_first", "record_requests", "x_fetch_by_timer")

    def test_properties_agree(self):
        """Every knob of a controller is a QOM property, and the other way round."""
        needs_vm(driver=False)
        common = self.properties("irqbed-ctl")
        for kind in knobs.DEVICE_TYPES:
            with self.subTest(kind):
                properties = self.properties(f"irqbed-{kind}")
                ours = {key.name for key in knobs.DEVICE + knobs.CONTROLLER
                        if key.only in ("", kind)} - {"id", "type"}
                self.assertEqual(ours - properties, set())
                self.assertEqual(properties - common - ours - set(self.NOT_KNOBS), set())

    def properties(self, device):
        """Names of a device's QOM properties."""
        out = subprocess.run([paths.qemu(), "-device", f"{device},help"], capture_output=True, text=True).stdout
        if f"{device} options" not in out:
            self.skipTest(f"QEMU has no {device}: run scripts/irqbed setup")
        return {name.replace("-", "_") for name in re.findall(r"^ +([\w-]+)=", out, re.MULTILINE)}


class Fio(unittest.TestCase):
    def test_the_table_is_what_fio_says(self):
        fio = paths.cache() / "fio" / "fio"
        if not fio.exists():
            self.skipTest("fio is not built: run scripts/irqbed setup")
        self.assertEqual(fio_options.make_table(str(fio)), fio_options.TABLE.read_text())

    def test_our_keys_are_no_fio_options(self):
        for key in knobs.WORKLOAD:
            self.assertIsNone(fio_options.find(key.name), key.name)
