# SPDX-License-Identifier: GPL-2.0-or-later
"""From fio's output to metrics, also when error text stands in it (case fio-noise)."""

import json
import unittest

from irqbed_tool import evaluate, metrics
from support import DATA, TINY, tiny


def data(name):
    return (DATA / name).read_text()


def exec_answer(out, rc=0, err="", **more):
    return {"type": "exec", "cell": "c", "step": 1, "t_ns": 1, "name": "fio0", "rc": rc, "signal": 0,
            "timed_out": False, "out": out, "err": err, **more}


def judged(*answers):
    return evaluate.evaluate(tiny().cells[0], [*answers, {"type": "end", "cell": "c"}])


class Fio(unittest.TestCase):
    def test_metrics_of_a_clean_run(self):
        found = metrics.mean([metrics.from_fio(json.loads(data("fio-clean.json")))])
        wanted = json.loads(data("fio-clean.metrics.json"))
        self.assertEqual(found, wanted)

    def test_mixed_load_uses_the_merged_block(self):
        job = {"usr_cpu": 1, "sys_cpu": 2, "ctx": 3, "error": 0,
               "read": {"total_ios": 1}, "write": {"total_ios": 1},
               "mixed": {"total_ios": 2, "iops": 20, "bw_bytes": 81920, "runtime": 100,
                         "iops_samples": 0}}
        found = metrics.from_fio({"jobs": [job]})
        self.assertEqual((found["iops"], found["ios"]), (20, 2))
        self.assertNotIn("iops_avg", found)

    def test_repeats_are_averaged(self):
        runs = [{"iops": 1, "iops_avg": 1.5}, {"iops": 2, "iops_avg": 2.25}, {"iops": 6}]
        self.assertEqual(metrics.mean(runs), {"iops": 3})


class Contexts(unittest.TestCase):
    """Who ended the requests, over all controllers, from the driver's books."""

    @staticmethod
    def stats(**more):
        return {"completed": 90, "failed": 10, "irqs": 40, "irqs_none": 0, "redirected": 25, "polls": 50,
                "polled_completions": 5,
                "handovers": {"policy": 1, "time": 2, "count": 3, "flood": 4},
                "ended": {"hardirq": 60, "softirq": 30, "process": 10},
                "hard_context": {"hardirq": 30, "thread": 10},
                "poll": {"rounds": 4, "completions": 30, "pauses": {"time": 5, "count": 6}},
                "cpu_ns": {"hard": [1, 1], "thread": [100, 200], "softirq": [1000, 3000], "block": [500, 500],
                           "work": [40, 60], "polled": [0, 200]},
                "handover_wait_ns": {"max": 700}, **more}

    def test_two_controllers(self):
        other = self.stats(irqs=60, polls=0, polled_completions=0, handover_wait_ns={"max": 900}, hard_context={"hardirq": 60, "thread": 0})
        found = metrics.from_contexts({"ufs0": self.stats(), "ufs1": other}, 100_000)
        self.assertEqual(found, {
            "irqs": 100, "irqs_none": 0, "completions_per_irq": 2, "handovers_policy": 2, "handovers_time": 4,
            "handovers_count": 6, "handovers_flood": 8, "poll_rearms": 8, "completions_per_poll": 7.5,
            "poll_pauses": 22,
            "ended_hardirq_pct": 60, "ended_softirq_pct": 30, "redirected_pct": 25, "handler_thread_pct": 10,
            "handover_wait_max_ns": 900, "polls": 50, "ended_polled_pct": 2.5,
            "irq_cpu_pct": 0.004, "softirq_cpu_pct": 10, "thread_cpu_pct": 0.8, "polled_cpu_pct": 0.4,
            # Of the busiest vCPU, over both controllers.
            "irq_cpu_most_pct": 0.002, "softirq_cpu_most_pct": 7, "thread_cpu_most_pct": 0.52})

    def test_what_was_not_there_is_left_out(self):
        idle = self.stats(irqs=0, ended=dict.fromkeys(("hardirq", "softirq", "process"), 0),
                          hard_context={"hardirq": 0, "thread": 0},
                          poll={"rounds": 0, "completions": 0, "pauses": {"time": 0, "count": 0}})
        found = metrics.from_contexts({"ufs0": idle}, 0)
        self.assertEqual((found["irqs"], found["poll_rearms"]), (0, 0))
        self.assertFalse({"completions_per_irq", "completions_per_poll", "ended_hardirq_pct", "handler_thread_pct",
                          "softirq_cpu_pct"} & set(found))
        self.assertEqual(metrics.from_contexts({"ufs0": {"submitted": 1}}, 1), {}, "the stock driver has no books")

    def test_switches_of_the_guest(self):
        found = metrics.from_guest("cpu 1 2\nctxt 1000\n", "cpu 3 4\nctxt 1600\n", 300)
        self.assertEqual(found, {"guest_switches": 600, "switches_per_io": 2})
        self.assertEqual(metrics.from_guest("ctxt 1\n", "ctxt 3\n", 0), {"guest_switches": 2})
        self.assertEqual(metrics.from_guest("", "ctxt 3\n", 300), {})


