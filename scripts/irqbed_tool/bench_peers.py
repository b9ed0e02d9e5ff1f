# SPDX-License-Identifier: GPL-2.0-or-later
"""What an I/O costs: our devices and driver beside QEMU's and Linux's.

One fio job (4 KiB random reads, io_uring) on each peer, at depth 1 and 32, on a
machine with one vCPU. Three figures for each:

    insns       guest instructions per I/O, in virtual time: all that the vCPU executes,
                from fio's own code to the interrupt; idle costs none
    cpu_ns      host CPU time per I/O of the QEMU process, with the host's clock
    thread_ns   the part of it that the main loop's thread used: the device and the
                block node, without the guest's instructions

All are differences of a long and a short job, divided by the difference in
I/Os: what it costs to start and end fio falls out. Instructions on our devices
and on null_blk are exact, the same in every run; QEMU's own devices complete
in host time, so theirs are not. A host's CPU time per I/O drifts by tens of
percent within minutes: the two that are compared sit in one VM and take turns,
each round gives a ratio, and the median of all rounds counts.
"""

import json
import statistics
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from . import vm
from .errors import RunError
from .jobs import Job

SUMMARY = "host CPU and guest instructions per I/O against QEMU's ufs and nvme, the stock UFS driver and null_blk"

DEPTHS = (1, 32)
DISK_BYTES = 64 << 20
BOOTS = 3                       # of each pair, for host CPU time
ROUNDS = {"virtual": 1, "host": 5}      # in one boot
IOS = {"virtual": (1000, 4000), "host": (2000, 16000)}
SETTLE_S = "0.2"                # the guest sleeps while the host takes the time
STEP_LIMIT_S = 900
# In virtual time every device takes as long; with the host's clock none waits.
SERVICE_NS = 20000
STOCK_UFS = "modprobe sd_mod && modprobe ufshcd-pci"
OURS = "insmod /lib/irqbed/irqbed.ko"


@dataclass(frozen=True)
class Peer:
    """QEMU's arguments (%(addr)#x: the PCI slot, %(model)s: our model's knobs), how the guest loads
    the driver, and where sysfs shows the disk (%(pci)s: the device's folder)."""

    arguments: tuple
    load: str
    disk: str


def node(name):
    """A disk that is nothing but its controller: no file, no host I/O."""
    return "-blockdev", f"driver=null-co,node-name={name},size={DISK_BYTES},read-zeroes=on"


def ours(options, load, disk):
    return Peer((*node("ours"), "-device", f"irqbed-ufs,id=dev,addr=%(addr)#x{options}%(model)s",
                 "-device", "irqbed-ufs-lu,bus=dev.0,lun=0,drive=ours"), load, disk)


SCSI_DISK = "%(pci)s/host*/target*/*/block/sd*"
OUR_DISK = "/sys/block/irqbed0l0"
PEERS = {
    "qemu_ufs": Peer((*node("n0"), "-device", "ufs,id=ufs,addr=%(addr)#x,serial=1",
                      "-device", "ufs-lu,bus=ufs,lun=0,drive=n0"), STOCK_UFS, SCSI_DISK),
    "ours_stock": ours("", STOCK_UFS, SCSI_DISK),
    "ours": ours("", OURS, OUR_DISK),
    "ours_mcq": ours(",mcq=on", OURS, OUR_DISK),
    "qemu_nvme": Peer((*node("n1"), "-device", "nvme,addr=%(addr)#x,serial=1,drive=n1"), "modprobe nvme",
                      "%(pci)s/nvme/nvme*/nvme*n1"),
    "null_blk": Peer((), "modprobe null_blk nr_devices=1 gb=1 bs=4096 queue_mode=2 irqmode=2 submit_queues=1 "
                         f"hw_queue_depth=32 completion_nsec={SERVICE_NS}", "/sys/block/nullb0"),
}
# In one VM for host CPU time.
PAIRS = (("ours_stock", "qemu_ufs"), ("ours_mcq", "qemu_nvme"), ("ours", "null_blk"))
# Ratio of instructions -> (ours, theirs)
INSNS_RATIOS = {"all_insns_vs_stock_ufs": ("ours", "ours_stock"), "driver_insns_vs_null_blk": ("ours", "null_blk")}
# Ratio of host CPU time -> (figure, one of PAIRS)
CPU_FIGURES = ("cpu_ns", "thread_ns")
CPU_RATIOS = {
    "device_cpu_vs_qemu_ufs": ("cpu_ns", PAIRS[0]),
    "device_cpu_vs_qemu_nvme": ("cpu_ns", PAIRS[1]),
    "device_thread_vs_qemu_ufs": ("thread_ns", PAIRS[0]),
    "device_thread_vs_qemu_nvme": ("thread_ns", PAIRS[1]),
}


def fio(name, depth, ios):
    return ["fio", "--name=peers", f"--filename=/dev/{name}", "--rw=randread", "--bs=4k", "--direct=1",
            "--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1", f"--iodepth={depth}", "--size=64m",
            f"--number_ios={ios}", "--io_size=1g", "--norandommap=1", "--randrepeat=1", "--gtod_reduce=1",
            "--invalidate=0", "--output-format=json"]


