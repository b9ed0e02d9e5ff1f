# SPDX-License-Identifier: GPL-2.0-or-later
"""Injections in experiments: what is counted, what cannot pass, the same bytes twice.

Case fio-noise with real errors: fio's object is recovered, what it said beside
is recorded, the cell is "errors" and keeps its figures.
"""

import re
import subprocess
import unittest

from irqbed_tool import inject, knobs, paths, results
from support import TINY, TempDirCase, irqbed, needs_vm, tiny

TEXT = """
[experiment]
name = "injected"
title = "for the tests of injections"
[machine]
cpus = 1
[[device]]
id = "ufs0"
type = "ufs"
service_read_ns = 50_000
[[inject]]
id = "bad, worse"
every = 20
on = "read"
fault = "status"
status = "medium-error"
[[inject]]
id = "slow"
at_ns = 2_000_000
period_ns = 1_000_000
for_ns = 500_000
count = 3
knob = "irq_latency_ns"
value = 30_000
[workload]
ioengine = "libaio"
rw = "randread"
bs = "4k"
direct = true
size = "4m"
number_ios = 200
continue_on_error = "io"
ignore_error = "61"
warmup = 0.1
[matrix]
policy = ["hardirq", "threaded"]
[check]
sanity = false
io_errors = "allowed"
"""
NEVER = ('[matrix]\n', '[variant.none]\n"inject.1.enabled" = false\n[variant.never]\n"inject.1.after" = 1_000_000_000\n'
         '[matrix]\nvariant = ["none", "never"]\n')


class Entries(unittest.TestCase):
    TWO = ("\n[[device]]\nid = 'ahci0'\ntype = 'ahci'\n[[inject]]\nid = 'a,b'\nat_ns = 5\nknob = 'irq_latency_ns'\n"
           "value = 7\ndevice = ['ahci0', 'ufs0']\n[[inject]]\nid = 'c'\nevery = 3\nfault = 'status'\n"
           "status = 'busy'\n")

    def test_text_of_each_device(self):
        config = tiny(TINY + self.TWO).cells[0].config
        self.assertEqual(inject.text(inject.entries_of(config, "ahci0")), "id=a,,b,at-ns=5,knob=irq-latency-ns,value=7")
        self.assertEqual(inject.text(inject.entries_of(config, "ufs0")),
                         "id=a,,b,at-ns=5,knob=irq-latency-ns,value=7;id=c,every=3,fault=status,status=busy")
        off = tiny(TINY + self.TWO, ["inject.1.enabled=false"])
        self.assertNotIn("id=c", inject.text(inject.entries_of(off.cells[0].config, "ufs0")))

    def test_the_tables_are_the_devices(self):
        """Faults, error statuses and knobs are what each controller says it can do."""
        needs_vm(driver=False)
        for kind in knobs.DEVICE_TYPES:
            faults = {fault for fault, only in knobs.FAULTS.items() if only in ("", kind)}
            said = self.refusal(kind, "fault=none")
            self.assertEqual(re.search(r"none of: (.*)", said).group(1).split(", "), list(knobs.FAULTS))
            for fault in knobs.FAULTS:
                refused = "cannot do" in self.refusal(kind, f"fault={fault},status=none,for-ns=1")
                self.assertEqual(refused, fault not in faults, f"{kind} {fault}")
            said = self.refusal(kind, "fault=status,status=none")
            self.assertEqual(re.search(r"none of: (.*)", said).group(1).split(", "), list(knobs.FAULT_STATUSES[kind]))
            for name in (key.name for key in knobs.CONTROLLER + knobs.DEVICE):
                said = self.refusal(kind, f"knob={name.replace('_', '-')},value=none")
                self.assertEqual("no number or word" not in said, name in knobs.INJECT_KNOBS, said)

    def refusal(self, kind, words):
        entry = f"id=a,every=2,{words}".replace(",", ",,")
        done = subprocess.run([paths.qemu(), "-L", paths.firmware(), "-machine", "q35,sata=off", "-display", "none",
                               "-nodefaults", "-S", "-device", f"irqbed-{kind},inject={entry}"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr


class Runs(TempDirCase):
    def setUp(self):
        super().setUp()
        needs_vm()

    def run_it(self, name, text, *args):
        done = irqbed("run", self.file(f"{name}.toml", text), "--out", self.dir / name, *args, timeout=1800)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        done.bytes = (self.dir / name / "results.json").read_bytes()
        done.data = results.load(self.dir / name)
        return done

    def test_counted_and_the_same_twice(self):
        done = self.run_it("first", TEXT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.run_it("again", TEXT).bytes, done.bytes)
        for cell in done.data["cells"]:
            bad, slow = cell["device"]["ufs0"]["inject"]
            self.assertEqual((bad["id"], bad["fired"], slow["fired"]), ("bad, worse", 10, 3))
            self.assertEqual(slow["fired_ns"], [2_000_000, 3_000_000, 4_000_000])
            self.assertEqual(len(bad["fired_ns"]), 10)
            self.assertEqual(bad["entry"], "id=bad,, worse,every=20,on=read,fault=status,status=medium-error")
            self.assertEqual(cell["device"]["ufs0"]["knobs"]["irq_latency_ns"], 0, "it went back")
            self.assertEqual(cell["metrics"]["io_errors"], 10)
            self.assertEqual(cell["metrics"]["injections"], 13)
            self.assertEqual(cell["driver"]["ufs0"]["failed"], 10)

    def test_fio_noise_with_real_errors(self):
        """fio ends at the first error, and says so in the middle of its output."""
        text = TEXT.replace('continue_on_error = "io"\nignore_error = "61"\n', "")
        done = self.run_it("noise", text, "--set", "check.io_errors=none", "--set", "inject.1.enabled=false")
        self.assertEqual(done.returncode, 1)
        for cell in done.data["cells"]:
            self.assertEqual(cell["status"], "errors")
            self.assertIn("1 I/O errors", cell["reasons"][0])
            self.assertGreater(cell["metrics"]["iops"], 0, "the object was recovered")
            self.assertTrue(any("No data available" in line for line in cell["stray"]), cell["stray"])
        self.assertIn("errors", done.stdout)

    def test_what_never_fired_is_no_pass(self):
        text = TEXT.replace(*NEVER).replace("at_ns = 2_000_000\nperiod_ns = 1_000_000\n", "after = 3\n")
        done = self.run_it("never", text, "--set", 'matrix.policy=["hardirq"]')
        self.assertEqual(done.returncode, 1)
        none, never = done.data["cells"]
        self.assertEqual((none["status"], never["status"]), ("pass", "not-fired"))
        self.assertEqual(len(none["device"]["ufs0"]["inject"]), 1)
        self.assertEqual(never["reasons"], ["ufs0: inject slow never fired: triggered 0 times, refused 0"])
        self.assertIn("not-fired: ufs0: inject slow", done.stdout)
        self.assertEqual(done.data["status"], "fail")
