#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of virtual time; prints TAP.

usage: run.py options | measure | speed | snapshot | digest

  options    QEMU refuses wrong options of -icount parallel=on, and says why
  measure    speeds, timers, interrupts and clocks as the guest sees them
  speed      vCPUs with different times for an instruction
  snapshot   two restores of one saved VM give the same bytes
  digest     ten runs give the same bytes, on an idle and on a loaded host

environment: CLOCK_GUEST, the program that measures in the guest (built by meson)
"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
sys.path[:0] = [str(REPO / "scripts"), str(HERE)]

# pylint: disable=wrong-import-position
from irqbed_tool import jobs, paths, vm
from irqbed_tool.errors import UserError
from irqbed_tool.evaluate import kernel_trouble
from irqbed_tool.setup import cpio
from qmp import Qmp, resume

QUANTUM_NS = 5000
CPUS = 8
RUNS = 10
DISK_BYTES = 64 << 20
# What happens right after boot is not what is measured.
SETTLE = "sleep 2"
FIO = ("fio --rw=randread --bs=4k --direct=1 --ioengine=libaio --thread --group_reporting --time_based "
       "--output-format=json --numjobs=$(nproc)")


class Tap:
    """Numbered results; a failure says what was expected and how to run it again."""

    def __init__(self, name):
        self.name, self.count, self.failed = name, 0, 0

    def check(self, text, good, expected, got):
        self.count += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {text}", flush=True)
        if not good:
            self.failed += 1
            self.note(f"expected: {expected}\ngot: {got}\nagain: tests/clock/run.py {self.name}")

    @staticmethod
    def note(text):
        for line in str(text).splitlines():
            print(f"# {line}", flush=True)

    def end(self):
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed else 0


def guest_program():
    path = os.environ.get("CLOCK_GUEST") or str(paths.host_build() / "tests" / "clock" / "clock-guest")
    if not os.path.exists(path):
        raise UserError(f"{path} is missing; set CLOCK_GUEST to the built program")
    return path


def overlay(folder):
    archive = cpio.Archive()
    archive.file("bin/clock-guest", Path(guest_program()).read_bytes(), executable=True)
    path = Path(folder) / "clock.cpio"
    path.write_bytes(archive.finish())
    return [path]


def run_vm(machine, job, devices=(), extra=(), workdir=None, on_start=None, on_answer=None):
    """Run a job; returns the Outcome and the bytes that the run has produced."""
    with tempfile.TemporaryDirectory(prefix="irqbed-clock-") as folder:
        with vm.Vm(machine, list(devices), job, extra, overlay=overlay(folder), workdir=workdir or folder) as guest:
            with on_start(guest) if on_start else contextlib.nullcontext():
                outcome = guest.run(on_answer=(lambda a: on_answer(guest, a)) if on_answer else None)
            return outcome, guest.out().read_bytes() + guest.console().read_bytes()


def measured(answers):
    """The JSON lines of clock-guest, in order."""
    return [json.loads(line) for a in answers if a["type"] == "exec" and not a["rc"]
            for line in a["out"].splitlines() if line.startswith('{"test"')]


def show(result):
    return " ".join(f"{key} {value}" for key, value in result.items())


# options

BAD_OPTIONS = (
    ("parallel=on,shift=3", "parallel=on and shift are incompatible"),
    ("parallel=on,align=on", "parallel=on and align are incompatible"),
    ("parallel=on,sleep=on", "parallel=on and sleep=on are incompatible"),
    ("parallel=on,rr=record,rrfile=/dev/null", "parallel=on and rr are incompatible"),
    ("parallel=on,quantum=0", "quantum must be from 1 to 1000000 ns"),
    ("parallel=on,quantum=1000001", "quantum must be from 1 to 1000000 ns"),
    ("parallel=on,insn-ns=", "the list is empty"),
    ("parallel=on,insn-ns=0", "'0' is not a time for an instruction"),
    ("parallel=on,insn-ns=-1", "'-1' is not a time for an instruction"),
    ("parallel=on,insn-ns=1:2.5x", "'2.5x' is not a time for an instruction"),
    ("parallel=on,insn-ns=1/0", "'1/0' is not a time for an instruction"),
    ("parallel=on,insn-ns=2000000", "'2000000' is not a time for an instruction"),
    ("parallel=on,insn-ns=1:1:1", "insn-ns has 3 times, but the machine has 2 vCPUs"),
    ("quantum=100", "quantum and insn-ns need parallel=on"),
    ("shift=0,insn-ns=2", "quantum and insn-ns need parallel=on"),
)


