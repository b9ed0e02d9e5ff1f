# SPDX-License-Identifier: GPL-2.0-or-later
"""What an I/O costs: our devices and driver beside QEMU's and Linux's.

One fio job (4 KiB random reads, io_uring) on each peer, at depth 1 and 32, on a
machine with one vCPU. Two figures for each:

    insns    guest instructions per I/O, in virtual time: all that the vCPU executes,
             from fio's own code to the interrupt; idle costs none
    cpu_ns   host CPU time per I/O of the QEMU process, with the host's clock

Both are differences of a long and a short job, divided by the difference in
I/Os: what it costs to start and end fio falls out. Instructions on our devices
and on null_blk are exact, the same in every run; QEMU's own devices complete
in host time, so theirs are not. Host CPU time is the least of several runs, taken in turn.
"""

import json
import time
from dataclasses import dataclass

from . import vm
from .errors import RunError
from .jobs import Job

SUMMARY = "host CPU and guest instructions per I/O against QEMU's ufs and nvme, the stock UFS driver and null_blk"

DEPTHS = (1, 32)
DISK_BYTES = 64 << 20
ROUNDS = 3                      # of host CPU time
IOS = {"virtual": (1000, 4000), "host": (4000, 24000)}
SETTLE_S = "0.5"                # the guest sleeps while the host takes the time
STEP_LIMIT_S = 900
# In virtual time every device takes as long; with the host's clock none waits.
SERVICE_NS = 20000
# Nothing but the controller: no file, no host I/O.
NODE = ("-blockdev", f"driver=null-co,node-name=n0,size={DISK_BYTES},read-zeroes=on")
OURS = "insmod /lib/irqbed/irqbed.ko"
STOCK_UFS = "modprobe sd_mod && modprobe ufshcd-pci"


@dataclass(frozen=True)
class Peer:
    """QEMU's arguments ("%s": our model's knobs), how the guest loads the driver, and the disk."""

    arguments: tuple
    load: str
    disk: str


def ours(options, load, disk):
    return Peer((*NODE, "-device", f"irqbed-ufs,id=dev,addr={vm.FIRST_DEVICE_ADDR:#x}{options}%s",
                 "-device", "irqbed-ufs-lu,bus=dev.0,lun=0,drive=n0"), load, disk)


PEERS = {
    "qemu_ufs": Peer((*NODE, "-device", "ufs,id=dev,serial=1", "-device", "ufs-lu,bus=dev,lun=0,drive=n0"),
                     STOCK_UFS, "/dev/sda"),
    "ours_stock": ours("", STOCK_UFS, "/dev/sda"),
    "ours": ours("", OURS, "/dev/irqbed0l0"),
    "ours_mcq": ours(",mcq=on", OURS, "/dev/irqbed0l0"),
    "qemu_nvme": Peer((*NODE, "-device", "nvme,serial=1,drive=n0"), "modprobe nvme", "/dev/nvme0n1"),
    "null_blk": Peer((), "modprobe null_blk nr_devices=1 gb=1 bs=4096 queue_mode=2 irqmode=2 submit_queues=1 "
                         f"hw_queue_depth=32 completion_nsec={SERVICE_NS}", "/dev/nullb0"),
}
# Ratio -> (figure, ours, theirs)
RATIOS = {
    "device_cpu_vs_qemu_ufs": ("cpu_ns", "ours_stock", "qemu_ufs"),
    "device_cpu_vs_qemu_nvme": ("cpu_ns", "ours_mcq", "qemu_nvme"),
    "all_insns_vs_stock_ufs": ("insns", "ours", "ours_stock"),
    "driver_insns_vs_null_blk": ("insns", "ours", "null_blk"),
}


def fio(peer, depth, ios):
    return ["fio", "--name=peers", f"--filename={peer.disk}", "--rw=randread", "--bs=4k", "--direct=1",
            "--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1", f"--iodepth={depth}", "--size=64m",
            f"--number_ios={ios}", "--io_size=1g", "--norandommap=1", "--randrepeat=1", "--gtod_reduce=1", "--invalidate=0", "--output-format=json"]


