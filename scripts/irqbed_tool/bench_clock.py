# SPDX-License-Identifier: GPL-2.0-or-later
"""What parallel virtual time costs, against stock icount and multi-threaded TCG.

The same QEMU, guest and jobs; only -icount differs. A job's cost is host time
per second of virtual time. Each job runs a few times, its best time counts,
and the VMs that are compared run one after the other, so that other load on
the host disturbs both alike, and little.

With N busy vCPUs stock icount does an N-th of the work in a virtual second, so
those jobs are compared by host time per request. The same goes for
multi-threaded TCG, whose time is the host's.
"""

import json
import subprocess
import tempfile
import time
from pathlib import Path

from . import jobs, paths, vm
from .errors import RunError
from .setup import cpio

SUMMARY = "host time of parallel virtual time against stock icount"

CPUS = (1, 4, 8)
REPEATS = 3
STOCK_ICOUNT = "shift=0,sleep=off"
SOURCES = ("guest.c", "loops.c", "wakeups.c")
DISK_BYTES = 256 << 20
KNOBS = {"service-read-ns": 50000, "units": 64}
FIO = ("fio --name=job --rw=randread --bs=4k --direct=1 --ioengine=libaio --thread --group_reporting --time_based "
       "--output-format=json")
NULL, UFS = "--filename=/dev/nullb0", "--filename=/dev/irqbed0l0"
LOAD = ("insmod /lib/irqbed/irqbed.ko && "
        "modprobe null_blk irqmode=2 completion_nsec=50000 submit_queues=$(nproc) gb=1")
# name: guest command.  The guest's own block device has no cost of an emulated one in it.
JOBS = {
    "qd1": f"{FIO} {NULL} --runtime=2 --iodepth=1",
    "qd32": f"{FIO} {NULL} --runtime=1 --iodepth=32",
    "spin": "clock-guest spin 1 3000",
    "ufs_qd1": f"{FIO} {UFS} --runtime=1 --iodepth=1",
    "ufs_qd32": f"{FIO} {UFS} --runtime=500ms --iodepth=32",
    "jobs": f"{FIO} {NULL} --runtime=100ms --iodepth=8 --numjobs=$(nproc)",
}


class BenchVm(vm.Vm):
    """The VM with another -icount, or none."""

    icount = None

    def argv(self):
        argv = super().argv()
        if self.icount and "-icount" in argv:
            argv[argv.index("-icount") + 1] = self.icount
        return argv


def build_program(folder):
    """clock-guest, in an archive for the initramfs."""
    source, binary = paths.REPO / "tests" / "clock", folder / "clock-guest"
    command = ["gcc", "-std=gnu11", "-O2", "-static", "-pthread", "-o", str(binary), *(str(source / s) for s in SOURCES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"bench clock: gcc failed: {done.stderr.strip().splitlines()[-1]}")
    archive = cpio.Archive()
    archive.file("bin/clock-guest", binary.read_bytes(), executable=True)
    (folder / "bench.cpio").write_bytes(archive.finish())
    return folder / "bench.cpio"


def make_job():
    job = jobs.Job().shell("settle", "sleep 1").shell("load", LOAD)
    for disk in (NULL, UFS):
        job.shell("warmup", f"{FIO} {disk} --runtime=200ms --iodepth=4")
    for _ in range(REPEATS):
        for name, command in JOBS.items():
            # What comes between two jobs counts for neither.
            job.shell("gap", "true").shell(name, command)
    return job.shell("gap", "true").poweroff()


def work_done(name, answer):
    """Loops or requests of one job."""
    text = answer["out"]
    result = json.loads(text[text.index("{"):])
    return result["loops"] if name == "spin" else result["jobs"][0]["read"]["total_ios"]


def run_vm(folder, archive, clock, icount, cpus):
    """{job: (best host s per virtual s, best host s per unit of work)}"""
    image = folder / "disk.img"
    with open(image, "wb") as file:
        file.truncate(DISK_BYTES)
    device = vm.Device("irqbed-ufs", "ufs0", KNOBS, [vm.Lu(str(image))])
    best, ran = {}, []

    def on_answer(answer):
        """An answer comes when its step has ended, t_ns is when the step began."""
        if answer["type"] != "exec":
            return
        if answer["rc"]:
            raise RunError(f"bench clock: {answer['name']} failed in the guest: {answer['err'].strip()[-200:]}")
        ran.append((time.monotonic(), answer))
        if len(ran) < 3 or ran[-2][1]["name"] not in JOBS:
            return
        (before_s, _), (end_s, job), (_, after) = ran[-3:]
        name, took_s, took_ns = job["name"], end_s - before_s, after["t_ns"] - job["t_ns"]
        cost = (took_s / (took_ns / 1e9), took_s / work_done(name, job))
        best[name] = tuple(map(min, cost, best.get(name, cost)))

    with BenchVm(vm.Machine(cpus=cpus, clock=clock), [device], make_job(), overlay=[archive]) as guest:
        guest.icount = icount
        outcome = guest.run(on_answer=on_answer)
    if outcome.status != "done" or set(best) != set(JOBS):
        raise RunError(f"bench clock: the VM ended early: {outcome.status}: {outcome.reason}")
    return best


def compare(cpus, costs, ratios, info):
    parallel, icount, mttcg = costs["parallel"], costs["icount"], costs["mttcg"]
    for job in JOBS:
        if job == "jobs":
            info[f"wall_per_io_vs_icount_{cpus}cpu_jobs"] = parallel[job][1] / icount[job][1]
        else:
            part = info if job.startswith("ufs") else ratios
            part[f"wall_vs_icount_{cpus}cpu_{job}"] = parallel[job][0] / icount[job][0]
        info[f"wall_per_work_vs_mttcg_{cpus}cpu_{job}"] = parallel[job][1] / mttcg[job][1]
        info[f"host_s_per_virtual_s_{cpus}cpu_{job}"] = parallel[job][0]


def run(note):
    ratios, info = {}, {}
    with tempfile.TemporaryDirectory(prefix="irqbed-bench-") as name:
        folder = Path(name)
        archive = build_program(folder)
        for cpus in CPUS:
            costs = {}
            for kind, clock, icount in (("icount", "virtual", STOCK_ICOUNT), ("parallel", "virtual", None),
                                        ("mttcg", "host", None)):
                note(f"{cpus} vCPUs, {kind}")
                costs[kind] = run_vm(folder, archive, clock, icount, cpus)
            compare(cpus, costs, ratios, info)
    rounded = {part: {key: round(value, 4) for key, value in values.items()}
               for part, values in (("ratios", ratios), ("info", info))}
    return rounded