def qemu_says(*arguments):
    argv = [str(paths.qemu()), "-L", str(paths.firmware()), "-nodefaults", "-display", "none",
            "-machine", "q35", "-smp", "2", *arguments]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stderr.strip()


def test_options(tap):
    for option, reason in BAD_OPTIONS:
        code, said = qemu_says("-icount", option)
        good = code == 1 and reason in said and len(said.splitlines()) == 1
        tap.check(f"refused: -icount {option}", good, f"status 1 and one line with '{reason}'", (code, said))
    code, said = qemu_says("-accel", "tcg,thread=multi", "-icount", "parallel=on")
    tap.check("refused: multi-threaded TCG", code == 1 and "No MTTCG when icount is enabled" in said,
              "status 1 and 'No MTTCG when icount is enabled'", (code, said))
    # The build has no KVM; any accelerator but TCG takes the same way.
    code, said = qemu_says("-accel", "qtest", "-icount", "parallel=on")
    tap.check("refused: another accelerator than TCG",
              code == 1 and "-icount is not allowed with hardware virtualization" in said,
              "status 1 and '-icount is not allowed with hardware virtualization'", (code, said))


# measure

def measure_job():
    job = jobs.Job().shell("settle", SETTLE)
    for cpus in (1, 2, 4, 8):
        job.shell("loop", f"clock-guest loop {cpus} 2000000")
    job.shell("skew", f"clock-guest skew {CPUS} 20000")
    job.shell("pause", "clock-guest pause 10")
    for cpu, busy in ((0, 0), (0, 3), (0, 7), (6, -6)):
        job.shell("sleep", f"clock-guest sleep {cpu} 500 {busy}")
    for pair, busy in (("1 0", 0), ("0 1", 0), ("0 7", 0), ("0 1", 4), ("7 6", -4)):
        job.shell("wake", f"clock-guest wake {pair} 500 {busy}")
    for pair in ("0 1", "3 5", "1 0", "7 2"):
        job.shell("signal", f"clock-guest signal {pair} 500")
    job.read("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return job.dmesg().poweroff()


def check_loops(tap, loops):
    alone = loops[0]["ns"][0]
    for loop in loops:
        worst = max(loop["ns"], key=lambda ns: abs(ns - alone))
        tap.check(f"{loop['cpus']} busy vCPUs each run at full speed", abs(worst - alone) <= alone / 100,
                  f"{alone} ns within 1 %", loop["ns"])


def check_clocks(tap, by_name):
    skew = by_name["skew"][0]
    tap.check("time never goes backwards on a vCPU", skew["backwards"] == 0, 0, skew["backwards"])
    tap.check("two vCPUs are never more than a quantum apart", 0 < skew["max_skew_ns"] <= QUANTUM_NS,
              f"1 to {QUANTUM_NS} ns", skew["max_skew_ns"])
    pause = by_name["pause"][0]
    fits = pause["ms"] * 1000000 // QUANTUM_NS
    tap.check("PAUSE gives up the rest of the slice", abs(pause["count"] - fits) <= fits / 20,
              f"about {fits} times", pause["count"])


def check_wakeups(tap, by_name):
    quiet = by_name["sleep"][0]
    for sleep in by_name["sleep"]:
        what = f"timer of vCPU {sleep['cpu']} beside {abs(sleep['busy'])} busy ones"
        tap.check(f"{what}: never early", sleep["min"] >= 0, "0 or more ns late", show(sleep))
        tap.check(f"{what}: late by at most a quantum", sleep["p99"] - quiet["p50"] <= QUANTUM_NS,
                  f"p99 {quiet['p50']} (the kernel's way, alone) to {quiet['p50'] + QUANTUM_NS} ns", show(sleep))
    path = by_name["wake"][0]["p50"]
    for wake in by_name["wake"]:
        what = f"vCPU {wake['from']} wakes {wake['to']} beside {abs(wake['busy'])} busy ones"
        # In a tick the other vCPU is not halted, and sees the memory of this one a bit early.
        tap.check(f"{what}: not early", wake["p1"] >= path * 0.98 and wake["min"] >= path - QUANTUM_NS,
                  f"p1 at least {path} (the kernel's way) less 2 %, min less a quantum", show(wake))
        tap.check(f"{what}: late by at most a quantum", wake["p99"] - path <= QUANTUM_NS,
                  f"p99 up to {path + QUANTUM_NS} ns", show(wake))
    path = by_name["signal"][0]["p50"]
    for sent in by_name["signal"]:
        off = max(abs(sent["p1"] - path), abs(sent["p99"] - path))
        tap.check(f"vCPU {sent['from']} interrupts busy vCPU {sent['to']}: off by at most a quantum",
                  off <= QUANTUM_NS, f"p1 and p99 {path} ns (the kernel's way), give or take {QUANTUM_NS}", show(sent))


def test_measure(tap):
    outcome, _ = run_vm(vm.Machine(cpus=CPUS, quantum_ns=QUANTUM_NS), measure_job())
    tap.check("the VM runs to its end", outcome.status == "done", "done", (outcome.status, outcome.reason))
    by_name = {}
    for result in measured(outcome.answers):
        tap.note(show(result))
        by_name.setdefault(result["test"], []).append(result)
    if outcome.status != "done" or [len(by_name.get(n, ())) for n in ("loop", "sleep", "wake", "signal")] != [4, 4, 5, 4]:
        tap.check("all measurements were made", False, "17 distributions", by_name)
        return
    check_loops(tap, by_name["loop"])
    check_clocks(tap, by_name)
    check_wakeups(tap, by_name)
    source = next(a["text"].strip() for a in outcome.answers if a["type"] == "read")
    tap.check("the guest keeps the TSC as its clock source", source == "tsc", "tsc", source)
    trouble = kernel_trouble([line for a in outcome.answers if a["type"] == "dmesg" for line in a["lines"]])
    tap.check("no complaint of the kernel", not trouble, "none", trouble)


# speed

def test_speed(tap):
    times = [1, 8, 1.5, 0.25]
    job = jobs.Job().shell("settle", SETTLE).shell("loop", "clock-guest loop 4 500000").dmesg().poweroff()
    outcome, _ = run_vm(vm.Machine(cpus=4, ns_per_insn=times, quantum_ns=QUANTUM_NS), job)
    loops = measured(outcome.answers)
    tap.check("the VM runs to its end", outcome.status == "done" and len(loops) == 1, "done",
              (outcome.status, outcome.reason))
    if not loops:
        return
    for time_ns, took in zip(times, loops[0]["ns"]):
        ratio = took / loops[0]["ns"][0]
        tap.check(f"a vCPU at {time_ns} ns an instruction takes {time_ns} times as long as one at 1 ns",
                  abs(ratio - time_ns) <= time_ns / 100, f"{time_ns} within 1 %", round(ratio, 4))
    check_fraction(tap)


def check_fraction(tap):
    """Instructions that access a device are rewound: the rest of a fraction must survive that."""
    job = io(load_drivers(jobs.Job()), "fraction", "irqbed0l0", "200ms", 4).shell("after", "true").poweroff()
    with tempfile.TemporaryDirectory(prefix="irqbed-clock-") as folder:
        outcome, _ = run_vm(vm.Machine(cpus=4, ns_per_insn=0.25), job, disk(folder))
    at_ns = {answer.get("name"): answer["t_ns"] for answer in outcome.answers if "t_ns" in answer}
    took_ms = (at_ns.get("after", 0) - at_ns.get("fraction", 0)) / 1e6
    tap.check("at 0.25 ns an instruction 200 ms of I/O take no more than 500 ms", 200 <= took_ms <= 500,
              "200 to 500 ms", f"{took_ms} ms, {outcome.status} {outcome.reason}")


# digest and snapshot

def disk(folder):
    image = Path(folder) / "ufs0.img"
    with open(image, "wb") as file:
        file.truncate(DISK_BYTES)
    return [vm.Device("irqbed-ufs", "ufs0", {"service-read-ns": 50000, "service-read-dist": "lognormal",
                                             "service-read-spread-ns": 20000}, [vm.Lu(str(image))])]


def failures(outcome):
    """Names of the steps that failed."""
    return [a["name"] for a in outcome.answers if a["type"] == "exec" and a["rc"]]


def first_difference(one, other):
    """The first line in which two runs differ, for a human."""
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()), 1):
        if a != b:
            at = next(i for i, (x, y) in enumerate(zip(a + b"\0", b + b"\1")) if x != y)
            start = max(0, at - 40)
            return f"line {number}, byte {at}: {a[start:at + 40]!r} against {b[start:at + 40]!r}"
    return f"{len(one)} bytes against {len(other)}"


