# SPDX-License-Identifier: GPL-2.0-or-later
"""Case verdict-lost: however a VM ends, the run ends in time, says how, and nothing passes by it.

Real QEMU, real guests. Each early end has a status of its own, and the
console's last lines are in the results.
"""

import json
import os
import signal
import subprocess
import sys
import time

from irqbed_tool import results
from support import TempDirCase, children, command_env, irqbed, needs_vm

ONE = """
[experiment]
name = "verdict"
title = "VMs that end early"
[machine]
cpus = 1
[[device]]
id = "ufs0"
type = "ufs"
service_read_ns = 100_000
[workload]
rw = "randread"
bs = "4k"
direct = true
size = "4m"
number_ios = 50
warmup = 0
"""


class Case(TempDirCase):
    def setUp(self):
        super().setUp()
        needs_vm()
        self.path = self.file("verdict.toml", ONE)
        self.out = self.dir / "out"

    def run_it(self, *args, path=None):
        start_s = time.monotonic()
        done = irqbed("run", path or self.path, "--out", self.out, *args, timeout=1800)
        self.wall_s = time.monotonic() - start_s
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.data = results.load(self.out)
        return done

    def status(self, **params):
        for cell in self.data["cells"]:
            if all(cell["params"][name] == value for name, value in params.items()):
                return cell["status"]
        return None

    def expect_all(self, done, status, word):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.data["status"], "fail")
        for cell in self.data["cells"]:
            self.assertEqual(cell["status"], status, cell["reasons"])
            self.assertIn(word, " ".join(cell["reasons"]))
            self.assertEqual(cell["metrics"], {})
        self.assertIn(status, done.stdout)


class BeforeTheAgent(Case):
    def kernel_args(self, words):
        return self.run_it("--set", f"machine.kernel_args={words}", "--limit", "120")

    def test_panic_before_init(self):
        done = self.kernel_args("rdinit=/nowhere")
        self.expect_all(done, "panic", "Kernel panic - not syncing")
        tail = self.data["cells"][0]["console_tail"]
        self.assertTrue(any("Kernel panic" in line for line in tail), tail)

    def test_init_that_ends_at_once(self):
        self.expect_all(self.kernel_args("rdinit=/bin/true"), "panic", "Attempted to kill init")

    def test_init_missing(self):
        """The guest powers off without ever reaching the agent."""
        done = self.kernel_args("rdinit=/sbin/poweroff -- -f")
        self.expect_all(done, "no-init", "never reached its agent")
        self.assertTrue(self.data["cells"][0]["console_tail"])

    def test_hang_before_the_agent(self):
        done = self.run_it("--set", "machine.kernel_args=rdinit=/bin/sleep -- 1000000000",
                           "--limit", "30")
        self.expect_all(done, "hang", "no answer from the guest for 3")
        self.assertLess(self.wall_s, 240)

    def test_qemu_that_refuses(self):
        empty = self.file("empty.img", "")
        path = self.file("drive.toml", ONE.replace(
            'type = "ufs"\n', f'type = "ufs"\n[[device.lu]]\ndrive = "{empty}"\n[driver]\n', 1)
            .replace("[driver]\nservice_read_ns = 100_000", "[driver]"))
        done = self.run_it(path=path)
        self.expect_all(done, "qemu-error", "drive")


