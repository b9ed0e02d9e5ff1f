#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what the quantum costs and what it is worth: the table of docs/virtual-time.md.

usage: curve.py [QUANTUM_NS]...     the first one is the reference (default: 100 ns to 50 us)

One VM with 8 vCPUs a quantum. Columns: CPU time of the host for a second of
virtual time of each job, and by how many per cent its mean latency is off the
reference.
"null" is eight jobs at depth 8 on null_blk, which do not meet; "ufs" eight jobs
at depth 4 on one UFS controller, whose interrupts all go to vCPU 0; "qd1" the
same at depth 1. "ipi" is the mean lateness of interrupts that vCPU 1 sends to
vCPU 0 when both are busy, the worst case.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "scripts"), str(HERE)]

# pylint: disable=wrong-import-position
import run
from irqbed_tool import bench_clock, jobs, setup, vm

QUANTA_NS = (100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)
JOBS = {"null": ("nullb0", "300ms", 8), "ufs": ("irqbed0l0", "300ms", 4), "qd1": ("irqbed0l0", "300ms", 1)}
SIGNALS = 2000


def make_job():
    job = run.load_drivers(jobs.Job())
    for node in ("nullb0", "irqbed0l0"):
        run.io(job, "warmup", node, "100ms", 4)
    for name, (node, runtime, depth) in JOBS.items():
        run.io(job.shell("gap", "true"), name, node, runtime, depth)
    job.shell("gap", "true").shell("ideal", f"clock-guest signal 0 1 {SIGNALS}")
    return job.shell("ipi", f"clock-guest signal 1 0 {SIGNALS}").poweroff()


def cpu_s(process):
    """CPU time that a process has used; None after its end, when the last answers are read."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(quantum_ns):
    """{job: (host s per virtual s, mean latency in ns)}, ipi: (0, mean lateness in ns)"""
    ran = []
    with tempfile.TemporaryDirectory(prefix="irqbed-curve-") as folder:
        outcome, _ = run.run_vm(vm.Machine(cpus=run.CPUS, quantum_ns=quantum_ns), make_job(), run.disk(folder),
                                on_answer=lambda guest, answer: ran.append((cpu_s(guest.process), answer)))
    if outcome.status != "done":
        sys.exit(f"curve.py: quantum {quantum_ns}: {outcome.status}: {outcome.reason}")
    result, means = {}, {}
    for (before_s, _), (end_s, answer), (_, after) in zip(ran, ran[1:], ran[2:]):
        if answer.get("name") in JOBS:
            read = json.loads(answer["out"])["jobs"][0]["read"]
            virtual_s = (after["t_ns"] - answer["t_ns"]) / 1e9
            result[answer["name"]] = ((end_s - before_s) / virtual_s, read["lat_ns"]["mean"])
        elif answer.get("name") in ("ideal", "ipi"):
            means[answer["name"]] = json.loads(answer["out"])["mean"]
    result["ipi"] = (0, means["ipi"] - means["ideal"])
    return result


def print_table(quanta):
    reference = None
    print("| quantum ns | " + " | ".join(f"{name} s/s | {name} off %" for name in JOBS) + " | ipi late ns |")
    print("|---:|" + "---:|" * (2 * len(JOBS) + 1))
    for quantum_ns in quanta:
        result = measure(quantum_ns)
        reference = reference or result
        cells = []
        for name in JOBS:
            cost, latency = result[name]
            cells += [f"{cost:.1f}", f"{100 * (latency / reference[name][1] - 1):+.2f}"]
        print(f"| {quantum_ns} | " + " | ".join(cells) + f" | {result['ipi'][1]:.0f} |", flush=True)


def main(argv):
    setup.ensure()
    with tempfile.TemporaryDirectory(prefix="irqbed-curve-") as folder:
        bench_clock.build_program(Path(folder))
        os.environ["CLOCK_GUEST"] = str(Path(folder) / "clock-guest")
        print_table([int(word) for word in argv] or QUANTA_NS)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit(0)
    sys.exit(main(sys.argv[1:]))