def load_drivers(job):
    return job.shell("settle", SETTLE).shell("load", "insmod /lib/irqbed/irqbed.ko && modprobe null_blk "
                                             "irqmode=2 completion_nsec=20000 submit_queues=$(nproc) gb=1")


def io(job, name, node, runtime, depth):
    return job.shell(name, f"{FIO} --name={name} --filename=/dev/{node} --runtime={runtime} --iodepth={depth}")


@contextlib.contextmanager
def disturb(guest):
    """Busy loops beside the VM, its monitor polled, and the VM paused now and then."""
    ends = threading.Event()
    loads = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    disturb.polls = 0

    def poll():
        with contextlib.suppress(OSError, ValueError), Qmp(guest.qmp_socket()) as monitor:
            while not ends.wait(0.02):
                disturb.polls += 1
                for command in ("query-status", "query-cpus-fast", "query-blockstats"):
                    monitor.run(command)
                if disturb.polls % 3 == 0:
                    monitor.run("stop")
                    monitor.run("cont")

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        for load in loads:
            load.kill()
            load.wait()
        thread.join()


def test_digest(tap):
    job = load_drivers(jobs.Job())
    io(io(job, "null", "nullb0", "100ms", 4), "ufs", "irqbed0l0", "100ms", 4)
    job.shell("interrupts", "cat /proc/interrupts").stats("device").dmesg().poweroff()
    first = None
    for number in range(1, RUNS + 1):
        loaded = number % 2 == 0
        with tempfile.TemporaryDirectory(prefix="irqbed-clock-") as folder:
            outcome, produced = run_vm(vm.Machine(cpus=CPUS), job, disk(folder),
                                       on_start=disturb if loaded else None)
        digest = hashlib.sha256(produced).hexdigest()[:16]
        first = first or produced
        how = f"on a loaded host, polled {disturb.polls} times" if loaded else "undisturbed"
        tap.note(f"run {number}: {digest}, {len(produced)} bytes, {outcome.wall_s:.0f} s, {how}")
        failed = failures(outcome)
        tap.check(f"run {number} ends well{', beside polls and busy loops' if loaded else ''}",
                  outcome.status == "done" and not failed and (not loaded or disturb.polls > 10),
                  "done, all steps good, more than 10 polls if loaded", (outcome.status, outcome.reason, failed, how))
        tap.check(f"run {number} gives the same bytes as the first", produced == first, "the same bytes",
                  produced == first or first_difference(first, produced))