def make_job(names, clock):
    """In each round, for each depth, each peer's short and long job in turn, a mark before and after each."""
    job = Job()
    for index, name in enumerate(names):
        peer = PEERS[name]
        disk = peer.disk % {"pci": "/sys/bus/pci/devices/" + vm.pci_address(index)}
        job.shell("load", f"{peer.load} && n=0; while ! disk=$(ls -d {disk}); do n=$((n+1)); "
                          f'[ $n -gt 300 ] && exit 1; sleep 0.1; done; ln -s ${{disk##*/}} /dev/{name}')
    for name in names:
        # What a boot and a module leave to be done in the background is over then.
        job.exec(f"fio {IOS[clock][0]}", fio(name, 32, IOS[clock][0]))
    job.exec("settle", ["sleep", "3"])
    for number in range(ROUNDS[clock]):
        for depth in DEPTHS:
            for name in names:
                for ios in IOS[clock]:
                    job.insns(f"begin {number} {name} {depth} {ios}")
                    settle(job, clock)
                    job.exec(f"fio {ios}", fio(name, depth, ios))
                    job.insns(f"end {number} {name} {depth} {ios}")
                    settle(job, clock)
    return job.poweroff()


def settle(job, clock):
    if clock == "host":
        job.exec("settle", ["sleep", SETTLE_S])


def cpu_times(pid):
    """CPU time of a process, of all threads, those that have ended too, and of its first (see clock_getcpuclockid(3))."""
    thread = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="ascii")
    return {"cpu_ns": time.clock_gettime_ns(~pid << 3 | 2), "thread_ns": int(thread.split()[0])}


def run_vm(names, clock):
    """[{name: {figure: {depth: cost per I/O}}} of each round]: instructions in virtual time, else host CPU time."""
    arguments = []
    for index, name in enumerate(names):
        model = f",service-read-ns={SERVICE_NS},units=32" if clock == "virtual" else ""
        arguments += [word % {"addr": vm.FIRST_DEVICE_ADDR + index, "model": model} for word in PEERS[name].arguments]
    marks = {}
    with vm.Vm(vm.Machine(cpus=1, clock=clock), [], make_job(names, clock), extra=arguments) as machine:
        def on_answer(answer):
            if answer["type"] == "insns":
                marks[answer["name"]] = ({"insns": answer["insns"]} if clock == "virtual" else
                                         cpu_times(machine.process.pid))
        outcome = machine.run(on_answer, step_limit_s=STEP_LIMIT_S)
    check(" and ".join(names), outcome)
    few, many = IOS[clock]

    def spent(figure, *where):
        end, begin = (marks[" ".join(map(str, (edge, *where)))][figure] for edge in ("end", "begin"))
        return end - begin

    def cost(figure, *where):
        return (spent(figure, *where, many) - spent(figure, *where, few)) / (many - few)
    figures = ("insns",) if clock == "virtual" else CPU_FIGURES
    return [{name: {figure: {depth: cost(figure, number, name, depth) for depth in DEPTHS} for figure in figures}
             for name in names} for number in range(ROUNDS[clock])]


def check(what, outcome):
    """RunError unless the VM did all steps and each fio all its I/Os."""
    if outcome.status != "done":
        raise RunError(f"bench peers: {what}: {outcome.status}: {outcome.reason}")
    for answer in outcome.answers:
        if answer.get("rc"):
            raise RunError(f"bench peers: {what}: {answer['name']}: status {answer['rc']}: {answer['err']}")
        if answer.get("name", "").startswith("fio "):
            job, wanted = json.loads(answer["out"])["jobs"][0], int(answer["name"].split()[1])
            if job["error"] or job["read"]["total_ios"] != wanted:
                raise RunError(f"bench peers: {what}: fio: expected {wanted} reads without an error, "
                               f"got {job['read']['total_ios']}, error {job['error']}")


def measure(note):
    """({peer: {depth: instructions}}, [[{peer: {figure: {depth: ns}}} of each round] of each pair])."""
    insns = {}
    for name in PEERS:
        note(f"guest instructions: {name}")
        insns[name] = run_vm((name,), "virtual")[0][name]["insns"]
    cpu = [[] for _ in PAIRS]
    for number in range(BOOTS):
        for rounds, names in zip(cpu, PAIRS):
            note(f"host CPU time, {number + 1} of {BOOTS}: {' and '.join(names)}")
            rounds += run_vm(names, "host")
    return insns, cpu


def above_floor(insns, name, depth):
    """Guest instructions per I/O that a driver adds to what fio and the block layer need with null_blk."""
    return insns[name][depth] - insns["null_blk"][depth]


def compare(insns, cpu):
    """The ratios, each the worse of the two depths; what they are made of in "info"."""
    ratios, info, by_depth = {}, {}, {}
    for key, (mine, theirs) in INSNS_RATIOS.items():
        by_depth[key] = {depth: [insns[mine][depth] / insns[theirs][depth]] for depth in DEPTHS}
    by_depth["driver_insns_vs_stock_ufs"] = {
        depth: [above_floor(insns, "ours", depth) / above_floor(insns, "ours_stock", depth)] for depth in DEPTHS}
    for key, (figure, pair) in CPU_RATIOS.items():
        by_depth[key] = {depth: [each[pair[0]][figure][depth] / each[pair[1]][figure][depth]
                                 for each in cpu[PAIRS.index(pair)]] for depth in DEPTHS}
    for key, at in by_depth.items():
        ratios[key] = round(max(map(statistics.median, at.values())), 4)
        for depth, each in at.items():
            info[f"{key}_qd{depth}"] = round(statistics.median(each), 4)
            if len(each) > 1:
                info[f"{key}_qd{depth}_least"], info[f"{key}_qd{depth}_most"] = round(min(each), 4), round(max(each), 4)
    for depth in DEPTHS:
        info.update({f"{name}_insns_qd{depth}": round(costs[depth], 1) for name, costs in insns.items()})
        for rounds, figure in product(cpu, CPU_FIGURES):
            info.update({f"{name}_{figure}_qd{depth}": round(statistics.median(each[name][figure][depth]
                                                                               for each in rounds), 1)
                         for name in rounds[0]})
    return {"ratios": ratios, "info": info}


def run(note):
    return compare(*measure(note))