class InACell(Case):
    """One run; each cell makes its own trouble from inside the guest."""

    TROUBLE = {"true": "pass",
               "echo c | tee /proc/sysrq-trigger": "panic",
               "echo WARNING: made up | tee /dev/kmsg": "warning",
               "killall -9 irqbed-agent; sleep 60": "agent-died",
               "sleep 100000": "timeout",
               "poweroff -f": "died",
               "echo fine": "pass"}

    def test_each_trouble_has_its_status(self):
        axis = json.dumps(list(self.TROUBLE))
        path = self.file("verdict.toml", ONE + f"limit = 20\n[matrix]\nexec_prerun = {axis}\n")
        done = self.run_it("--limit", "300", path=path)
        found = {cell["params"]["exec_prerun"]: cell["status"] for cell in self.data["cells"]}
        self.assertEqual(found, self.TROUBLE, done.stderr)
        self.assertEqual(done.returncode, 1)
        for cell in self.data["cells"]:
            self.assertEqual(cell["status"] == "pass", bool(cell["metrics"]) and
                             "reasons" not in cell, cell["id"])
            if cell["status"] in ("panic", "agent-died", "died"):
                self.assertTrue(cell["console_tail"], cell["id"])

    def test_io_errors_are_errors(self):
        """Real I/O errors from the device: fio's figures are kept, the cell does not pass."""
        done = self.run_it("--set", "device.0.fail_every=20", "--set", "workload.continue_on_error=io")
        cell = self.data["cells"][0]
        self.assertEqual(cell["status"], "errors", cell.get("reasons"))
        self.assertEqual(done.returncode, 1)
        self.assertGreater(cell["device"]["ufs0"]["requests"]["failed"], 0, "the fault never fired")
        self.assertGreater(cell["metrics"]["io_errors"], 0)
        self.assertTrue(any("io_u error" in line for line in cell["stray"]), cell["stray"])

    def test_driver_that_cannot_be_loaded(self):
        """The reason is fetched from the guest; no cell is tried."""
        path = self.file("verdict.toml", ONE + '[driver]\nmodule = "stock"\n')
        done = self.run_it("--set", "machine.kernel_args=module_blacklist=ufshcd_core", path=path)
        self.expect_all(done, "failed", "driver:")


class Killed(Case):
    """QEMU ended by SIGKILL from outside at several points."""

    def start(self, path):
        return subprocess.Popen([sys.executable, "-m", "irqbed_tool", "run", path, "--out", self.out],
                                env=command_env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def find_qemu(self, tool):
        """Its process id, as soon as there is one."""
        deadline_s = time.monotonic() + 300
        while time.monotonic() < deadline_s:
            for pid in children(tool.pid):
                if "qemu" in open(f"/proc/{pid}/cmdline").read().split("\0")[0]:
                    return pid
            time.sleep(0.02)
        return self.fail("no QEMU was started")

    def kill_qemu(self, tool):
        os.kill(self.find_qemu(tool), signal.SIGKILL)

    def wait_for(self, tool, text):
        for line in tool.stderr:
            if text in line:
                return
        self.fail(f"{text!r} was never said")

    def finish(self, tool):
        out, err = tool.communicate(timeout=900)
        self.data = results.load(self.out)
        self.assertEqual(tool.returncode, 1, out + err)

    def test_killed_before_the_first_answer(self):
        tool = self.start(self.path)
        self.kill_qemu(tool)
        self.finish(tool)
        cell = self.data["cells"][0]
        self.assertEqual(cell["status"], "died", cell["reasons"])
        self.assertIn("SIGKILL", cell["reasons"][0])

    def test_no_vm_outlives_the_command(self):
        tool = self.start(self.path)
        pid = self.find_qemu(tool)
        tool.kill()
        tool.communicate(timeout=60)
        deadline_s = time.monotonic() + 60
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline_s:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{pid}"), "expected: QEMU ends with the command, got: it runs on")

    def test_killed_in_a_cell(self):
        """It costs that cell; the others get another VM and pass."""
        path = self.file("verdict.toml", ONE.replace("number_ios = 50\n", "time_based = true\n"
                                                     "runtime = 5\n") + "[matrix]\niodepth = [1, 2, 3]\n")
        tool = self.start(path)
        self.wait_for(tool, "cell 2 of 3")
        time.sleep(0.3)
        self.kill_qemu(tool)
        self.finish(tool)
        self.assertEqual([cell["status"] for cell in self.data["cells"]], ["pass", "died", "pass"])
        self.assertEqual(len(self.data["boots"]), 2)
