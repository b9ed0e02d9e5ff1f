# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline: its format, what the guest's trace buffer says, and real runs whose parts must agree."""

import copy
import json
import unittest

from irqbed_tool import chrome, ftrace, results, timeline
from irqbed_tool.errors import UserError
from support import DATA, TINY, RunsCase, irqbed, tiny
from trace_check import check, ns, requests, slices

SMALL = DATA / "small.toml"
LOAD = ("--set", 'matrix.rw=["randread"]', "--set", "workload.runtime=0.02", "--set", "workload.target=disk",
        "--set", "workload.repeats=1")
BUFFER = """\
# tracer: nop
           <...>-70      [000] .....      1000: tracing_mark_write: irqbed-on
             fio-71      [001] d..1.      1100: irqbed_submit: dev=0000:00:04.0 q=0 tag=3 seq=9 lun=0 op=0 sector=8 bytes=4096 retries=0
             fio-71      [001] d..2.      1150: sched_switch: prev_comm=fio prev_pid=71 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
          <idle>-0       [000] d.h1.      2000: irq_handler_entry: irq=24 name=irqbed
          <idle>-0       [000] d.h1.      2050: irqbed_end: dev=0000:00:04.0 q=0 tag=3 seq=9 err=0 ctx=hard
          <idle>-0       [000] d.h1.      2100: irqbed_hardirq: dev=0000:00:04.0 q=0 tag=-1 seq=9 done=1 left=0 reason=none ns=90
          <idle>-0       [000] d.h1.      2120: irq_handler_exit: irq=24 ret=handled
          <idle>-0       [001] d..2.      2200: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=71 next_prio=120
             a b-71      [001] d..1.      2300: irqbed_submit: dev=0000:00:04.0 q=0 tag=4 seq=10 lun=0 op=0 sector=8 bytes=4096 retries=0
              sh-70      [000] .....      9000: tracing_mark_write: irqbed-off
"""
GOOD = {"traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "p"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "t"}},
    {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
    {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 1, "dur": 2},
    {"ph": "s", "name": "f", "cat": "c", "id": "0x1", "pid": 1, "tid": 1, "ts": 1},
    {"ph": "b", "name": "r", "cat": "c", "id": "0x2", "pid": 1, "tid": 1, "ts": 2, "args": {}},
    {"ph": "i", "name": "i", "s": "g", "pid": 1, "tid": 1, "ts": 2},
    {"ph": "f", "name": "f", "cat": "c", "id": "0x1", "bp": "e", "pid": 1, "tid": 1, "ts": 3},
    {"ph": "e", "name": "r", "cat": "c", "id": "0x2", "pid": 1, "tid": 1, "ts": 4}]}


class Checker(unittest.TestCase):
    """The checker finds what is wrong: else the tests below say nothing."""

    def test_good(self):
        self.assertEqual(check(GOOD), [])

    def test_bad(self):
        for number, key, value in ((0, "name", "proc"), (0, "pid", 2), (1, "tid", 4), (2, "pid", 0), (2, "tid", 0), (8, "pid", 3), (2, "ts", -1), (2, "ts", "0"),
                                   (2, "dur", -1), (2, "dur", 2), (2, "tid", True), (2, "ph", "Q"), (3, "name", ""),
                                   (4, "id", 1), (4, "id", "0x3"), (4, "ts", 0.5), (5, "name", "q"), (5, "cat", "d"),
                                   (6, "s", "x"), (7, "ts", 20), (7, "bp", "s"), (8, "ts", float("nan")), (8, "id", "0x4")):
            with self.subTest(f"{number}.{key}={value}"):
                trace = copy.deepcopy(GOOD)
                trace["traceEvents"][number][key] = value
                self.assertNotEqual(check(trace), [])
        for number in range(len(GOOD["traceEvents"])):
            if number not in (3, 6):
                trace = copy.deepcopy(GOOD)
                del trace["traceEvents"][number]
                self.assertNotEqual(check(trace), [], f"without {number}")