def make_job(peer, clock):
    """For each depth the short and the long job, a mark before and after each."""
    job = Job()
    job.shell("load", f"{peer.load} && n=0; while [ ! -b {peer.disk} ]; do n=$((n+1)); "
                      "[ $n -gt 300 ] && exit 1; sleep 0.1; done")
    # What a boot and a module leave to be done in the background is over then.
    job.exec("fio-warm-up", fio(peer, 32, IOS[clock][0]))
    job.exec("settle", ["sleep", "3"])
    for depth in DEPTHS:
        for ios in IOS[clock]:
            for part in ("begin", "end"):
                if part == "end":
                    job.exec(f"fio {ios}", fio(peer, depth, ios))
                job.insns(f"{part} {depth} {ios}")
                if clock == "host":
                    job.exec("settle", ["sleep", SETTLE_S])
    return job.poweroff()


def cpu_ns(pid):
    """CPU time of a process, all threads, those that have ended too (see clock_getcpuclockid(3))."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def run_peer(name, clock):
    """{depth: cost per I/O}: instructions in virtual time, ns of host CPU time with the host's clock."""
    peer = PEERS[name]
    model = f",service-read-ns={SERVICE_NS},units=32" if clock == "virtual" else ""
    arguments = [word.replace("%s", model) for word in peer.arguments]
    marks = {}
    with vm.Vm(vm.Machine(cpus=1, clock=clock), [], make_job(peer, clock), extra=arguments) as machine:
        def on_answer(answer):
            if answer["type"] == "insns":
                marks[answer["name"]] = answer["insns"] if clock == "virtual" else cpu_ns(machine.process.pid)
        outcome = machine.run(on_answer, step_limit_s=STEP_LIMIT_S)
    check(name, outcome)
    few, many = IOS[clock]

    def spent(depth, ios):
        return marks[f"end {depth} {ios}"] - marks[f"begin {depth} {ios}"]
    return {depth: (spent(depth, many) - spent(depth, few)) / (many - few) for depth in DEPTHS}


def check(name, outcome):
    """RunError unless the VM did all steps and each fio all its I/Os."""
    if outcome.status != "done":
        raise RunError(f"bench peers: {name}: {outcome.status}: {outcome.reason}")
    for answer in outcome.answers:
        if answer.get("rc"):
            raise RunError(f"bench peers: {name}: {answer['name']}: status {answer['rc']}: {answer['err']}")
        if answer.get("name", "").startswith("fio "):
            job, wanted = json.loads(answer["out"])["jobs"][0], int(answer["name"].split()[1])
            if job["error"] or job["read"]["total_ios"] != wanted:
                raise RunError(f"bench peers: {name}: fio: expected {wanted} reads without an error, "
                               f"got {job['read']['total_ios']}, error {job['error']}")


def measure(note):
    """{peer: {figure: {depth: cost}}}"""
    figures = {name: {"insns": {}, "cpu_ns": {}} for name in PEERS}
    for name in PEERS:
        note(f"guest instructions: {name}")
        figures[name]["insns"] = run_peer(name, "virtual")
    for number in range(ROUNDS):
        for name in PEERS:
            note(f"host CPU time, {number + 1} of {ROUNDS}: {name}")
            for depth, cost in run_peer(name, "host").items():
                least = figures[name]["cpu_ns"].get(depth, cost)
                figures[name]["cpu_ns"][depth] = min(least, cost)
    return figures


def above_floor(figures, name, depth):
    """Guest instructions per I/O that a driver adds to what fio and the block layer need with null_blk."""
    return figures[name]["insns"][depth] - figures["null_blk"]["insns"][depth]


def compare(figures):
    """The ratios, each the worse of the two depths; what they are made of in "info"."""
    ratios, info = {}, {}
    by_depth = {key: {depth: figures[mine][figure][depth] / figures[theirs][figure][depth] for depth in DEPTHS}
                for key, (figure, mine, theirs) in RATIOS.items()}
    by_depth["driver_insns_vs_stock_ufs"] = {depth: above_floor(figures, "ours", depth) /
                                             above_floor(figures, "ours_stock", depth) for depth in DEPTHS}
    for key, at in by_depth.items():
        ratios[key] = round(max(at.values()), 4)
        info.update({f"{key}_qd{depth}": round(ratio, 4) for depth, ratio in at.items()})
    info.update({f"{name}_{figure}_qd{depth}": round(cost, 1) for name, each in figures.items()
                 for figure, costs in each.items() for depth, cost in costs.items()})
    return {"ratios": ratios, "info": info}


def run(note):
    return compare(measure(note))
