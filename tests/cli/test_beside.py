# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of several parts: what runs beside, an array of disks, and what is waited for after."""

import json
import subprocess
import unittest

from irqbed_tool import evaluate, metrics, plan
from irqbed_tool.errors import UserError
from support import DATA, TINY, tiny

THREE_DISKS = TINY.replace("[workload]", """[[device.lu]]
[[device.lu]]
[[device.lu]]
[workload]""")
BESIDE = THREE_DISKS + """
[beside.light]
disks = [1, 2]
iodepth = 1
test_unit_ready = [1]
[beside.wlun]
test_unit_ready = [49488]
"""


def steps(exp):
    return plan.make_job(plan.make_boots(exp.cells)[0]).text()


class Beside(unittest.TestCase):
    def test_jobs_of_their_own(self):
        exp = tiny(BESIDE, ["workload.with=light", "workload.iodepth=8"])
        argv = plan.load_argv(exp.cells[0].config)
        self.assertLess(argv.index("--iodepth=8"), argv.index("--name=irqbed0l0"))
        self.assertEqual(argv[argv.index("--name=beside-1"):],
                         ["--name=beside-1", "--new_group=1", "--filename=/dev/irqbed0l1", "--iodepth=1",
                          "--name=beside-2", "--new_group=1", "--filename=/dev/irqbed0l2", "--iodepth=1"])
        self.assertNotIn("beside", " ".join(plan.load_argv(tiny(BESIDE).cells[0].config)))

    def test_metrics_of_their_own(self):
        main = json.loads((DATA / "fio-clean.json").read_text())
        alone = metrics.from_fio(main)
        self.assertFalse([name for name in alone if name.startswith("beside")])
        job = main["jobs"][0]
        main["jobs"] += [{**job, "jobname": "beside-1"}, {**job, "jobname": "beside-2"}]
        found = metrics.from_fio(main)
        self.assertEqual({name: found[name] for name in alone}, alone)
        self.assertAlmostEqual(found["beside_iops"], 2 * found["iops"])
        self.assertAlmostEqual(found["beside_iops_least"], found["iops"])
        self.assertEqual(found["beside_clat_p99_ns"], found["clat_p99_ns"])

    def test_bad_input(self):
        for sets, words in ((["workload.with=lihgt"], "beside.lihgt"), (["workload.with=wlun"], "driver.wluns"),
                            (["workload.with=light", "workload.disks=2"], "beside.light.disks"),
                            (["workload.with=light", "beside.light.disks=[3]"], "beside.light.disks"),
                            (["beside.light.iodpeth=1"], "iodepth"), (["beside.light.disks=1"], "a list"),
                            (["workload.with=light", "workload.target=file", "workload.size=1m"], "workload.with")):
            with self.assertRaises(UserError) as caught:
                tiny(BESIDE, sets)
            self.assertIn(words, str(caught.exception))


class Settle(unittest.TestCase):
    def test_waits_and_says_how_long(self):
        self.assertNotIn("tag_users", steps(tiny(THREE_DISKS)))
        self.assertIn("0000:00:04.0/tag_users", steps(tiny(THREE_DISKS, ["workload.settle=true"])))

    def test_script(self):
        """Twelve hundredths of a second pass between the two readings of the clock."""
        script = plan.settle_script(["/x"])
        fakes = "read() { eval \"$1=${then:-9.95}\"; then=10.07; }; cat() { echo 0; }; "
        script = script.replace("</proc/uptime", "")
        done = subprocess.run(["sh", "-c", fakes + script], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "120\n")

    def test_metric(self):
        fio = {"type": "exec", "name": "fio0", "rc": 0, "signal": 0, "timed_out": False, "err": "",
               "out": (DATA / "fio-clean.json").read_text()}
        entry = evaluate.evaluate(tiny().cells[0], [fio, {**fio, "name": "settle", "out": "5230\n"}])
        self.assertEqual(entry["metrics"]["tags_reserved_ms"], 5230)
        self.assertEqual(entry["status"], "pass")


class Raid(unittest.TestCase):
    SETS = ["workload.target=raid0", "workload.disks=3", "workload.raid_chunk_kib=64"]

    def test_one_array_over_all(self):
        exp = tiny(THREE_DISKS, self.SETS)
        self.assertIn("--filename=/dev/md0", plan.load_argv(exp.cells[0].config))
        script = plan.make_raid_script(exp.cells[0].config)
        for words in ("3 >raid_disks", "65536 >chunk_size", "irqbed0l0 irqbed0l1 irqbed0l2"):
            self.assertIn(words, script)
        self.assertIn("raid0", steps(exp))

    def test_other_arrays_get_other_boots(self):
        exp = tiny(THREE_DISKS, [*self.SETS[:2], "matrix.numjobs=[1]", "matrix.raid_chunk_kib=[64, 128]"])
        self.assertEqual(len(plan.make_boots(exp.cells)), 2)


if __name__ == "__main__":
    unittest.main()