class Guest(unittest.TestCase):
    def test_buffer(self):
        guest = ftrace.parse(BUFFER)
        self.assertEqual((guest.begin_ns, guest.end_ns), (1000, 9000))
        one, two = guest.requests
        self.assertEqual((one.seq, one.begin_ns, one.end_ns, one.ended["ctx"]), (9, 1100, 2050, "hard"))
        self.assertEqual((two.end_ns, two.ended), (9000, None))
        handler, = guest.handlers
        self.assertEqual((handler.begin_ns, handler.end_ns, handler.cpu), (2000, 2120, 0))
        self.assertEqual(handler.args, {"irq": 24, "dev": "0000:00:04.0", "vector": 0, "done": 1, "ret": "handled"})
        self.assertEqual([(item.name, item.begin_ns, item.end_ns, item.cpu) for item in guest.tasks],
                         [("fio", 1000, 1150, 1), ("a b", 2200, 9000, 1)])
        self.assertEqual([(item.begin_ns, item.end_ns) for item in guest.passes], [(2010, 2100)])

    def test_a_full_buffer_ends_it(self):
        guest = ftrace.parse(BUFFER, ftrace.full_since("0 12\n1 0\n"))
        self.assertEqual(guest.end_ns, 9000)
        guest = ftrace.parse(BUFFER, ftrace.full_since("0 0\n1 3\n"))
        self.assertEqual(guest.end_ns, 2300)

    def test_sent_again(self):
        guest = ftrace.parse(BUFFER.replace("tag=4", "tag=3").replace("irqbed_end", "other"))
        one, _ = guest.requests
        self.assertEqual((one.end_ns, one.ended), (2300, {"taken_back": True}))


class Built(unittest.TestCase):
    """Both sides put together, from what they might have said."""

    RECORD = {"reset_ns": 500, "lost": 0, "events": [
        ["fetch", 1120, 0, 3, 7, 0, 0, 0], ["schedule", 1120, 0, 3, 7, 0, 1200, 1700], ["complete", 1800, 0, 3, 7, 0, 0, 0],
        ["irq", 1900, 0, 3, 7, 0, 0, 0], ["fetch", 2310, 0, 4, 8, 0, 0, 0], ["hold", 2310, 0, 4, 8, 0, 0, 0]]}

    def build(self, window, **inject):
        cell = tiny().cells[0]
        entry = {"id": cell.id, "status": "pass", "device": {"ufs0": inject}, "driver": {}}
        trace = chrome.build(timeline.Recorder(cell, window), entry, ftrace.parse(BUFFER), {"ufs0": self.RECORD})
        self.assertEqual(check(trace), [])
        return trace

    def test_stages(self):
        trace = self.build(timeline.Window(requests=2))
        (begin, end, args, stages), (_, last, unfinished, _) = requests(trace, "driver")
        self.assertEqual((begin, end, args["device_seq"], args["end_ctx"]), (600, 1550, 7, "hard"))
        self.assertEqual(stages, [("submit", 600, 620), ("device", 620, 1300), ("interrupt", 1300, 1400),
                                  ("completion", 1400, 1550)])
        self.assertTrue(unfinished["unfinished"])
        self.assertEqual(last, 8500)
        one, held = requests(trace, "device")
        self.assertEqual(one[3], [("queued", 620, 700), ("service", 700, 1200), ("answer", 1200, 1300)])
        self.assertEqual(held[2]["result"], "held")

    def test_interrupt_and_handler(self):
        trace = self.build(timeline.Window(requests=1))
        flow = {event["ph"]: ns(event["ts"]) for event in trace["traceEvents"] if event["ph"] in "sf"}
        self.assertEqual(flow, {"s": 1400, "f": 1500})
        cpu = slices(trace["traceEvents"])[chrome.CPUS_PID, chrome.tid(chrome.CPUS_PID, 0)]
        self.assertEqual([(begin, end, event["name"], event["args"]["dev"]) for begin, end, event in cpu],
                         [(1500, 1550, "irqbed", "ufs0")], "cut off where the window ends")

    def test_window_of_time_and_injections(self):
        fired = {"inject": [{"id": "slow", "fired_ns": [700, 2000]}]}
        trace = self.build(timeline.Window(from_us=1, for_us=1), **fired)
        self.assertEqual(trace["otherData"]["shown_us"], [1, 8.5])
        self.assertEqual([args["seq"] for _, _, args, _ in requests(trace, "driver")], [10])
        self.assertEqual([(event["name"], ns(event["ts"])) for event in trace["traceEvents"] if event["ph"] == "i"],
                         [("slow", 2000)])


