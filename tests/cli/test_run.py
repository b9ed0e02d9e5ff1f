# SPDX-License-Identifier: GPL-2.0-or-later
"""Real runs: the same bytes on a busy host, Ctrl-C, the gate, the shell.

The first case runs data/small.toml; others compare with what it gave.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from irqbed_tool import knobs, results
from support import DATA, RunsCase, TempDirCase, children, command_env, irqbed, needs_vm

SMALL = DATA / "small.toml"
ONE_CELL = ("--set", "matrix.policy=bounded", "--set", "matrix.rw=randread")


class BusyHost:
    """Two processes that do nothing but compute, while the block runs."""

    def __enter__(self):
        self.loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]

    def __exit__(self, *exc):
        for loop in self.loops:
            loop.kill()
            loop.wait()


class Small(RunsCase):
    """Runs of the small experiment, each made once for all cases."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.first = cls.run_small("first")

    @classmethod
    def run_small(cls, name, *args, path=SMALL):
        done = irqbed("run", path, "--out", cls.dir / name, *args, timeout=1800)
        done.out = cls.dir / name
        done.bytes = (done.out / "results.json").read_bytes() if done.returncode in (0, 1) else b""
        return done

    def same(self, other):
        """The same bytes, or the first lines that differ."""
        if other.bytes == self.first.bytes:
            return
        pairs = zip(self.first.bytes.decode().splitlines(), other.bytes.decode().splitlines())
        odd = [f"{one.strip()} / {two.strip()}" for one, two in pairs if one != two]
        self.fail(f"results differ in {len(odd)} lines: {odd[:5]}")

    def test_every_cell_passes(self):
        data = results.load(self.first.out)
        self.assertEqual(self.first.returncode, 0, self.first.stdout + self.first.stderr)
        self.assertEqual([cell["status"] for cell in data["cells"]], ["pass"] * 6)
        for cell in data["cells"]:
            driver, device = cell["driver"]["ufs0"], cell["device"]["ufs0"]
            self.assertEqual(driver["effective"]["policy"], cell["params"]["policy"])
            self.assertGreater(driver["completed"], 100)
            self.assertEqual(driver["submitted"], driver["completed"] + driver["failed"])
            self.assertGreaterEqual(device["requests"]["completed"], driver["completed"])
            for name in ("iops_avg", "clat_p99_ns", "cpu_sys_pct", "device_mean_ns", "irqs_per_io"):
                self.assertGreater(cell["metrics"][name], 0, name)
            used = {"hardirq": "hard_completions", "threaded": "thread_completions"}
            if cell["params"]["policy"] in used:
                self.assertEqual(driver[used[cell["params"]["policy"]]], driver["completed"])

    def test_same_bytes_on_a_busy_host(self):
        with BusyHost():
            again = self.run_small("busy", "--quiet")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.same(again)

    def test_nothing_of_the_host_in_the_results(self):
        text = self.first.bytes.decode()
        host = json.loads((self.first.out / "host.json").read_text())
        self.assertEqual(host["schema"], "irqbed-host/1")
        for word in (str(Path.home()) + "/", str(self.dir), os.uname().nodename + ".", host["cache"],
                     host["host"]["cpu"], str(DATA)):
            self.assertNotIn(word, text)
        self.assertIn("CACHE/", text)
        self.assertTrue(host["boots"][0]["qemu_argv"][0].startswith("/"))

    def test_json_is_what_the_file_has(self):
        done = self.run_small("json", "--json", *ONE_CELL)
        self.assertEqual(done.stdout.encode(), done.bytes)
        self.assertIn("cell 1 of 1", done.stderr)

    def test_same_against_same_and_slower_device(self):
        """The gate: a commit against itself never fails, +10 % latency always does."""
        done = irqbed("compare", self.first.out, self.first.out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        slower = self.run_small("slower", "--set", "device.0.service_read_ns=x1.1",
                                "--set", "device.0.service_write_ns=x1.1")
        self.assertEqual(slower.returncode, 0, slower.stderr)
        done = irqbed("compare", self.first.out, slower.out, "--json")
        self.assertEqual(done.returncode, 1, done.stdout)
        worse = {change["cell"] for change in json.loads(done.stdout)["changes"]
                 if change["verdict"] == "worse"}
        self.assertEqual(len(worse), 6, "every cell is worse")

    def test_several_vms_at_once_give_the_same(self):
        axis = ("--set", "matrix.units=[2, 4]", "--set", "matrix.policy=bounded",
                "--set", "matrix.rw=randread")
        one, two = self.run_small("jobs1", *axis), self.run_small("jobs2", *axis, "--jobs", "2")
        self.assertEqual(len(results.load(two.out)["boots"]), 2)
        self.assertEqual(one.bytes, two.bytes)

    def test_another_seed_gives_other_results(self):
        other = self.run_small("seed", "--set", "machine.seed=2", *ONE_CELL)
        same = self.run_small("seed1", *ONE_CELL)
        self.assertEqual((other.returncode, same.returncode), (0, 0))
        cells = [results.load(done.out)["cells"][0]["device"]["ufs0"]["service_read_ns"]["sum"]
                 for done in (other, same)]
        self.assertNotEqual(*cells)

    def test_stock_driver(self):
        text = SMALL.read_text().replace('policy = ["hardirq", "threaded", "bounded"]\n', "")
        path = self.dir / "stock.toml"
        path.write_text(text)
        done = self.run_small("stock", "--set", "driver.module=stock", "--set", "matrix.rw=randread",
                              path=path)
        data = results.load(done.out)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(data["cells"][0]["driver"], {})

    def test_probe(self):
        """The victim's figures stand beside IOPS; its interrupts go where they were sent."""
        done = self.run_small("probe", "--set", "probe.period_us=50", "--set", "probe.cpu=1", *ONE_CELL,
                              "--set", 'table.metrics=["iops", "probe_p999_ns"]')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cell = results.load(done.out)["cells"][0]
        self.assertEqual([cpu["cpu"] for cpu in cell["probe"]["cpus"]], [1])
        answers = cell["probe"]["cpus"][0]["ack_ns"]["count"]
        self.assertEqual(cell["probe"]["sent"], answers + cell["probe"]["waiting"])
        self.assertGreaterEqual(answers, 0.2 / 50e-6)
        self.assertGreater(cell["metrics"]["probe_p50_ns"], 0)
        self.assertGreaterEqual(cell["metrics"]["probe_max_ns"], cell["metrics"]["probe_p999_ns"])
        self.assertIn("probe p99.9 us", done.stdout)

    def test_what_each_policy_reports(self):
        """All of it, for each of them; and the time is where the policy says that the work is done."""
        done = self.run_small("policies", "--set", f"matrix.policy={json.dumps(knobs.POLICIES)}",
                              "--set", "matrix.rw=randread", "--set", "workload.ioengine=io_uring",
                              "--set", "workload.target=disk", "--set", "workload.runtime=0.03",
                              "--set", "driver.flood_enter_pct=0", "--set", "probe.period_us=50")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        works = {"threaded": "thread", "softirq": "block", "irq_poll": "softirq", "workqueue": "work", "flood": "softirq",
                 "polled": "polled"}
        cells = results.load(done.out)["cells"]
        self.assertEqual([cell["params"]["policy"] for cell in cells], list(knobs.POLICIES))
        for cell in cells:
            policy, times = cell["params"]["policy"], cell["driver"]["ufs0"]["cpu_ns"]
            with self.subTest(policy):
                wanted = {"irqs", "polls", "guest_switches", "switches_per_io", "irq_cpu_pct", "softirq_cpu_pct",
                          "thread_cpu_pct", "irq_cpu_most_pct", "softirq_cpu_most_pct", "thread_cpu_most_pct",
                          "polled_cpu_pct", "handovers_policy", "handovers_time", "handovers_count", "handovers_flood",
                          "probe_p50_ns", "probe_p99_ns", "probe_p999_ns", "probe_missed"}
                wanted |= set() if policy == "polled" else {"completions_per_irq"}
                self.assertEqual(wanted - set(cell["metrics"]), set())
                self.assertEqual({len(cpus) for cpus in times.values()}, {4}, "a figure for each vCPU")
                self.assertGreater(sum(times[works.get(policy, "hard")]), 0)
                self.assertEqual(cell["metrics"]["irqs"] == 0, policy == "polled")

    def test_ahci_with_both_drivers(self):
        text = SMALL.read_text().replace('id = "ufs0"\ntype = "ufs"', 'id = "ahci0"\ntype = "ahci"\nports = 2')
        path = self.dir / "ahci.toml"
        path.write_text(text.replace("[driver]", "[[device.lu]]\n[[device.lu]]\n[driver]"))
        axes = ("--set", "matrix.policy=bounded", "--set", "matrix.rw=randread", "--set", "workload.disks=2",
                "--set", "workload.target=disk")
        ours = self.run_small("ahci-ours", *axes, path=path)
        self.assertEqual(ours.returncode, 0, ours.stdout + ours.stderr)
        cell = results.load(ours.out)["cells"][0]
        self.assertEqual(len(cell["disks"]), 2)
        self.assertGreater(cell["driver"]["ahci0"]["queues"]["1"]["completed"], 100)
        stock = path.read_text().replace('policy = ["hardirq", "threaded", "bounded"]\n', "")
        path.write_text(stock)
        stock = self.run_small("ahci-stock", *axes[2:], "--set", "driver.module=stock", path=path)
        self.assertEqual(stock.returncode, 0, stock.stdout + stock.stderr)
        self.assertGreater(results.load(stock.out)["cells"][0]["device"]["ahci0"]["requests"]["completed"], 100)

    def test_dd_on_two_disks_at_once(self):
        path = self.dir / "dd.toml"
        path.write_text("""
[experiment]
name = "dd"
title = "for the tests of run"
[[device]]
id = "ufs0"
type = "ufs"
service_read_ns = 100_000
[[device.lu]]
[[device.lu]]
[workload]
tool = "dd"
disks = 2
bs = "1m"
size = "4m"
[matrix]
policy = ["hardirq"]
[table]
metrics = ["runtime_ms", "bw_bytes_per_s"]
""")
        done = self.run_small("dd", path=path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cell = results.load(done.out)["cells"][0]
        self.assertAlmostEqual(cell["metrics"]["bw_bytes_per_s"] * cell["metrics"]["runtime_ms"] / 1000, 8 << 20,
                               delta=10)
        self.assertGreaterEqual(cell["device"]["ufs0"]["bytes_read"], 8 << 20)

    def test_host_clock_is_labelled(self):
        done = self.run_small("host", "--clock", "host", *ONE_CELL, "--set", "check.sanity=false")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("not reproducible", done.stdout)
        self.assertEqual(results.load(done.out)["clock"], "host")


class Interrupted(TempDirCase):
    def interrupt(self, number):
        needs_vm()
        out = self.dir / "out"
        tool = subprocess.Popen(
            [sys.executable, "-m", "irqbed_tool", "run", SMALL, "--out", out], env=command_env(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        for line in tool.stderr:
            if "cell 3 of 6" in line:
                break
        vms = children(tool.pid)
        tool.send_signal(number)
        start_s = time.monotonic()
        text, _ = tool.communicate(timeout=300)
        self.assertLess(time.monotonic() - start_s, 60, "ends soon")
        self.assertEqual(tool.returncode, 128 + signal.SIGINT)
        for pid in vms:
            self.assertFalse(os.path.exists(f"/proc/{pid}"), "QEMU is still there")
        data = results.load(out)
        self.assertEqual(data["status"], "interrupted")
        self.assertEqual([cell["status"] for cell in data["cells"]],
                         ["pass"] * 2 + ["interrupted"] * 4)
        self.assertEqual(sorted(os.listdir(out)), ["host.json", "plot.png", "plot.svg", "results.json", "table.txt"])
        self.assertIn("interrupted", text)

    def test_ctrl_c_keeps_finished_cells(self):
        self.interrupt(signal.SIGINT)

    def test_sigterm_too(self):
        self.interrupt(signal.SIGTERM)


class Shell(TempDirCase):
    def test_console_with_disks_and_fio(self):
        needs_vm()
        script = "ls -l /dev/irqbed0l0\nfio --version\nmount | grep /mnt\necho 6 times 7 is $((6 * 7))\n" \
                 "poweroff -f\n"
        done = subprocess.run([sys.executable, "-m", "irqbed_tool", "shell", SMALL], input=script,
                              env=command_env(), capture_output=True, text=True, timeout=900)
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.stdout)
        self.assertIn("Ctrl-A X", done.stderr)
        for word in ("/dev/irqbed0l0", "fio-3.33", "/mnt type ext4", "6 times 7 is 42"):
            self.assertIn(word, text)

    def test_inject_into_the_running_vm(self):
        needs_vm()
        env = {**command_env(), "TMPDIR": str(self.dir)}
        none = irqbed("inject", "--list", env=env)
        self.assertEqual((none.returncode, none.stderr.count("\n")), (2, 1), none.stderr)
        shell = subprocess.Popen([sys.executable, "-m", "irqbed_tool", "shell", SMALL], stdin=subprocess.PIPE,
                                 env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            for line in shell.stderr:
                if "--vm" in line:
                    break
            directory = re.search(r"--vm (\S+)", line).group(1)
            until_s = time.monotonic() + 60
            while not os.path.exists(f"{directory}/qmp") and time.monotonic() < until_s:
                time.sleep(0.1)
            self.inject_all(directory, env)
            shell.communicate("\npoweroff -f\n", timeout=600)
            self.assertEqual(shell.returncode, 0)
        finally:
            shell.kill()
            shell.wait()

    def inject_all(self, directory, env):
        slow = "id=slow,after=1,on=read,knob=irq-latency-ns,value=5000"
        done = irqbed("inject", slow, "id=never,after=1000000000,fault=irq-lost", "--vm", directory, env=env)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for args, words in ((["id=slow,every=2,fault=hold"], ("id=slow", "already")),
                            (["id=x,every=2,fault=nothing"], ("nothing", "irq-lost")),
                            (["id=x,every=2,knob=units,value=0"], ("units", "0 is not")),
                            (["--device", "ufs7", "--list"], ("ufs7", "ufs0")),
                            (["--vm", self.dir, "--list"], ("--vm", "irqbed shell"))):
            bad = irqbed("inject", *args, env=env)
            self.assertEqual((bad.returncode, bad.stdout, bad.stderr.count("\n")), (2, "", 1), bad.stderr)
            for word in words:
                self.assertIn(word, bad.stderr)
        # The driver's own reads of the disk, while the guest boots, are enough.
        until_s = time.monotonic() + 600
        entries = [{}]
        while not entries[0].get("fired") and time.monotonic() < until_s:
            time.sleep(0.5)
            done = irqbed("inject", env=env)
            entries = list(map(json.loads, done.stdout.splitlines()))
        self.assertEqual([(one["entry"], one["fired"], len(one["fired_ns"])) for one in entries],
                         [(slow, 1, 1), ("id=never,after=1000000000,fault=irq-lost", 0, 0)])
        done = irqbed("inject", "--clear", "--list", "id=new,at-ns=0,fault=irq-spurious", "--device", "ufs0", env=env)
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], ["new"])
