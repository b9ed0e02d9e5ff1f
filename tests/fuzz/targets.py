# SPDX-License-Identifier: GPL-2.0-or-later
"""What is fuzzed: a machine with the device, its seeds, and what the seeds must reach.

The machine is QEMU's generic fuzzer's; no guest code runs in it. What is to be
reached is counted in the device's own trace events, label -> (events, words).
"""

import re
from dataclasses import dataclass
from pathlib import Path

import seeds_ahci
import seeds_ctl
import seeds_mcq
import seeds_probe
import seeds_ufs

HERE = Path(__file__).resolve().parent
REQUESTS = {
    "fetched": re.compile(r"irqbed_doorbell "),
    "completed": re.compile(r"irqbed_complete .* ok "),
    "failed": re.compile(r"irqbed_complete .* failed "),
    "interrupts": re.compile(r"irqbed_irq_raise "),
}
# Short service times of several kinds, and every fault now and then.
MODEL = ("service-read-ns=2000,service-read-dist=uniform,service-read-spread-ns=1000,service-write-ns=3000,"
         "service-write-dist=lognormal,service-write-spread-ns=500,service-other-ns=1000,service-read-ns-per-kib=10,"
         "units=3,irq-latency-ns=500,irq-drop-every=13,hold-every=17,fail-every=19")
# What both kinds of controller can be made to do, besides; the device counts requests from power-on.
INJECTIONS = ("id=a,every=5,fault=irq-late,for-ns=3000", "id=b,every=7,fault=data-late,for-ns=9000",
              "id=c,every=6,fault=complete-twice,for-ns=700", "id=d,every=9,fault=dma-refused",
              "id=e,every=8,fault=irq-double,for-ns=100", "id=f,every=11,fault=irq-spurious",
              "id=g,every=23,fault=irq-stuck,for-ns=4000", "id=h,every=29,fault=link-down,for-ns=5000",
              "id=i,every=41,fault=remove,for-ns=6000", "id=j,every=10,fault=hold,for-ns=2000",
              "id=k,at-ns=1000,period-ns=5000,knob=units,value=2,for-ns=2500")


def inject(*more):
    """The property, for a command line: commas in a value are doubled, and a shell's characters quoted."""
    return ",inject='" + ";".join(f"{entry},boot=on" for entry in (*INJECTIONS, *more)).replace(",", ",,") + "'"


EXTRA_OF_VECTOR = "id=p,every=14,fault=irq-spurious,target=3"
STUCK_VECTOR = "id=q,every=31,fault=irq-stuck,target=2,for-ns=2000"
FAULTS_UFS_ONLY = (
    "id=l,every=4,fault=status,status=medium-error", "id=m,every=13,fault=status,status=ocs-fatal",
    "id=n,at-ns=2000,period-ns=9000,fault=link-command-late,for-ns=800",
    "id=o,at-ns=3000,period-ns=50000,fault=link-command-fail")
FAULTS_UFS = inject(*FAULTS_UFS_ONLY)
FAULTS_MCQ = inject(*FAULTS_UFS_ONLY, EXTRA_OF_VECTOR, STUCK_VECTOR)
FAULTS_AHCI = inject("id=l,every=4,fault=status,status=unc", "id=m,every=13,fault=status,status=ifs",
                     "id=n,every=12,fault=irq-no-source", EXTRA_OF_VECTOR, STUCK_VECTOR)


def disks(count):
    return " ".join(f"-blockdev driver=null-co,node-name=n{number},size=67108864,read-zeroes=on"
                    for number in range(count))


INJECTED = {**REQUESTS, "injected": re.compile(r"irqbed_inject ")}


def ufs(seconds, options, seeds, reached=None, corpus=""):
    return Target(
        seconds, f"{disks(2)} -device irqbed-ufs,id=dev,{MODEL}{options} "
        "-device irqbed-ufs-lu,bus=dev.0,lun=0,drive=n0 -device irqbed-ufs-lu,bus=dev.0,lun=1,drive=n1", "irqbed-ufs", seeds, reached or REQUESTS, corpus)


def ahci(seconds, options="", reached=None, corpus=""):
    return Target(
        seconds, f"{disks(2)} -device irqbed-ahci,id=dev,ports=3,msi-vectors=4,ccc=on,{MODEL}{options} "
        "-device irqbed-ahci-drive,bus=dev.0,port=0,drive=n0 -device irqbed-ahci-drive,bus=dev.0,port=1,drive=n1",
        "irqbed-ahci", seeds_ahci.SEEDS, reached or REQUESTS, corpus)


@dataclass(frozen=True)
class Target:
    seconds: int                # its share of the suite's time
    machine: str
    objects: str                # whose registers are fuzzed: patterns of QOM types
    seeds: tuple
    reached: dict
    corpus: str = ""            # whose seeds, when they are another target's

    def seed_folder(self, name):
        return HERE / "seeds" / (self.corpus or name)


TARGETS = {
    "irqbed-ufs": ufs(240, "", seeds_ufs.SEEDS),
    "irqbed-ufs-mcq": ufs(240, ",mcq=on,mcq-maxq=4", seeds_mcq.SEEDS),
    "irqbed-ufs-faults": ufs(120, FAULTS_UFS, seeds_ufs.SEEDS, INJECTED, "irqbed-ufs"),
    # What is rung is fetched later, as with the host's clock: the guest comes in between.
    "irqbed-ufs-mcq-faults": ufs(120, ",mcq=on,mcq-maxq=4,x-fetch-by-timer=on" + FAULTS_MCQ, seeds_mcq.SEEDS, INJECTED,
                                 "irqbed-ufs-mcq"),
    "irqbed-ahci": ahci(480),
    "irqbed-ahci-faults": ahci(120, FAULTS_AHCI, INJECTED, "irqbed-ahci"),
    "irqbed-probe": Target(
        60, "-device irqbed-probe,period-ns=10000,jitter-ns=3000", "irqbed-probe", seeds_probe.SEEDS, {
            "sent": re.compile(r"irqbed_probe_sent "),
            "answered": re.compile(r"irqbed_probe_ack "),
            "missed": re.compile(r"irqbed_probe_missed "),
        }),
    "irqbed-ctl": Target(
        60, "-chardev null,id=out -device irqbed-ctl,out=out,job=targets.py "
        "-device irqbed-probe -device irqbed-ufs,id=ufs0", "irqbed-ctl", seeds_ctl.SEEDS, {
            "snapshots": re.compile(r"irqbed_ctl_snapshot "),
            "injections": re.compile(r"irqbed_ctl_inject dev ufs0 err ''"),
            "refused injections": re.compile(r"irqbed_ctl_inject dev ufs0 err '.*chance"),
            "lines": re.compile(r"irqbed_ctl_commit "),
        }),
}