def test_snapshot(tap):
    job = load_drivers(jobs.Job())
    io(job, "before", "irqbed0l0", "50ms", 4).shell("ready", "true")
    io(job, "null", "nullb0", "500ms", 4)
    io(job, "after", "irqbed0l0", "100ms", 4).stats("device").dmesg().poweroff()
    saved = []

    def save(guest, answer):
        if answer["type"] == "exec" and answer["name"] == "ready":
            with Qmp(guest.qmp_socket()) as monitor:
                monitor.save(guest.dir / "state")
                saved.append(True)
                monitor.run("quit")

    with tempfile.TemporaryDirectory(prefix="irqbed-clock-") as folder:
        machine, devices = vm.Machine(cpus=CPUS, memory_mib=512), disk(folder)
        outcome, _ = run_vm(machine, job, devices, workdir=folder, on_answer=save)
        tap.check("the VM is saved to a file", bool(saved), "a file", (outcome.status, outcome.reason))
        if not saved:
            return
        state, image = Path(folder) / "state", Path(folder) / "ufs0.img"
        content = image.read_bytes()
        first = None
        for number in (1, 2):
            image.write_bytes(content)
            outcome, produced = run_vm(machine, job, devices, ["-incoming", f"file:{state}"], on_start=resume)
            first = first or produced
            names = [a.get("name") for a in outcome.answers]
            digest = hashlib.sha256(produced).hexdigest()[:16]
            tap.note(f"restore {number}: {digest}, {len(produced)} bytes, {outcome.wall_s:.0f} s, answers {names}")
            tap.check(f"restore {number} goes on where the VM was saved, and runs to its end",
                      outcome.status == "done" and not failures(outcome) and names[0] == "null",
                      "done, all steps good, first answer null", (outcome.status, outcome.reason, names, failures(outcome)))
        tap.check("two restores give the same bytes", produced == first, "the same bytes",
                  produced == first or first_difference(first, produced))


TESTS = {"options": test_options, "measure": test_measure, "speed": test_speed, "snapshot": test_snapshot,
         "digest": test_digest}


def main(argv):
    if len(argv) != 1 or argv[0] not in TESTS:
        print(__doc__)
        return 0 if argv in (["-h"], ["--help"]) else 2
    try:
        vm.need_built()
    except UserError as err:
        print(f"1..0 # SKIP {err}")
        return 0
    tap = Tap(argv[0])
    TESTS[argv[0]](tap)
    return tap.end()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UserError as error:
        print(f"irqbed: {error}", file=sys.stderr)
        sys.exit(error.status)