class Choice(unittest.TestCase):
    def test_default(self):
        exp = tiny()
        self.assertEqual(timeline.choose(exp, None, None, None), (exp.cells[0], timeline.Window(requests=100)))

    def test_given(self):
        exp = tiny()
        cell, window = timeline.choose(exp, exp.cells[2].id, "5:7", None)
        self.assertEqual((cell, window.from_us, window.for_us), (exp.cells[2], 5, 7))
        self.assertEqual(timeline.choose(exp, None, None, "3:4")[1], timeline.Window(first=3, requests=4))

    def test_bad(self):
        host = tiny(TINY + '[machine]\nclock = "host"\n')
        for args, word in (((tiny(), "no", None, None), "--timeline-cell: no"), ((tiny(), None, "5", None), "FIRST:LENGTH"),
                           ((tiny(), None, "0:0", None), "1 to"), ((tiny(), None, "1:2", "1:2"), "one of them"),
                           ((tiny(), None, None, "-1:2"), "whole numbers"), ((host, None, None, None), "machine.clock")):
            with self.assertRaises(UserError) as caught:
                timeline.choose(*args)
            self.assertIn(word, str(caught.exception))

    def test_command(self):
        done = irqbed("run", SMALL, "--timeline-cell", "x")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("without --timeline", done.stderr)
        done = irqbed("run", SMALL, "--timeline", "/no/such/place/t.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--timeline: /no/such/place/t.json: cannot be written", done.stderr)

    def test_numbers_survive(self):
        for value in (*range(2000), 123456789, 987654321987):
            self.assertEqual(ns(chrome.microseconds(value)), value)


class Runs(RunsCase):
    def trace(self, name, *args, path=SMALL):
        file = self.dir / f"{name}.json"
        done = irqbed("run", path, "--out", self.dir / name, "--timeline", file, *LOAD, *args, timeout=1800)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        trace = json.loads(file.read_text())
        self.assertEqual(check(trace)[:10], [])
        self.assertEqual(trace["otherData"]["cell_status"], "pass")
        self.assertFalse(any(trace["otherData"]["lost"].values()))
        return trace, file.read_bytes(), (self.dir / name / "results.json").read_bytes()

    def sense(self, trace):
        """Both sides of each request agree; each interrupt has its handler, on a vCPU."""
        device = {args["seq"]: (begin, end) for begin, end, args, _ in requests(trace, "device")}
        found = requests(trace, "driver")
        for begin, end, args, stages in found:
            self.assertEqual([name for name, *_ in stages][:3], ["submit", "device", "interrupt"], args)
            self.assertEqual(stages[0][1], begin)
            self.assertEqual(stages[-1][2], end)
            for one, two in zip(stages, stages[1:]):
                self.assertEqual(one[2], two[1], args)
            self.assertEqual(device[args["device_seq"]], (stages[1][1], stages[1][2]))
            self.assertEqual(args["end_err"], 0)
        threads = slices(trace["traceEvents"])
        cpus = {chrome.tid(chrome.CPUS_PID, cpu) for cpu in range(4)}
        handlers = [item for key, items in threads.items() if key[1] in cpus for item in items
                    if item[2]["args"]["kind"] == "hard handler" and item[2]["name"] == "irqbed"]
        self.assertTrue(handlers)
        begins = {begin for begin, *_ in handlers}
        interrupts = [item for items in threads.values() for item in items if item[2]["name"] == "interrupt"]
        self.assertTrue(interrupts)
        arrows = {event["id"]: ns(event["ts"]) for event in trace["traceEvents"] if event["ph"] == "s"}
        ends = {arrows[event["id"]]: ns(event["ts"]) for event in trace["traceEvents"] if event["ph"] == "f"}
        last = max(end for _, end, *_ in found)
        for begin, end, event in interrupts:
            if end < last:
                self.assertIn(begin, ends, event)
                self.assertIn(ends[begin], begins)
                self.assertGreaterEqual(ends[begin], begin)
        # Some microseconds, not more: the handler is on the same clock.
        waits = sorted(end - begin for begin, end in ends.items())
        self.assertLess(waits[len(waits) // 2], 20_000)
        return found

    def test_whole_load(self):
        """As many requests as the driver counted, the same file twice, and the results not touched."""
        window = ("--timeline-window", "0:400000", "--timeline-cell", "policy=threaded,rw=randread")
        trace, data, result = self.trace("one", *window)
        found = self.sense(trace)
        self.assertGreater(len(found), 100)
        self.assertEqual(len(found), trace["otherData"]["submitted"]["ufs0"])
        self.assertEqual(len(found), len(requests(trace, "device")))
        done = sum(item[2]["args"]["done"] for key, items in slices(trace["traceEvents"]).items()
                   if key[0] == chrome.FIRST_DEVICE_PID + 1 for item in items if item[2]["name"] == "thread")
        self.assertEqual(done, len(found), "the thread ended each of them")
        _, again, same = self.trace("two", *window)
        self.assertEqual(data, again)
        self.assertEqual(result, same)
        done = irqbed("run", SMALL, "--out", self.dir / "without", *LOAD, timeout=1800)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.dir / "without" / "results.json").read_bytes(), result)

    def test_requests(self):
        trace, _, _ = self.trace("requests", "--set", 'matrix.policy=["irq_poll"]', "--timeline-requests", "50:20")
        found = self.sense(trace)
        self.assertEqual(len(found), 20)
        seqs = sorted(args["seq"] for _, _, args, _ in found)
        self.assertEqual(seqs, list(range(seqs[0], seqs[0] + 20)))
        names = {event["name"] for event in trace["traceEvents"]}
        self.assertIn("softirq IRQ_POLL", names)
        self.assertIn("hand-over", names)

    def test_ahci_and_stock_driver(self):
        text = SMALL.read_text().replace('id = "ufs0"\ntype = "ufs"', 'id = "ahci0"\ntype = "ahci"\nports = 2')
        path = self.dir / "ahci.toml"
        path.write_text(text.replace("[driver]", "[[device.lu]]\n[[device.lu]]\n[driver]"))
        disks = ("--set", "workload.disks=2", "--set", 'matrix.policy=["hardirq"]')
        trace, _, _ = self.trace("ahci", *disks, path=path)
        found = self.sense(trace)
        self.assertEqual({args["queue"] for _, _, args, _ in found}, {0, 1})
        stock = self.dir / "stock.toml"
        stock.write_text(SMALL.read_text().replace('policy = ["hardirq", "threaded", "bounded"]\n', ""))
        trace, _, _ = self.trace("stock", "--set", "driver.module=stock", path=stock)
        self.assertEqual(requests(trace, "driver"), [])
        self.assertGreaterEqual(len(requests(trace, "device")), 100)

    def test_injection(self):
        """The default window is around it, and it is where the requests begin to take longer."""
        path = self.dir / "inject.toml"
        path.write_text(SMALL.read_text() + """
[[inject]]
id = "late-interrupts"
at_ns = 230_000_000
for_ns = 10_000_000
knob = "irq_latency_ns"
value = 300_000
""")
        trace, _, _ = self.trace("inject", "--set", 'matrix.policy=["hardirq"]', "--set", "workload.runtime=0.1",
                                 "--set", "workload.iodepth=1", "--set", "workload.numjobs=1",
                                 path=path)
        fired = [event for event in trace["traceEvents"] if event["ph"] == "i" and event["name"] == "late-interrupts"]
        self.assertEqual([event["ts"] for event in fired], [230_000])
        waits = {True: [], False: []}
        for _, end, _, stages in requests(trace, "driver"):
            for name, begin, until in stages:
                if name == "interrupt":
                    waits[begin >= 230_000_000].append(until - begin)
        self.assertLess(max(waits[False]), 10_000)
        self.assertGreater(max(waits[True]), 290_000)
        data = results.load(self.dir / "inject")
        series = data["cells"][0]["series"]["driver"]["ufs0"]
        self.assertEqual(series["window_ns"] % 1_000_000, 0, "a hundredth of the runtime, or doubled")
        self.assertTrue((self.dir / "inject" / "plot-time.png").exists())