class Noise(unittest.TestCase):
    def test_clean_output_has_no_stray_lines(self):
        text = data("fio-clean.json")
        output = metrics.recover(text)
        self.assertEqual((output.data, output.stray), (json.loads(text), []))

    def test_real_noisy_output(self):
        output = metrics.recover(data("fio-noisy.txt"))
        self.assertIsNotNone(output.data)
        self.assertGreater(metrics.job_errors(output.data), 0)
        self.assertTrue(any("Input/output error" in line for line in output.stray), output.stray)

    def test_errors_that_are_allowed(self):
        """They count and are kept; wrong data, or a fio that died, is no pass all the same."""
        cell = tiny(TINY + "[check]\nio_errors = 'allowed'\n").cells[0]

        def status(text, **more):
            return evaluate.evaluate(cell, [exec_answer(text, **more), {"type": "end", "cell": "c"}])

        entry = status(data("fio-noisy.txt"), rc=1)
        self.assertEqual(entry["status"], "pass")
        self.assertGreater(entry["metrics"]["io_errors"], 0)
        self.assertTrue(entry["stray"])
        self.assertEqual(status(data("fio-noisy.txt"), rc=0, signal=11)["status"], "failed")
        self.assertEqual(status("verify: bad magic header 0, wanted acca\n" + data("fio-noisy.txt"), rc=1)["status"],
                         "errors")
        output = metrics.recover(data("fio-noisy.txt")).data
        output["jobs"][0]["error"] = 84
        self.assertEqual(status(json.dumps(output), rc=1)["reasons"], ["fio0: data is not what was written"])
        self.assertEqual(status(data("fio-clean.json"), rc=1)["status"], "failed")

    def test_message_at_every_place(self):
        """An error line is taken out wherever in the object fio put it."""
        text = data("fio-clean.json")
        clean = json.loads(text)
        noise = "fio: io_u error on file /dev/irqbed0l0: Input/output error: read offset=0, buflen=4096\n"
        step = max(1, len(text) // 400)
        for at in range(0, len(text), step):
            output = metrics.recover(text[:at] + noise + text[at:])
            self.assertEqual(output.data, clean, f"noise at character {at}")
            self.assertEqual(len(output.stray), 1, f"noise at character {at}: {output.stray}")

    def test_cell_is_marked_and_kept(self):
        entry = judged(exec_answer(data("fio-noisy.txt"), rc=1))
        self.assertEqual(entry["status"], "errors")
        self.assertGreater(entry["metrics"]["io_errors"], 0)
        self.assertIn("iops", entry["metrics"])
        self.assertTrue(entry["stray"])

    def test_noise_alone_is_never_a_pass(self):
        noise = "fio: io_u error on file /dev/x: Input/output error: read offset=0, buflen=4096\n"
        entry = judged(exec_answer(noise + data("fio-clean.json")))
        self.assertEqual(entry["status"], "errors")
        self.assertIn("iops", entry["metrics"])

    def test_a_note_is_no_error(self):
        note = "note: both iodepth >= 1 and synchronous I/O engine are selected\n"
        entry = judged(exec_answer(note + data("fio-clean.json")))
        self.assertEqual((entry["status"], entry["stray"]), ("pass", [note.strip()]))

    def test_object_beyond_recovery(self):
        text = data("fio-clean.json")
        entry = judged(exec_answer("fio: pid=1, err=5, func=io_u error\n" + text[:len(text) // 2], rc=1))
        self.assertEqual((entry["status"], entry["metrics"]), ("errors", {}))
        self.assertTrue(entry["reasons"])

    def test_fio_that_says_nothing(self):
        entry = judged(exec_answer("", rc=127, err="irqbed-agent: fio: No such file or directory\n"))
        self.assertEqual(entry["status"], "failed")
        self.assertIn("No such file", entry["reasons"][0])


class Dd(unittest.TestCase):
    """Two busybox dd's at once: the transfer takes from the step's start to the end of the slower one."""

    CELL = tiny(TINY.replace('rw = "randread"\nbs = "4k"', 'tool = "dd"\ndisks = 2\nbs = "1m"\nsize = "4m"')
                .replace("numjobs = [1, 2]", "").replace("[workload]", "[[device.lu]]\n[[device.lu]]\n[workload]")
                ).cells[0]
    BOTH = "4+0 records in\n4+0 records out\n" * 2

    def judged(self, err, **more):
        answer = {**exec_answer("", err=err, **more), "name": "dd0", "t_ns": 1_000_000_000}
        return evaluate.evaluate(self.CELL, [answer, {"type": "end", "cell": "c", "t_ns": 1_500_000_000}])

    def test_metrics(self):
        entry = self.judged(self.BOTH)
        self.assertEqual(entry["status"], "pass", entry.get("reasons"))
        self.assertEqual(entry["metrics"], {"runtime_ms": 500, "bw_bytes_per_s": 16777216})

    def test_what_is_no_pass(self):
        for status, err, more in (
                ("errors", self.BOTH[:len(self.BOTH) // 2], {}),
                ("errors", "", {}),
                ("errors", self.BOTH.replace("4+0 records out", "3+1 records out", 1), {}),
                ("errors", "dd: /dev/irqbed0l0: Input/output error\n" + self.BOTH, {"rc": 1}),
                ("timeout", self.BOTH, {"rc": -1, "timed_out": True})):
            with self.subTest(err=err, **more):
                entry = self.judged(err, **more)
                self.assertEqual((entry["status"], entry["metrics"]), (status, {}), entry["reasons"])
        self.assertIn("Input/output", self.judged("dd: /dev/x: Input/output error\n", rc=1)["reasons"][0])


class Verdict(unittest.TestCase):
    def setUp(self):
        self.fio = exec_answer(data("fio-clean.json"))

    def device(self, **requests):
        counts = {"fetched": 10, "completed": 10, "failed": 0, "aborted": 0, "in_flight": 0, **requests}
        return {"type": "stats", "cell": "c", "name": "device", "devices": {"ufs0": {
            "requests": counts, "irq": {"raised": 5}, "device_ns": {"count": 10, "sum": 1000}}}}

    def driver(self, **counts):
        stats = {"submitted": 10, "completed": 10, "failed": 0, "in_flight": 0, **counts}
        return {"type": "read", "cell": "c", "name": "driver.ufs0", "errno": 0,
                "text": json.dumps(stats)}

    def dmesg(self, text, level=4):
        return {"type": "dmesg", "cell": "c", "lines": [[level, text]]}

    def test_pass(self):
        entry = judged(self.fio, self.device(), self.driver(), self.dmesg("eth0: link up"))
        self.assertEqual(entry["status"], "pass", entry.get("reasons"))
        self.assertEqual(entry["metrics"]["device_mean_ns"], 100)
        self.assertEqual(entry["metrics"]["irqs_per_io"], 0.5)
        self.assertNotIn("reasons", entry)

    def probe(self, *cpus, sent=10, missed=3):
        """A device answer with a probe that these vCPUs answered."""
        answer = self.device()
        hist = {"p50": 1000, "p99": 2000, "p999": 3000, "max": 4000}
        answer["devices"]["irqbed-probe"] = {
            "sent": sent, "missed": missed, "stray_acks": 0, "waiting": 0,
            "cpus": [{"cpu": cpu, "read_ns": {}, "ack_ns": hist} for cpu in cpus]}
        cell = tiny(sets=["probe.cpu=1"]).cells[0]
        return evaluate.evaluate(cell, [self.fio, answer, {"type": "end", "cell": "c"}])

    def test_probe(self):
        entry = self.probe(1)
        self.assertEqual(entry["status"], "pass", entry.get("reasons"))
        found = {name: value for name, value in entry["metrics"].items() if name.startswith("probe_")}
        self.assertEqual(found, {"probe_p50_ns": 1000, "probe_p99_ns": 2000, "probe_p999_ns": 3000,
                                 "probe_max_ns": 4000, "probe_missed": 3})
        self.assertEqual(entry["probe"]["sent"], 10)
        self.assertEqual(list(entry["device"]), ["ufs0"])

    def test_probe_that_nobody_or_another_answered(self):
        for cpus, words in (((), "none of the probe's 10 interrupts"), ((0,), "vCPU 0, not 1"),
                            ((0, 1), "vCPU 0, 1, not 1")):
            entry = self.probe(*cpus)
            self.assertEqual(entry["status"], "failed")
            self.assertIn(words, entry["reasons"][0])

    def test_locks(self):
        def lock(count, hold, wait):
            return {"lock_hold_ns": {"count": count, "sum": hold}, "lock_wait_ns": {"count": count, "sum": wait}}

        found = judged(self.fio, self.driver(locks={"host": lock(2, 3000, 0), "0": lock(3, 1000, 5000),
                                                    "1": lock(0, 0, 0)}))["metrics"]
        self.assertEqual([found[name] for name in ("lock_hold_ns_mean", "lock_wait_ns_mean",
                                                   "host_lock_hold_ns_mean", "host_lock_wait_ns_mean")],
                         [800, 1000, 1500, 0])
        found = judged(self.fio, self.driver(locks={"host": lock(0, 0, 0)}))["metrics"]
        self.assertFalse([name for name in found if "lock" in name], "nothing was measured")

    def test_time_in_the_interrupt(self):
        """Share of the load's run time, over all runs."""
        driver = self.driver(hard_ns={"count": 10, "sum": 3_000_000}, thread_ns={"count": 1, "sum": 1_000_000})
        runtime_ms = metrics.from_fio(json.loads(data("fio-clean.json")))["runtime_ms"]
        entry = judged(self.fio, {**self.fio, "name": "fio1"}, driver)
        self.assertAlmostEqual(entry["metrics"]["irq_cpu_pct"], 300 / (2 * runtime_ms), places=5)
        self.assertAlmostEqual(entry["metrics"]["thread_cpu_pct"], 100 / (2 * runtime_ms), places=5)
        self.assertNotIn("irq_cpu_pct", judged(self.fio, self.driver())["metrics"])

    def test_lost_requests(self):
        for answer in (self.device(fetched=11), self.device(fetched=11, in_flight=1),
                       self.driver(submitted=11), self.driver(completed=9)):
            entry = judged(self.fio, answer)
            self.assertEqual(entry["status"], "lost", answer)

    def test_kernel_trouble(self):
        for text in ("BUG: kernel NULL pointer dereference, address: 0", "WARNING: CPU: 0 PID: 1 at x",
                     "watchdog: BUG: soft lockup - CPU#0 stuck for 22s!", "irq 24: nobody cared",
                     "INFO: task fio:77 blocked for more than 120 seconds.", "Oops: 0000 [#1]",
                     "rcu: INFO: rcu_preempt self-detected stall on CPU"):
            with self.subTest(text):
                entry = judged(self.fio, self.dmesg(text, 0))
                self.assertEqual(entry["status"], "warning")
                self.assertIn(text, entry["reasons"][0])

    def test_harmless_kernel_messages(self):
        for text in ("irqbed 0000:00:04.0: debug hooks are off", "I/O error, dev irqbed0l0, sector 0"):
            self.assertEqual(judged(self.fio, self.dmesg(text, 3))["status"], "pass", text)
        self.assertEqual(judged(self.fio, self.dmesg("bad", 3))["dmesg"], ["bad"])

    def test_timeout(self):
        self.assertEqual(judged(exec_answer("", rc=-1, timed_out=True))["status"], "timeout")

    def test_driver_that_could_not_be_set(self):
        write = {"type": "write", "cell": "c", "path": "/sys/x/policy", "errno": 22}
        entry = judged(write, self.fio)
        self.assertEqual((entry["status"], entry["reasons"]), ("failed", ["/sys/x/policy: write: EINVAL"]))

    def test_policy_that_did_not_take(self):
        read = {"type": "read", "cell": "c", "name": "knob.ufs0.policy", "errno": 0, "text": "bounded\n"}
        entry = judged(self.fio, read)
        self.assertEqual(entry["status"], "failed")
        self.assertIn("policy is bounded, not hardirq", entry["reasons"][0])

    def test_the_gravest_reason_gives_the_status(self):
        entry = judged(exec_answer(data("fio-noisy.txt"), rc=1), self.dmesg("WARNING: CPU: 0"),
                       self.device(fetched=11))
        self.assertEqual(entry["status"], "lost")
        self.assertEqual(len(entry["reasons"]), 3)

    def test_boot_trouble(self):
        good = {**exec_answer("6.12\n"), "cell": "", "name": "uname"}
        bad = {**exec_answer("", rc=1, err="insmod: can't insert\n"), "cell": "", "name": "driver"}
        self.assertEqual(evaluate.boot_trouble([good]), "")
        self.assertEqual(evaluate.boot_trouble([good, bad]), "driver: insmod: can't insert")
        late = {"type": "dmesg", "cell": "", "lines": [[4, "WARNING: CPU: 0"]]}
        self.assertIn("WARNING", evaluate.boot_trouble([good, late]))