class Series(RunsCase):
    def test_it_adds_up(self):
        """Every request and interrupt is in a window, on both sides."""
        place = self.dir / "series"
        done = irqbed("run", SMALL, "--out", place, *LOAD, "--set", "series.window_us=100", timeout=1800)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        data = results.load(place)
        self.assertTrue((place / "plot-time.svg").exists())
        for cell in data["cells"]:
            device, driver = cell["series"]["device"]["ufs0"], cell["series"]["driver"]["ufs0"]
            stats = cell["driver"]["ufs0"]
            self.assertEqual(sum(device["completions"]), cell["device"]["ufs0"]["requests"]["completed"])
            self.assertEqual(sum(device["irqs"]), cell["device"]["ufs0"]["irq"]["raised"])
            self.assertEqual(sum(driver["completions"]), stats["completed"] + stats["failed"])
            self.assertEqual(sum(driver["irqs"]), stats["irqs"] - stats["irqs_none"])
            self.assertEqual(sum(driver["handovers"]), sum(stats["handovers"].values()))
            for series in (device, driver):
                self.assertEqual(series["window_ns"] % 100_000, 0)
                self.assertLessEqual(len(series["p99_ns"]), 256)
                self.assertEqual([count == 0 for count in series["completions"]],
                                 [value is None for value in series["p99_ns"]])
            totals = [sum(count * mean for count, mean in zip(side["completions"], side["mean_ns"]) if count)
                      for side in (device, driver)]
            self.assertAlmostEqual(totals[0] / cell["device"]["ufs0"]["device_ns"]["sum"], 1, places=4)
            self.assertGreater(totals[1], totals[0], "the driver's time holds the device's")


if __name__ == "__main__":
    unittest.main()
